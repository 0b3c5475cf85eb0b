//! VS Code: `mcp.json` of the user's profile and of workspaces. What `inputs` asks for stays `${input:…}`.

use super::entry::{self, Dialect};
use super::node::Node;
use super::reader::{Reader, Takes};
use super::variables::{FileContext, Syntax};

pub(super) const DIALECT: Dialect =
    Dialect { variables_file: Some("envFile"), takes: Takes::NumbersToo, syntax: Syntax::Editor, ..Dialect::USUAL };

pub(super) fn servers(reader: &mut Reader<'_>, top: &Node, around: &FileContext) {
    entry::all(reader, top, "servers", &entry::scope(around), DIALECT, around);
}
