//! Frames: messages pass through byte for byte; fuzzing.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its own frame must fail")]

mod frames;
mod fuzz;
