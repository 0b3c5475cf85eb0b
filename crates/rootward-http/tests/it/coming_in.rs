//! Who may connect: tokens, names, origins, and the owners of sessions.

use rootward_http::{Config, Limits};
use serde_json::json;

use crate::client::Ask;
use crate::script::{Running, call, hello};

#[tokio::test]
async fn without_a_token_nothing_is_served() {
    let running = Running::start();
    let id = running.session("2025-06-18").await;
    let asks = || {
        [hello("2025-06-18"), Ask::modern("tools/list", json!({})), Ask::get().session(&id), Ask::delete().session(&id)]
    };
    for value in ["", "Bearer wrong", "Bearer ada-toke", "Bearer ada-token2", "Basic ada-token", "ada-token", "Bearer"]
    {
        for ask in asks() {
            let mut answer = running.send(ask.with("Authorization", value)).await;
            assert_eq!((answer.status, answer.header("www-authenticate")), (401, Some("Bearer")), "{value}");
            let text = answer.text().await;
            assert!(!text.contains("ada"), "{text}");
        }
    }
    for ask in asks() {
        let answer = running.send(ask.also("Authorization", "Bearer bob-token")).await;
        assert_eq!(answer.status, 401, "two tokens");
    }
    running.wires(1).await;
}

#[tokio::test]
async fn names_of_others_are_refused() {
    let running = Running::with(Config {
        hosts: vec!["mcp.example.org".to_owned()],
        origins: vec!["https://app.example.org".to_owned()],
        ..Config::default()
    });
    let check = async |host: &str, origin: &str, expect: u16| {
        let answer = running.send(hello("2025-06-18").with("Host", host).with("Origin", origin)).await;
        assert_eq!(answer.status, expect, "{host} {origin}");
    };
    check("127.0.0.1", "", 200).await;
    check("localhost:1", "http://localhost:3000", 200).await;
    check("[::1]", "", 200).await;
    check("mcp.example.org", "https://app.example.org", 200).await;
    check("evil.example", "", 403).await;
    check("127.0.0.1.evil.example", "", 403).await;
    check("localhost", "http://evil.example", 403).await;
    check("localhost", "null", 403).await;
    check("", "", 400).await;
    let answer = running.send(Ask::new("GET", "/healthz").with("Host", "evil.example")).await;
    assert_eq!(answer.status, 403);
}

#[tokio::test]
async fn a_session_taken_by_another_principal_is_refused() {
    let running = Running::start();
    let id = running.session("2025-06-18").await;
    let bob = |ask: Ask| ask.session(&id).with("Authorization", "Bearer bob-token");
    for ask in [Ask::post(call(1, "echo", json!({}))), Ask::get(), Ask::delete()] {
        assert_eq!(running.send(bob(ask)).await.status, 404);
    }
    let mut answer = running.send(Ask::post(call(1, "echo", json!({}))).session(&id)).await;
    assert_eq!(answer.message().await["result"]["principal"], 0);
    let mut answer = running.send(hello("2025-06-18").with("Authorization", "Bearer bob-token")).await;
    assert_eq!(answer.message().await["result"]["principal"], 1);
    let modern = Ask::modern("tools/call", json!({"name": "echo"})).with("Authorization", "Bearer bob-token");
    assert_eq!(running.send(modern).await.message().await["result"]["principal"], 1);
}

#[tokio::test]
async fn sessions_are_limited_in_total_and_per_principal() {
    let running = Running::limited(Limits { sessions: 3, sessions_per_principal: 2, ..Limits::default() });
    let open = async |token: &str| running.send(hello("2025-06-18").with("Authorization", token)).await;
    let first = running.session("2025-06-18").await;
    running.session("2025-06-18").await;
    let refused = open("Bearer ada-token").await;
    assert_eq!(refused.status, 503);
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() > 0);
    assert_eq!(open("Bearer bob-token").await.status, 200);
    assert_eq!(open("Bearer bob-token").await.status, 503);
    assert_eq!(running.send(Ask::delete().session(&first)).await.status, 204);
    running.wires(2).await;
    assert_eq!(open("Bearer bob-token").await.status, 200);
}

/// The answer tells the client that it may retry, and why.
#[tokio::test]
async fn a_full_backend_is_reported_to_the_client() {
    let running = Running::start();
    let params = json!({"protocolVersion": "2025-06-18", "full": true});
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    for (ask, says) in [
        (Ask::post(hello), "too many sessions are open"),
        (Ask::modern("tools/call", json!({"name": "full"})), "too many requests are open"),
    ] {
        let mut answer = running.send(ask).await;
        assert_eq!((answer.status, answer.header("retry-after").is_some()), (503, true));
        assert_eq!(answer.message().await["error"]["message"], says);
    }
    running.wires(0).await;
}

#[tokio::test]
async fn the_rate_of_each_principal_is_limited() {
    let running = Running::limited(Limits { rate: 1, burst: 3, ..Limits::default() });
    let ping = Ask::modern("ping", json!({}));
    for expect in [200, 200, 200, 429] {
        let answer = running.send(ping.clone()).await;
        assert_eq!(answer.status, expect);
        assert_eq!(answer.header("retry-after").is_some(), expect == 429);
    }
    assert_eq!(running.send(ping.with("Authorization", "Bearer bob-token")).await.status, 200);
    assert_eq!(running.send(Ask::new("GET", "/healthz")).await.status, 200);
}

#[tokio::test]
async fn streams_of_a_session_are_limited() {
    let running = Running::limited(Limits { streams: 2, ..Limits::default() });
    let id = running.session("2025-06-18").await;
    let one = running.send(Ask::get().session(&id)).await;
    let two = running.send(Ask::get().session(&id)).await;
    assert_eq!((one.status, two.status), (200, 200));
    let refused = running.send(Ask::get().session(&id)).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")));
    let refused = running.send(Ask::post(call(1, "echo", json!({}))).session(&id)).await;
    assert_eq!(refused.status, 429);
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(running.send(Ask::post(note).session(&id)).await.status, 202);
}
