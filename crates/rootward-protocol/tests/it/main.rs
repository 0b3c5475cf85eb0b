//! Frames: bytes in are bytes out; fuzzing.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its own frame must fail")]

mod frames;
mod fuzz;
