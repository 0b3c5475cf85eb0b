//! Which message reaches the client on which stream, and what happens when one breaks.

use std::time::Duration;

use rootward_http::Limits;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::client::{Answer, Ask};
use crate::script::{Running, call};

async fn next(answer: &mut Answer) -> Value {
    answer.event().await.expect("a message").1
}

fn roots() -> Value {
    json!({"jsonrpc": "2.0", "id": "q1", "result": {"roots": []}})
}

#[tokio::test]
async fn a_question_inside_a_call_reaches_a_client_without_a_get_stream() {
    let running = Running::start();
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let id = running.session(revision).await;
        let mut called = running.send(Ask::post(call(1, "ask", json!({}))).session(&id)).await;
        let question = next(&mut called).await;
        assert_eq!((&question["method"], question.get("params")), (&json!("roots/list"), None));
        assert_eq!(running.send(Ask::post(roots()).session(&id)).await.status, 202);
        assert_eq!(next(&mut called).await["result"]["heard"], json!({"roots": []}));
        assert_eq!(called.event().await, None);
    }
}

#[tokio::test]
async fn a_question_inside_a_call_prefers_the_call_to_the_get_stream() {
    let running = Running::start();
    let id = running.session("2025-11-25").await;
    let mut listening = running.send(Ask::get().session(&id)).await;
    let mut called = running.send(Ask::post(call(1, "ask", json!({}))).session(&id)).await;
    assert_eq!(next(&mut called).await["method"], "roots/list");
    running.send(Ask::post(roots()).session(&id)).await;
    assert!(next(&mut called).await["result"].is_object());
    // Messages that belong to no call go the other way.
    let mut changed = running.send(Ask::post(call(2, "change", json!({}))).session(&id)).await;
    assert_eq!(changed.header("content-type"), Some("application/json"));
    assert!(changed.message().await["result"].is_object());
    assert_eq!(next(&mut listening).await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn progress_reaches_the_call_that_asked_for_it() {
    let running = Running::start();
    let id = running.session("2025-06-18").await;
    let mut listening = running.send(Ask::get().session(&id)).await;
    let mut slow = running.send(Ask::post(call(1, "never", json!({}))).session(&id)).await;
    let mut body = call(2, "progress", json!({}));
    body["params"]["_meta"] = json!({"progressToken": "t"});
    let mut called = running.send(Ask::post(body).session(&id)).await;
    assert_eq!(next(&mut called).await["params"]["progressToken"], "t");
    assert_eq!(next(&mut called).await["id"], 2);
    running.send(Ask::delete().session(&id)).await;
    assert!(next(&mut slow).await["error"].is_object());
    assert_eq!(listening.event().await, None);
}

#[tokio::test]
async fn messages_of_the_client_reach_the_backend_in_order() {
    let running = Running::start();
    let id = running.session("2025-06-18").await;
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
    for round in 1..=20 {
        assert_eq!(running.send(Ask::post(&changed).session(&id)).await.status, 202);
        let mut heard = running.send(Ask::post(call(round, "heard", json!({}))).session(&id)).await;
        let heard = heard.message().await["result"]["heard"].clone();
        let heard: Vec<&str> = heard.as_array().unwrap().iter().map(|method| method.as_str().unwrap()).collect();
        assert_eq!(heard[heard.len() - 2..], ["notifications/roots/list_changed", "tools/call"], "round {round}");
        assert_eq!(heard.len(), usize::try_from(1 + 2 * round).unwrap());
    }
}

#[tokio::test]
async fn a_broken_stream_is_resumed_without_loss() {
    let running = Running::start();
    let id = running.session("2025-11-25").await;
    let mut called = running.send(Ask::post(call(1, "count", json!({"to": 5}))).session(&id)).await;
    let (first, _) = called.event().await.unwrap();
    drop(called);
    let resume = |event: &str| Ask::get().session(&id).with("Last-Event-ID", event);
    let mut rest = running.send(resume(&first)).await;
    let mut events = Vec::new();
    while let Some((event, message)) = rest.event().await {
        events.push((event, message));
    }
    let data: Vec<&Value> = events.iter().map(|(_, message)| &message["params"]["data"]).collect();
    assert_eq!(data, [&json!(1), &json!(2), &json!(3), &json!(4), &Value::Null]);
    assert_eq!(events[4].1["result"]["counted"], true);
    let mut ids: Vec<&String> = events.iter().map(|(event, _)| event).collect();
    ids.dedup();
    assert_eq!(ids.len(), 5);
    // There is nothing after the last event, and the stream ends.
    let mut last = running.send(resume(&events[4].0)).await;
    assert_eq!(last.event().await, None);
}

#[tokio::test]
async fn a_stream_that_broke_before_its_first_message_is_resumed() {
    let running = Running::limited(Limits { answer_wait: Duration::from_millis(10), ..Limits::default() });
    let id = running.session("2025-11-25").await;
    let mut called = running.send(Ask::post(call(1, "slow", json!({"ms": 300}))).session(&id)).await;
    let (priming, data) = called.raw_event().await.unwrap();
    assert!(data.is_empty());
    drop(called);
    let mut rest = running.send(Ask::get().session(&id).with("Last-Event-ID", &priming)).await;
    assert_eq!(next(&mut rest).await["result"]["slow"], true);
    assert_eq!(rest.event().await, None);
}

#[tokio::test]
async fn a_get_stream_is_resumed() {
    let running = Running::start();
    let id = running.session("2025-11-25").await;
    let mut listening = running.send(Ask::get().session(&id)).await;
    let (priming, _) = listening.raw_event().await.unwrap();
    let change = async |at: u64| {
        running.send(Ask::post(call(at, "change", json!({}))).session(&id)).await.message().await;
    };
    change(1).await;
    let (first, _) = listening.event().await.unwrap();
    assert_ne!(priming, first);
    drop(listening);
    sleep(Duration::from_millis(100)).await;
    change(2).await;
    let mut again = running.send(Ask::get().session(&id).with("Last-Event-ID", &priming)).await;
    let (replayed, message) = again.event().await.unwrap();
    assert_eq!((replayed, &message["method"]), (first, &json!("notifications/tools/list_changed")));
}

#[tokio::test]
async fn replay_has_bounds() {
    let running = Running::limited(Limits { replay: 3, ..Limits::default() });
    let id = running.session("2025-11-25").await;
    let mut called = running.send(Ask::post(call(1, "count", json!({"to": 10}))).session(&id)).await;
    let (priming, _) = called.raw_event().await.unwrap();
    called.message().await;
    let mut again = running.send(Ask::get().session(&id).with("Last-Event-ID", &priming)).await;
    let mut kept = Vec::new();
    while let Some((_, message)) = again.event().await {
        kept.push(message["params"]["data"].clone());
    }
    assert_eq!(kept, [json!(8), json!(9), Value::Null]);
}

#[tokio::test]
async fn waiting_messages_are_sent_on_the_next_stream() {
    let running = Running::start();
    let id = running.session("2025-06-18").await;
    let called = running.send(Ask::post(call(1, "never", json!({}))).session(&id)).await;
    drop(called);
    sleep(Duration::from_millis(100)).await;
    let mut changed = Ask::post(call(2, "change", json!({}))).session(&id).send(running.address).await;
    assert_eq!(next(&mut changed).await["method"], "notifications/tools/list_changed");
    assert_eq!(next(&mut changed).await["id"], 2);
}

#[tokio::test]
async fn a_large_answer_and_one_of_several_lines_pass() {
    let running = Running::limited(Limits { answer_wait: Duration::ZERO, ..Limits::default() });
    let id = running.session("2025-06-18").await;
    for (at, tool) in [(1, "large"), (2, "pretty")] {
        let mut called = running.send(Ask::post(call(at, tool, json!({}))).session(&id)).await;
        let result = called.message().await["result"].clone();
        match tool {
            "large" => assert_eq!(result["text"].as_str().unwrap().len(), 2 << 20),
            _ => assert_eq!(result["a"], 1),
        }
    }
}

#[tokio::test]
async fn a_silent_stream_sends_keep_alives() {
    let running = Running::limited(Limits { keep_alive: Duration::from_millis(50), ..Limits::default() });
    let id = running.session("2025-06-18").await;
    let mut called = running.send(Ask::post(call(1, "slow", json!({"ms": 500}))).session(&id)).await;
    let text = called.text().await;
    assert!(text.matches(":\n\n").count() >= 2, "{text}");
    let mut modern = running.send(Ask::modern("tools/call", json!({"name": "slow", "arguments": {"ms": 500}}))).await;
    assert_eq!(modern.header("content-type"), Some("text/event-stream"));
    assert!(modern.text().await.matches(":\n\n").count() >= 2);
}
