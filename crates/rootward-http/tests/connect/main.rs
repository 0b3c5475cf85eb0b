//! The relay between a remote server and lines, with real servers and with one that misbehaves in every way.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests stop on any failure")]

mod failing;
mod legacy;
mod lines;
mod modern;
mod real;
mod scripted;
