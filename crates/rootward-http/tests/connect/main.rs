//! A remote server as lines, before real servers and before one that misbehaves in every way.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod failing;
mod legacy;
mod lines;
mod modern;
mod real;
mod scripted;
