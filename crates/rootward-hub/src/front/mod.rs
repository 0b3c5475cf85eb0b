//! Fronts: they move bytes between clients, the engine and the servers' processes, and do what the engine wants done.

mod backing;
mod children;
mod elsewhere;
mod errors;
mod fetching;
mod file_server;
mod homes;
mod keeping;
mod last_words;
mod launch;
mod middle;
mod naming;
mod pipe;
mod process;
mod stdio;

pub(crate) use backing::{Backing, Backings};
pub use file_server::FileServer;
pub use homes::Homes;
pub(crate) use keeping::Keeping;
pub use launch::{Confine, Inject, Launch, Runs};
pub(crate) use middle::{Middle, OneServer};
pub(crate) use stdio::Stdio;
