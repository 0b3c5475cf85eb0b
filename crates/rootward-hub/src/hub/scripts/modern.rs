//! Modern clients with legacy servers: independent requests.

use super::*;

/// A client without capabilities.
pub(super) fn plain() -> Value {
    json!({})
}

/// A client with roots.
pub(super) fn with_roots() -> Value {
    json!({"roots": {}})
}

/// Params with a modern client's metadata.
pub(super) fn modern(capabilities: &Value, params: &Value) -> Value {
    let mut params = params.clone();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    for (key, value) in meta.as_object().unwrap() {
        params["_meta"][key] = value.clone();
    }
    params
}

/// The params of a call.
pub(super) fn reading(tool: &str, path: &str) -> Value {
    json!({"name": tool, "arguments": {"path": path}})
}

impl Play {
    /// A modern request.
    pub(super) fn visit(&mut self, id: u64, method: &str, capabilities: &Value, params: &Value) {
        self.ask(id, method, &modern(capabilities, params));
    }

    /// A modern request and its answer.
    pub(super) fn visited(&mut self, id: u64, method: &str, capabilities: &Value, params: &Value) -> Value {
        self.visit(id, method, capabilities, params);
        self.pass(3000);
        self.answer(id)
    }

    /// The same request again, under another id, with the answer to the request for roots.
    pub(super) fn tell_roots(
        &mut self,
        id: u64,
        capabilities: &Value,
        params: &Value,
        question: &Value,
        names: &[&str],
    ) {
        let roots: Vec<Value> =
            names.iter().map(|name| json!({"uri": format!("file://{}", self.path(name))})).collect();
        let mut params = params.clone();
        params["requestState"] = question["result"]["requestState"].clone();
        params["inputResponses"] = json!({"rootward.dev/roots": {"roots": roots}});
        self.visit(id, "tools/call", capabilities, &params);
    }

    /// A call with these roots: asked, answered and sent, without waiting for the result.
    pub(super) fn call_with(&mut self, id: u64, capabilities: &Value, params: &Value, names: &[&str]) {
        self.visit(1_000_000 + id, "tools/call", capabilities, params);
        let question = self.answer(1_000_000 + id);
        assert_eq!(question["result"]["resultType"], "input_required", "{question}");
        let asked = &question["result"]["inputRequests"];
        assert_eq!(asked, &json!({"rootward.dev/roots": {"method": "roots/list"}}), "{question}");
        self.tell_roots(id, capabilities, params, &question, names);
    }

    /// A call with these roots, and its answer.
    pub(super) fn called_in(&mut self, id: u64, names: &[&str], tool: &str, path: &str) -> Value {
        self.call_with(id, &with_roots(), &reading(tool, path), names);
        self.pass(3000);
        self.answer(id)
    }

    /// Another connection.
    pub(super) fn connect(&mut self) -> ClientId {
        self.middle.hub.open().unwrap()
    }
}

#[test]
fn a_hub_answers_discovery() {
    let mut play = Play::new(vec![script("a", &["read"])]);
    let told = play.visited(1, "server/discover", &plain(), &json!({}));
    let result = &told["result"];
    assert_eq!((&result["resultType"], &result["supportedVersions"][0]), (&json!("complete"), &json!("2026-07-28")));
    assert_eq!(result["supportedVersions"][1], "2025-11-25", "the hub supports both eras: {told}");
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "rootward-hub");
    assert!(result["capabilities"]["tools"]["listChanged"] == true && result["instructions"].is_string(), "{told}");
    assert!(result["capabilities"].get("experimental").is_none(), "{told}");
    let mut params = modern(&plain(), &json!({}));
    params["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] = json!("codex-mcp-client");
    play.ask(2, "server/discover", &params);
    assert!(play.answer(2)["result"]["capabilities"]["experimental"].get("codex/sandbox-state-meta").is_some());
    // A client that only probed may still begin as a legacy client.
    play.begin();
    assert_eq!(play.starts, [0]);
}

#[test]
fn a_request_that_is_not_valid_in_the_modern_era_is_refused() {
    let mut play = Play::new(vec![script("a", &["read"])]);
    let mut params = modern(&plain(), &json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("1900-01-01");
    play.ask(1, "tools/list", &params);
    let error = play.answer(1)["error"].clone();
    assert_eq!(error["code"], -32022);
    assert_eq!(error["data"], json!({"supported": ["2026-07-28"], "requested": "1900-01-01"}));
    let mut params = modern(&plain(), &json!({}));
    params["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
    play.ask(2, "tools/list", &params);
    assert_eq!(play.answer(2)["error"]["code"], -32602);
    let mut params = modern(&plain(), &json!({}));
    params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("loud");
    play.ask(3, "tools/list", &params);
    assert_eq!(play.answer(3)["error"]["code"], -32602);
    for (id, method) in
        [(10, "ping"), (11, "logging/setLevel"), (12, "resources/subscribe"), (13, "initialize"), (15, "other")]
    {
        assert_eq!(play.visited(id, method, &plain(), &json!({}))["error"]["code"], -32601, "{method}");
    }
    // From its first request on, the connection is modern.
    play.ask(20, "tools/list", &json!({}));
    assert_eq!(play.answer(20)["error"]["code"], -32602);
    play.ask(21, "initialize", &json!({"protocolVersion": "2025-06-18", "capabilities": {}}));
    assert_eq!(play.answer(21)["error"]["code"], -32601);
    play.client_text("[]");
    play.client_text("{");
    assert_eq!(play.heard().len(), 2);
    assert_eq!(play.starts, [0]);
}

#[test]
fn an_id_in_use_is_refused_in_both_eras() {
    let mut play = Play::new(vec![Script { manner: Manner::Dead, ..script("a", &["read"]) }]);
    play.visit(1, "tools/list", &plain(), &json!({}));
    assert_eq!(play.heard(), Vec::<Value>::new());
    play.visit(1, "tools/list", &plain(), &json!({}));
    assert_eq!(play.answer(1)["error"]["code"], -32600);
}

#[test]
fn lists_need_no_roots() {
    let mut play = Play::new(vec![script("a", &["read"]), script("b", &["read"])]);
    for (id, method, member, count) in [
        (1, "tools/list", "tools", 3),
        (2, "prompts/list", "prompts", 2),
        (3, "resources/list", "resources", 2),
        (4, "resources/templates/list", "resourceTemplates", 2),
    ] {
        let told = play.visited(id, method, &with_roots(), &json!({}))["result"].clone();
        assert_eq!(told[member].as_array().unwrap().len(), count, "{told}");
        let hints = json!(["complete", 0, "private"]);
        assert_eq!(json!([told["resultType"], told["ttlMs"], told["cacheScope"]]), hints, "{told}");
    }
    assert_eq!(play.middle.hub.modern.count(), 1);
}

#[test]
fn a_client_without_roots_gets_the_roots_of_the_operator() {
    let mut play = Play::new(vec![Script { ceiling: Some("one"), ..script("a", &["read"]) }, script("b", &[])]);
    let (inside, outside) = (play.path("one") + "/file.txt", play.path("two") + "/file.txt");
    let mut params = reading("a__read", &inside);
    params["_meta"] = json!({"kept": 1});
    let told = play.visited(1, "tools/call", &plain(), &params)["result"].clone();
    assert_eq!((&told["server"], &told["resultType"]), (&json!("a"), &json!("complete")), "{told}");
    // The server sees a legacy call.
    let call = play.asked(0, "tools/call").remove(0);
    assert_eq!(call["params"], json!({"name": "read", "arguments": {"path": inside}, "_meta": {"kept": 1}}));
    let told = play.visited(2, "tools/call", &plain(), &reading("a__read", &outside))["result"].clone();
    assert_eq!(
        (&told["structuredContent"]["code"], &told["resultType"]),
        (&json!("outside_roots"), &json!("complete"))
    );
    let told = play.visited(3, "resources/read", &plain(), &json!({"uri": "nowhere://x"}));
    assert_eq!(told["error"]["code"], -32602, "a legacy client gets -32002: {told}");
    let told = play.visited(4, "resources/read", &plain(), &json!({"uri": "demo-a://x"}))["result"].clone();
    assert_eq!((&told["resultType"], &told["ttlMs"]), (&json!("complete"), &json!(0)), "{told}");
}

#[test]
fn the_limits_of_codex_hold_for_modern_calls() {
    let mut play = Play::new(vec![script("a", &["read", "write"])]);
    let path = play.path("one") + "/file.txt";
    let entry = json!({"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"});
    let profile =
        json!({"type": "managed", "file_system": {"type": "restricted", "entries": [entry]}, "network": "restricted"});
    let meta = json!({"codex/sandbox-state-meta": {"permissionProfile": profile, "sandboxCwd": "file:///"}});
    for (id, tool, code) in [(1, "a__read", Value::Null), (2, "a__write", json!("access_denied"))] {
        let mut params = reading(tool, &path);
        params["_meta"] = meta.clone();
        play.call_with(id, &with_roots(), &params, &["one"]);
        play.pass(3000);
        assert_eq!(play.answer(id)["result"]["structuredContent"]["code"], code);
    }
    let calls = play.asked(0, "tools/call");
    assert_eq!((calls.len(), &calls[0]["params"]["_meta"]), (1, &json!({})), "{calls:?}");
}

#[test]
fn equal_ids_and_tokens_of_two_connections_stay_apart() {
    let mut play = Play::new(vec![script("a", &["read"])]);
    let path = play.path("one") + "/file.txt";
    play.called_in(1, &["one"], "a__read", &path);
    play.asked.clear();
    play.scripts[0].manner = Manner::Silent;
    let connections = [play.client, play.connect()];
    for (number, connection) in connections.iter().enumerate() {
        play.client = *connection;
        let mut params = reading("a__read", &path);
        params["arguments"]["number"] = json!(number);
        params["_meta"] = json!({"progressToken": 7});
        play.call_with(5, &with_roots(), &params, &["one"]);
        play.pass(3000);
    }
    let calls = play.asked(0, "tools/call");
    assert_eq!((calls.len(), play.starts[0]), (2, 1), "they share a process");
    assert_ne!(calls[0]["id"], calls[1]["id"]);
    let token = |call: &Value| call["params"]["_meta"]["progressToken"].clone();
    assert_ne!(token(&calls[0]), token(&calls[1]));
    let progress = json!({"progressToken": token(&calls[1]), "progress": 1});
    play.server(0, &json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}));
    assert_eq!(play.heard()[0]["params"], json!({"progressToken": 7, "progress": 1}));
    // One cancels; the other continues.
    play.client(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}));
    let cancelled = play.asked(0, "notifications/cancelled");
    assert_eq!((cancelled.len(), &cancelled[0]["params"]["requestId"]), (1, &calls[1]["id"]));
    for call in &calls {
        play.server(
            0,
            &json!({"jsonrpc": "2.0", "id": call["id"], "result": {"n": call["params"]["arguments"]["number"]}}),
        );
    }
    assert_eq!(play.heard(), Vec::<Value>::new());
    play.client = connections[0];
    assert_eq!(play.answer(5)["result"]["n"], 0);
}

#[test]
fn progress_goes_to_its_own_visit() {
    let mut play = Play::new(vec![script("a", &["read"])]);
    play.called_in(1, &["one"], "a__read", &play.path("one"));
    play.called_in(2, &["two"], "a__read", &play.path("two"));
    play.asked.clear();
    play.scripts[0].manner = Manner::Silent;
    let mut params = reading("a__read", &play.path("two"));
    params["_meta"] = json!({"progressToken": "t"});
    play.call_with(3, &with_roots(), &params, &["two"]);
    let call = play.asked(0, "tools/call").remove(0);
    let progress = json!({"progressToken": call["params"]["_meta"]["progressToken"], "progress": 1});
    let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress});
    // Another process reports it: the one that was started first.
    let children: Vec<ChildId> = play.running.keys().copied().collect();
    assert_eq!(children.len(), 2);
    play.heard();
    let effects = play.child_says(children[0], &progress);
    play.carry_out(effects);
    assert_eq!(play.heard(), Vec::<Value>::new());
    let effects = play.child_says(children[1], &progress);
    play.carry_out(effects);
    assert_eq!(play.heard()[0]["params"]["progressToken"], "t");
}

#[test]
fn closing_a_connection_cancels_its_calls() {
    let mut play = Play::new(vec![script("a", &["read"])]);
    let path = play.path("one");
    play.called_in(1, &["one"], "a__read", &path);
    play.asked.clear();
    play.scripts[0].manner = Manner::Silent;
    play.client = play.connect();
    play.call_with(2, &with_roots(), &reading("a__read", &path), &["one"]);
    let effects = play.middle.forget(play.now, play.client);
    play.carry_out(effects);
    assert_eq!(play.asked(0, "notifications/cancelled").len(), 1);
    assert!(play.middle.hub.modern.visited_by(play.client).is_empty());
}

#[test]
fn logs_go_to_requests_that_want_them() {
    let mut play = Play::new(vec![script("a", &["read"])]);
    let path = play.path("one");
    play.called_in(1, &["one"], "a__read", &path);
    play.asked.clear();
    play.scripts[0].manner = Manner::Silent;
    let log = |level: &str| json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": level, "data": "x"}});
    play.call_with(2, &with_roots(), &reading("a__read", &path), &["one"]);
    play.server(0, &log("error"));
    assert_eq!(play.heard(), Vec::<Value>::new());
    let mut params = reading("a__read", &path);
    params["_meta"] = json!({"io.modelcontextprotocol/logLevel": "warning"});
    play.call_with(3, &with_roots(), &params, &["one"]);
    assert_eq!(play.asked(0, "logging/setLevel")[0]["params"], json!({"level": "warning"}));
    play.server(0, &log("info"));
    play.server(0, &log("error"));
    assert_eq!(play.heard(), [log("error")]);
}

#[test]
fn the_hubs_own_tools_answer_modern_calls() {
    let mut play = Play::new(vec![script("a", &["read"])]);
    play.call_with(1, &with_roots(), &json!({"name": "get-roots"}), &["two"]);
    play.pass(3000);
    let told = play.answer(1)["result"].clone();
    assert_eq!(told["structuredContent"]["filePaths"], json!([play.path("two")]), "{told}");
    assert_eq!(told["resultType"], "complete");
}

#[test]
fn a_server_that_did_not_answer_is_greeted_again() {
    let mut play = Play::new(vec![Script { manner: Manner::Dead, ..script("a", &["read"]) }]);
    let listed = |play: &mut Play, id: u64| {
        play.visit(id, "tools/list", &plain(), &json!({}));
        play.pass(5000);
        play.answer(id)["result"]["tools"].as_array().unwrap().len()
    };
    assert_eq!(listed(&mut play, 1), 1, "only the hub's own tool");
    play.pass(60_000);
    for child in play.running.keys().copied().collect::<Vec<_>>() {
        play.running.remove(&child);
        play.feed(Event::ChildEnded(child, &Failure::new("killed")));
    }
    play.scripts[0].manner = Manner::Answers;
    play.pass(60_000);
    let counts = [2, 3, 4].map(|id| listed(&mut play, id));
    assert_eq!(counts[2], 2, "{counts:?}");
}
