//! Sessions with a handshake: ids, revisions, streams that are cut and resumed, the end.

use std::sync::atomic::{AtomicUsize, Ordering};

use rootward_http::connect::Ended;
use serde_json::json;

use crate::lines::Lines;
use crate::scripted::{Reply, Scripted, ended_events, event, events, json_reply, reply, result, usual};

#[tokio::test]
async fn a_session_from_the_handshake_to_its_end() {
    let server = Scripted::start(|request| {
        usual(request).unwrap_or_else(|| json_reply(&result(request, &json!({"tools": []}))))
    })
    .await;
    let mut lines = Lines::with(&server.url, &[("X-Key", "k")]);
    assert_eq!(lines.begin().await["result"]["protocolVersion"], "2025-03-26");
    lines.ask(1, "tools/list", &json!({})).await;
    assert_eq!(lines.answer(1).await.0["result"]["tools"], json!([]));
    assert_eq!(lines.end().await, Ended::ByClient);
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.headers["x-key"] == "k"), "{requests:?}");
    let first = &requests[0];
    assert!(!first.headers.contains_key("mcp-session-id") && !first.headers.contains_key("mcp-protocol-version"));
    assert_eq!(first.headers["accept"], "application/json, text/event-stream");
    for request in &requests[1..] {
        assert_eq!(request.headers["mcp-session-id"], "session-1", "{request:?}");
        assert_eq!(request.headers["mcp-protocol-version"], "2025-03-26", "{request:?}");
    }
    assert_eq!(server.posted(), ["initialize", "notifications/initialized", "tools/list"]);
    assert_eq!(requests.last().unwrap().method, "DELETE");
}

#[tokio::test]
async fn requests_run_concurrently() {
    let server = Scripted::start(|request| {
        usual(request).unwrap_or_else(|| match request.body["id"].as_u64() {
            Some(1) => Reply::Hang(events("")),
            _ => json_reply(&result(request, &json!({}))),
        })
    })
    .await;
    let mut lines = Lines::to(&server.url);
    lines.begin().await;
    lines.ask(1, "tools/call", &json!({})).await;
    lines.ask(2, "tools/call", &json!({})).await;
    assert!(lines.answer(2).await.0["result"].is_object());
    // A message cancels the first request, and nothing is sent when its stream ends.
    lines.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})).await;
    lines.ask(3, "tools/call", &json!({})).await;
    assert!(lines.answer(3).await.0["result"].is_object());
    assert_eq!(server.posted()[2..], ["tools/call", "tools/call", "notifications/cancelled", "tools/call"]);
    assert!(lines.is_quiet().await);
}

#[tokio::test]
async fn messages_arrive_in_order() {
    let server =
        Scripted::start(|request| usual(request).unwrap_or_else(|| json_reply(&result(request, &json!({}))))).await;
    let mut lines = Lines::to(&server.url);
    lines.begin().await;
    for round in 0..40 {
        lines.ask(1 + round, "tools/call", &json!({})).await;
        lines.notify("notifications/progress").await;
    }
    for _ in 0..40 {
        lines.next().await;
    }
    let posted =
        server.posted()[2..].chunks(2).filter(|pair| *pair != ["tools/call", "notifications/progress"]).count();
    assert_eq!(posted, 0, "{:?}", server.posted());
}

#[tokio::test]
async fn a_stream_that_is_cut_is_resumed() {
    let server = Scripted::start(|request| match (request.method.as_str(), request.headers.get("last-event-id")) {
        ("GET", Some(id)) if id == "e1" => Reply::Raw(events("id: e2\ndata:\n\n")),
        ("GET", Some(id)) if id == "e2" => {
            ended_events(&event(&json!({"jsonrpc": "2.0", "id": 7, "result": {"resumed": true}})))
        }
        _ => usual(request).unwrap_or_else(|| {
            let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress"});
            Reply::Raw(events(&format!("retry: 20\nid: e1\n{}", event(&progress))))
        }),
    })
    .await;
    let mut lines = Lines::to(&server.url);
    lines.begin().await;
    lines.ask(7, "tools/call", &json!({})).await;
    let (answer, before) = lines.answer(7).await;
    assert_eq!(answer["result"]["resumed"], true, "{answer}");
    assert_eq!(before.len(), 1, "{before:?}");
}

#[tokio::test]
async fn a_stream_that_cannot_be_resumed_is_an_error() {
    // The events have ids, but the server refuses the GET that would resume them.
    let server =
        Scripted::start(|request| usual(request).unwrap_or_else(|| ended_events("id: e1\ndata:\n\nretry: 10\n\n")))
            .await;
    let mut lines = Lines::to(&server.url);
    lines.begin().await;
    lines.ask(7, "tools/call", &json!({})).await;
    let says = lines.answer(7).await.0["error"]["message"].as_str().unwrap().to_owned();
    assert!(says.contains("without an answer"), "{says}");
}

#[tokio::test]
async fn a_server_sends_messages_outside_of_requests() {
    let opened = AtomicUsize::new(0);
    let server = Scripted::start(move |request| match request.method.as_str() {
        "GET" => match opened.fetch_add(1, Ordering::SeqCst) {
            0 => {
                let asked = json!({"jsonrpc": "2.0", "id": "s1", "method": "roots/list"});
                Reply::Raw(events(&format!("retry: 10\nid: g1\n{}", event(&asked))))
            }
            1 => {
                assert_eq!(request.headers["last-event-id"], "g1");
                let changed =
                    "data: {\"jsonrpc\": \"2.0\",\r\ndata:  \"method\": \"notifications/tools/list_changed\"}\n\n";
                Reply::Hang(events(changed))
            }
            _ => panic!("the stream was already open"),
        },
        _ => usual(request).unwrap_or_else(|| reply("500 Internal Server Error", &[], "")),
    })
    .await;
    let mut lines = Lines::to(&server.url);
    lines.begin().await;
    let asked = lines.next().await;
    assert_eq!((&asked["id"], &asked["method"]), (&json!("s1"), &json!("roots/list")));
    lines.send(&json!({"jsonrpc": "2.0", "id": "s1", "result": {"roots": []}})).await;
    assert_eq!(lines.next().await["method"], "notifications/tools/list_changed");
    assert_eq!(lines.end().await, Ended::ByClient);
    assert_eq!(server.posted().last().unwrap(), "answer");
}

#[tokio::test]
async fn a_session_that_is_gone_ends_the_relay() {
    let server = Scripted::start(|request| usual(request).unwrap_or_else(|| reply("404 Not Found", &[], ""))).await;
    let mut lines = Lines::to(&server.url);
    lines.begin().await;
    lines.ask(7, "tools/call", &json!({})).await;
    assert_eq!(lines.ended().await, Ended::SessionGone);
    // There is no session left to end.
    assert!(server.requests().iter().all(|request| request.method != "DELETE"));
}

/// `server-everything` and many servers based on the SDKs' examples answer this way.
#[tokio::test]
async fn a_session_that_is_gone_by_a_bad_request() {
    let server = Scripted::start(|request| {
        usual(request).unwrap_or_else(|| {
            let says = json!({"code": -32000, "message": "Bad Request: No valid session ID provided"});
            let error = json!({"jsonrpc": "2.0", "id": null, "error": says});
            reply("400 Bad Request", &[("content-type", "application/json")], &error.to_string())
        })
    })
    .await;
    let mut lines = Lines::to(&server.url);
    lines.begin().await;
    lines.ask(7, "tools/call", &json!({})).await;
    assert_eq!(lines.ended().await, Ended::SessionGone);
}

#[tokio::test]
async fn without_a_session_an_unknown_address_is_an_error() {
    let server = Scripted::start(|_| reply("404 Not Found", &[], "")).await;
    let mut lines = Lines::to(&server.url);
    lines.ask(0, "initialize", &json!({})).await;
    let says = lines.answer(0).await.0["error"]["message"].as_str().unwrap().to_owned();
    assert!(says.contains("404 Not Found; there is no MCP endpoint"), "{says}");
    assert_eq!(lines.end().await, Ended::ByClient);
}

#[tokio::test]
async fn ids_come_back_as_they_were_written() {
    let server = Scripted::start(|request| {
        usual(request).unwrap_or_else(|| {
            json_reply(&json!([
                {"jsonrpc": "2.0", "method": "notifications/progress"},
                {"jsonrpc": "2.0", "id": 7, "result": {}},
            ]))
        })
    })
    .await;
    let mut lines = Lines::to(&server.url);
    lines.begin().await;
    lines.send(&serde_json::from_str("{\"jsonrpc\": \"2.0\", \"id\": 7.0, \"method\": \"ping\"}").unwrap()).await;
    assert_eq!(lines.next().await["method"], "notifications/progress");
    assert_eq!(lines.next().await.to_string(), "{\"id\":7.0,\"jsonrpc\":\"2.0\",\"result\":{}}");
}
