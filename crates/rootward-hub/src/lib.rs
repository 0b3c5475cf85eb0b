//! Stands between MCP clients and servers: what passes is the bytes that came, except where a path leads outside the roots.
//!
//! A line from a client is cut from the stream, its envelope is read and nothing else, and its params are searched for paths.
//! Each path is decided by a guard in every reading that a server might make of it. What passes, passes as it came; what does
//! not is refused with a denial that names the path as it was asked for.
//!
//! ```
//! use rootward_core::{Guard, GuardOptions, Origin, Root, RootSet, Validation};
//! use rootward_hub::check;
//! use rootward_protocol::frame::{FrameReader, Line, Message};
//! use rootward_hub::scan::{Call, Expansion, Held};
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
//!     let verdict = check(&guard, &Expansion::default(), Held::ByItsCalls, &call)?;
//!     answers.push(verdict.refused().map(|(_, refusal)| refusal.denial.to_string()));
//! }
//! assert_eq!(answers, [None, Some("path ` ..%2F..%2Fetc/passwd` is outside every root".to_owned())]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Layout
//!
//! - [`scan`]: [`scan::scan`] finds the paths in params; its page says what counts as one. [`scan::Tool`] is what a server tells of
//!   a tool, and what a user says otherwise; [`scan::Need`] is what a call does with a path. `scan/readings.rs` makes up what a
//!   server might read.
//! - [`recipe`]: what known servers need to work confined, as data.
//! - [`wrap`]: one client and one server on standard input and output, the server held to the roots.
//! - [`hub`]: one client and many servers, [`config`] the file that names them.
//! - [`status`]: what runs now.
//! - [`check()`]: every path of a message against a [`rootward_core::Guard`]; [`check_path`]: one path.
//!
//! # What a check is worth
//!
//! A verdict is about names. The server opens them later and by itself, so whoever can change the tree meanwhile can change
//! what a name leads to, and a path that no rule finds is not checked at all. The server's confinement holds in both cases; this
//! holds where there is none, says what is wrong, and says it before anything happens.
//!
//! But for [`wrap`] and [`hub`], nothing here reads a clock or opens a file; nothing is async.

mod check;
pub mod config;
mod engine;
mod fold;
mod front;
pub mod hub;
mod in_roots;
mod modern_server;
mod principal;
pub mod recipe;
pub mod scan;
pub mod status;
pub mod wrap;

pub use check::{Finding, GrantedPlace, Named, RefusedPath, Verdict, check, check_path};
pub use principal::Principal;
