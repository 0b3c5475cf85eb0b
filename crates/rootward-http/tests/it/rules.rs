//! The specification's rules for HTTP, row by row: what is sent, and which status comes back.

use serde_json::{Value, json};

use crate::client::Ask;
use crate::script::{Running, call, hello};

/// Sends a request and compares the status and, if it is not 0, the code of the error in the body.
async fn check(running: &Running, name: &str, ask: Ask, status: u16, code: i64) {
    let mut answer = running.send(ask).await;
    let text = answer.text().await;
    assert_eq!(answer.status, status, "{name}: {text}");
    let said: Value = serde_json::from_str(&text).unwrap_or_default();
    assert_eq!(said["error"]["code"].as_i64().unwrap_or(0), code, "{name}: {text}");
}

#[tokio::test]
async fn every_request_needs_the_right_headers() {
    let running = Running::start();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let id = running.session("2025-06-18").await;
    let post = || Ask::post(&ping).session(&id);
    let get = || Ask::get().session(&id);
    let rows = [
        ("a request", post(), 200, 0),
        ("types in other case", post().with("Accept", "Application/JSON, TEXT/event-stream"), 200, 0),
        ("everything accepted", post().with("Accept", "*/*"), 200, 0),
        ("only JSON accepted", post().with("Accept", "application/json"), 406, -32600),
        ("only events accepted", post().with("Accept", "text/event-stream"), 406, -32600),
        ("nothing accepted", post().with("Accept", ""), 406, -32600),
        ("JSON with a charset", post().with("Content-Type", "application/json; charset=utf-8"), 200, 0),
        ("text", post().with("Content-Type", "text/plain"), 415, -32600),
        ("no type", post().with("Content-Type", ""), 415, -32600),
        ("a GET that does not accept events", get().with("Accept", "application/json"), 406, -32600),
        ("a GET that accepts nothing", get().with("Accept", ""), 406, -32600),
        ("PUT", Ask::new("PUT", "/mcp").with("Authorization", "Bearer ada-token"), 405, -32600),
        ("OPTIONS", Ask::new("OPTIONS", "/mcp").with("Authorization", "Bearer ada-token"), 405, -32600),
        ("another path", Ask::new("GET", "/").with("Authorization", "Bearer ada-token"), 404, -32600),
        ("health", Ask::new("GET", "/healthz"), 200, 0),
        ("readiness", Ask::new("GET", "/readyz"), 200, 0),
        ("POST to health", Ask::new("POST", "/healthz"), 405, -32600),
        ("metrics", Ask::new("GET", "/metrics").with("Authorization", "Bearer bob-token"), 200, 0),
        ("metrics without a token", Ask::new("GET", "/metrics"), 401, -32600),
        ("an event id of another server", get().with("Last-Event-ID", "abc"), 400, -32600),
        ("the supported revision", post().with("MCP-Protocol-Version", "2025-06-18"), 200, 0),
        ("another supported revision", post().with("MCP-Protocol-Version", "2025-03-26"), 200, 0),
        ("an unknown revision", post().with("MCP-Protocol-Version", "2020-01-01"), 400, -32600),
        ("no revision at all", post().with("MCP-Protocol-Version", "x"), 400, -32600),
        ("a GET of an unknown revision", get().with("MCP-Protocol-Version", "2020-01-01"), 400, -32600),
        ("a modern GET", Ask::get().with("MCP-Protocol-Version", "2026-07-28"), 405, -32600),
        ("a modern DELETE", Ask::delete().with("MCP-Protocol-Version", "2026-07-28"), 405, -32600),
    ];
    for (name, ask, status, code) in rows {
        check(&running, name, ask, status, code).await;
    }
    let refused = running.send(Ask::new("PUT", "/mcp").with("Authorization", "Bearer ada-token")).await;
    assert_eq!(refused.header("allow"), Some("POST, GET, DELETE"));
    let refused = running.send(Ask::get().with("MCP-Protocol-Version", "2026-07-28")).await;
    assert_eq!(refused.header("allow"), Some("POST"));
}

#[tokio::test]
async fn bodies_that_are_not_messages_are_refused() {
    let running = Running::start();
    let id = running.session("2025-06-18").await;
    let rows = [
        ("nothing", "", 400, -32700),
        ("half a message", r#"{"jsonrpc":"2.0""#, 400, -32700),
        ("a number", "7", 400, -32700),
        ("no method", r#"{"jsonrpc":"2.0","id":1}"#, 400, -32600),
        ("another version", r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, 400, -32600),
        ("a method twice", r#"{"id":1,"method":"ping","method":"pong"}"#, 400, -32600),
        ("an empty batch", "[]", 400, -32600),
        ("a batch in a revision without batches", r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, 400, -32600),
        ("several lines", "{\"jsonrpc\":\"2.0\",\r\n\"id\":1,\n\"method\":\"ping\"}\n", 200, 0),
    ];
    for (name, body, status, code) in rows {
        check(&running, name, Ask::post(body).session(&id), status, code).await;
    }
}

#[tokio::test]
async fn sessions_begin_and_end_as_they_should() {
    let running = Running::start();
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let id = running.session("2025-11-25").await;
    let unknown = "a".repeat(32);
    let rows = [
        ("a request without a session", Ask::post(&ping), 400, -32600),
        ("a notification without a session", Ask::post(&note), 400, -32600),
        ("a GET without a session", Ask::get(), 400, -32600),
        ("a DELETE without a session", Ask::delete(), 400, -32600),
        ("two sessions", Ask::post(&ping).session(&id).also("Mcp-Session-Id", &id), 400, -32600),
        ("an unknown session", Ask::post(&ping).session(&unknown), 404, -32600),
        ("a malformed session id", Ask::post(&ping).session("x y"), 404, -32600),
        ("a GET of an unknown session", Ask::get().session(&unknown), 404, -32600),
        ("a DELETE of an unknown session", Ask::delete().session(&unknown), 404, -32600),
        ("a notification", Ask::post(&note).session(&id), 202, 0),
        ("an answer", Ask::post(json!({"jsonrpc": "2.0", "id": 9, "result": {}})).session(&id), 202, 0),
        ("an error", Ask::post(json!({"jsonrpc": "2.0", "id": 9, "error": {}})).session(&id), 202, 0),
        ("a request", Ask::post(&ping).session(&id), 200, 0),
        ("the end", Ask::delete().session(&id), 204, 0),
        ("a request after the end", Ask::post(&ping).session(&id), 404, -32600),
        ("a second end", Ask::delete().session(&id), 404, -32600),
    ];
    for (name, ask, status, code) in rows {
        check(&running, name, ask, status, code).await;
    }
    running.wires(0).await;
    let accepted = running.session("2025-11-25").await;
    let mut answer = running.send(Ask::post(&note).session(&accepted)).await;
    assert_eq!((answer.status, answer.text().await.as_str()), (202, ""));
}

#[tokio::test]
async fn a_handshake_that_fails_opens_no_session() {
    let running = Running::start();
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"fails": true}});
    let mut answer = running.send(Ask::post(hello)).await;
    assert_eq!((answer.status, answer.header("mcp-session-id")), (200, None));
    assert_eq!(answer.message().await["error"]["code"], -32602);
    running.wires(0).await;
    assert!(running.metric("rootward_http_sessions").await.abs() < 0.5);
}

#[tokio::test]
async fn modern_requests_are_compared_with_their_headers() {
    let running = Running::start();
    let list = || Ask::modern("tools/list", json!({}));
    let echo = || Ask::modern("tools/call", json!({"name": "echo", "arguments": {}}));
    let regional = || Ask::modern("tools/call", json!({"name": "regional", "arguments": {"region": "eu"}}));
    let revision = "MCP-Protocol-Version";
    let unmarked = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let modern = |body: &Value| Ask::post(body).with(revision, "2026-07-28");
    let rows = [
        ("a list", list(), 200, 0),
        ("a call", echo(), 200, 0),
        ("with a session, which is ignored", list().session(&"a".repeat(32)), 200, 0),
        ("with an event id, which is ignored", list().with("Last-Event-ID", "nonsense"), 200, 0),
        ("no revision", list().with(revision, ""), 400, -32020),
        ("another revision", list().with(revision, "2025-11-25"), 400, -32020),
        ("the revision twice", list().also(revision, "2026-07-28"), 400, -32020),
        ("no method", list().with("Mcp-Method", ""), 400, -32020),
        ("another method", list().with("Mcp-Method", "tools/call"), 400, -32020),
        ("a method in other case", list().with("Mcp-Method", "Tools/List"), 400, -32020),
        ("no name", echo().with("Mcp-Name", ""), 400, -32020),
        ("another name", echo().with("Mcp-Name", "other"), 400, -32020),
        ("an encoded name", echo().with("Mcp-Name", "=?base64?ZWNobw==?="), 200, 0),
        ("a badly encoded name", echo().with("Mcp-Name", "=?base64?*?="), 400, -32020),
        ("a header that the tool does not declare", echo().with("Mcp-Param-Other", "x"), 200, 0),
        ("an argument without its header", regional(), 400, -32020),
        ("an argument with its header", regional().with("Mcp-Param-Region", "eu"), 200, 0),
        ("an encoded argument", regional().with("Mcp-Param-Region", "=?base64?ZXU=?="), 200, 0),
        ("another argument", regional().with("Mcp-Param-Region", "us"), 400, -32020),
        ("metadata only in the header", modern(&unmarked), 400, -32602),
        ("discovery without metadata", Ask::post(json!({"id": 1, "method": "server/discover"})), 400, -32602),
        ("discovery", Ask::modern("server/discover", json!({})), 200, 0),
        ("a notification", modern(&json!({"jsonrpc": "2.0", "method": "notifications/x"})), 202, 0),
        ("an answer", modern(&json!({"jsonrpc": "2.0", "id": 1, "result": {}})), 400, -32600),
        ("an unknown method", Ask::modern("tools/call", json!({"name": "unknown"})), 404, -32601),
        ("a missing capability", Ask::modern("tools/call", json!({"name": "incapable"})), 400, -32021),
        ("only JSON accepted", list().with("Accept", "application/json"), 406, -32600),
    ];
    for (name, ask, status, code) in rows {
        check(&running, name, ask, status, code).await;
    }
    running.wires(0).await;
}

#[tokio::test]
async fn the_error_for_an_unsupported_modern_revision_lists_the_supported_ones() {
    let running = Running::start();
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2099-01-01", "io.modelcontextprotocol/clientCapabilities": {}});
    let body = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": {"_meta": meta}});
    let ask = Ask::post(body).with("MCP-Protocol-Version", "2099-01-01").with("Mcp-Method", "tools/list");
    let mut answer = running.send(ask).await;
    let said = answer.json().await;
    assert_eq!((answer.status, &said["error"]["code"], &said["id"]), (400, &json!(-32022), &json!(5)));
    assert_eq!(said["error"]["data"]["requested"], "2099-01-01");
    assert!(said["error"]["data"]["supported"].as_array().unwrap().contains(&json!("2026-07-28")), "{said}");
}

#[tokio::test]
async fn answers_have_the_right_type() {
    let running = Running::limited(rootward_http::Limits {
        answer_wait: std::time::Duration::from_millis(50),
        ..rootward_http::Limits::default()
    });
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let id = running.session(revision).await;
        let answer = running.send(Ask::post(call(1, "echo", json!({}))).session(&id)).await;
        assert_eq!(answer.header("content-type"), Some("application/json"), "{revision}");
        let mut answer = running.send(Ask::post(call(2, "slow", json!({}))).session(&id)).await;
        assert_eq!(answer.header("content-type"), Some("text/event-stream"), "{revision}");
        assert_eq!(answer.header("x-accel-buffering"), Some("no"));
        assert!(answer.header("cache-control").unwrap().contains("no-cache"));
        let (first, data) = answer.raw_event().await.unwrap();
        // Older clients treat an event without data as a broken message.
        assert_eq!(data.is_empty() && !first.is_empty(), revision == "2025-11-25", "{revision}: {data}");
        if data.is_empty() {
            assert_eq!(answer.message().await["result"]["slow"], true);
        }
    }
    let answer = running.send(hello("2025-06-18")).await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
}
