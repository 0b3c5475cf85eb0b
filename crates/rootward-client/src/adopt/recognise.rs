//! Which client a file belongs to: by its path, or by its keys.

use std::path::{Path, PathBuf};

use rootward_core::env::Environment;

use crate::import::{Form, Holder, Platform, Value, project_files, tree, user_files};

/// File names that identify the client, in any directory.
const NAMES: [(&str, Form); 6] = [
    (".claude.json", Form::ClaudeState),
    ("claude_desktop_config.json", Form::ClaudeDesktop),
    ("mcp_config.json", Form::Windsurf),
    (".mcp.json", Form::ClaudeProject),
    ("opencode.json", Form::Opencode),
    ("opencode.jsonc", Form::Opencode),
];

/// The client of a file, who is responsible for it, and which project it belongs to. `None` if neither its path nor
/// its keys tell.
///
/// A file that is not one of the user's own belongs to a project: the author of the project wrote it.
pub fn recognise(file: &Path, text: &str, environment: &Environment) -> Option<(Form, Holder, Option<PathBuf>)> {
    let own = user_files(Platform::NATIVE, environment).into_iter().find(|place| place.file == file);
    if let Some(place) = own {
        return Some((place.form, Holder::User, None));
    }
    let of_project = project_files().into_iter().filter(|(_, name)| file.ends_with(name));
    // `.opencode/opencode.json` ends with `opencode.json`, too.
    let of_project = of_project.max_by_key(|(_, name)| name.len());
    if let Some((form, name)) = of_project {
        let project = file.ancestors().nth(Path::new(name).components().count());
        return Some((form, Holder::Project, project.map(Path::to_owned)));
    }
    let name = file.file_name()?.to_str()?;
    let named = NAMES.iter().find(|(known, _)| *known == name).map(|(_, form)| *form);
    let form = named.or_else(|| by_keys(file, text))?;
    Some((form, Holder::Project, file.parent().map(Path::to_owned)))
}

/// Exactly one of the keys that clients use for servers.
fn by_keys(file: &Path, text: &str) -> Option<Form> {
    if file.extension().is_some_and(|extension| extension == "toml") {
        let top = tree(Form::Codex, text).ok()?;
        return top.get("mcp_servers").map(|_| Form::Codex);
    }
    let top = tree(Form::ClaudeProject, text).ok()?;
    // `claude --mcp-config FILE` reads such files, too.
    let known = [Form::ClaudeProject, Form::VsCode, Form::Opencode, Form::Zed];
    let has = |form: &Form| {
        let servers = form.servers_key().and_then(|key| top.get(key));
        servers.is_some_and(|servers| matches!(servers.value, Value::Table(_)))
    };
    let mut found = known.into_iter().filter(has);
    found.next().filter(|_| found.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_place_and_by_keys() {
        let environment: Environment = [("HOME", "/h")].into();
        let check = |file: &str, text: &str, expect: Option<(Form, Holder, Option<&str>)>| {
            let found = recognise(Path::new(file), text, &environment);
            assert_eq!(
                found,
                expect.map(|(form, holder, project)| (form, holder, project.map(PathBuf::from))),
                "{file}"
            );
        };
        check("/h/.claude.json", "", Some((Form::ClaudeState, Holder::User, None)));
        check("/h/.gemini/settings.json", "", Some((Form::Gemini, Holder::User, None)));
        check("/h/.config/zed/settings.json", "", Some((Form::Zed, Holder::User, None)));
        check("/p/.mcp.json", "", Some((Form::ClaudeProject, Holder::Project, Some("/p"))));
        check("/p/.cursor/mcp.json", "", Some((Form::Cursor, Holder::Project, Some("/p"))));
        check("/p/.vscode/mcp.json", "", Some((Form::VsCode, Holder::Project, Some("/p"))));
        check("/p/.gemini/settings.json", "", Some((Form::Gemini, Holder::Project, Some("/p"))));
        check("/p/.opencode/opencode.jsonc", "", Some((Form::Opencode, Holder::Project, Some("/p"))));
        check("/x/.claude.json", "", Some((Form::ClaudeState, Holder::Project, Some("/x"))));
        check("/x/a.json", r#"{"mcpServers": {}}"#, Some((Form::ClaudeProject, Holder::Project, Some("/x"))));
        check("/x/a.json", r#"{"servers": {}}"#, Some((Form::VsCode, Holder::Project, Some("/x"))));
        check("/x/a.json", r#"{"mcp": {}}"#, Some((Form::Opencode, Holder::Project, Some("/x"))));
        check("/x/a.json", r#"{"context_servers": {}}"#, Some((Form::Zed, Holder::Project, Some("/x"))));
        check("/x/a.toml", "[mcp_servers.a]\ncommand = 'x'", Some((Form::Codex, Holder::Project, Some("/x"))));
        for (file, text) in [
            ("/x/a.json", r#"{"mcpServers": {}, "servers": {}}"#),
            ("/x/a.json", r#"{"mcpServers": []}"#),
            ("/x/a.json", "{}"),
            ("/x/a.json", "{"),
            ("/x/a.toml", "x = 1"),
            ("/x/a.yaml", "servers: {}"),
            ("/", ""),
        ] {
            check(file, text, None);
        }
    }
}
