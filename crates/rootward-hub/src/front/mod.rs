//! Fronts: they move bytes between clients, the engine and the servers' processes, and do what the engine wants done.

mod elsewhere;
mod file_server;
mod keeping;
mod launch;
mod pipe;
mod process;
mod stdio;

pub use file_server::{FileServer, Planted};
pub(crate) use keeping::Keeping;
pub use launch::{Confine, Inject, Launch};
pub(crate) use stdio::Stdio;
