//! Fronts: they move bytes between clients, the engine and the server processes, and carry out the engine's effects.

mod backing;
mod children;
mod connections;
mod door;
mod elsewhere;
mod errors;
mod fetching;
mod figures;
mod file_server;
mod homes;
mod last_words;
mod launch;
mod memory_file;
mod middle;
mod naming;
mod pipe;
mod process;
mod serving;
mod translated;

pub(crate) use backing::{Backing, Backings};
pub use door::{Caller, CallerPurpose, NO_ROOM_LINE, OuterDoor};
pub(crate) use door::{Door, new as new_door};
pub use file_server::FileServerCommand;
pub use homes::Homes;
pub use launch::{Confine, Inject, Launch, Runs};
pub(crate) use memory_file::MemoryFile;
pub(crate) use middle::{Middle, OneServer};
pub(crate) use serving::Serving;
