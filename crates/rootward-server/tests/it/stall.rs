//! A client that stalls, by not answering or by not reading, delays only itself.

use rootward_server::RootsService;
use rootward_testkit::client::{DuplexClient, PATIENCE, message};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::client::{self, Read as _, roots, said};
use crate::http;
use crate::rooted::Files;
use crate::stage::{Stage, settings};

fn echo(id: usize) -> Value {
    message::request(id, "tools/call", message::call("echo", json!({"path": "x"})))
}

/// Checks that a second session can share `a` and read from it.
async fn another_session_is_served(service: &RootsService, stage: &Stage) {
    let capabilities = json!({"roots": {"listChanged": true}});
    let mut other = client::start_rooted(service.install(Files::new()), capabilities).await;
    other.read(1, &stage.path("a/file")).await;
    other.answer_roots(roots(&[&stage.path("a")])).await;
    assert_eq!(other.said(1).await, "a");
}

/// The same over HTTP.
async fn another_http_session_is_served(endpoint: &http::Endpoint, stage: &Stage) {
    let mut other = http::Client::start(endpoint.clone()).await;
    let mut call = other.read(1, &stage.path("a/file")).await;
    other.answer_on(&mut call, roots(&[&stage.path("a")])).await;
    assert_eq!(said(&http::next(&mut call).await), "a");
}

#[tokio::test]
async fn a_client_that_never_answers_delays_no_other_call() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let capabilities = json!({"roots": {"listChanged": true}});
    let mut silent = client::start_rooted(service.install(Files::new()), capabilities).await;
    silent.read("held", &stage.path("a/file")).await;
    silent.asked().await;
    for id in 0..50 {
        silent.send(echo(id)).await;
        assert_eq!(silent.receive().await["id"], id);
    }
    silent.send(message::request("list", "tools/list", Value::Null)).await;
    assert_eq!(silent.receive().await["id"], "list");
    another_session_is_served(&service, &stage).await;
}

#[tokio::test]
async fn a_client_that_stops_reading_delays_no_other_session() {
    const CALLS: usize = 500;
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let handler = service.install(Files::new());
    let stalled = client::begin(client::connect_with_room(handler, 1 << 10), json!({"roots": {}})).await;
    // More answers than fit into the buffer: the server cannot send them all.
    let DuplexClient { mut lines, mut write, .. } = stalled;
    let writing = tokio::spawn(async move {
        for id in 0..CALLS {
            write.write_all(format!("{}\n", echo(id)).as_bytes()).await.unwrap();
        }
        write
    });
    another_session_is_served(&service, &stage).await;
    // When the client finally reads, no answer is lost.
    let mut answered = Vec::new();
    for _ in 0..CALLS {
        let line = tokio::time::timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
        answered.push(serde_json::from_str::<Value>(&line).unwrap()["id"].as_u64());
    }
    answered.sort_unstable();
    assert_eq!(answered, (0..CALLS as u64).map(Some).collect::<Vec<_>>());
    writing.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_never_answers_delays_no_other_call_over_http() {
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
    // The delayed call still gets its answer.
    silent.answer(&question, roots(&[&stage.path("a")])).await;
    assert_eq!(said(&http::next(&mut held).await), "a");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_nobody_reads_delays_no_other_call_over_http() {
    let stage = Stage::new();
    let endpoint = http::endpoint(&RootsService::new(settings()));
    let mut stalled = http::Client::start(endpoint.clone()).await;
    let call = message::call("read", json!({"path": stage.path("a/file")}));
    let unread = stalled.post_unread(message::request(1, "tools/call", call)).await;
    for id in 2..20 {
        let mut call = stalled.post(echo(id)).await;
        assert_eq!(said(&http::next(&mut call).await), "x");
    }
    another_http_session_is_served(&endpoint, &stage).await;
    // Now the client reads the stream: the question is there, and the call continues.
    let mut held = unread();
    stalled.answer_on(&mut held, roots(&[&stage.path("a")])).await;
    assert_eq!(said(&http::next(&mut held).await), "a");
}
