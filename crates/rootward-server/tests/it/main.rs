//! Sessions over the wire, against clients that behave and clients that do not.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]
#![expect(clippy::disallowed_methods, reason = "tests lay out the files they are about")]

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
