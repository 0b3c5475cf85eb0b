//! Lists that come in pages: whole, or not at all.

use rmcp::model::ErrorCode;
use rootward_server::{RootsService, Settings};
use rootward_testkit::client::message::again;
use serde_json::{Value, json};

use crate::client::{self, Client, Read as _, roots};
use crate::modern;
use crate::rooted::Files;
use crate::stage::{Stage, settings};

async fn start(settings: Settings) -> Client {
    let handler = RootsService::new(settings).install(Files::new());
    client::start_rooted(handler, json!({"roots": {}})).await
}

/// A page with these paths. The cursor is in `_meta`, which rmcp keeps; the byte transports move it there.
fn page(paths: &[&str], next: &str) -> Value {
    let mut page = roots(paths);
    page["_meta"] = json!({"rootward.dev/nextCursor": next});
    page
}

async fn asked_for(client: &mut Client, cursor: &str) -> Value {
    let question = client.receive().await;
    assert_eq!(question["method"], "roots/list", "{question}");
    assert_eq!(question["params"], json!({"cursor": cursor}));
    question["id"].clone()
}

#[tokio::test]
async fn every_page_is_asked_for() {
    let stage = Stage::new();
    let mut client = start(settings()).await;
    client.read(1, &stage.path("b/file")).await;
    client.answer_roots(page(&[&stage.path("a")], "one")).await;
    let second = asked_for(&mut client, "one").await;
    client.answer(second, page(&[], "two")).await;
    let third = asked_for(&mut client, "two").await;
    client.answer(third, roots(&[&stage.path("b")])).await;
    assert_eq!(client.said(1).await, "b");
    assert_eq!(client.reads(2, &stage.path("a/file")).await, "a");
}

/// An incomplete list gives no access: the missing pages may close what the others open.
#[tokio::test]
async fn endless_pages_are_not_a_list() {
    let stage = Stage::new();
    let mut client = start(settings()).await;
    client.read(1, &stage.path("a/file")).await;
    client.answer_roots(page(&[&stage.path("a")], "again")).await;
    let second = asked_for(&mut client, "again").await;
    client.answer(second, page(&[&stage.path("b")], "again")).await;
    assert_eq!(client.said(1).await, "roots_failed");
}

#[tokio::test]
async fn a_list_that_changes_between_pages_is_requested_again() {
    let stage = Stage::new();
    let mut client = start(settings()).await;
    client.read(1, &stage.path("b/file")).await;
    client.answer_roots(page(&[&stage.path("a")], "old")).await;
    let second = asked_for(&mut client, "old").await;
    let refusal = json!({"code": ErrorCode::INVALID_PARAMS.0, "message": "Stale cursor for roots/list"});
    client.send(json!({"jsonrpc": "2.0", "id": second, "error": refusal})).await;
    client.answer_roots(roots(&[&stage.path("b")])).await;
    assert_eq!(client.said(1).await, "b");
    assert_eq!(client.reads(2, &stage.path("a/file")).await, "outside_roots");
}

/// The timeout applies to all pages together.
#[tokio::test]
async fn pages_have_one_timeout_between_them() {
    let stage = Stage::new();
    let mut settings = settings();
    settings.policy.timeout = std::time::Duration::from_millis(300);
    settings.policy.retry_after = std::time::Duration::from_mins(1);
    let mut client = start(settings).await;
    client.read(1, &stage.path("a/file")).await;
    client.answer_roots(page(&[&stage.path("a")], "more")).await;
    asked_for(&mut client, "more").await;
    let cancelled = client.receive().await;
    assert_eq!(cancelled["method"], "notifications/cancelled", "{cancelled}");
    assert_eq!(client.said(1).await, "roots_failed");
}

#[tokio::test]
async fn a_modern_client_is_asked_page_by_page_if_it_pages() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let pages = json!({"roots": {}, "extensions": {"rootward.dev/roots-paging": {}}});
    for (capabilities, expect) in [(pages, "b"), (json!({"roots": {}}), "roots_failed")] {
        let ask = async |parameters: Value| {
            let mut client = client::connect(service.install(Files::new()));
            client.send(modern::request(&capabilities, parameters)).await;
            client.receive().await
        };
        let call = json!({"name": "read", "arguments": {"path": stage.path("b/file")}});
        let message = ask(call.clone()).await;
        let mut first = roots(&[&stage.path("a")]);
        first["nextCursor"] = json!("more");
        let mut message = ask(again(call.clone(), &modern::state(&message), &first)).await;
        if expect == "b" {
            let question = &message["result"]["inputRequests"]["rootward.dev/roots"];
            assert_eq!(question["params"]["_meta"]["rootward.dev/cursor"], "more", "{message}");
            let sealed = &message["result"]["requestState"];
            message = ask(again(call, sealed, &roots(&[&stage.path("b")]))).await;
        }
        assert_eq!(client::said(&message), expect);
    }
}
