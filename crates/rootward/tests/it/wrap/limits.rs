//! A client whose own sandbox allows less than the roots: Codex sends its limits with each call, in `_meta`.

use rootward_testkit::client::Client;
use serde_json::{Value, json};

use super::scene::Scene;

const STATE: &str = "codex/sandbox-state-meta";

#[test]
fn a_wrapped_server_is_called_within_what_codex_allows() {
    let scene = Scene::new();
    let project = scene.text("project");
    let mut command = scene.wrap(&[&project, "--env", "SEEN"]);
    let seen = scene.path("project/seen");
    command.env("SEEN", &seen);
    let mut client = Client::start(&mut command);
    client.name_roots([] as [&str; 0]);
    let info = json!({"name": "codex-mcp-client", "title": "Codex", "version": "0.166.0"});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}, "clientInfo": info});
    let capabilities = client.ask("initialize", hello)["result"]["capabilities"].clone();
    assert_eq!(capabilities["experimental"][STATE], json!({}), "{capabilities}");
    client.notify("notifications/initialized", ());

    let entry = json!({"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"});
    let profile =
        json!({"type": "managed", "file_system": {"type": "restricted", "entries": [entry]}, "network": "restricted"});
    let state = json!({"permissionProfile": profile, "sandboxCwd": scene.uri("project"), "useLegacyLandlock": false});
    let mut call = |tool: &str, arguments: Value, state: &Value| {
        client.ask("tools/call", json!({"name": tool, "arguments": arguments, "_meta": {STATE: state}}))["result"]
            .clone()
    };
    let read = call("read", json!({"path": format!("{project}/file.txt")}), &state);
    assert_eq!(read["content"][0]["text"], "project", "{read}");
    let write = json!({"path": format!("{project}/new.txt"), "content": "x"});
    let refused = call("write_file", write.clone(), &state);
    let data = &refused["structuredContent"];
    assert_eq!((&refused["isError"], &data["code"]), (&json!(true), &json!("access_denied")), "{refused}");
    assert!(data["message"].as_str().unwrap().contains("Codex's sandbox allows only reading there"), "{refused}");
    assert!(!scene.path("project/new.txt").exists());
    let unclear = call("read", json!({"path": format!("{project}/file.txt")}), &json!({"permissionProfile": 7}));
    assert_eq!(unclear["structuredContent"]["code"], "restricted", "{unclear}");
    let everything = json!({"permissionProfile": {"type": "disabled"}, "sandboxCwd": scene.uri("project")});
    let written = call("write_file", write, &everything);
    assert_ne!(written["isError"], true, "{written}");
    let outside = call("read", json!({"path": scene.text("outside/file.txt")}), &everything);
    assert_eq!(outside["structuredContent"]["code"], "outside_roots", "{outside}");

    assert_eq!(client.end(), Some(0));
    let seen = std::fs::read_to_string(seen).unwrap();
    assert_eq!(seen.matches("tools/call").count(), 2, "{seen}");
    assert!(!seen.contains(STATE) && !seen.contains("permissionProfile"), "{seen}");
}
