//! Generates the reference in `docs/tools`: a page for each tool, from the server's own list and from a real call.
//!
//! `ROOTWARD_UPDATE=1` writes the pages; without it, the test fails if a page is out of date.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rootward_testkit::client::ToolResult;
use serde_json::{Value, json};

use crate::stage::Stage;

/// An example call for each tool.
fn examples() -> Vec<(&'static str, Value)> {
    let edits = json!([{"oldText": "- write", "newText": "- write it down"}]);
    vec![
        ("read_text_file", json!({"path": "notes.md", "offset": 3, "limit": 2})),
        ("read_file", json!({"path": "notes.md", "head": 1})),
        ("read_media_file", json!({"path": "dot.gif"})),
        ("read_multiple_files", json!({"paths": ["src/main.rs", "missing.txt", "../secret.txt"]})),
        ("write_file", json!({"path": "src/new.rs", "content": "// begun\n"})),
        ("append_file", json!({"path": "src/new.rs", "content": "// and gone on\n"})),
        ("edit_file", json!({"path": "notes.md", "edits": edits, "dryRun": true})),
        ("create_directory", json!({"path": "docs/pages"})),
        ("list_directory", json!({"path": "."})),
        ("list_directory_with_sizes", json!({"path": ".", "sortBy": "size"})),
        ("directory_tree", json!({"path": ".", "excludePatterns": ["docs"]})),
        ("search_files", json!({"path": ".", "pattern": "**/*.rs"})),
        ("search_content", json!({"pattern": "fn \\w+", "glob": "*.rs"})),
        ("move_file", json!({"source": "src/new.rs", "destination": "src/moved.rs"})),
        ("copy_file", json!({"source": "notes.md", "destination": "docs/pages/notes.md"})),
        ("delete_file", json!({"path": "src/moved.rs"})),
        ("get_file_info", json!({"path": "notes.md"})),
        ("list_allowed_directories", json!({})),
        ("get-roots", json!({})),
        ("roots", json!({})),
        ("path_in_roots", json!({"path": "../secret.txt"})),
        ("shell", json!({"command": "git status --short", "timeout_ms": 10_000})),
        ("analyze_project", json!({})),
        ("find_documentation", json!({})),
        ("build_configuration", json!({})),
    ]
}

#[tokio::test]
async fn every_tool_has_a_current_page() {
    let stage = Stage::new();
    stage.file("root/notes.md", "# Notes\n\n- read\n- write\n");
    // Independent of the umask.
    fs::set_permissions(stage.path("root/notes.md"), fs::Permissions::from_mode(0o644)).unwrap();
    stage.file("root/src/main.rs", "fn main() {}\n");
    stage.file("root/dot.gif", b"GIF89a");
    stage.file("root/Cargo.toml", "[package]\nname = \"project\"\nversion = \"0.1.0\"\n");
    let mut client = stage.connect_whole(&["root:rwx"]).await;
    client.says("list_allowed_directories", json!({})).await;
    let list = client.ask("tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().unwrap().clone();
    let mut index = String::from(INDEX);
    let mut examples = examples();
    let mut pages = Vec::new();
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        let position = examples.iter().position(|(of, _)| *of == name);
        let (_, arguments) = examples.remove(position.unwrap_or_else(|| panic!("`{name}` has no example")));
        // The output of a command depends on the machine, so this call is shown but not made.
        let answered = if name == "shell" { None } else { Some(client.result(name, arguments.clone()).await) };
        let text = page(tool, &arguments, answered.as_ref());
        let text = steady(&text, &stage);
        let _ = writeln!(index, "| [`{name}`]({name}.md) | {} |", first_sentence(&text));
        pages.push((format!("{name}.md"), text));
    }
    assert!(examples.is_empty(), "examples without a tool: {examples:?}");
    pages.push(("README.md".to_owned(), index));
    compare(&pages);
}

const INDEX: &str = "\
# The tools of `rootward serve`

Generated from the server's own list by `ROOTWARD_UPDATE=1 cargo test -p rootward-files --test it reference`. Each example is a real call, in a root `/home/me/project`.

A path is absolute, a `file:` URI, or relative to the first root. A path that is not shared is refused before the tool runs: the result has `isError`, a sentence that \
names the path and the current roots, and the same as data (`code`, `path`, `access`, `roots`). [files.md](../files.md) says where these tools differ from those of the \
reference server, and why.

Tools that write, delete or run commands are listed only if a root allows it. `get-roots` and `roots` can always be called, and are listed with `--tools roots`. The last \
three tools need `--tools project`.

| tool | what it does |
|---|---|
";

fn page(tool: &Value, arguments: &Value, answered: Option<&ToolResult>) -> String {
    let name = tool["name"].as_str().unwrap();
    let about = tool["description"].as_str().unwrap();
    // The roots of this fixture mean nothing to a reader.
    let about = [" Allowed: ", " Without `cwd`"].iter().fold(about, |about, mark| about.split(mark).next().unwrap());
    let mut text = format!("# `{name}`\n\n{about}\n\n");
    let _ = writeln!(text, "{}\n", effect(&tool["annotations"]));
    let properties = tool["inputSchema"]["properties"].as_object();
    if let Some(properties) = properties.filter(|properties| !properties.is_empty()) {
        text.push_str("## Arguments\n\n| name | type | |\n|---|---|---|\n");
        let required = tool["inputSchema"]["required"].as_array().cloned().unwrap_or_default();
        for (argument, schema) in properties {
            let need = if required.contains(&json!(argument)) { "" } else { "optional; " };
            let says = schema["description"].as_str().unwrap_or_else(|| panic!("`{name}.{argument}` is not described"));
            let _ = writeln!(text, "| `{argument}` | {} | {need}{} |", kind(schema), says.replace('|', "\\|"));
        }
        text.push('\n');
    }
    text.push_str("## Result\n\n| data | type |\n|---|---|\n");
    for (property, schema) in tool["outputSchema"]["properties"].as_object().unwrap() {
        let _ = writeln!(text, "| `{property}` | {} |", kind(schema));
    }
    let call = serde_json::to_string_pretty(&json!({"name": name, "arguments": arguments})).unwrap();
    let _ = writeln!(text, "\n## Example\n\n```json\n{call}\n```");
    if let Some(result) = answered {
        assert_eq!(result["isError"], false, "{name}: {result:?}");
        let shown = match result["content"][0]["text"].as_str() {
            Some(text) => text.to_owned(),
            None => serde_json::to_string_pretty(&result["content"]).unwrap(),
        };
        let fence = if shown.contains("```") { "````" } else { "```" };
        let _ = writeln!(text, "\n{fence}\n{}\n{fence}", shown.trim_end());
    }
    text
}

fn effect(annotations: &Value) -> &'static str {
    match (&annotations["readOnlyHint"], &annotations["destructiveHint"], &annotations["idempotentHint"]) {
        (Value::Bool(true), ..) => "It changes nothing.",
        (_, Value::Bool(false), _) => "It creates something new and overwrites nothing.",
        (_, _, Value::Bool(true)) => "It replaces what exists. Repeating the call changes nothing more.",
        _ => "It changes what exists. Repeating the call may change it again.",
    }
}

/// The type in a schema, and the access that a path needs.
fn kind(schema: &Value) -> String {
    if let Some(access) = schema["x-rootward-access"].as_str() {
        return format!("path to {access}");
    }
    let words = match &schema["type"] {
        Value::String(word) => vec![word.as_str()],
        Value::Array(words) => words.iter().filter_map(Value::as_str).filter(|word| *word != "null").collect(),
        _ => schema["anyOf"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|one| one["type"].as_str())
            .filter(|word| *word != "null")
            .collect(),
    };
    let word = if words.is_empty() { "any".to_owned() } else { words.join(" or ") };
    match &schema["enum"] {
        Value::Array(values) => values
            .iter()
            .map(|value| format!("`{}`", value.as_str().unwrap_or_default()))
            .collect::<Vec<_>>()
            .join(" or "),
        _ if word == "array" && schema["items"]["type"] == "string" => "list of strings".to_owned(),
        _ if word == "array" => "list".to_owned(),
        _ => word,
    }
}

/// Replaces what differs between runs: the fixture's paths, and times.
fn steady(text: &str, stage: &Stage) -> String {
    let text = text.replace(&stage.name("root"), "/home/me/project").replace(&stage.name(""), "/home/me/");
    let lines = text.lines().map(|line| match line.split_once(": ") {
        Some((key @ ("created" | "modified" | "accessed"), _)) => format!("{key}: 2026-11-16T09:30:00.000Z"),
        _ => line.trim_end().to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn first_sentence(page: &str) -> &str {
    let about = page.lines().nth(2).unwrap();
    about.split(". ").next().unwrap_or(about).trim_end_matches('.')
}

/// Updates the pages, or compares them.
fn compare(pages: &[(String, String)]) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tools");
    if std::env::var_os("ROOTWARD_UPDATE").is_some() {
        fs::create_dir_all(&directory).unwrap();
        for (name, text) in pages {
            fs::write(directory.join(name), text).unwrap();
        }
    }
    for (name, text) in pages {
        let found = fs::read_to_string(directory.join(name)).unwrap_or_default();
        assert!(found == *text, "docs/tools/{name} is out of date: run this test with ROOTWARD_UPDATE=1\n{text}");
    }
    let mut names: Vec<_> =
        fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| pages.iter().all(|(page, _)| page != name));
    assert_eq!(names, Vec::<String>::new(), "pages without a tool");
}
