//! The roots of a legacy session, with a handler that calls [`Session`] directly.

use std::collections::BTreeSet;
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock};
use rmcp::service::{NotificationContext, RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use rootward_core::session::{Follow, State};
use rootward_core::{Access, Origin, Root, RootSet, Validation};
use rootward_server::{Refusal, RefusalAnswer, RootsService, Session, Settings};
use serde_json::{Value, json};

use crate::client::{self, Read as _, roots, said};
use crate::stage::{Stage, settings};

/// Reads the file that the argument `path` names.
struct Reader(Session);

impl Reader {
    fn new(settings: Settings) -> Reader {
        Reader(RootsService::new(settings).session())
    }
}

impl ServerHandler for Reader {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let path = request.arguments.as_ref().and_then(|arguments| arguments["path"].as_str()).unwrap_or_default();
        let roots = match &*request.name {
            "refresh" => self.0.refresh(&context.peer).await,
            _ => self.0.roots(&context.peer).await,
        };
        let Ok(roots) = roots else {
            return Ok(Refusal::pending().into_tool_result().into());
        };
        Ok(match roots.check(path, Access::READ) {
            Ok(grant) => {
                let text = String::from_utf8(grant.read(1 << 20).unwrap()).unwrap();
                CallToolResult::success(vec![ContentBlock::text(text)]).into()
            }
            Err(denial) => roots.refusal(&denial).into_tool_result().into(),
        })
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        self.0.list_changed().await;
    }
}

fn with_roots() -> Value {
    json!({"roots": {"listChanged": true}})
}

#[tokio::test]
async fn a_call_right_after_initialized_waits_for_the_roots() {
    let stage = Stage::new();
    let mut client = client::start(Reader::new(settings()), with_roots()).await;
    client.read(1, &stage.path("a/file")).await;
    client.answer_roots(roots(&[&stage.path("a")])).await;
    assert_eq!(client.said(1).await, "a");
    // The roots are known now: no second question.
    assert_eq!(client.reads(2, &stage.path("b/file")).await, "outside_roots");
}

#[tokio::test]
async fn a_thousand_calls_cost_one_question() {
    let stage = Stage::new();
    let mut client = client::start(Reader::new(settings()), with_roots()).await;
    for id in 0..1000 {
        client.read(id, &stage.path("a/file")).await;
    }
    client.answer_roots(roots(&[&stage.path("a")])).await;
    let mut answers = BTreeSet::new();
    for _ in 0..1000 {
        let message = client.receive().await;
        assert_eq!(said(&message), "a");
        answers.insert(message["id"].as_u64());
    }
    assert_eq!(answers.len(), 1000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_cost_one_question_on_threads() {
    let stage = Stage::new();
    let mut client = client::start(Reader::new(settings()), with_roots()).await;
    for id in 0..1000 {
        client.read(id, &stage.path("a/file")).await;
    }
    client.answer_roots(roots(&[&stage.path("a")])).await;
    for _ in 0..1000 {
        assert_eq!(said(&client.receive().await), "a");
    }
}

#[tokio::test]
async fn a_revoked_root_is_gone_for_the_next_call() {
    let stage = Stage::new();
    // Goose does not declare `listChanged` but sends the notification anyway.
    for capabilities in [with_roots(), json!({"roots": {}})] {
        let mut client = client::start(Reader::new(settings()), capabilities).await;
        client.read(1, &stage.path("a/file")).await;
        client.answer_roots(roots(&[&stage.path("a")])).await;
        assert_eq!(client.said(1).await, "a");

        client.list_changed().await;
        client.read(2, &stage.path("a/file")).await;
        client.answer_roots(json!({"roots": []})).await;
        assert_eq!(client.said(2).await, "no_roots");
    }
}

#[tokio::test]
async fn a_change_overtakes_the_answer_under_way() {
    let stage = Stage::new();
    let mut client = client::start(Reader::new(settings()), with_roots()).await;
    client.read(1, &stage.path("a/file")).await;
    let first = client.asked().await;
    client.list_changed().await;
    let cancelled = client.receive().await;
    assert_eq!((&cancelled["method"], &cancelled["params"]["requestId"]), (&json!("notifications/cancelled"), &first));
    let second = client.asked().await;
    // In reverse order: the older answer arrives last and is ignored.
    client.answer(second, roots(&[&stage.path("b")])).await;
    client.answer(first, roots(&[&stage.path("a")])).await;
    assert_eq!(client.said(1).await, "outside_roots");
    assert_eq!(client.reads(2, &stage.path("b/file")).await, "b");
}

#[tokio::test]
async fn sessions_do_not_see_each_others_roots() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let mut clients = Vec::new();
    for name in ["a", "b"] {
        let mut client = client::start(Reader(service.session()), with_roots()).await;
        client.read(1, &stage.path(&format!("{name}/file"))).await;
        client.answer_roots(roots(&[&stage.path(name)])).await;
        assert_eq!(client.said(1).await, name);
        clients.push(client);
    }
    for (client, other) in clients.iter_mut().zip(["b", "a"]) {
        assert_eq!(client.reads(2, &stage.path(&format!("{other}/file"))).await, "outside_roots");
    }
}

#[tokio::test]
async fn a_client_that_never_answers_costs_the_timeout_and_gets_a_cancellation() {
    let stage = Stage::new();
    let mut settings = settings();
    settings.policy.timeout = Duration::from_millis(50);
    settings.policy.retry_after = Duration::from_mins(1);
    let mut client = client::start(Reader::new(settings), with_roots()).await;
    client.read(1, &stage.path("a/file")).await;
    let question = client.asked().await;
    let cancelled = client.receive().await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], question);
    assert_eq!(client.said(1).await, "roots_failed");
    // The answer comes too late; the next call is answered at once.
    client.answer(question, roots(&[&stage.path("a")])).await;
    assert_eq!(client.reads(2, &stage.path("a/file")).await, "roots_failed");
}

/// An author may set an infinite time, although no timer can be set to it.
#[tokio::test]
async fn infinite_times_are_accepted() {
    let stage = Stage::new();
    let mut settings = settings();
    settings.policy.timeout = Duration::MAX;
    settings.policy.lifetime_announced = Some(Duration::MAX);
    let mut client = client::start(Reader::new(settings), with_roots()).await;
    client.read(1, &stage.path("a/file")).await;
    client.answer_roots(roots(&[&stage.path("a")])).await;
    assert_eq!(client.said(1).await, "a");
}

#[tokio::test]
async fn a_silent_client_does_not_delay_calls_that_need_no_roots() {
    let stage = Stage::new();
    let mut client = client::start(Reader::new(settings()), with_roots()).await;
    client.read(1, &stage.path("a/file")).await;
    client.asked().await;
    client.send(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})).await;
    assert_eq!(client.receive().await["id"], 2);
}

#[tokio::test]
async fn errors_and_answers_that_are_not_a_list() {
    let stage = Stage::new();
    for answer in [
        json!({"error": {"code": -32601, "message": "Method not found"}}),
        json!({"error": {"code": -32600, "message": "Roots not enabled"}}),
        json!({"error": {"code": -32603, "message": "Internal error"}}),
        json!({"result": {}}),
        json!({"result": {"roots": null}}),
        json!({"result": {"something": "else"}}),
    ] {
        let mut client = client::start(Reader::new(settings()), with_roots()).await;
        client.read(1, &stage.path("a/file")).await;
        let mut message = answer.clone();
        message["jsonrpc"] = json!("2.0");
        message["id"] = client.asked().await;
        client.send(message).await;
        assert_eq!(client.said(1).await, "roots_failed", "{answer}");
        tokio::time::sleep(settings().policy.retry_after).await;
        // The next call asks again but does not wait; the call after it sees the roots.
        client.read(2, &stage.path("a/file")).await;
        let question = client.asked().await;
        assert_eq!(client.said(2).await, "roots_failed");
        client.answer(question, roots(&[&stage.path("a")])).await;
        client.send(json!({"jsonrpc": "2.0", "id": "ping", "method": "ping"})).await;
        assert_eq!(client.receive().await["id"], "ping");
        assert_eq!(client.reads(3, &stage.path("a/file")).await, "a", "{answer}");
    }
}

#[tokio::test]
async fn a_bad_entry_costs_the_good_ones_nothing() {
    let stage = Stage::new();
    let mut client = client::start(Reader::new(settings()), json!({"roots": {}})).await;
    client.read(0, &stage.path("a/file")).await;
    let question = client.asked().await;
    let good = format!("file://{}", stage.path("a"));
    let result = json!({"roots": [{"uri": 7}, {"name": "x"}, 8, null, {"uri": "vscode-remote://h/x"}, {"uri": good}]});
    client.answer(question, result).await;
    assert_eq!(client.said(0).await, "a");
}

#[tokio::test]
async fn the_operators_roots_serve_a_client_without_roots() {
    let stage = Stage::new();
    let root = Root::from_path(stage.path("a"), Origin::Flag).unwrap();
    let mut settings = settings();
    settings.sources.ceiling = RootSet::place_ambient([root], &Validation::new(None));
    let mut client = client::start(Reader::new(settings.clone()), json!({})).await;
    assert_eq!(client.reads(1, &stage.path("a/file")).await, "a");
    // The ceiling limits a client's roots.
    let mut client = client::start(Reader::new(settings.clone()), with_roots()).await;
    client.read(1, &stage.path("b/file")).await;
    client.answer_roots(roots(&[stage.place().to_str().unwrap()])).await;
    assert_eq!(client.said(1).await, "outside_roots");
    // Strict: only the client's roots count.
    settings.policy.follow = Follow::Strict;
    let mut client = client::start(Reader::new(settings), json!({})).await;
    assert_eq!(client.reads(1, &stage.path("a/file")).await, "no_roots");
}

#[tokio::test]
async fn a_link_that_moved_is_seen_when_its_root_is_sent_again() {
    let stage = Stage::new();
    let link = stage.path("link");
    std::os::unix::fs::symlink(stage.path("a"), &link).unwrap();
    let mut client = client::start(Reader::new(settings()), with_roots()).await;
    for (id, target, changed) in [(1, "a", false), (2, "b", true)] {
        if changed {
            std::fs::remove_file(&link).unwrap();
            std::os::unix::fs::symlink(stage.path(target), &link).unwrap();
            client.list_changed().await;
        }
        client.read(id, &format!("{link}/file")).await;
        client.answer_roots(roots(&[&link])).await;
        assert_eq!(client.said(id).await, target);
    }
    assert_eq!(client.reads(3, &stage.path("a/file")).await, "outside_roots");
}

#[tokio::test]
async fn the_author_can_refresh_and_subscribe() {
    let stage = Stage::new();
    let session = RootsService::new(settings()).session();
    let mut news = session.subscribe();
    assert!(session.roots_cached().is_none());
    assert_eq!(session.path_in_roots(stage.path("a")), None);
    let mut client = client::start(Reader(session.clone()), with_roots()).await;
    client.read(1, &stage.path("a/file")).await;
    let question = client.asked().await;
    assert_eq!(session.path_in_roots(stage.path("a")), None);
    client.answer(question, roots(&[&stage.path("a")])).await;
    assert_eq!(client.said(1).await, "a");
    assert!(news.has_changed().unwrap());
    let before = news.borrow_and_update().clone().unwrap();
    assert_eq!((before.state(), before.list().len()), (State::Ready, 1));
    assert_eq!(session.path_in_roots(stage.path("a")), Some(true));
    assert_eq!(session.path_in_roots(stage.path("b")), Some(false));

    session.invalidate();
    assert_eq!(session.path_in_roots(stage.path("a")), None);
    assert!(session.roots_cached().is_none());
    client.call_as(2, "refresh", json!({"path": stage.path("b/file")})).await;
    client.answer_roots(roots(&[&stage.path("b")])).await;
    assert_eq!(client.said(2).await, "b");
    assert!(news.borrow_and_update().as_ref().unwrap().generation() > before.generation());
}

#[tokio::test]
async fn after_a_change_the_cached_roots_are_unknown_until_the_refresh_is_done() {
    let stage = Stage::new();
    let session = RootsService::new(settings()).session();
    let mut client = client::start(Reader(session.clone()), with_roots()).await;
    client.read(1, &stage.path("a/file")).await;
    client.answer_roots(roots(&[&stage.path("a")])).await;
    assert_eq!(client.said(1).await, "a");
    let shared = |session: &Session| {
        let list = session.roots_cached()?.list().to_vec();
        Some(list.into_iter().map(|placed| placed.root.path).collect::<Vec<_>>())
    };
    assert_eq!(shared(&session), Some(vec![stage.path("a").into()]));
    client.list_changed().await;
    client.read(2, &stage.path("b/file")).await;
    let question = client.asked().await;
    // The client announced a change and was asked: the cached roots are out of date.
    assert_eq!((shared(&session), session.path_in_roots(stage.path("a"))), (None, None));
    client.answer(question, roots(&[&stage.path("b")])).await;
    assert_eq!(client.said(2).await, "b");
    assert_eq!(shared(&session), Some(vec![stage.path("b").into()]));
    assert_eq!(session.path_in_roots(stage.path("a")), Some(false));
}

/// The call that sent the question ends; another call gets the answer.
#[tokio::test]
async fn a_question_outlives_the_call_that_sent_it() {
    struct Dropped(Session);
    impl ServerHandler for Dropped {
        async fn call_tool(
            &self,
            request: CallToolRequestParams,
            context: RequestContext<RoleServer>,
        ) -> Result<CallToolResponse, ErrorData> {
            if request.name == "first" {
                let _ = tokio::time::timeout(Duration::from_millis(20), self.0.roots(&context.peer)).await;
                return Ok(CallToolResult::success(vec![ContentBlock::text("gone")]).into());
            }
            let roots = self.0.roots(&context.peer).await.unwrap();
            Ok(CallToolResult::success(vec![ContentBlock::text(roots.list().len().to_string())]).into())
        }
    }
    let stage = Stage::new();
    let mut client = client::start(Dropped(RootsService::new(settings()).session()), with_roots()).await;
    client.call_as(1, "first", json!({})).await;
    let question = client.asked().await;
    client.call_as(2, "second", json!({})).await;
    assert_eq!(client.said(1).await, "gone");
    client.answer(question, roots(&[&stage.path("a"), &stage.path("b")])).await;
    assert_eq!(client.said(2).await, "2");
}
