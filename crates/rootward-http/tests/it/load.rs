//! Many sessions at once: each gets only its own messages.

use serde_json::json;

use crate::client::Ask;
use crate::script::Running;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_sessions_do_not_mix() {
    let running = std::sync::Arc::new(Running::start());
    let mut tasks = tokio::task::JoinSet::new();
    for at in 0..1000u64 {
        let running = std::sync::Arc::clone(&running);
        tasks.spawn(async move {
            let id =
                running.session(["2025-03-26", "2025-06-18", "2025-11-25"][usize::try_from(at % 3).unwrap()]).await;
            // All sessions use the same request id and the same question id.
            let mut asking = running.send(Ask::post(crate::script::call(1, "ask", json!({}))).session(&id)).await;
            assert_eq!(asking.event().await.unwrap().1["id"], "q1");
            let roots = json!({"jsonrpc": "2.0", "id": "q1", "result": {"mine": at}});
            assert_eq!(running.send(Ask::post(roots).session(&id)).await.status, 202);
            assert_eq!(asking.message().await["result"]["heard"]["mine"], at);
            let mut echo =
                running.send(Ask::post(crate::script::call(1, "echo", json!({"mine": at}))).session(&id)).await;
            assert_eq!(echo.message().await["result"]["echo"]["mine"], at);
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    assert!((running.metric("rootward_http_sessions").await - 1000.0).abs() < 0.5);
    running.wires(1000).await;
}

#[tokio::test]
async fn metrics_are_counted() {
    let running = Running::start();
    let id = running.session("2025-06-18").await;
    running.send(Ask::post(crate::script::call(1, "echo", json!({}))).session(&id)).await.message().await;
    running.send(Ask::new("GET", "/mcp")).await.text().await;
    assert!((running.metric("rootward_http_calls_total").await - 1.0).abs() < 0.1);
    assert!((running.metric("script_wires").await - 1.0).abs() < 0.1);
    assert!(running.metric(r#"rootward_http_requests_total{family="tools",status="200"}"#).await > 0.5);
    assert!(running.metric(r#"rootward_http_requests_total{family="other",status="401"}"#).await > 0.5);
    assert!(running.metric("rootward_http_received_bytes_total").await > 100.0);
    assert!(running.metric("rootward_http_sent_bytes_total").await > 100.0);
    assert!(running.metric(r#"rootward_http_request_duration_seconds_count{family="tools"}"#).await > 0.5);
}
