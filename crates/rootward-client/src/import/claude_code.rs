//! Claude Code: `.claude.json` with servers for the user and for each project, `.mcp.json` in projects, `settings.json` with
//! directories.

use std::path::PathBuf;

use rootward_core::{Access, Shown};

use super::entry::{self, Dialect};
use super::model::{Enabled, Scope, SuggestedBy, SuggestedRoot};
use super::node::{Node, Value};
use super::reader::Reader;
use super::variables::{FileContext, Syntax};

pub(super) const DIALECT: Dialect = Dialect { syntax: Syntax::Shell, ..Dialect::USUAL };

/// `~/.claude.json`: `mcpServers`, and the same for each of `projects`.
pub(super) fn state(reader: &mut Reader<'_>, top: &Node, around: &FileContext) {
    entry::all(reader, top, "mcpServers", &Scope::User, DIALECT, around);
    for project in reader.table(top, "projects") {
        let place = Some(PathBuf::from(&project.name)).filter(|place| place.is_absolute());
        let there = FileContext { project: place.clone(), ..around.clone() };
        let first = reader.servers_so_far();
        entry::all(reader, &project.node, "mcpServers", &Scope::Project(project.name.clone()), DIALECT, &there);
        let within = format!("project `{}`", Shown::new(&project.name));
        if let Ok(off) = reader.texts(&project.node, &within, "disabledMcpServers") {
            for server in reader.servers_since(first) {
                if off.contains(&server.name) {
                    server.enabled = Enabled::Off;
                }
            }
        }
        let trusted = project.node.get("hasTrustDialogAccepted").map(|node| &node.value);
        if matches!(trusted, Some(Value::Boolean(true))) {
            let text = project.name.clone();
            reader.root(SuggestedRoot {
                text,
                path: place,
                access: Access::READ_WRITE,
                why: SuggestedBy::TrustedProject,
            });
        }
    }
}

/// `.mcp.json`.
pub(super) fn servers(reader: &mut Reader<'_>, top: &Node, around: &FileContext) {
    entry::all(reader, top, "mcpServers", &entry::scope(around), DIALECT, around);
}

/// `settings.json` and `settings.local.json`: `permissions.additionalDirectories`, relative to the project in
/// projects.
pub(super) fn settings(reader: &mut Reader<'_>, top: &Node, around: &FileContext) {
    const KEY: &str = "permissions.additionalDirectories";
    let Some(permissions) = top.get("permissions") else { return };
    let Ok(directories) = reader.texts(permissions, "`permissions`", "additionalDirectories") else { return };
    for text in directories {
        let relative = !text.starts_with(['/', '~', '$']) && !text.contains([':', '\\']);
        let below = around.project.as_ref().filter(|_| relative && !text.is_empty());
        // Keep `..`: where it leads is decided on disk.
        let path = below.map(|project| project.join(&text)).or_else(|| around.resolve(&text, Syntax::Shell));
        reader.root(SuggestedRoot { text, path, access: Access::READ_WRITE, why: SuggestedBy::Listed(KEY) });
    }
}
