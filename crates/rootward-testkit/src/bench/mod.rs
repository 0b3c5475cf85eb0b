//! Shared by the benchmarks of all crates: alternating measurements, clients, a server, pinning to a core, the peers to compare
//! with, and a result table with limits.

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
pub mod run;
pub mod table;
