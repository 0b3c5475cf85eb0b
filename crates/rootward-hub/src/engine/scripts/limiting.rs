//! A client whose own sandbox allows less than the roots: Codex.

use serde_json::{Value, json};

use super::{Ceiling, Change, Play};
use crate::engine::interleaving::Looked;

const STATE: &str = "codex/sandbox-state-meta";

impl Play {
    /// A client with this name begins, and the server answers with these bytes. Returns what the client gets.
    fn greet_client(&mut self, client: &str, capabilities: &Value, answer: &str) -> String {
        let client = json!({"name": client, "title": "Codex", "version": "0.166.0"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": client});
        self.client(&json!({"id": "i", "method": "initialize", "params": params}));
        if self.started() == [1] {
            self.child_text(1, answer);
        }
        self.heard_text().remove(0)
    }

    /// A play that is ready for calls.
    fn with_codex() -> Play {
        Play::new(Change::Told, Ceiling::Project).begun_by_codex()
    }

    fn begun_by_codex(mut self) -> Play {
        self.greet_client("codex-mcp-client", &json!({}), r#"{"id":"i","result":{"capabilities":{"tools":{}}}}"#);
        self.client(&json!({"method": "notifications/initialized"}));
        self.client(&json!({"id": "list", "method": "tools/list"}));
        self.child(1, &json!({"id": "list", "result": {"tools": []}}));
        self.pass(500);
        self.heard();
        self.given(1);
        self
    }

    /// What Codex sends, with these entries in addition to reading everything.
    fn state(&self, entries: &[Value]) -> Value {
        let all = json!({"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"});
        let entries: Vec<&Value> = [&all].into_iter().chain(entries).collect();
        let file_system = json!({"type": "restricted", "entries": entries});
        json!({
            "permissionProfile": {"type": "managed", "file_system": file_system, "network": "restricted"},
            "codexLinuxSandboxExe": "/usr/bin/codex",
            "sandboxCwd": self.uri("project"),
            "useLegacyLandlock": false,
        })
    }

    fn entry(&self, name: &str, access: &str) -> Value {
        json!({"path": {"type": "path", "path": self.path(name)}, "access": access})
    }

    /// A call with a sandbox state. Returns the refusal, unless the call reached the server without the state.
    fn call_within(&mut self, tool: &str, name: &str, state: &Value) -> Option<Value> {
        let meta = json!({
            "progressToken": 3,
            STATE: state,
            "codex/sandbox-state": state,
            "codex/sandbox-launcher": {"codexExecutable": "/usr/bin/codex"},
            "x-codex-turn-metadata": {"a": 1},
        });
        let params = json!({"name": tool, "arguments": {"path": self.path(name)}, "_meta": meta});
        self.client(&json!({"id": 7, "method": "tools/call", "params": params}));
        let (given, mut heard) = (self.given(1), self.heard());
        match given.as_slice() {
            [] => Some(heard.remove(0)["result"]["structuredContent"].clone()),
            [call] => {
                let seen = json!({"progressToken": 3, "x-codex-turn-metadata": {"a": 1}});
                assert_eq!((call["id"].clone(), &call["params"]["_meta"], heard), (json!(7), &seen, vec![]));
                self.child(1, &json!({"id": 7, "result": {}}));
                self.heard();
                None
            }
            more => panic!("{more:?}"),
        }
    }

    #[track_caller]
    fn is_refused(&mut self, tool: &str, name: &str, state: &Value, code: &str, says: &str) {
        let refusal = self.call_within(tool, name, state).unwrap();
        assert_eq!(refusal["code"], code, "{refusal}");
        let expect = format!("path `{}` is refused: Codex's sandbox {says}", self.path(name));
        assert!(refusal["message"].as_str().unwrap().starts_with(&expect), "{refusal}");
    }
}

#[expect(clippy::disallowed_methods, reason = "tests build the trees that clients share")]
fn link(play: &Play, name: &str, target: &str) {
    let link = play.path(name);
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(target, link).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "tests build the trees that clients share")]
fn file(play: &Play, name: &str) {
    let path = std::path::PathBuf::from(play.path(name));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "").unwrap();
}

#[test]
fn a_call_beyond_the_limits_is_refused() {
    let mut play = Play::with_codex();
    file(&play, "project/src/main.rs");
    file(&play, "project/closed/key");
    let state = play.state(&[play.entry("project/src", "write"), play.entry("project/closed", "deny")]);
    assert_eq!(play.call_within("write_file", "project/src/new.rs", &state), None);
    assert_eq!(play.call_within("read_file", "project/file.txt", &state), None);
    play.is_refused("write_file", "project/file.txt", &state, "access_denied", "allows only reading there");
    play.is_refused("frobnicate", "project/file.txt", &state, "access_denied", "allows only reading there");
    play.is_refused("read_file", "project/closed/key", &state, "restricted", "gives no access there");
    play.is_refused("list_directory", "project", &state, "restricted", "gives no access to something below");
    let said = play.said();
    assert!(
        said.iter().all(|said| said.starts_with("refused: tools/call ") && said.contains("Codex's sandbox")),
        "{said:?}"
    );
    assert_eq!(said.len(), 4);
    // The limits of one call do not apply to the next.
    let everything = json!({"permissionProfile": {"type": "disabled"}, "sandboxCwd": "file:///"});
    assert_eq!(play.call_within("write_file", "project/file.txt", &everything), None);
}

#[test]
fn limits_add_nothing_to_the_roots() {
    let mut play = Play::with_codex();
    for state in [
        json!({"permissionProfile": {"type": "disabled"}, "sandboxCwd": play.uri("other")}),
        play.state(&[play.entry("other", "write")]),
    ] {
        let refusal = play.call_within("read_file", "other/file.txt", &state).unwrap();
        assert_eq!(refusal["code"], "outside_roots", "{refusal}");
    }
}

#[test]
fn no_server_sees_the_limits() {
    let mut play = Play::with_codex();
    let path = play.path("project/file.txt");
    let before = r#"{"id": 1.0,"method":"tools/call","params": {"name":"read_file" ,"_meta":{"x":[1.50]"#;
    let after = format!(r#" ,"y":2}},"arguments":{{"path":"{path}"}}}} }}"#);
    let state = play.state(&[]);
    for spelled in [STATE, r"codex\/sandbox-state-meta", r"\u0063odex/sandbox-state-meta"] {
        play.client_bytes(format!("{before} , \"{spelled}\" : {state}{after}\n").as_bytes());
        assert_eq!(play.given_text(1), [format!("{before}{after}")], "{spelled}");
        play.child_text(1, r#"{"id":1.0,"result":{}}"#);
    }
    // In any message: a request without paths, a notification, a member of a batch.
    let params = json!({"name": "x", "_meta": {STATE: state}});
    for message in [
        json!({"id": 2, "method": "prompts/get", "params": params}),
        json!({"method": "notifications/cancelled", "params": {"requestId": 9, "_meta": {STATE: state}}}),
        json!([{"id": 3, "method": "ping", "params": params}]),
    ] {
        play.client(&message);
        let given = play.given_text(1);
        assert!(given.len() == 1 && !given[0].contains("sandbox"), "{given:?}");
    }
}

#[test]
fn messages_without_limits_pass_unchanged() {
    let mut play = Play::with_codex();
    let path = play.path("project/file.txt");
    for meta in
        ["", r#""_meta":{"progressToken" : 1.0},"#, r#""_meta":{"other":"codex/sandbox-state-meta \/ \u0041"},"#]
    {
        let call = format!(
            r#"{{ "id":5,"method":"tools/call","params":{{{meta}"name":"read", "arguments":{{"path":"{path}"}}}}}}"#
        );
        play.client_bytes(format!("{call}\n").as_bytes());
        assert_eq!(play.given_text(1), [call]);
        play.child_text(1, r#"{"id":5,"result":{}}"#);
    }
}

#[test]
fn a_state_that_is_not_understood_refuses_calls_with_paths() {
    let mut play = Play::with_codex();
    for state in [json!(null), json!("read-only"), json!({}), json!({"permissionProfile": {"type": "future"}})] {
        play.is_refused("read_file", "project/file.txt", &state, "restricted", "state is not understood: it");
        let params = json!({"name": "now", "arguments": {}, "_meta": {STATE: state}});
        play.client(&json!({"id": 8, "method": "tools/call", "params": params}));
        assert_eq!(play.given_methods(1), ["tools/call 8"], "{state}");
        play.child(1, &json!({"id": 8, "result": {}}));
        play.heard();
    }
    // An ambiguous message is not a request.
    let call =
        format!(r#"{{"id":9,"method":"tools/call","params":{{"name":"now","_meta":{{"{STATE}":{{}},"{STATE}":7}}}}}}"#);
    play.client_bytes(format!("{call}\n").as_bytes());
    assert_eq!((play.given_text(1).len(), play.heard()[0]["error"]["code"].clone()), (0, json!(-32602)));
}

#[test]
fn limits_apply_to_a_link_and_its_target() {
    let mut play = Play::with_codex();
    file(&play, "project/kept/x");
    link(&play, "project/kept/link", "../file.txt");
    link(&play, "project/link", "kept/x");
    let state = play.state(&[play.entry("project", "write"), play.entry("project/kept", "read")]);
    for (tool, name) in
        [("write_file", "project/kept/link"), ("write_file", "project/link"), ("delete_file", "project/link")]
    {
        play.is_refused(tool, name, &state, "access_denied", "allows only reading there");
    }
    assert_eq!(play.call_within("read_file", "project/link", &state), None);
    assert_eq!(play.call_within("delete_file", "project/file.txt", &state), None);
}

#[test]
fn limits_follow_links_again_for_each_call() {
    let mut play = Play::with_codex();
    file(&play, "project/a/x");
    file(&play, "project/b/x");
    let state = play.state(&[play.entry("link", "deny")]);
    for (target, open, closed) in [("a", "b", "a"), ("b", "a", "b")] {
        link(&play, "link", &format!("project/{target}"));
        assert_eq!(play.call_within("read_file", &format!("project/{open}/x"), &state), None);
        play.is_refused("read_file", &format!("project/{closed}/x"), &state, "restricted", "gives no access there");
    }
}

#[test]
fn a_word_that_may_be_a_path_is_not_refused_for_writing() {
    let mut play = Play::with_codex();
    let reading = play.state(&[]);
    let mut call = |argument: &str, state: &Value| {
        let params = json!({"name": "deploy", "arguments": {"target": argument}, "_meta": {STATE: state}});
        play.client(&json!({"id": 1, "method": "tools/call", "params": params}));
        let passes = !play.given(1).is_empty();
        play.child(1, &json!({"id": 1, "result": {}}));
        play.heard();
        passes
    };
    assert!(call("production", &reading));
    assert!(!call("file.txt", &reading));
    assert!(!call("production", &json!(7)));
}

#[test]
fn a_refusal_by_limits_is_on_record() {
    let play = Play::with(Change::Told, Ceiling::Project, |rules| rules.audit = Some(std::sync::Arc::new(Looked)));
    let mut play = play.begun_by_codex();
    let state = play.state(&[]);
    play.is_refused("write_file", "project/file.txt", &state, "access_denied", "allows only reading there");
    let event = serde_json::to_value(&play.recorded.last().unwrap().events[0]).unwrap();
    let told = (event["decision"].clone(), event["code"].clone(), event["client"].clone());
    assert_eq!(told, (json!("deny"), json!("access_denied"), json!("codex-mcp-client 0.166.0")), "{event}");
    assert_eq!(event["resolved"], play.path("project/file.txt"), "{event}");
}

#[test]
fn a_modern_client_is_held_to_its_limits() {
    let mut play = Play::new(Change::NewChild, Ceiling::Project);
    let mut call = |id: u64, tool: &str| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "codex-mcp-client", "version": "1"},
            STATE: play.state(&[]),
        });
        let params = json!({"name": tool, "arguments": {"path": play.path("project/file.txt")}, "_meta": meta});
        play.client(&json!({"id": id, "method": "tools/call", "params": params}));
        let given = play.list_tools_if_asked(1);
        let calls: Vec<Value> = given.into_iter().filter(|message| message["method"] == "tools/call").collect();
        assert!(calls.iter().all(|call| call["params"]["_meta"].get(STATE).is_none()), "{calls:?}");
        for call in &calls {
            play.child(1, &json!({"id": call["id"], "result": {"resultType": "complete"}}));
        }
        (calls.len(), play.heard().pop().unwrap()["result"]["structuredContent"]["code"].clone())
    };
    assert_eq!(call(1, "read_file"), (1, json!(null)));
    assert_eq!(call(2, "write_file"), (0, json!("access_denied")));
}

#[test]
fn codex_is_asked_for_its_limits_and_others_are_not() {
    let roots = json!({"roots": {}});
    let plain = r#"{"id":"i","result":{"capabilities":{"tools": {}},"x":1.0}}"#;
    let asking =
        r#"{"id":"i","result":{"capabilities":{"experimental":{"codex/sandbox-state-meta":{}},"tools": {}},"x":1.0}}"#;
    let asks = |told: &str| {
        let told: Value = serde_json::from_str(told).unwrap();
        told["result"]["capabilities"]["experimental"].get(STATE).is_some()
    };
    for (client, expect) in [("editor", plain), ("codex-mcp-client", asking)] {
        let mut play = Play::new(Change::Told, Ceiling::Project);
        assert_eq!(play.greet_client(client, &json!({}), plain), expect);
        // By a learner, and then from the cache.
        let mut play = Play::new(Change::Told, Ceiling::None);
        assert_eq!(play.greet_client(client, &roots, plain), expect);
        play.reopen();
        assert_eq!(asks(&play.greet_client(client, &roots, "")), client != "editor");
        // In the place of a learner that ended.
        let mut play = Play::new(Change::Told, Ceiling::None);
        let info = json!({"name": client, "version": "1"});
        play.client(&json!({"id": "i", "method": "initialize", "params": {"capabilities": roots, "clientInfo": info}}));
        play.ended(1);
        assert_eq!(asks(&play.heard_text()[0]), client != "editor");
    }
    // A server that asks for the limits itself keeps its own declaration.
    let own = r#"{"id":"i","result":{"capabilities":{"experimental":{"codex/sandbox-state-meta":{"v":1}}}}}"#;
    let mut play = Play::new(Change::Told, Ceiling::Project);
    assert_eq!(play.greet_client("codex-mcp-client", &json!({}), own), own);
}
