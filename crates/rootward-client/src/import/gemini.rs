//! Gemini CLI: `settings.json` of the user and of projects.

use super::entry::{self, Dialect};
use super::model::Enabled;
use super::node::Node;
use super::reader::Reader;
use super::variables::{FileContext, Syntax};

pub(super) const DIALECT: Dialect = Dialect { urls: &["url", "httpUrl"], syntax: Syntax::Gemini, ..Dialect::USUAL };

/// `mcpServers`; `mcp.excluded` disables servers.
pub(super) fn settings(reader: &mut Reader<'_>, top: &Node, around: &FileContext) {
    entry::all(reader, top, "mcpServers", &entry::scope(around), DIALECT, around);
    let Some(mcp) = top.get("mcp") else { return };
    if let Ok(off) = reader.texts(mcp, "`mcp`", "excluded") {
        for server in reader.servers_since(0) {
            if off.contains(&server.name) {
                server.enabled = Enabled::Off;
            }
        }
    }
}
