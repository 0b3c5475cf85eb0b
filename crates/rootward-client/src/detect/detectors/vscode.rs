//! `*.code-workspace`: VS Code workspaces, in JSON with comments, with one or more folders anywhere.

use jsonc_parser::JsonValue;

use super::{json, stem};
use crate::detect::Kind;
use crate::detect::found::{Folder, Found, More, usable_name};

/// How many folders of one file count, and how long the path of each may be.
const MOST_FOLDERS: usize = 100;
const LONGEST_PATH: usize = 4096;

pub(super) fn read(file: &str, text: &str) -> Vec<Found> {
    let name = Some(stem(file)).filter(|stem| !stem.is_empty());
    let Some(folders) = folders(text) else {
        return vec![Found::likely(Kind::VscodeWorkspace).named(name)];
    };
    vec![Found { more: More::Folders(folders), ..Found::certain(Kind::VscodeWorkspace).named(name) }]
}

/// Folders with a path; one with a `uri` is on another machine or in another file system.
fn folders(text: &str) -> Option<Vec<Folder>> {
    let workspace = json::object(text)?;
    let folder = |value: &JsonValue<'_>| {
        let JsonValue::Object(folder) = value else { return None };
        let path = folder.get_string("path").filter(|path| path.len() <= LONGEST_PATH && !path.contains('\0'))?;
        Some(Folder { path: path.to_string(), name: json::name(folder).and_then(usable_name) })
    };
    Some(workspace.get_array("folders")?.iter().take(MOST_FOLDERS).filter_map(folder).collect())
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    #[test]
    fn workspaces() {
        let check = |text: &str, folders| {
            check(read, "my.app.code-workspace", text, &[(Kind::VscodeWorkspace, Some("my.app"), folders)]);
        };
        check("{\n  // both\n  \"folders\": [{\"path\": \"a\"}, {\"path\": \"../b\", \"name\": \"B\"},],\n}", 2);
        check("{\"folders\": [{\"uri\": \"vscode-remote://x/y\"}, 7, {\"path\": 1}, {\"path\": \"a\\u0000\"}]}", 0);
        check("{\"settings\": {}}", 0);
        check("{\"folders\": {}}", 0);
        check("", 0);
        check(&"{\"a\":".repeat(150_000), 0);
        check(&format!("{{\"folders\": [{}]}}", "{\"path\": \"a\"},".repeat(1000)), MOST_FOLDERS);
        check(&"/*".repeat(500_000), 0);
    }
}
