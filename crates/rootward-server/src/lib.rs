//! The roots of an MCP session, for server authors: read from the wire as clients really send them, always current, always
//! enforced.
//!
//! # Layout
//!
//! - [`ClientList`]: a client's answer to `roots/list`, read so that one bad entry does not cost the good ones.

mod list;

pub use list::{ClientList, ListError};
