//! Claude Desktop: `claude_desktop_config.json`.

use super::entry::{self, Dialect};
use super::model::Scope;
use super::node::Node;
use super::reader::{Reader, Takes};
use super::variables::{Around, Syntax};

const DIALECT: Dialect =
    Dialect { headers: "headers", variables_file: None, takes: Takes::Texts, syntax: Syntax::Nothing };

pub(super) fn servers(reader: &mut Reader<'_>, top: &Node, around: &Around) {
    entry::all(reader, top, "mcpServers", &Scope::User, DIALECT, around);
}
