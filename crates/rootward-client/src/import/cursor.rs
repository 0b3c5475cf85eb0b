//! Cursor: `mcp.json` of the user and of projects.

use super::entry::{self, Dialect};
use super::node::Node;
use super::reader::{Reader, Takes};
use super::variables::{Around, Syntax};

const DIALECT: Dialect =
    Dialect { headers: "headers", variables_file: Some("envFile"), takes: Takes::Texts, syntax: Syntax::Editor };

pub(super) fn servers(reader: &mut Reader<'_>, top: &Node, around: &Around) {
    entry::all(reader, top, "mcpServers", &entry::scope(around), DIALECT, around);
}
