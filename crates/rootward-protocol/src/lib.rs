//! MCP on the wire, as far as Rootward reads or writes it: plain JSON, without an SDK, sockets or a clock.
//!
//! Support for a new revision of the protocol starts here. No other crate contains the name of a method or member.
//!
//! ```
//! use std::path::Path;
//!
//! use rootward_protocol::ClientList;
//! use serde_json::json;
//!
//! let answer = json!({"roots": [{"uri": "file:///srv/app"}, {"uri": 7}]});
//! let list = ClientList::read(&answer, None)?;
//! assert_eq!(list.roots()[0].path, Path::new("/srv/app"));
//! assert_eq!(list.refused()[0].reason.to_string(), "not a usable root: `uri` is a number, not a string");
//! # Ok::<(), rootward_protocol::ListError>(())
//! ```
//!
//! - [`frame`]: lines from a stream, the JSON-RPC envelope, ids byte for byte.
//! - [`method`], [`keys`], [`header`]: the names.
//! - [`era`]: legacy and modern, and how a client of each describes itself.
//! - [`message`]: the messages that Rootward writes.
//! - [`input`]: the questions in a modern answer.
//! - [`offer`]: what a server offers, and the answers for a server that offers nothing.
//! - [`ClientList`]: the answer to `roots/list`; [`Pages`]: the same in pages.
//! - [`HostLimits`]: what a host allows one request to access, if it says so.
//! - [`round`]: the rounds of a modern call.
//! - [`bridge`]: translates between a modern client and a legacy server; [`passing`]: passes a modern client's messages
//!   to a modern server; [`upgrade`]: translates between a legacy client and a server that speaks only the modern era.
//!   [`subscription`]: what a modern client listens for.
//! - [`session`]: the roots of a session, from the client's first message to the guard.
//! - [`ContentNumber`]: how cursors identify the list that they belong to.
//! - [`Refusal`]: a [`Denial`](rootward_core::Denial) as a peer sees it.

pub mod bridge;
mod content_number;
mod cursors;
pub mod era;
mod fold;
pub mod frame;
pub mod header;
mod host_limits;
mod implementation;
pub mod input;
pub mod keys;
mod list;
pub mod message;
pub mod method;
pub mod offer;
mod pages;
pub mod passing;
mod refusal;
mod root_refusal;
pub mod round;
pub mod session;
pub mod subscription;
mod text;
pub mod upgrade;

pub use content_number::ContentNumber;
pub use cursors::{keep_cursor, keep_next_cursor};
pub use era::Era;
pub use fold::{fold_case, is_same_but_for_case};
pub use host_limits::{HostLimits, PlacedLimits, tells_limits};
pub use implementation::peer_name;
pub use list::{ClientList, ListError, MOST_ENTRIES};
pub use pages::{Pages, Turned};
pub use refusal::{Among, Apart, Refusal, RefusalForm};
pub use root_refusal::{RootRefusal, RootRefusalKind};
pub use text::{shortened, shown};
