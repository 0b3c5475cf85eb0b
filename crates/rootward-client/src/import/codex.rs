//! Codex: `config.toml` with `[mcp_servers.NAME]`, writable roots and trusted projects.

use std::path::PathBuf;

use rootward_core::Access;

use super::entry::{self, Dialect};
use super::model::{SuggestedBy, SuggestedRoot};
use super::node::{Node, Value};
use super::reader::Reader;
use super::variables::{FileContext, Syntax};

pub(super) const DIALECT: Dialect = Dialect { headers: "http_headers", passed: Some("env_vars"), ..Dialect::USUAL };

pub(super) fn config(reader: &mut Reader<'_>, top: &Node, around: &FileContext) {
    entry::all(reader, top, "mcp_servers", &entry::scope(around), DIALECT, around);
    if let Some(sandbox) = top.get("sandbox_workspace_write") {
        const KEY: &str = "sandbox_workspace_write.writable_roots";
        for text in reader.texts(sandbox, "`sandbox_workspace_write`", "writable_roots").unwrap_or_default() {
            let path = around.resolve(&text, Syntax::Nothing);
            reader.root(SuggestedRoot { text, path, access: Access::READ_WRITE, why: SuggestedBy::Listed(KEY) });
        }
    }
    // A project must not declare itself trusted.
    if around.project.is_some() {
        return;
    }
    for project in reader.table(top, "projects") {
        let level = project.node.get("trust_level").map(|node| &node.value);
        if matches!(level, Some(Value::Text(level)) if level == "trusted") {
            let path = Some(PathBuf::from(&project.name)).filter(|path| path.is_absolute());
            let text = project.name.clone();
            reader.root(SuggestedRoot { text, path, access: Access::READ_WRITE, why: SuggestedBy::TrustedProject });
        }
    }
}
