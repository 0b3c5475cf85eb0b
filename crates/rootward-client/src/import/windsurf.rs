//! Windsurf: `mcp_config.json` of the user.

use super::entry::{self, Dialect};
use super::model::Scope;
use super::node::Node;
use super::reader::Reader;
use super::variables::{FileContext, Syntax};

pub(super) const DIALECT: Dialect = Dialect { urls: &["serverUrl", "url"], syntax: Syntax::Editor, ..Dialect::USUAL };

pub(super) fn servers(reader: &mut Reader<'_>, top: &Node, around: &FileContext) {
    entry::all(reader, top, "mcpServers", &Scope::User, DIALECT, around);
}
