//! What the benchmarks of all crates have in common: what they start, timing in turns, one core for what is short, a table with bars.

pub mod built;
pub mod cores;
pub mod measure;
pub mod table;
