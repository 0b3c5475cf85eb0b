//! Modern requests: each has a wire, which ends with its client.

use rootward_http::Limits;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::client::Ask;
use crate::script::Running;

#[tokio::test]
async fn an_answer_alone_is_a_document_and_with_more_a_stream() {
    let running = Running::start();
    let mut alone = running.send(Ask::modern("tools/call", json!({"name": "echo", "arguments": {"a": 1}}))).await;
    assert_eq!((alone.header("content-type"), alone.header("mcp-session-id")), (Some("application/json"), None));
    assert_eq!(alone.message().await["result"]["echo"]["a"], 1);
    let mut counting = running.send(Ask::modern("tools/call", json!({"name": "count", "arguments": {"to": 2}}))).await;
    assert_eq!(counting.header("content-type"), Some("text/event-stream"));
    for expect in [json!(0), json!(1)] {
        let (id, message) = counting.event().await.unwrap();
        // Modern streams cannot be resumed, so their events have no ids.
        assert_eq!((id.as_str(), &message["params"]["data"]), ("", &expect));
    }
    assert_eq!(counting.event().await.unwrap().1["result"]["counted"], true);
    assert_eq!(counting.event().await, None);
    running.wires(0).await;
}

#[tokio::test]
async fn a_subscription_stays_open_until_the_client_goes() {
    let running = Running::start();
    let mut listening = running.send(Ask::modern("subscriptions/listen", json!({"notifications": {}}))).await;
    assert_eq!(listening.event().await.unwrap().1["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(listening.event().await.unwrap().1["method"], "notifications/tools/list_changed");
    running.wires(1).await;
    drop(listening);
    running.wires(0).await;
}

#[tokio::test]
async fn a_client_that_goes_cancels_its_request() {
    let running = Running::start();
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(&Ask::modern("tools/call", json!({"name": "never"})).bytes()).await.unwrap();
    running.wires(1).await;
    drop(stream);
    running.wires(0).await;
}

#[tokio::test]
async fn a_backend_that_ends_without_an_answer_is_an_error() {
    let running = Running::start();
    let mut answer = running.send(Ask::modern("tools/call", json!({"name": "end"}))).await;
    assert_eq!(answer.message().await["error"]["code"], -32603);
}

#[tokio::test]
async fn requests_at_once_are_limited() {
    let running = Running::limited(Limits { requests: 1, ..Limits::default() });
    let listening = running.send(Ask::modern("subscriptions/listen", json!({}))).await;
    let refused = running.send(Ask::modern("ping", json!({}))).await;
    assert_eq!((refused.status, refused.header("retry-after").is_some()), (503, true));
    drop(listening);
    running.wires(0).await;
    assert_eq!(running.send(Ask::modern("ping", json!({}))).await.status, 200);
}
