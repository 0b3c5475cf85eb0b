//! Every decision is recorded before it takes effect.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rmcp::ServerHandler;
use rootward_core::{Audit, AuditEvent};
use rootward_server::{AuditLines, RootsService};
use serde_json::{Value, json};

use crate::client::{self, Client, Read as _, roots};
use crate::modern::request;
use crate::require::Names;
use crate::rooted::Files;
use crate::stage::{Stage, settings};

/// A log in memory that fails on request.
#[derive(Clone, Default)]
struct Log {
    lines: Arc<Mutex<Vec<u8>>>,
    full: Arc<AtomicBool>,
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.full.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.lines.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// The events since the last call: code or `allow`, requester and path.
    fn news(&self) -> Vec<String> {
        let lines = std::mem::take(&mut *self.lines.lock().unwrap());
        let events = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        events
            .map(|line| serde_json::from_slice::<Value>(line).unwrap())
            .map(|event| {
                let decision = event["code"].as_str().or(event["decision"].as_str()).unwrap();
                format!("{decision} {} {}", event["requester"].as_str().unwrap(), event["path"].as_str().unwrap())
            })
            .collect()
    }
}

async fn start(log: &Log) -> Client {
    start_with(log, Files::new()).await
}

async fn start_with(log: &Log, handler: impl ServerHandler) -> Client {
    let mut settings = settings();
    settings.audit = Some(Arc::new(AuditLines::new(log.clone())));
    settings.policy.timeout = std::time::Duration::from_millis(400);
    settings.policy.debounce = std::time::Duration::from_millis(300);
    settings.policy.debounce_limit = std::time::Duration::from_millis(300);
    let handler = RootsService::new(settings).install(handler);
    client::start_rooted(handler, json!({"roots": {}})).await
}

#[tokio::test]
async fn each_decision_is_recorded_once() {
    let (stage, log) = (Stage::new(), Log::default());
    let mut client = start(&log).await;
    let (inside, outside) = (stage.path("a/file"), stage.path("b/file"));
    client.read(1, &inside).await;
    client.answer_roots(roots(&[&stage.path("a")])).await;
    assert_eq!(client.said(1).await, "a");
    assert_eq!(log.news(), [format!("allow tools/call read {inside}")]);
    assert_eq!(client.reads(2, &outside).await, "outside_roots");
    assert_eq!(log.news(), [format!("outside_roots tools/call read {outside}")]);
    // The tool's body checks the path.
    assert_eq!(client.calls(3, "by_hand", json!({"path": outside})).await, "outside_roots");
    assert_eq!(log.news(), [format!("outside_roots tools/call by_hand {outside}")]);
    // Both grants were given, but the rename is refused: it would move a closed place.
    let repository = stage.path("a/repository");
    std::fs::create_dir_all(format!("{repository}/.git/hooks")).unwrap();
    assert_eq!(client.calls(4, "rename", json!({"path": repository})).await, "restricted");
    let news = log.news();
    assert_eq!(news.len(), 3, "{news:?}");
    assert_eq!(news[0], format!("allow tools/call rename {repository}"));
    assert_eq!(news[1], format!("allow tools/call rename {repository}.old"));
    assert!(news[2].starts_with("restricted tools/call rename"), "{news:?}");
    // A call without a decision is not recorded.
    client.call_as(5, "echo", json!({"path": outside})).await;
    client.said(5).await;
    assert_eq!(log.news(), [""; 0]);
}

/// An argument is recorded once, however often the name is checked.
#[tokio::test]
async fn each_plain_argument_is_recorded_once() {
    let (stage, log) = (Stage::new(), Log::default());
    let mut client = start_with(&log, Names::new()).await;
    client.read(1, &stage.path("a/file")).await;
    client.answer_roots(roots(&[&stage.path("a")])).await;
    assert_eq!(client.said(1).await, "a");
    assert_eq!(log.news(), [format!("allow tools/call read {}", stage.path("a/file"))]);
    // The guard finds `file` below the root; the system would open it in the working directory, which is not shared.
    assert_eq!(client.reads(2, "file").await, "outside_roots");
    assert_eq!(log.news(), ["outside_roots tools/call read file"]);
    client.call_as(3, "create", json!({"path": stage.path("a/new")})).await;
    client.receive().await;
    assert_eq!(log.news(), [format!("allow tools/call create {}", stage.path("a/new"))]);
}

/// The body checks several paths and fails with the first refusal.
#[tokio::test]
async fn several_refusals_are_recorded_once_each() {
    let (stage, log) = (Stage::new(), Log::default());
    let mut client = start(&log).await;
    client.call_as(1, "all", json!({"sources": [stage.path("b/file"), stage.path("b/none")]})).await;
    client.answer_roots(roots(&[&stage.path("a")])).await;
    assert_eq!(client.said(1).await, "outside_roots");
    let refused = |path| format!("outside_roots tools/call all {}", stage.path(path));
    assert_eq!(log.news(), [refused("b/file"), refused("b/none")]);
}

/// Text longer than any path is truncated, so that a peer cannot inflate the log or the answer.
#[tokio::test]
async fn a_text_longer_than_any_path_is_not_repeated() {
    let (stage, log) = (Stage::new(), Log::default());
    let mut client = start(&log).await;
    client.read(1, &stage.path("a/file")).await;
    client.answer_roots(roots(&[&stage.path("a")])).await;
    client.said(1).await;
    log.news();
    client.read(2, &"/\u{7f}".repeat(100_000)).await;
    let message = client.receive().await;
    assert_eq!(message["result"]["structuredContent"]["code"], "invalid_path");
    assert!(message.to_string().len() < 300_000, "{}", message.to_string().len());
    assert!(log.news().concat().len() < 100_000);
}

#[tokio::test]
async fn a_call_that_came_too_early_is_recorded() {
    let (stage, log) = (Stage::new(), Log::default());
    let mut client = start(&log).await;
    client.read(1, &stage.path("a/file")).await;
    client.answer_roots(roots(&[&stage.path("a")])).await;
    client.said(1).await;
    log.news();
    client.list_changed().await;
    client.read(2, &stage.path("a/file")).await;
    client.asked().await;
    assert_eq!(client.said(2).await, "roots_pending");
    assert_eq!(log.news(), [format!("roots_pending tools/call read {}", stage.path("a/file"))]);
}

#[tokio::test]
async fn without_a_record_there_is_no_access() {
    let (stage, log) = (Stage::new(), Log::default());
    let mut client = start(&log).await;
    client.read(1, &stage.path("a/file")).await;
    client.answer_roots(roots(&[&stage.path("a")])).await;
    assert_eq!(client.said(1).await, "a");
    log.full.store(true, Ordering::Relaxed);
    for (id, path) in [(2, stage.path("a/file")), (3, stage.path("b/file"))] {
        assert_eq!(client.reads(id, &path).await, "audit_unavailable");
    }
    log.full.store(false, Ordering::Relaxed);
    assert_eq!(client.reads(4, &stage.path("a/file")).await, "a");
}

/// The log tells sessions apart.
#[tokio::test]
async fn sessions_are_told_apart() {
    #[derive(Default)]
    struct Sessions(Mutex<Vec<String>>);
    impl Audit for Sessions {
        fn record(&self, event: &AuditEvent) -> io::Result<()> {
            self.0.lock().unwrap().push(event.session.clone());
            Ok(())
        }
    }
    let (stage, sessions) = (Stage::new(), Arc::new(Sessions::default()));
    let mut settings = settings();
    settings.audit = Some(Arc::<Sessions>::clone(&sessions));
    let service = RootsService::new(settings);
    for _ in 0..2 {
        let handler = service.install(Files::new());
        let mut client = client::start_rooted(handler, json!({})).await;
        for id in 0..2 {
            assert_eq!(client.reads(id, &stage.path("a/file")).await, "no_roots");
        }
    }
    assert_eq!(*sessions.0.lock().unwrap(), ["1", "1", "2", "2"]);
}

/// In both eras, and if the client sends a path before any roots are known.
#[tokio::test]
async fn the_record_names_client_and_server() {
    let (stage, log) = (Stage::new(), Log::default());
    let own = Files::new().get_info().server_info.name;
    for (named, server) in [(None, own.as_str()), (Some("my server"), "my server")] {
        let mut settings = settings();
        settings.audit = Some(Arc::new(AuditLines::new(log.clone())));
        settings.server = named.map(str::to_owned);
        let service = RootsService::new(settings);
        let mut legacy = client::start_rooted(service.install(Files::new()), json!({})).await;
        assert_eq!(legacy.reads(1, &stage.path("a/file")).await, "no_roots");
        let mut modern = client::connect(service.install(Files::new()));
        modern.send(request(&json!({}), json!({"name": "read", "arguments": {"path": stage.path("a/file")}}))).await;
        modern.receive().await;
        let lines = std::mem::take(&mut *log.lines.lock().unwrap());
        let lines: Vec<Value> = serde_json::Deserializer::from_slice(&lines).into_iter().map(Result::unwrap).collect();
        assert_eq!(lines.len(), 2);
        for line in lines {
            let parties = json!([line["client"], line["server"], line["process"]]);
            assert_eq!(parties, json!(["test 1", server, std::process::id()]), "{line}");
        }
    }
}
