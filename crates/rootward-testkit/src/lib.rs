//! An MCP client for tests of servers, and the trees, attacks and adapters that Rootward is tested with.
//!
//! # For authors of servers
//!
//! [`client`] speaks both eras of the protocol over standard input and output, HTTP, or an in-memory pipe. It sends what a test
//! tells it to send, shares the roots that the test chooses, and shows the last lines it received when a test fails. It needs no
//! feature:
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
//! // A root that is taken back is closed for the very next call.
//! client.share(["file:///tmp/other"]);
//! assert_eq!(client.why("read_file", json!({"path": "/tmp/project/notes.txt"})), "outside_roots");
//! ```
//!
//! The other modules test Rootward itself.
//!
//! # Layout
//!
//! - [`escape`]: the escape corpus, one table of attacks, each with its source and the expected answer.
//! - [`door`]: the trait that puts code under test; [`report`] runs the table through a door.
//! - [`race`]: attackers that swap directories, files and links while a door works on them.
//! - [`naive`]: a door that checks a name and then opens it, to prove that the table and the races catch it.
//! - [`fuzz`]: the driver of the fuzz tests.
//! - [`mod@bench`]: alternating measurements, the peers to compare with, and the result table, for the benchmarks of all crates.
//! - [`client`]: the MCP client that all tests use.
//! - [`transcript`]: wire conversations as text files, and their player.
//! - [`place`]: a temporary home and project for a program under test.
//! - [`tree`], [`snapshot`], [`text`]: small trees on disk, what changed in them, and their template notation.
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
