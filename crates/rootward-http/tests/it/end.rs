//! Shutdown: new requests are refused, running ones finish, then everything closes.

use std::time::Duration;

use rootward_http::Limits;
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::client::{Ask, LONG};
use crate::script::{Running, call, hello};

#[tokio::test]
async fn running_requests_finish_and_new_ones_are_refused() {
    let mut running = Running::start();
    let id = running.session("2025-11-25").await;
    let mut listening = running.send(Ask::get().session(&id)).await;
    let mut legacy = running.send(Ask::post(call(1, "ask", json!({}))).session(&id)).await;
    let modern = Ask::modern("tools/call", json!({"name": "slow", "arguments": {"ms": 600}}));
    let address = running.address;
    let modern = tokio::spawn(async move { modern.send(address).await.message().await });
    sleep(Duration::from_millis(150)).await;
    running.stop();
    sleep(Duration::from_millis(50)).await;
    let asks = [
        hello("2025-11-25"),
        Ask::modern("ping", json!({})),
        Ask::post(call(2, "echo", json!({}))).session(&id),
        Ask::get().session(&id),
        Ask::new("GET", "/readyz"),
    ];
    for ask in asks {
        let answer = running.send(ask.clone()).await;
        assert_eq!(answer.status, 503, "{ask:?}");
    }
    assert_eq!(running.send(Ask::new("GET", "/healthz")).await.status, 200);
    // Questions of a running call can still be answered.
    let roots = json!({"jsonrpc": "2.0", "id": "q1", "result": {}});
    assert_eq!(running.send(Ask::post(roots).session(&id)).await.status, 202);
    assert!(legacy.message().await["result"].is_object());
    assert_eq!(modern.await.unwrap()["result"]["slow"], true);
    assert_eq!(listening.event().await, None);
    let served = timeout(LONG, &mut running.served).await;
    assert!(matches!(served, Ok(Ok(Ok(())))));
    running.wires(0).await;
    assert!(tokio::net::TcpStream::connect(running.address).await.is_err());
}

#[tokio::test]
async fn requests_that_do_not_finish_have_a_grace_time() {
    let mut running = Running::limited(Limits { grace: Duration::from_millis(300), ..Limits::default() });
    let id = running.session("2025-06-18").await;
    let mut legacy = running.send(Ask::post(call(1, "never", json!({}))).session(&id)).await;
    let listening = running.send(Ask::modern("subscriptions/listen", json!({}))).await;
    running.stop();
    assert_eq!(legacy.message().await["error"]["code"], -32603);
    let served = timeout(LONG, &mut running.served).await;
    assert!(matches!(served, Ok(Ok(Ok(())))));
    drop(listening);
    running.wires(0).await;
}
