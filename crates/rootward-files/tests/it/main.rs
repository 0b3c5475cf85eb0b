//! The file server over the wire: every tool as a client meets it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]
#![expect(clippy::disallowed_methods, reason = "tests lay out the files they are about")]

mod client;
mod describing;
mod listing;
mod reading;
mod roots;
mod searching;
mod several;
mod stage;
mod tools;
