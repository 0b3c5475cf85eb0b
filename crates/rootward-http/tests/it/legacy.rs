//! What only some legacy revisions have, and what ends a session.

use std::time::Duration;

use rootward_http::Limits;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::client::Ask;
use crate::script::{Running, call};

#[tokio::test]
async fn batches_are_answered_message_by_message() {
    let running = Running::start();
    let id = running.session("2025-03-26").await;
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let batch = json!([call(1, "echo", json!({"a": 1})), note, call(2, "echo", json!({"a": 2}))]);
    let mut answer = running.send(Ask::post(batch).session(&id)).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/event-stream")));
    let mut ids = Vec::new();
    while let Some((_, message)) = answer.event().await {
        ids.push(message["id"].as_u64().unwrap());
    }
    assert_eq!(ids, [1, 2]);
    assert_eq!(running.send(Ask::post(json!([note, note])).session(&id)).await.status, 202);
    for bad in [
        json!([note, 7]),
        json!([{"jsonrpc": "2.0", "id": 1, "method": "initialize"}]),
        json!([call(3, "echo", Value::Null), call(3, "echo", Value::Null)]),
    ] {
        assert_eq!(running.send(Ask::post(&bad).session(&id)).await.status, 400, "{bad}");
    }
    let mut heard = running.send(Ask::post(call(9, "heard", json!({}))).session(&id)).await;
    let heard = heard.message().await["result"]["heard"].as_array().unwrap().len();
    assert_eq!(heard, 7, "nothing of a refused batch is passed on");
}

#[tokio::test]
async fn an_id_that_waits_for_its_answer_is_refused() {
    let running = Running::start();
    let id = running.session("2025-06-18").await;
    let _first = running.send(Ask::post(call(1, "never", json!({}))).session(&id)).await;
    let mut second = running.send(Ask::post(call(1, "echo", json!({}))).session(&id)).await;
    assert_eq!((second.status, second.json().await["id"].clone()), (400, json!(1)));
}

#[tokio::test]
async fn a_session_that_the_backend_ends_is_gone() {
    let running = Running::start();
    let id = running.session("2025-06-18").await;
    let mut listening = running.send(Ask::get().session(&id)).await;
    let mut called = running.send(Ask::post(call(1, "end", json!({}))).session(&id)).await;
    let said = called.message().await;
    assert_eq!((&said["id"], &said["error"]["code"]), (&json!(1), &json!(-32603)));
    assert_eq!(listening.event().await, None);
    assert_eq!(running.send(Ask::get().session(&id)).await.status, 404);
    running.wires(0).await;
}

#[tokio::test]
async fn a_deleted_session_ends_its_streams() {
    let running = Running::start();
    let id = running.session("2025-06-18").await;
    let mut listening = running.send(Ask::get().session(&id)).await;
    let mut called = running.send(Ask::post(call(1, "never", json!({}))).session(&id)).await;
    assert_eq!(running.send(Ask::delete().session(&id)).await.status, 204);
    assert_eq!(called.message().await["error"]["code"], -32603);
    assert_eq!(listening.event().await, None);
    running.wires(0).await;
    assert!(running.metric("rootward_http_streams").await.abs() < 0.5);
}

#[tokio::test]
async fn idle_sessions_end_and_those_with_a_stream_do_not() {
    let running = Running::limited(Limits { session_idle: Duration::from_millis(400), ..Limits::default() });
    let (idle, read) = (running.session("2025-06-18").await, running.session("2025-06-18").await);
    let listening = running.send(Ask::get().session(&read)).await;
    running.wires(1).await;
    sleep(Duration::from_millis(600)).await;
    let ask = |id: &str| Ask::post(call(1, "echo", json!({}))).session(id);
    assert_eq!(running.send(ask(&idle)).await.status, 404);
    assert_eq!(running.send(ask(&read)).await.status, 200);
    drop(listening);
    running.wires(0).await;
}

#[tokio::test]
async fn a_connection_serves_one_request_after_another() {
    let running = Running::start();
    let id = running.session("2025-06-18").await;
    let mut answer = running.send(Ask::post(call(1, "echo", json!({}))).session(&id)).await;
    for at in 2..50 {
        answer.message().await;
        answer = Ask::post(call(at, "echo", json!({"at": at}))).session(&id).send_on(answer.into_stream()).await;
        assert_eq!(answer.status, 200);
    }
    assert_eq!(answer.message().await["result"]["echo"]["at"], 49);
}
