//! Servers that cannot be reached, refuse, or misbehave. Every request gets an answer with a remedy.

use rootward_http::connect::Ended;
use serde_json::{Value, json};

use crate::lines::Lines;
use crate::scripted::{Reply, Request, Scripted, ended_events, event, events, json_reply, reply, result, usual};

/// The error for a call to a server with this script.
async fn call(script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> String {
    let server = Scripted::start(move |request| usual(request).unwrap_or_else(|| script(request))).await;
    let mut lines = Lines::with(&server.url, &[("Authorization", "Bearer hunter2")]);
    lines.begin().await;
    lines.ask(7, "tools/call", &json!({"name": "x"})).await;
    let (answer, before) = lines.answer(7).await;
    assert!(before.is_empty(), "{before:?}");
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    let says = answer["error"]["message"].as_str().unwrap().to_owned();
    assert!(says.contains("/mcp`") && !says.contains("hunter2"), "{says}");
    // The relay still works.
    assert_eq!(lines.end().await, Ended::ByClient);
    says
}

#[tokio::test]
async fn the_error_for_each_status_suggests_a_remedy() {
    for (status, expect) in [
        ("401 Unauthorized", "401 Unauthorized; the server requires a token"),
        ("403 Forbidden", "the token in `headers`"),
        ("410 Gone", "check `url`"),
        ("429 Too Many Requests", "try again later"),
        ("500 Internal Server Error", "try again later"),
        ("503 Service Unavailable", "try again later"),
        ("418 I'm a teapot", "check `url` and `headers`"),
    ] {
        let says = call(move |_| reply(status, &[("content-type", "text/plain")], "no")).await;
        assert!(says.contains(expect), "{says}");
    }
}

#[tokio::test]
async fn an_error_of_the_server_is_its_answer() {
    for id in [json!(7), Value::Null] {
        let server = Scripted::start(move |request| {
            usual(request).unwrap_or_else(|| {
                let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": "no such thing"}});
                reply("400 Bad Request", &[("content-type", "application/json")], &error.to_string())
            })
        })
        .await;
        let mut lines = Lines::to(&server.url);
        lines.begin().await;
        lines.ask(7, "tools/call", &json!({})).await;
        assert_eq!(lines.answer(7).await.0["error"]["message"], "no such thing");
    }
}

#[tokio::test]
async fn a_server_that_does_not_run() {
    let mut lines = Lines::to("http://127.0.0.1:1/mcp");
    lines.ask(0, "initialize", &json!({})).await;
    let (answer, _) = lines.answer(0).await;
    let says = answer["error"]["message"].as_str().unwrap();
    assert!(says.contains("connection was refused"), "{says}");
    let mut lines = Lines::to("https://127.0.0.1:1/mcp");
    lines.ask(0, "initialize", &json!({})).await;
    assert_eq!(lines.answer(0).await.0["error"]["code"], -32603);
}

#[tokio::test]
async fn https_to_a_plain_http_server() {
    let server = Scripted::start(|_| reply("400 Bad Request", &[], "")).await;
    let mut lines = Lines::to(&server.url.replace("http:", "https:"));
    lines.ask(0, "initialize", &json!({})).await;
    let (answer, _) = lines.answer(0).await;
    let says = answer["error"]["message"].as_str().unwrap();
    assert!(says.contains("cannot be reached"), "{says}");
}

#[tokio::test]
async fn answers_that_are_not_mcp() {
    let says = call(|_| reply("200 OK", &[("content-type", "text/html")], "<html>")).await;
    assert!(says.contains("`text/html`, which is not MCP"), "{says}");
    let says = call(|_| reply("200 OK", &[], "")).await;
    assert!(says.contains("not MCP"), "{says}");
    let says = call(|_| reply("200 OK", &[("content-type", "application/json")], "{\"jsonrpc\": nonsense")).await;
    assert!(says.contains("without an answer"), "{says}");
    let says = call(|_| reply("202 Accepted", &[], "")).await;
    assert!(says.contains("not MCP"), "{says}");
    let says = call(|_| Reply::Raw(b"SSH-2.0-OpenSSH_9.9\r\n".to_vec())).await;
    assert!(says.contains("closed before the answer"), "{says}");
}

#[tokio::test]
async fn answers_that_are_cut() {
    for cut in [
        Vec::new(),
        b"HTTP/1.1 200".to_vec(),
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"jsonrpc\":".to_vec(),
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\nff\r\ndata: {"
            .to_vec(),
    ] {
        let says = call(move |_| Reply::Raw(cut.clone())).await;
        assert!(says.contains("closed before the answer"), "{says}");
    }
    let says = call(|_| ended_events("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x")).await;
    assert!(says.contains("without an answer"), "{says}");
}

#[tokio::test]
async fn answers_to_others_are_dropped() {
    let server = Scripted::start(|request| {
        usual(request).unwrap_or_else(|| {
            let other = json!({"jsonrpc": "2.0", "id": 99, "result": {}});
            let twice = result(request, &json!({"n": 1}));
            ended_events(&[event(&other), event(&twice), event(&twice)].concat())
        })
    })
    .await;
    let mut lines = Lines::to(&server.url);
    lines.begin().await;
    lines.ask(7, "tools/call", &json!({})).await;
    let (answer, before) = lines.answer(7).await;
    assert!(before.is_empty() && answer["result"]["n"] == 1, "{before:?} {answer}");
    assert!(lines.is_quiet().await);
    let said = lines.said.lock().unwrap().join("\n");
    assert!(said.contains("dropped an answer to an unknown request"), "{said}");
}

#[tokio::test]
async fn a_message_over_the_limit_is_refused() {
    let says = call(|_| {
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n\"".to_vec();
        Reply::Endless(head, vec![b'x'; 1 << 20])
    })
    .await;
    assert!(says.contains("16 MiB"), "{says}");
    let says = call(|_| Reply::Endless(events("data: \""), vec![b'x'; 1 << 20])).await;
    assert!(says.contains("16 MiB"), "{says}");
    let says = call(|_| Reply::Endless(b"HTTP/1.1 200 OK\r\nx: ".to_vec(), vec![b'x'; 1 << 16])).await;
    assert!(says.contains("closed before the answer"), "{says}");
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_not_followed() {
    let other = Scripted::start(|_| reply("500 Internal Server Error", &[], "")).await;
    let to = format!("{}?token=hunter2", other.url);
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let to = to.clone();
        let says = call(move |_| reply(status, &[("location", &to)], "")).await;
        assert!(says.contains("redirects") && says.contains(&other.url) && says.contains("not followed"), "{says}");
    }
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn a_redirect_on_the_same_origin_is_followed() {
    let server = Scripted::start(|request| match request.path.as_str() {
        "/mcp" => reply("307 Temporary Redirect", &[("location", "/mcp/")], ""),
        _ => usual(request).unwrap_or_else(|| json_reply(&result(request, &json!({"ok": true})))),
    })
    .await;
    let mut lines = Lines::with(&server.url, &[("Authorization", "Bearer hunter2")]);
    lines.begin().await;
    lines.ask(7, "tools/call", &json!({})).await;
    assert_eq!(lines.answer(7).await.0["result"]["ok"], true);
    let last = server.requests().pop().unwrap();
    assert_eq!((last.path.as_str(), last.headers["authorization"].as_str()), ("/mcp/", "Bearer hunter2"));
    let says = call(|_| reply("307 Temporary Redirect", &[("location", "/mcp")], "")).await;
    assert!(says.contains("redirects"), "{says}");
}
