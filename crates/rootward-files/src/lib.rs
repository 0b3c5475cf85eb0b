//! A file server for MCP: the tools and names of the reference server, every path held to the roots.
//!
//! A tool's path is a [`RootedPath`](rootward_server::RootedPath): decided and opened before the tool runs, and used through that
//! handle only. Nothing here opens a user's file by name.
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
//! - `server.rs`: what the protocol asks of a server; lists tools, and lists them again when the roots change. `stdio.rs`, `channels.rs`: a whole session.
//! - `tool.rs`: what a tool is; `tools/` has one file for each. `schemas.rs`: what each takes and answers with, for clients.
//! - `call.rs`: a call that is running: where its work is done, how it is stopped, what it tells meanwhile.
//! - `answer.rs`, `failure.rs`: how it ends.
//! - `text.rs`, `lines.rs`: how bytes become text, and how some lines of it are read.
//! - `path.rs`, `name.rs`: paths in calls, and names as lists show them. `tree.rs`, `pattern.rs`, `count.rs`: a tree as JSON, globs, numbers that count.
//! - `toolset.rs`: sets of tools that an operator switches on. `project/`: what a project is made of, for the tools of that set.
//! - `resources/`: files as resources: listed, read, watched. `completion.rs`: paths completed. `prompts/`: one file for each prompt.
//! - `search/`: searching the contents of files.
//! - `workspace.rs`: the current roots, in the words of a tool's description, and which tools can do anything in them.

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
