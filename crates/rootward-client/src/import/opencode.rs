//! opencode: `opencode.json` and `opencode.jsonc` of the user and of projects. The program and its arguments are one list.

use super::entry::{self, CommandShape, Dialect};
use super::node::Node;
use super::reader::Reader;
use super::variables::{FileContext, Syntax};

pub(super) const DIALECT: Dialect = Dialect {
    variables: "environment",
    command: CommandShape::List,
    process: &["local"],
    network: &["remote"],
    syntax: Syntax::Opencode,
    ..Dialect::USUAL
};

pub(super) fn config(reader: &mut Reader<'_>, top: &Node, around: &FileContext) {
    entry::all(reader, top, "mcp", &entry::scope(around), DIALECT, around);
}
