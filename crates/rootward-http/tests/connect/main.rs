//! A remote server as lines, before real servers and before one that misbehaves in every way.

#![expect(clippy::unwrap_used, reason = "tests")]

mod failing;
mod legacy;
mod lines;
mod modern;
mod real;
mod scripted;
