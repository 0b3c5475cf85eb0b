//! Cursor: `mcp.json` of the user and of projects.

use super::entry::{self, Dialect};
use super::node::Node;
use super::reader::Reader;
use super::variables::{FileContext, Syntax};

pub(super) const DIALECT: Dialect =
    Dialect { variables_file: Some("envFile"), syntax: Syntax::Editor, ..Dialect::USUAL };

pub(super) fn servers(reader: &mut Reader<'_>, top: &Node, around: &FileContext) {
    entry::all(reader, top, "mcpServers", &entry::scope(around), DIALECT, around);
}
