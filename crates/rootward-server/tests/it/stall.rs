//! A client that stalls, by not answering or by not reading, holds up itself and nobody else.

use rootward_server::RootsService;
use serde_json::{Value, json};

use crate::client::{self, roots, said};
use crate::http;
use crate::rooted::Files;
use crate::stage::{Stage, settings};

fn echo(id: usize) -> Value {
    let parameters = json!({"name": "echo", "arguments": {"path": "x"}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": parameters})
}

/// A session of its own shares `a` and reads from it.
async fn another_session_is_served(service: &RootsService, stage: &Stage) {
    let capabilities = json!({"roots": {"listChanged": true}});
    let mut other = client::Client::connect_rooted(service.install(Files::new())).shake_hands(capabilities).await;
    other.read(1, &stage.path("a/file")).await;
    let question = other.asked().await;
    other.answer(question, roots(&[&stage.path("a")])).await;
    assert_eq!(other.result(1).await, "a");
}

/// The same over HTTP.
async fn another_http_session_is_served(endpoint: &http::Endpoint, stage: &Stage) {
    let mut other = http::Client::start(endpoint.clone()).await;
    let mut call = other.read(1, &stage.path("a/file")).await;
    let question = http::next(&mut call).await;
    other.answer(&question, roots(&[&stage.path("a")])).await;
    assert_eq!(said(&http::next(&mut call).await), "a");
}

#[tokio::test]
async fn a_client_that_never_answers_holds_no_other_call() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let capabilities = json!({"roots": {"listChanged": true}});
    let mut silent = client::Client::connect_rooted(service.install(Files::new())).shake_hands(capabilities).await;
    silent.read("held", &stage.path("a/file")).await;
    silent.asked().await;
    for id in 0..50 {
        silent.send(echo(id)).await;
        assert_eq!(silent.receive().await["id"], id);
    }
    silent.send(json!({"jsonrpc": "2.0", "id": "list", "method": "tools/list"})).await;
    assert_eq!(silent.receive().await["id"], "list");
    another_session_is_served(&service, &stage).await;
}

#[tokio::test]
async fn a_client_that_stops_reading_holds_no_other_session() {
    const CALLS: usize = 500;
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let handler = service.install(Files::new());
    let stalled = client::Client::connect_with_room(handler, 1 << 10).shake_hands(json!({"roots": {}})).await;
    // More than the room for answers holds: the server cannot get rid of them.
    let (mut lines, mut write) = stalled.split();
    let writing = tokio::spawn(async move {
        for id in 0..CALLS {
            client::write(&mut write, &echo(id)).await;
        }
        write
    });
    another_session_is_served(&service, &stage).await;
    // When it reads at last, nothing was lost.
    let mut answered = Vec::new();
    for _ in 0..CALLS {
        answered.push(client::next(&mut lines).await["id"].as_u64());
    }
    answered.sort_unstable();
    assert_eq!(answered, (0..CALLS as u64).map(Some).collect::<Vec<_>>());
    writing.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_never_answers_holds_no_other_call_over_http() {
    let stage = Stage::new();
    let endpoint = http::endpoint(&RootsService::new(settings()));
    let mut silent = http::Client::start(endpoint.clone()).await;
    let mut held = silent.read(1, &stage.path("a/file")).await;
    let question = http::next(&mut held).await;
    for id in 2..20 {
        let mut call = silent.post(echo(id)).await;
        assert_eq!(said(&http::next(&mut call).await), "x");
    }
    another_http_session_is_served(&endpoint, &stage).await;
    // The call was only held.
    silent.answer(&question, roots(&[&stage.path("a")])).await;
    assert_eq!(said(&http::next(&mut held).await), "a");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_nobody_reads_holds_no_other_call_over_http() {
    let stage = Stage::new();
    let endpoint = http::endpoint(&RootsService::new(settings()));
    let mut stalled = http::Client::start(endpoint.clone()).await;
    let parameters = json!({"name": "read", "arguments": {"path": stage.path("a/file")}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters});
    let unread = stalled.post_unread(call).await;
    for id in 2..20 {
        let mut call = stalled.post(echo(id)).await;
        assert_eq!(said(&http::next(&mut call).await), "x");
    }
    another_http_session_is_served(&endpoint, &stage).await;
    // Read at last: the question is there, and the call goes on.
    let mut held = unread();
    let question = http::next(&mut held).await;
    stalled.answer(&question, roots(&[&stage.path("a")])).await;
    assert_eq!(said(&http::next(&mut held).await), "a");
}
