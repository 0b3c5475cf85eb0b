//! Streamable HTTP for MCP, in both eras, for whoever answers MCP messages: the hub and the file server.
//!
//! The front reads requests, says who may come in, keeps sessions and their streams, and moves raw messages. It knows no files and no
//! roots: a [`Backend`] opens a [`Wire`] for each session, and MCP messages pass through it as they came.

#[cfg(feature = "connect")]
pub mod connect;
mod wire;

pub use wire::{Backend, OpenError, PrincipalId, Purpose, Wire, wire};
