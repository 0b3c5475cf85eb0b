//! The client's roots for authors of MCP servers: always current, always enforced, in one line.
//!
//! A client shares directories, its *roots*. A tool's argument of type [`RootedPath`] is a path that was decided against
//! them and opened before the tool's body runs: it *is* a [`Grant`], and reads what was
//! checked, whatever becomes of the name meanwhile. A path that is not shared never reaches the body.
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
//! The [`guide`] has an example for each thing that an author needs: several paths, a write, a resource, a prompt, a command, HTTP, variables
//! with names of one's own, tests.
//!
//! A rooted path can be `read`, `list`ed, `append`ed to, `replace`d, `create_new`ed, `remove`d, `rename_to` and more: see [`Grant`]. It
//! comes as an absolute path, a `file:` URI, or relative to the first root. These calls block; long ones belong in
//! `spawn_blocking`. Its `path()` is for showing: to open it by name gives up what was checked.
//!
//! Clients of MCP 2025-11-25 and before (*legacy*) hold a session. They are asked when its first call needs roots, once for all calls
//! that wait; when they say that their roots changed, calls that come after wait for the new list. Clients of 2026-07-28
//! (*modern*) cannot be asked: they get the question in place of a result, and send the call again. A handler that is served without
//! [`RootsService::install`] refuses every path.
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
//! - [`Roots`] as a parameter of a tool or a prompt: all that is in force.
//! - [`roots()`] in the body of any call, also of `resources/read`; the client is asked where need be:
//!   `roots().await?.check(&request.uri, Access::READ).map_err(PathError::from)?` is a [`Grant`].
//! - [`refused()`]: the words for one path among many, where a call goes on without it.
//! - [`roots_cached()`] and [`path_in_roots()`] never wait: they say `None` until a call of the session needed roots, and again from the
//!   moment when the client says that its roots changed until the new list is there.
//! - [`listener_roots()`] in the body of `listen`: the current roots of a modern client that listens for changes.
//! - [`session()`], the session of a legacy client: [`Session::subscribe`] tells of changes, [`Session::refresh`] asks anew.
//! - [`Roots::page`]: a long list part by part, with cursors that are stale when it has changed.
//!
//! In a task that the call spawns there is no call: take [`Roots`] or a [`RootedPath`] before, and move it in.
//!
//! An argument that must stay a string, because a library or another program takes names only, is checked by the attribute
//! [`require_within_roots`]: `#[require_within_roots(path, destination: write)]` on the tool. It tells about the name, at that
//! moment; prefer [`RootedPath`], which is a handle.
//!
//! # Around it
//!
//! - [`RootsService::from_environment`] takes the operator's settings (`ROOTWARD_ROOTS`, `ROOTWARD_MODE`, …: [`rootward_core::env`]),
//!   not Rootward's settings file; [`RootsService::new`] takes [`Settings`] that the author made.
//! - [`Rooted::serve_stdio`]: standard output carries the protocol, so print nothing there. [`Rooted::serve`] takes any transport; rmcp's own
//!   `serve` would hear changes of roots too late.
//! - [`Rooted::serve_channels`] takes messages from channels, for a front of your own: one call for each session, or for each modern request.
//! - [`RootsService::http`] is put around rmcp's `StreamableHttpService`, for the same reason: `roots.http(service)`.
//! - [`Rooted::with_described_tools`] names the roots in the descriptions of tools that take a path, and tells the client when they change.
//! - [`OwnVariables`]: settings under a server's own variable names. [`Roots::working_directory`]: where something starts that names no directory.
//! - With the feature `command`, `ConfinedCommand` runs a command that the kernel holds to the roots; with `http`, `RootsService::listen_http`
//!   serves over HTTP on this machine.
//! - [`Rooted::with_roots_resource`] lets a model read which directories it may ask for, as the resource [`ROOTS_URI`].
//! - [`Settings::audit`] puts every decision on record before it takes effect: with [`AuditLog`] in files whose lines hold together,
//!   which `rootward audit` shows and checks.
//! - Codex is asked what its own sandbox allows, and each call is held to that as well: [`Roots::check`] refuses what Codex does not
//!   allow, and [`Roots::check_unbounded`] is for acts that can only be held to the roots. What is decided by [`Roots::guard`] is not.
//! - [`RefusalForm`]: a refusal is a tool's result with `isError`, which a model can read, or else -32602.

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
mod json;
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
pub use path::{Create, Delete, Execute, Last, Read, ReadWrite, RootedPath, Use, Write};
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

/// What the attribute [`require_within_roots`] writes calls to. Not for use by hand.
#[doc(hidden)]
pub mod expansion {
    pub use crate::argument::{check, refused};
}
