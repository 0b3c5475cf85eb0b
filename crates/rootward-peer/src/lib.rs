//! What an MCP client says of its roots, and what it is told of a refusal: plain JSON, whatever SDK carries it, or none.
//!
//! ```
//! use std::path::Path;
//!
//! use rootward_peer::ClientList;
//! use serde_json::json;
//!
//! let answer = json!({"roots": [{"uri": "file:///srv/app"}, {"uri": 7}]});
//! let list = ClientList::read(&answer, None)?;
//! assert_eq!(list.roots()[0].path, Path::new("/srv/app"));
//! assert_eq!(list.refused()[0].reason.to_string(), "not a usable root: `uri` is a number, not a text");
//! # Ok::<(), rootward_peer::ListError>(())
//! ```
//!
//! - [`ClientList`]: the answer to `roots/list`; [`Pages`]: the same where it comes in pages.
//! - [`Refusal`]: a [`Denial`](rootward_core::Denial) as a peer sees it.
//! - [`keys`]: names that both sides know.
//!
//! The libraries that face peers share it: `rootward-server` and the provider of `rootward-client`, which are built on an SDK, and
//! `rootward-hub`, which passes frames on and is built on none.

pub mod keys;
mod list;
mod pages;
mod refusal;

pub use list::{ClientList, ListError, MOST_ENTRIES, shortened};
pub use pages::{Pages, Turned};
pub use refusal::Refusal;
