//! What `xtask` and `interop` have in common: commands and the steps that are made of them, programs that cargo builds, programs of
//! others, and a conversation with an MCP server.
//!
//! A crate of its own, because the demos need it and must not wait for the rest.

#![expect(clippy::disallowed_methods, reason = "works on the project's own files, never on what a peer names")]
#![expect(clippy::print_stdout, reason = "for programs on a terminal")]

pub mod built;
pub mod call;
pub mod conversation;
pub mod form;
pub mod install;
pub mod scratch;
pub mod spoken;
pub mod step;
pub mod table;
pub mod wait;
