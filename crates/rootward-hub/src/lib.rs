//! Stands between MCP clients and servers.

mod fold;
pub mod frame;
