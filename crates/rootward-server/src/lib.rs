//! The client's roots for authors of MCP servers: always current, always enforced, in one line.
//!
//! A client shares directories, its *roots*. A tool's argument of type [`RootedPath`] is a path that was decided against
//! them and opened before the tool's body runs: it *is* a [`Grant`](rootward_core::Grant), and reads what was
//! checked, whatever becomes of the name meanwhile. A path that is not shared never reaches the body.
//!
//! ```no_run
//! use rmcp::handler::server::wrapper::Parameters;
//! use rmcp::{tool, tool_router, transport::stdio};
//! use rootward_server::{PathError, RootedPath, RootsService, Write};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Copy {
//!     from: RootedPath,
//!     to: RootedPath<Write>,
//! }
//!
//! struct Server;
//!
//! #[tool_router(server_handler)]
//! impl Server {
//!     #[tool(description = "Copy a file")]
//!     fn copy(Parameters(Copy { from, to }): Parameters<Copy>) -> Result<String, PathError> {
//!         to.replace(&from.read(1 << 20)?)?;
//!         Ok("copied".to_owned())
//!     }
//! }
//!
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! // The one line: the handler is served behind a roots service.
//! RootsService::default().install(Server).serve(stdio()).await?.waiting().await?;
//! # Ok(())
//! # }
//! ```
//!
//! The client is asked when the first call needs its roots, once for all calls that wait, and again when it says that they
//! changed; from that moment on calls wait. Modern clients, which cannot be asked, get the question in place of a
//! result and send the call again. A handler that is served without [`RootsService::install`] refuses every path.
//!
//! # Other ways to a path
//!
//! - [`Roots`] as a parameter of a tool or a prompt: the whole of what is in force.
//! - [`roots()`] in the body of any call, also of `resources/read`: the same, fetched where need be.
//! - [`session()`] for what needs no waiting: [`Session::roots_cached`], [`Session::path_in_roots`],
//!   [`Session::subscribe`]; and [`Session::invalidate`], [`Session::refresh`].
//!
//! An argument that must stay a string, because a library or another program takes names only, is checked by the attribute
//! [`require_within_roots`]: `#[require_within_roots(path, destination: write)]` on the tool. It tells about the name, at that
//! moment; prefer [`RootedPath`], which is a handle.
//!
//! # Layout
//!
//! - [`RootsService`], [`Settings`]: what is decided once, for all sessions. [`Rooted`]: a handler behind the service.
//! - [`RootedPath`] and what it may be used for: [`Read`], [`Write`], [`Create`], [`Delete`], [`Execute`].
//! - [`require_within_roots`], and what it can check: [`Argument`].
//! - [`Session`]: the roots of one legacy session, driving [`rootward_core::session`]; `flight.rs` has the question under
//!   way. `modern.rs` has the modern era. `scope.rs` is how a call and its arguments find their roots.
//! - [`PathError`], [`Refusal`]: what a peer is told.
//! - [`ClientList`]: a client's answer to `roots/list`, read so that one bad entry does not cost the good ones.
//! - `wire.rs` alone knows the protocol's deprecated types; `in_order.rs` hears changes in the order in which they came.

mod announce;
mod argument;
mod audit;
mod error;
mod flight;
mod guards;
#[cfg(feature = "http")]
mod http;
mod in_order;
#[cfg(any(feature = "stdio", feature = "http"))]
mod keep_cursor;
mod list;
mod modern;
mod pages;
mod path;
mod refusal;
mod rooted;
mod roots;
mod scope;
mod session;
mod settings;
#[cfg(feature = "stdio")]
mod stdio;
mod summary;
mod wire;

pub use argument::{Argument, require_within_roots};
pub use audit::AuditLines;
pub use error::{PageError, PathError};
#[cfg(feature = "http")]
pub use http::RootedHttp;
pub use list::{ClientList, ListError};
pub use path::{Create, Delete, Execute, Last, Read, RootedPath, Use, Write};
pub use refusal::Refusal;
pub use rooted::Rooted;
pub use roots::Roots;
pub use scope::{path_in_roots, roots, roots_cached, session};
pub use session::{NotKnown, Session};
pub use settings::{RefusalForm, RootsService, Settings};
#[cfg(feature = "stdio")]
pub use stdio::{KeepCursors, stdio};
pub use summary::{ROOTS_SENTENCE, ROOTS_URI, RootsSummary, SummaryRoot, roots_resource};

/// What the attribute [`require_within_roots`] writes calls to. Not for use by hand.
#[doc(hidden)]
pub mod expansion {
    pub use crate::argument::{check, refused};
}
