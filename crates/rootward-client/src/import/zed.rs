//! Zed: `context_servers` in `settings.json` of the user and of projects. Some entries only configure a server that an extension starts.

use super::entry::{self, CommandShape, Dialect};
use super::node::Node;
use super::reader::Reader;
use super::variables::FileContext;

pub(super) const DIALECT: Dialect = Dialect { command: CommandShape::Table, ..Dialect::USUAL };

pub(super) fn settings(reader: &mut Reader<'_>, top: &Node, around: &FileContext) {
    entry::all(reader, top, "context_servers", &entry::scope(around), DIALECT, around);
}
