//! The roots of an MCP session, for server authors: read from the wire as clients really send them, always current, always
//! enforced.
//!
//! # Layout
//!
//! - [`RootsService`], [`Settings`]: what is decided once, for all sessions.
//! - [`Session`]: the roots of one session; it asks the client when a call needs them. [`Roots`]: those in force now.
//! - [`Refusal`]: how a refused path reaches the peer.
//! - [`ClientList`]: a client's answer to `roots/list`, read so that one bad entry does not cost the good ones.

mod error;
mod flight;
mod in_order;
mod list;
mod modern;
mod path;
mod refusal;
mod rooted;
mod roots;
mod scope;
mod session;
mod settings;
mod wire;

pub use error::PathError;
pub use list::{ClientList, ListError};
pub use path::{Create, Delete, Execute, Last, Read, RootedPath, Use, Write};
pub use refusal::Refusal;
pub use rooted::Rooted;
pub use roots::Roots;
pub use scope::{roots, session};
pub use session::{NotKnown, Session};
pub use settings::{RefusalForm, RootsService, Settings};
