//! A client whose own sandbox allows less than the roots: Codex.

use super::*;

const STATE: &str = "codex/sandbox-state-meta";

/// The answer to `initialize` of a client with this name.
fn greeting(play: &mut Play, name: &str) -> Value {
    let info = json!({"name": name, "version": "0.166.0"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}, "clientInfo": info});
    play.client(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
    let answer = play.answer(0);
    play.client(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    play.share(&["one"]);
    play.heard();
    answer["result"]["capabilities"].clone()
}

#[test]
fn codex_is_asked_for_its_limits_by_a_hub() {
    for (name, asked) in [("codex-mcp-client", true), ("editor", false)] {
        let mut play = Play::new(vec![script("a", &["read"])]);
        let capabilities = greeting(&mut play, name);
        assert_eq!(capabilities["experimental"].get(STATE).is_some(), asked, "{capabilities}");
        assert_eq!(capabilities["tools"]["listChanged"], true);
    }
}

#[test]
fn a_hub_applies_the_limits_of_each_call() {
    for catalog in [Catalog::Merged, Catalog::Compact] {
        let mut play = Play::with(vec![script("a", &["read", "write"]), script("b", &["read"])], catalog);
        greeting(&mut play, "codex-mcp-client");
        let path = format!("{}/file.txt", play.path("one"));
        let entry = json!({"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"});
        let profile = json!({"type": "managed", "file_system": {"type": "restricted", "entries": [entry]}, "network": "restricted"});
        let meta = json!({STATE: {"permissionProfile": profile, "sandboxCwd": "file:///"}, "kept": 1});
        for (id, tool) in [(1, "read"), (2, "write")] {
            let params = match catalog {
                Catalog::Merged => json!({"name": format!("a__{tool}"), "arguments": {"path": path}, "_meta": meta}),
                Catalog::Compact => {
                    let call = json!({"serverName": "a", "toolName": tool, "toolArgs": {"path": path}});
                    json!({"name": "call-tool", "arguments": call, "_meta": meta})
                }
            };
            play.ask(id, "tools/call", &params);
            play.pass(3000);
        }
        let calls = play.asked(0, "tools/call");
        assert_eq!(calls.len(), 1, "{catalog:?}: {calls:?}");
        assert_eq!((&calls[0]["params"]["name"], &calls[0]["params"]["_meta"]), (&json!("read"), &json!({"kept": 1})));
        let refusal = play.answer(2)["result"]["structuredContent"].clone();
        assert_eq!(refusal["code"], "access_denied", "{refusal}");
        assert!(
            refusal["message"].as_str().unwrap().contains("Codex's sandbox allows only reading there"),
            "{refusal}"
        );
    }
}
