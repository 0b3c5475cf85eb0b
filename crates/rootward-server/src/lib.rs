//! The client's roots for authors of MCP servers: always current, always enforced, in one line.
//!
//! A client shares directories, its *roots*. A tool argument of type [`RootedPath`] is checked against them and opened
//! before the tool's body runs. It *is* a [`Grant`]: it reads the file that was checked, even if the name changes in
//! the meantime. A path that is not shared never reaches the body.
//!
//! A whole server:
//!
//! ```no_run
//! use rmcp::{handler::server::wrapper::Parameters, tool, tool_router};
//! use rootward_server::{PathError, RootedPath, RootsService};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct ReadFile { path: RootedPath }
//! struct Server;
//!
//! #[tool_router(server_handler)]
//! impl Server {
//!     #[tool(description = "Read a text file")]
//!     fn read_file(Parameters(ReadFile { path }): Parameters<ReadFile>) -> Result<String, PathError> {
//!         Ok(String::from_utf8_lossy(&path.read(1 << 20)?).into_owned())
//!     }
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     RootsService::from_environment()?.install(Server).serve_stdio().await?.waiting().await?;
//!     Ok(())
//! }
//! ```
//!
//! The [`guide`] has an example for each common task: several paths, a write, a resource, a prompt, a command, HTTP,
//! your own variable names, tests.
//!
//! With a rooted path you can `read`, `list`, `append`, `replace`, `create_new`, `remove`, `rename_to` and more: see
//! [`Grant`]. The client sends it as an absolute path, a `file:` URI, or relative to the first root. These calls block;
//! run long ones in `spawn_blocking`. Use `path()` for display only: opening the file by that name bypasses the check.
//!
//! Clients of MCP 2025-11-25 and earlier (*legacy*) hold a session. The server asks them for their roots when the first
//! call needs them, once for all waiting calls. After a client reports that its roots changed, later calls wait for the
//! new list. The server cannot ask clients of 2026-07-28 (*modern*): it returns the question instead of a result, and
//! they send the call again. A handler that is served without [`RootsService::install`] refuses every path.
//!
//! ```toml
//! [dependencies]
//! rootward-server = "0.1"
//! rmcp = { version = "3.8", features = ["macros"] }   # for HTTP also "transport-streamable-http-server"
//! schemars = "1"
//! serde = { version = "1", features = ["derive"] }
//! tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
//! ```
//!
//! # Other ways to a path
//!
//! - [`Roots`] as a parameter of a tool or a prompt: all current roots.
//! - [`roots()`] in the body of any call, including `resources/read`. It asks the client if necessary:
//!   `roots().await?.check(&request.uri, Access::READ).map_err(PathError::from)?` is a [`Grant`].
//! - [`refused()`]: the error text for one path among many, if the call continues without it.
//! - [`roots_cached()`] and [`path_in_roots()`] never wait. They return `None` until a call of the session needs roots,
//!   and again after the client reports a change until the new list arrives.
//! - [`listener_roots()`] in the body of `listen`: the current roots of a modern client that listens for changes.
//! - [`session()`], the session of a legacy client: [`Session::subscribe`] reports changes, [`Session::refresh`] asks
//!   again.
//! - [`Roots::page`]: a long list in pages. Cursors become stale when the list changes.
//!
//! A task that the call spawns runs outside the call: get [`Roots`] or a [`RootedPath`] first, and move it in.
//!
//! Some arguments must stay strings because a library or another program takes only names. Check those with the
//! attribute [`require_within_roots`]: `#[require_within_roots(path, destination: write)]` on the tool. It checks the
//! name at that moment; prefer [`RootedPath`], which is a handle.
//!
//! # Setup and options
//!
//! - [`RootsService::from_environment`] reads the operator's settings (`ROOTWARD_ROOTS`, `ROOTWARD_MODE`, …:
//!   [`rootward_core::env`]), but not Rootward's settings file. [`RootsService::new`] takes your own [`Settings`].
//! - [`Rooted::serve_stdio`]: standard output carries the protocol, so print nothing there. [`Rooted::serve`] takes any
//!   transport; rmcp's own `serve` would see root changes too late.
//! - [`Rooted::serve_channels`] takes messages from channels, for your own front end: one call per session, or per
//!   modern request.
//! - [`RootsService::http`] wraps rmcp's `StreamableHttpService`, for the same reason: `roots.http(service)`.
//! - [`Rooted::with_described_tools`] names the roots in the descriptions of tools that take a path, and notifies the
//!   client when they change.
//! - [`OwnVariables`]: settings under the server's own variable names. [`Roots::working_directory`]: the default
//!   working directory.
//! - With the feature `command`, `ConfinedCommand` runs a command that the kernel confines to the roots. With `http`,
//!   `RootsService::listen_http` serves over HTTP on this machine.
//! - [`Rooted::with_roots_resource`] lets a model read which directories it may use, as the resource [`ROOTS_URI`].
//! - [`Settings::audit`] records every decision before it takes effect. [`AuditLog`] writes tamper-evident files, which
//!   `rootward audit` shows and checks.
//! - The server asks Codex what its own sandbox allows, and holds each call to that as well: [`Roots::check`] refuses
//!   what Codex does not allow, and [`Roots::check_unbounded`] is for operations that can only be limited to the roots.
//!   Decisions made directly through [`Roots::guard`] ignore these limits.
//! - [`RefusalForm`]: a refusal is either a tool result with `isError`, which a model can read, or error -32602.

mod announce;
mod argument;
mod channels;
#[cfg(feature = "command")]
mod command;
mod describe;
mod error;
mod exchange;
mod flight;
mod flow;
mod given;
pub mod guide;
mod http;
mod in_order;
#[cfg(feature = "http")]
mod listener;
mod listening;
mod modern;
mod path;
mod principal;
mod record;
mod refusal;
mod resting;
mod rooted;
mod roots;
mod scope;
mod session;
mod settings;
mod stdio;
mod summary;
mod variables;
mod wire;

pub use argument::{Argument, require_within_roots};
#[cfg(feature = "command")]
pub use command::{CommandEnded, CommandError, CommandOutput, ConfinedCommand};
pub use describe::roots_in_words;
pub use error::{PageError, PathError};
pub use http::RootedHttp;
#[cfg(feature = "http")]
pub use listener::HttpListener;
pub use listening::listener_roots;
pub use path::{Create, Delete, Execute, Last, NewReading, OtherReading, Read, ReadWrite, RootedPath, Use, Write};
pub use principal::Principal;
pub use refusal::RefusalAnswer;
pub use resting::SessionError;
pub use rooted::Rooted;
pub use roots::Roots;
pub use rootward_audit::{self as audit, AuditLines, AuditLog};
pub use rootward_core::{Access, Denial, Grant, GrantError, Mode, PlacedRoot, Replace};
pub use rootward_protocol::session::{LeftOut, LeftOutKind};
pub use rootward_protocol::{ClientList, ListError, Refusal, RefusalForm};
#[cfg(feature = "command")]
pub use rootward_sandbox as sandbox;
pub use scope::{path_in_roots, refused, roots, roots_cached, session};
pub use session::{NotKnown, Session};
pub use settings::{RootsService, Settings, TellLeftOut};
pub use summary::{ROOTS_SENTENCE, ROOTS_URI, RootsSummary, SummaryLeftOut, SummaryRoot, roots_resource};
pub use variables::OwnVariables;

/// Functions that code generated by [`require_within_roots`] calls. Do not use them directly.
#[doc(hidden)]
pub mod expansion {
    pub use crate::argument::{check, refused};
}
