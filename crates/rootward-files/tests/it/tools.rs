//! The list of tools, as any client reads it.

use rootward_files::{FileServer, Toolset};
use rootward_testkit::client::DuplexClient;
use serde_json::{Value, json};

use crate::stage::{Stage, connect};

const READING: [&str; 12] = [
    "read_file",
    "read_text_file",
    "read_media_file",
    "read_multiple_files",
    "list_directory",
    "list_directory_with_sizes",
    "directory_tree",
    "search_files",
    "search_content",
    "get_file_info",
    "list_allowed_directories",
    "path_in_roots",
];

/// Tools that need a root with write access.
const WRITING: [&str; 5] = ["write_file", "append_file", "edit_file", "create_directory", "copy_file"];
/// Tools that need a root with delete access.
const DELETING: [&str; 2] = ["move_file", "delete_file"];

/// The maximum size of the list of tools in bytes, about the size of the reference server's list.
const LONGEST: usize = 13_000;

async fn list(client: &mut DuplexClient) -> Vec<Value> {
    let list = client.ask("tools/list", json!({})).await;
    list["result"]["tools"].as_array().unwrap().clone()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn tools_that_read_say_so() {
    let stage = Stage::new();
    let mut client = stage.connect(&["root"]).await;
    // The server learns the roots during the first call.
    client.says("list_allowed_directories", json!({})).await;
    let list = client.ask("tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().unwrap();
    for name in READING {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name} is not listed"));
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{name}");
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{name}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
        // Only one description names the roots, because the instructions name them too.
        let names_roots = tool["description"].as_str().unwrap().contains(&stage.name("root"));
        assert_eq!(names_roots, name == "list_allowed_directories", "{name}: {}", tool["description"]);
    }
    let read = tools.iter().find(|tool| tool["name"] == "read_text_file").unwrap();
    let properties = &read["inputSchema"]["properties"];
    for argument in ["head", "tail", "offset", "limit"] {
        assert!(properties[argument]["description"].is_string(), "{properties}");
    }
    assert_eq!(read["inputSchema"]["required"], json!(["path"]));
}

#[tokio::test]
async fn the_list_is_short() {
    let stage = Stage::new();
    let roots = ["one", "two", "three", "four", "five"].map(|name| format!("projects/of-mine/{name}"));
    for root in &roots {
        stage.directory(root);
    }
    let roots = roots.each_ref().map(String::as_str);
    for roots in [&roots[..1], &roots[..]] {
        let mut client = stage.connect(roots).await;
        client.says("list_allowed_directories", json!({})).await;
        let list = client.ask("tools/list", json!({})).await;
        let bytes = list["result"].to_string().len();
        assert!(bytes <= LONGEST, "{bytes} bytes with {} roots", roots.len());
        let told = list.to_string();
        assert!(roots.iter().all(|root| told.matches(&stage.name(root)).count() >= 1), "{told}");
        assert!(!told.contains("\"format\"") && !told.contains("$schema"), "{told}");
        let tools = list["result"]["tools"].as_array().unwrap();
        assert!(tools.iter().all(|tool| tool["inputSchema"].get("description").is_none()), "{told}");
    }
}

#[tokio::test]
async fn a_tool_is_listed_if_a_root_allows_what_it_does() {
    let stage = Stage::new();
    stage.directory("other");
    for (roots, writes, deletes) in [
        (&["root:ro"][..], false, false),
        (&["root:ro", "other:ro"], false, false),
        (&["root:ro", "other:rw-nodelete"], true, false),
        (&["root:ro", "other"], true, true),
        (&["root"], true, true),
        (&[], false, false),
    ] {
        let mut client = stage.connect(roots).await;
        client.says("list_allowed_directories", json!({})).await;
        let tools = list(&mut client).await;
        let listed = names(&tools);
        let all = |names: &[&str], expect: bool| names.iter().all(|name| listed.contains(name) == expect);
        assert!(all(&READING, true) && all(&WRITING, writes) && all(&DELETING, deletes), "{roots:?}: {listed:?}");
    }
    // Roots that are not known yet might be writable.
    let mut client = connect(stage.settings(&[]), FileServer::default(), json!({"roots": {}})).await;
    client.asked().await;
    let tools = list(&mut client).await;
    let listed = names(&tools);
    assert!(
        WRITING.iter().chain(&DELETING).all(|name| listed.contains(name)) && !listed.contains(&"shell"),
        "{listed:?}"
    );
    // A tool that is not listed can still be called; the path check refuses it.
    let mut client = stage.connect(&["root:ro"]).await;
    assert_eq!(client.why("write_file", json!({"path": "new", "content": ""})).await, "access_denied");
}

#[tokio::test]
async fn tools_about_roots_are_listed_if_enabled() {
    let stage = Stage::new();
    for (sets, expect) in [(vec![], false), (vec![Toolset::Project], false), (vec![Toolset::Roots], true)] {
        let server = FileServer::default().with_tools(sets.into_iter().collect());
        let mut client = connect(stage.settings(&["root"]), server, json!({})).await;
        let tools = list(&mut client).await;
        let listed = names(&tools);
        for tool in ["get-roots", "roots"] {
            assert_eq!(listed.contains(&tool), expect, "{tool}");
            assert!(client.says(tool, json!({})).await.contains(&stage.name("root")));
        }
    }
}

/// Whether a value matches a schema. Supports only the keywords in the schemas of results.
fn fits(schema: &Value, value: &Value) -> bool {
    let types = match (&schema["type"], &schema["anyOf"]) {
        (Value::String(one), _) => vec![one.as_str()],
        (_, Value::Array(branches)) => branches.iter().map(|branch| branch["type"].as_str().unwrap()).collect(),
        _ => return true,
    };
    let is = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let items = value.as_array().into_iter().flatten();
    let members = value.as_object().into_iter().flatten();
    let required = schema["required"].as_array().into_iter().flatten();
    types.contains(&is)
        && schema.get("items").is_none_or(|items_are| items.clone().all(|item| fits(items_are, item)))
        && members.clone().all(|(name, member)| fits(&schema["properties"][name], member))
        && required.clone().all(|name| value.get(name.as_str().unwrap()).is_some())
}

/// The TypeScript SDK checks the data of a refusal against the schema of the result, and throws on a mismatch.
#[tokio::test]
async fn refusals_match_the_schema_of_the_result() {
    let stage = Stage::new();
    let mut client = stage.connect_whole(&["root:rwx"]).await;
    client.says("list_allowed_directories", json!({})).await;
    let mut refused = 0;
    for tool in list(&mut client).await {
        let name = tool["name"].as_str().unwrap();
        let outside = stage.name("outside/secret.txt");
        let arguments = json!({
            "path": outside, "source": outside, "destination": outside, "cwd": outside, "content": "", "edits": [],
            "pattern": "x", "command": "true", "paths": [outside],
        });
        let answered = client.result(name, arguments).await;
        refused += u32::from(answered["isError"] == true);
        assert!(fits(&tool["outputSchema"], answered.data()), "{name}: {answered:?}");
    }
    assert_eq!(refused, 20, "tools that take a path");
}

#[tokio::test]
async fn a_long_call_can_be_cancelled() {
    let stage = Stage::new();
    for number in 0..2000 {
        stage.file(&format!("root/{}/{number}", number % 100), "");
    }
    let mut client = stage.connect(&["root"]).await;
    client.call_as("tree", "directory_tree", json!({"path": "."})).await;
    client.notify("notifications/cancelled", json!({"requestId": "tree", "reason": "enough"})).await;
    // A cancelled call gets no answer, and the session continues.
    assert_eq!(client.says("list_directory", json!({"path": "0"})).await.lines().count(), 20);
}
