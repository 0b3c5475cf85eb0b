//! Sessions over the wire, against clients that behave and clients that do not.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]
#![expect(clippy::disallowed_methods, reason = "tests lay out the files they are about")]

mod client;
mod http;
mod modern;
mod require;
mod rooted;
mod session;
mod stage;
mod stall;
mod table;
mod transcripts;
