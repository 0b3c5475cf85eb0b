//! Requests without a handshake: the headers that repeat the body, cancellation, streams that stay open.

use serde_json::{Value, json};

use crate::lines::{Lines, SOON};
use crate::scripted::{Reply, Scripted, event, events, json_reply, reply, result};

fn params(mut params: Value) -> Value {
    params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    params
}

#[tokio::test]
async fn a_request_repeats_itself_in_headers() {
    let server = Scripted::start(|request| json_reply(&result(request, &json!({})))).await;
    let mut lines = Lines::to(&server.url);
    lines.ask(1, "tools/call", &params(json!({"name": "räum auf"}))).await;
    lines.answer(1).await;
    lines.ask(2, "server/discover", &params(json!({}))).await;
    lines.answer(2).await;
    let requests = server.requests();
    assert_eq!(requests[0].headers["mcp-protocol-version"], "2026-07-28");
    assert_eq!(requests[0].headers["mcp-method"], "tools/call");
    assert_eq!(requests[0].headers["mcp-name"], "=?base64?csOkdW0gYXVm?=");
    assert!(!requests[1].headers.contains_key("mcp-name"));
    // There is no session, so nothing is opened or deleted.
    lines.end().await;
    assert!(server.requests().iter().all(|request| request.method == "POST"));
}

#[tokio::test]
async fn a_missing_header_is_learned_from_the_list() {
    let server = Scripted::start(|request| match request.body["method"].as_str() {
        Some("tools/list") => {
            let schema =
                json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
            let bad = json!({"type": "object", "properties": {"n": {"type": "number", "x-mcp-header": "N"}}});
            let tools = json!([{"name": "t", "inputSchema": schema}, {"name": "bad", "inputSchema": bad}]);
            json_reply(&result(request, &json!({"tools": tools})))
        }
        _ if request.headers.contains_key("mcp-param-region") => json_reply(&result(request, &json!({"ok": true}))),
        _ => {
            let error =
                json!({"jsonrpc": "2.0", "id": request.body["id"], "error": {"code": -32020, "message": "missing"}});
            reply("400 Bad Request", &[("content-type", "application/json")], &error.to_string())
        }
    })
    .await;
    let mut lines = Lines::to(&server.url);
    lines.ask(1, "tools/call", &params(json!({"name": "t", "arguments": {"region": "eu"}}))).await;
    assert_eq!(lines.answer(1).await.0["result"]["ok"], true);
    assert_eq!(server.posted(), ["tools/call", "tools/list", "tools/call"]);
    // Now the header is known.
    lines.ask(2, "tools/call", &params(json!({"name": "t", "arguments": {"region": "eu"}}))).await;
    assert_eq!(lines.answer(2).await.0["result"]["ok"], true);
    assert_eq!(server.posted().len(), 4);
    // An error that the list cannot fix is reported.
    lines.ask(3, "tools/call", &params(json!({"name": "other", "arguments": {}}))).await;
    assert_eq!(lines.answer(3).await.0["error"]["code"], -32020);
    // A tool that breaks the rules is left out.
    lines.ask(4, "tools/list", &params(json!({}))).await;
    assert_eq!(lines.answer(4).await.0["result"]["tools"].as_array().unwrap().len(), 1);
    assert!(lines.said.lock().unwrap()[0].contains("bad"));
}

#[tokio::test]
async fn cancelling_closes_the_connection() {
    let server = Scripted::start(|request| match request.body["method"].as_str() {
        Some("subscriptions/listen") => {
            let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            Reply::Hang(events(&event(&changed)))
        }
        _ => json_reply(&result(request, &json!({}))),
    })
    .await;
    let mut lines = Lines::to(&server.url);
    lines.ask(1, "subscriptions/listen", &params(json!({}))).await;
    assert_eq!(lines.next().await["method"], "notifications/tools/list_changed");
    lines.ask(2, "ping", &params(json!({}))).await;
    lines.answer(2).await;
    assert!(server.requests().iter().all(|request| request.method != "LEFT"));
    lines.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})).await;
    let left = async {
        while !server.requests().iter().any(|request| request.method == "LEFT") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SOON, left).await.expect("the connection stays open");
    assert!(!server.posted().contains(&"notifications/cancelled".to_owned()));
    assert!(lines.is_quiet().await);
}

#[tokio::test]
async fn a_modern_stream_is_not_resumed() {
    let server = Scripted::start(|_| Reply::Raw(events("id: e1\ndata:\n\n"))).await;
    let mut lines = Lines::to(&server.url);
    lines.ask(1, "tools/call", &params(json!({"name": "t"}))).await;
    let says = lines.answer(1).await.0["error"]["message"].as_str().unwrap().to_owned();
    assert!(says.contains("without an answer"), "{says}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn an_unknown_method_is_not_an_unknown_session() {
    let server = Scripted::start(|request| {
        let error =
            json!({"jsonrpc": "2.0", "id": request.body["id"], "error": {"code": -32601, "message": "unknown"}});
        reply("404 Not Found", &[("content-type", "application/json")], &error.to_string())
    })
    .await;
    let mut lines = Lines::to(&server.url);
    lines.ask(1, "nonsense", &params(json!({}))).await;
    assert_eq!(lines.answer(1).await.0["error"]["code"], -32601);
    lines.ask(2, "nonsense", &params(json!({}))).await;
    assert_eq!(lines.answer(2).await.0["error"]["code"], -32601);
}
