//! Claude Desktop: `claude_desktop_config.json`.

use super::entry::{self, Dialect};
use super::model::Scope;
use super::node::Node;
use super::reader::Reader;
use super::variables::FileContext;

pub(super) const DIALECT: Dialect = Dialect::USUAL;

pub(super) fn servers(reader: &mut Reader<'_>, top: &Node, around: &FileContext) {
    entry::all(reader, top, "mcpServers", &Scope::User, DIALECT, around);
}
