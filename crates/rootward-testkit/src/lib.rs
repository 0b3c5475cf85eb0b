//! Trees, attacks and adapters that Rootward is tested with.
//!
//! # Layout
//!
//! - [`escape`]: the escape corpus, one table of attacks with their right answers and where each comes from.
//! - [`door`]: what a thing under test looks like to the corpus; [`report`] runs the table through one.
//! - [`race`]: attackers that swap directories, files and links while a door is at work.
//! - [`naive`]: a door that checks a name and then opens it, to prove that table and races catch something.
//! - [`fuzz`]: the driver of the fuzz tests.
//! - [`mod@bench`]: timing in turns, what is measured against, and the table, for the benchmarks of all crates.
//! - [`client`]: the MCP client of all tests.
//! - [`transcript`]: wire conversations as text files, and their player.
//! - [`tree`], [`snapshot`], [`text`]: small trees on disk, what changed in them, and their notation.
//!
//! ```no_run
//! use rootward_testkit::{escape, naive::Naive, report};
//!
//! let report = report::run(&Naive, escape::table());
//! assert!(!report.failures.is_empty());
//! ```

#![cfg_attr(
    feature = "files",
    expect(clippy::disallowed_methods, reason = "the test kit plays the user and the attacker")
)]

#[cfg(feature = "files")]
pub mod bench;
pub mod client;
#[cfg(feature = "files")]
pub mod door;
#[cfg(feature = "files")]
pub mod escape;
#[cfg(feature = "fuzz")]
pub mod fuzz;
#[cfg(feature = "files")]
pub mod naive;
#[cfg(feature = "files")]
pub mod race;
#[cfg(feature = "files")]
pub mod report;
#[cfg(feature = "files")]
pub mod snapshot;
#[cfg(feature = "files")]
pub mod text;
#[cfg(feature = "core")]
pub mod transcript;
#[cfg(feature = "files")]
pub mod tree;
