//! The list of tools, as a client that knows nothing of this server reads it.

use serde_json::json;

use crate::stage::Stage;

const READING: [&str; 13] = [
    "read_file",
    "read_text_file",
    "read_media_file",
    "read_multiple_files",
    "list_directory",
    "list_directory_with_sizes",
    "directory_tree",
    "search_files",
    "get_file_info",
    "list_allowed_directories",
    "get-roots",
    "roots",
    "path_in_roots",
];

#[tokio::test]
async fn tools_that_read_say_so() {
    let stage = Stage::new();
    let mut client = stage.connect(&["root"]).await;
    // From then on the roots are known.
    client.says("list_allowed_directories", json!({})).await;
    let list = client.ask("tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().unwrap();
    for name in READING {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("{name} is not listed"));
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{name}");
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{name}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{name}");
        let takes_path = tool["inputSchema"]["properties"].get("path").is_some() || name == "read_multiple_files";
        let names_roots = tool["description"].as_str().unwrap().contains(&stage.name("root"));
        assert_eq!(names_roots, takes_path, "{name}: {}", tool["description"]);
    }
    let read = tools.iter().find(|tool| tool["name"] == "read_text_file").unwrap();
    let properties = &read["inputSchema"]["properties"];
    for argument in ["head", "tail", "offset", "limit"] {
        assert!(properties[argument]["description"].is_string(), "{properties}");
    }
    assert_eq!(read["inputSchema"]["required"], json!(["path"]));
}

#[tokio::test]
async fn a_long_call_can_be_taken_back() {
    let stage = Stage::new();
    for number in 0..2000 {
        stage.file(&format!("root/{}/{number}", number % 100), "");
    }
    let mut client = stage.connect(&["root"]).await;
    client.call_as("tree", "directory_tree", json!({"path": "."})).await;
    client.notify("notifications/cancelled", json!({"requestId": "tree", "reason": "enough"})).await;
    // Whoever took a call back is owed nothing; the session goes on.
    assert_eq!(client.says("list_directory", json!({"path": "0"})).await.lines().count(), 20);
}
