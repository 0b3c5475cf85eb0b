//! A remote server as lines, with real servers and with one that misbehaves in every way.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod failing;
mod legacy;
mod lines;
mod modern;
mod real;
mod scripted;
