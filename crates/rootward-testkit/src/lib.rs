//! An MCP client for tests of servers, and the trees, attacks and adapters that Rootward is tested with.
//!
//! # For authors of servers
//!
//! [`client`] speaks both eras of the protocol over standard input and output, HTTP, or a pipe in memory. It says what a test
//! tells it to, shares the roots that a test names, and shows the last lines that came when a test fails. It needs no feature:
//!
//! ```toml
//! [dev-dependencies]
//! rootward-testkit = { version = "0.1", default-features = false }   # with "tokio" for servers in the test's own runtime
//! serde_json = "1"
//! ```
//!
//! ```no_run
//! use std::process::Command;
//!
//! use rootward_testkit::client::Client;
//! use serde_json::json;
//!
//! // In a test, the program is `env!("CARGO_BIN_EXE_my-server")`.
//! let mut client = Client::start(&mut Command::new("my-server"));
//! client.shake_hands(json!({"roots": {"listChanged": true}}));
//! client.name_roots(["file:///tmp/project"]);
//! assert_eq!(client.says("read_file", json!({"path": "notes.txt"})), "hello");
//! assert_eq!(client.why("read_file", json!({"path": "/etc/passwd"})), "outside_roots");
//! // A root that is taken back is gone for the next call.
//! client.share(["file:///tmp/other"]);
//! assert_eq!(client.why("read_file", json!({"path": "/tmp/project/notes.txt"})), "outside_roots");
//! ```
//!
//! The rest tests Rootward itself.
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
//! - [`place`]: directories of a user who runs a program.
//! - [`tree`], [`snapshot`], [`text`]: small trees on disk, what changed in them, and their notation.
//!
//! ```no_run
//! # #[cfg(feature = "files")] {
//! use rootward_testkit::{escape, naive::Naive, report};
//!
//! let report = report::run(&Naive, escape::table());
//! assert!(!report.failures.is_empty());
//! # }
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
pub mod place;
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
