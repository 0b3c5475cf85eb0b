//! Code that `xtask` and `interop` share: commands and steps, programs that cargo builds, third-party programs, and a conversation with
//! an MCP server.
//!
//! This is a separate crate because the demos need it and must not wait for the rest to build.

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
