//! A client whose own sandbox allows less than the roots: Codex sends its limits with each call, in `_meta`.

use std::fs;

use rootward_testkit::client::{Client, ToolResult, message};
use serde_json::{Value, json};

use crate::place::Place;

const STATE: &str = "codex/sandbox-state-meta";

/// The program, and the capabilities that it announces to a client with this name.
fn begin(place: &Place, name: &str) -> (Client, Value) {
    let mut client = Client::start(&mut place.rootward(&["serve", &place.text("root")]));
    let mut hello = message::hello(json!({"elicitation": {}}));
    hello["clientInfo"] = json!({"name": name, "title": "Codex", "version": "0.166.0"});
    let answer = client.ask("initialize", hello);
    client.notify("notifications/initialized", ());
    (client, answer["result"]["capabilities"].clone())
}

/// The state that Codex sends for a project in `root/project`.
fn workspace(place: &Place) -> Value {
    let special = |value: Value, access: &str| json!({"path": {"type": "special", "value": value}, "access": access});
    let entries = json!([
        special(json!({"kind": "root"}), "read"),
        special(json!({"kind": "project_roots"}), "write"),
        special(json!({"kind": "tmpdir"}), "write"),
        special(json!({"kind": "project_roots", "subpath": ".git"}), "read"),
        special(json!({"kind": "project_roots", "subpath": "closed"}), "deny"),
    ]);
    json!({
        "permissionProfile": {"type": "managed", "file_system": {"type": "restricted", "entries": entries}, "network": "restricted"},
        "codexLinuxSandboxExe": null,
        "sandboxCwd": place.uri("root/project"),
        "useLegacyLandlock": false,
    })
}

fn call(client: &mut Client, tool: &str, arguments: Value, state: &Value) -> ToolResult {
    let mut params = message::call(tool, arguments);
    params["_meta"] = json!({"progressToken": 1, STATE: state});
    ToolResult::of(client.ask("tools/call", params))
}

#[test]
fn codex_is_asked_what_its_sandbox_allows() {
    let place = Place::new();
    let (_client, capabilities) = begin(&place, "codex-mcp-client");
    assert_eq!(capabilities["experimental"][STATE], json!({}), "{capabilities}");
    let (_client, capabilities) = begin(&place, "editor");
    assert_eq!(capabilities.get("experimental"), None, "{capabilities}");
}

#[test]
fn a_call_is_held_to_what_codex_allows() {
    let place = Place::new();
    for name in ["root/project/.git", "root/project/closed", "root/project/src"] {
        fs::create_dir_all(place.path(name)).unwrap();
    }
    for name in ["root/beside", "root/project/f", "root/project/closed/key", "outside/f"] {
        fs::write(place.path(name), "text").unwrap();
    }
    let state = workspace(&place);
    let (mut client, _) = begin(&place, "codex-mcp-client");
    let mut says = |tool: &str, name: &str| {
        let mut arguments = json!({"path": place.text(name)});
        match tool {
            "write_file" => arguments["content"] = json!("new"),
            "edit_file" => arguments["edits"] = json!([{"oldText": "e", "newText": "E"}]),
            _ => {}
        }
        let result = call(&mut client, tool, arguments, &state);
        if result["isError"] == true { result.why().to_owned() } else { String::new() }
    };
    assert_eq!(says("read_text_file", "root/beside"), "");
    assert_eq!(says("write_file", "root/project/new"), "");
    assert_eq!(says("list_directory", "root/project/src"), "");
    for (tool, name, code) in [
        ("write_file", "root/beside", "access_denied"),
        ("edit_file", "root/beside", "access_denied"),
        ("delete_file", "root/beside", "access_denied"),
        ("create_directory", "root/new", "access_denied"),
        ("write_file", "root/project/.git/new", "access_denied"),
        ("read_text_file", "root/project/closed/key", "restricted"),
        ("directory_tree", "root/project", "restricted"),
        ("read_text_file", "outside/f", "outside_roots"),
    ] {
        assert_eq!(says(tool, name), code, "{tool} {name}");
    }
    assert_eq!(fs::read_to_string(place.path("root/beside")).unwrap(), "text");
    assert!(!place.path("root/new").exists() && !place.path("root/project/.git/new").exists());

    let result = call(&mut client, "write_file", json!({"path": place.text("root/beside"), "content": "x"}), &state);
    let says = result.data()["message"].as_str().unwrap();
    assert!(says.contains("is refused: Codex's sandbox allows only reading there"), "{says}");
    let (source, destination) = (place.text("root/project/f"), place.text("root/moved"));
    let moved = call(&mut client, "move_file", json!({"source": source, "destination": destination}), &state);
    assert_eq!(moved.code(), Some("access_denied"));
    for broken in [json!(null), json!({}), json!({"permissionProfile": {"type": "future"}})] {
        let result = call(&mut client, "read_text_file", json!({"path": place.text("root/beside")}), &broken);
        assert_eq!(result.code(), Some("restricted"), "{broken}");
        assert!(result.text().contains("Codex's sandbox state is not understood"), "{}", result.text());
    }
    // Without a state, only the roots decide.
    assert!(client.says("write_file", json!({"path": place.text("root/beside"), "content": "x"})).contains("beside"));
    let denied = place.decisions().into_iter().filter(|line| line["decision"] == "deny").count();
    assert_eq!(denied, 13);
}
