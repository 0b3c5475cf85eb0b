//! Sits between MCP clients and servers and refuses calls whose paths lead outside the roots. Everything else is
//! forwarded byte for byte.
//!
//! The hub splits the client's stream into lines, reads only the envelope of each message, and searches the params
//! for paths. A guard checks each path in every way that a server might read it. A refused call gets a denial that
//! names the path as requested.
//!
//! ```
//! use rootward_core::{Guard, GuardOptions, Origin, Root, RootSet, Validation};
//! use rootward_hub::check;
//! use rootward_protocol::frame::{FrameReader, Line, Message};
//! use rootward_hub::scan::{Call, Expansion, Protection};
//!
//! # let directory = tempfile::tempdir()?;
//! # let project = directory.path();
//! let root = Root::from_path(project, Origin::Flag)?;
//! let guard = Guard::new(RootSet::place_ambient([root], &Validation::new(None)), GuardOptions::default());
//!
//! // Bytes arrive in whatever pieces the pipe makes of them.
//! let chunk = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"path":"a.txt"}}}
//! {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{"path":" ..%2F..%2Fetc/passwd"}}}
//! "#;
//! let mut reader = FrameReader::new(16 << 20);
//! reader.add(chunk);
//! let mut answers = Vec::new();
//! while let Some(line) = reader.next() {
//!     let Line::Frame(frame) = line else { continue };
//!     let Message::Single(envelope) = Message::parse(frame)? else { continue };
//!     let call = Call { method: envelope.method().unwrap_or_default(), params: envelope.params(), tool: None };
//!     let verdict = check(&guard, &Expansion::default(), Protection::CallsOnly, &call)?;
//!     answers.push(verdict.refused().map(|(_, refusal)| refusal.denial.to_string()));
//! }
//! assert_eq!(answers, [None, Some("path ` ..%2F..%2Fetc/passwd` is outside every root".to_owned())]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Layout
//!
//! - [`scan`]: [`scan::scan`] finds the paths in params; the module page says what counts as a path. [`scan::Tool`]
//!   is a tool as the server describes it, with the user's overrides; [`scan::Need`] is what a call does with a path.
//!   `scan/readings.rs` derives the ways a server might read a path.
//! - [`recipe`]: what well-known servers need to work confined, as data.
//! - [`wrap`]: one client and one server on standard input and output, with the server confined to the roots.
//! - [`hub`]: one client and many servers; [`config`] is the file that names them.
//! - [`status`]: what is running now.
//! - [`check()`]: checks every path of a message against a [`rootward_core::Guard`]; [`check_path`] checks one path.
//!
//! # What a check guarantees
//!
//! A check is about names. The server opens the file later, on its own: if the tree changes in between, a name can
//! lead somewhere else. A path that no rule recognizes is not checked at all. The kernel's confinement covers both
//! cases. The check protects servers that are not confined, explains what is wrong, and acts before anything happens.
//!
//! Outside [`wrap`] and [`hub`], nothing in this crate reads a clock or opens a file, and nothing is async.

mod check;
pub mod config;
mod engine;
mod fold;
mod front;
pub mod hub;
mod modern_server;
mod principal;
pub mod recipe;
mod root_template;
pub mod scan;
pub mod status;
pub mod wrap;

pub use check::{Finding, GrantedPlace, Named, RefusedPath, Verdict, check, check_path};
pub use principal::Principal;
pub use root_template::has_root_template;
