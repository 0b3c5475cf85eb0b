//! Sessions over the wire, with well-behaved and misbehaving clients.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests stop on any failure")]
#![expect(clippy::disallowed_methods, reason = "tests create their own files")]

mod channels;
mod client;
mod environment;
mod given;
mod http;
mod listening;
mod looking;
mod modern;
mod pages;
mod record;
mod require;
mod rooted;
mod session;
mod stage;
mod stall;
mod table;
mod telling;
mod transcripts;
