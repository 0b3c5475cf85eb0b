//! Streamable HTTP for MCP, in both eras, in front of a [`Backend`] that answers MCP messages: the hub and the file
//! server.
//!
//! The front parses requests, authenticates clients, keeps sessions and their streams, and moves raw messages. It
//! knows nothing about files and roots: a [`Backend`] opens a [`Wire`] for each session, and MCP messages pass
//! through it unchanged.
//!
//! [`serve`] takes listeners, a [`Config`] and a backend. It opens no file and reads no environment variable, so it
//! can run in a process without file access.
//!
//! # Layout
//!
//! - `server`, `connection`: listening, TLS, timeouts, shutdown.
//! - `endpoint`: a request from its head to its answer. `tokens`, `names`, `rate` decide who may connect; `media`,
//!   `incoming` read the body; `cors` answers browsers.
//! - `posted`: which era a POST belongs to.
//! - `legacy`, `session`, `sessions`: sessions, their streams, resumption. `event`: how a message is written to a
//!   stream.
//! - `modern`: one wire per request, headers compared with the body.
//! - `figures`, `exchange`, `trace`: metrics and tracing.

mod body;
mod config;
#[cfg(feature = "connect")]
pub mod connect;
mod connection;
mod cors;
mod endpoint;
mod event;
mod exchange;
mod figures;
mod frames;
mod front;
mod incoming;
mod legacy;
mod media;
mod modern;
mod names;
mod posted;
mod rate;
mod reply;
mod server;
mod session;
mod session_id;
mod sessions;
mod soon;
mod tokens;
mod trace;
mod wire;

pub use config::{Config, Credential, Limits, Tls};
pub use names::BadName;
pub use server::serve;
pub use wire::{Backend, NO_ROOM, OpenError, PrincipalId, Purpose, Wire, wire};
