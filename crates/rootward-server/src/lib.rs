//! The roots of an MCP session, for server authors: read from the wire as clients really send them, always current, always
//! enforced.
//!
//! # Layout
//!
//! - [`RootsService`], [`Settings`]: what is decided once, for all sessions.
//! - [`Session`]: the roots of one session; it asks the client when a call needs them. [`Roots`]: those in force now.
//! - [`Refusal`]: how a refused path reaches the peer.
//! - [`ClientList`]: a client's answer to `roots/list`, read so that one bad entry does not cost the good ones.

mod flight;
mod list;
mod refusal;
mod roots;
mod session;
mod settings;
mod wire;

pub use list::{ClientList, ListError};
pub use refusal::Refusal;
pub use roots::Roots;
pub use session::{NotKnown, Session};
pub use settings::{RefusalForm, RootsService, Settings};
