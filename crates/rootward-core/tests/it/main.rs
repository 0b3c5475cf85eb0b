//! The guard through its public API, on a real disk, under attack.

#![allow(clippy::disallowed_methods, reason = "tests create and read files by name")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests stop on any failure")]

mod closed;
mod decisions;
mod door;
mod escapes;
mod fuzz;
mod grants;
mod hostile;
mod kernel;
mod patterns;
// The oracle asks the kernel for places after the decision, but these tests move files in between.
#[cfg(not(rootward_oracle))]
mod races;
mod roots;
mod walks;
mod yard;
