//! What the benchmarks of all crates have in common: timing in turns, one core for what is short, what is measured against, a
//! table with bars.

pub mod cores;
pub mod measure;
pub mod peers;
pub mod table;
