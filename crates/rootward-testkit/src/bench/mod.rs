//! What the benchmarks of all crates have in common: timing in turns, clients, a server, one core for what is short, what is
//! measured against, a table with bars.

pub mod client;
pub mod cores;
#[cfg(feature = "core")]
pub mod echo;
pub mod http;
pub mod listening;
#[cfg(feature = "core")]
pub mod listing;
pub mod measure;
pub mod peers;
pub mod table;
