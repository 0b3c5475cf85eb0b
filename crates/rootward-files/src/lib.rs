//! A file server for MCP: the tools and names of the reference server, with every path confined to the roots.
//!
//! A tool's path is a [`RootedPath`](rootward_server::RootedPath): the service checks and opens it before the tool
//! runs, and the tool uses only that handle. Nothing here opens a user's file by name.
//!
//! ```no_run
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! use rootward_files::FileServer;
//! use rootward_server::RootsService;
//!
//! FileServer::default().serve_stdio(&RootsService::from_environment()?).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Layout
//!
//! - `server.rs`: the MCP handler; lists the tools, and notifies the client when the roots change. `stdio.rs`,
//!   `channels.rs`: a whole session.
//! - `tool.rs`: what a tool is; `tools/` has one file for each. `schemas.rs`: input and output schemas.
//! - `call.rs`: a running call: its worker thread, cancellation and progress.
//! - `answer.rs`, `failure.rs`: how a call ends.
//! - `text.rs`, `lines.rs`: decode bytes to text, and read some of its lines.
//! - `path.rs`, `name.rs`: paths in calls, and names as lists show them. `tree.rs`, `pattern.rs`, `count.rs`: a tree as
//!   JSON, globs, positive numbers.
//! - `toolset.rs`: sets of tools that an operator switches on. `project/`: project analysis for the tools of that set.
//! - `resources/`: list, read and watch files as resources. `completion.rs`: complete paths. `prompts/`: one file for
//!   each prompt.
//! - `search/`: search the contents of files.
//! - `workspace.rs`: the current roots as text for tool descriptions, and which tools are useful with them.

mod answer;
mod call;
mod channels;
mod completion;
mod count;
mod failure;
mod lines;
mod name;
mod path;
mod pattern;
mod project;
mod prompts;
mod resources;
mod schemas;
mod search;
mod server;
mod stdio;
mod text;
mod tool;
mod tools;
mod toolset;
mod tree;
mod workspace;

pub use resources::listing::{Listing, UnknownListing};
pub use rootward_server::SessionError;
pub use server::FileServer;
pub use toolset::{Toolset, Toolsets, UnknownToolset};
