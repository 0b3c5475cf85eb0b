//! Every decision goes on record before it takes effect.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rootward_core::{Audit, AuditEvent};
use rootward_server::{AuditLines, RootsService};
use serde_json::{Value, json};

use crate::client::{Client, roots};
use crate::rooted::Files;
use crate::stage::{Stage, settings};

/// A log in memory that fails when it is told to.
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
    /// What was recorded since the last look: code or `allow`, requester and path.
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
    let mut settings = settings();
    settings.audit = Some(Arc::new(AuditLines::new(log.clone())));
    settings.policy.timeout = std::time::Duration::from_millis(400);
    settings.policy.debounce = std::time::Duration::from_millis(300);
    settings.policy.debounce_limit = std::time::Duration::from_millis(300);
    let handler = RootsService::new(settings).install(Files::new());
    Client::connect_rooted(handler).shake_hands(json!({"roots": {}})).await
}

#[tokio::test]
async fn each_decision_is_recorded_once() {
    let (stage, log) = (Stage::new(), Log::default());
    let mut client = start(&log).await;
    let (inside, outside) = (stage.path("a/file"), stage.path("b/file"));
    client.read(1, &inside).await;
    let question = client.asked().await;
    client.answer(question, roots(&[&stage.path("a")])).await;
    assert_eq!(client.result(1).await, "a");
    assert_eq!(log.news(), [format!("allow tools/call read {inside}")]);
    client.read(2, &outside).await;
    assert_eq!(client.result(2).await, "outside_roots");
    assert_eq!(log.news(), [format!("outside_roots tools/call read {outside}")]);
    // Decided in the body.
    client.call(3, "by_hand", json!({"path": outside})).await;
    assert_eq!(client.result(3).await, "outside_roots");
    assert_eq!(log.news(), [format!("outside_roots tools/call by_hand {outside}")]);
    // Refused by an act on grants that were both given: it would carry a closed place along.
    let repository = stage.path("a/repository");
    std::fs::create_dir_all(format!("{repository}/.git/hooks")).unwrap();
    client.call(4, "rename", json!({"path": repository})).await;
    assert_eq!(client.result(4).await, "restricted");
    let news = log.news();
    assert_eq!(news.len(), 3, "{news:?}");
    assert_eq!(news[0], format!("allow tools/call rename {repository}"));
    assert_eq!(news[1], format!("allow tools/call rename {repository}.old"));
    assert!(news[2].starts_with("restricted tools/call rename"), "{news:?}");
    // A call that decides nothing leaves no trace.
    client.call(5, "echo", json!({"path": outside})).await;
    client.result(5).await;
    assert_eq!(log.news(), [""; 0]);
}

#[tokio::test]
async fn a_call_that_came_too_early_is_recorded() {
    let (stage, log) = (Stage::new(), Log::default());
    let mut client = start(&log).await;
    client.read(1, &stage.path("a/file")).await;
    let question = client.asked().await;
    client.answer(question, roots(&[&stage.path("a")])).await;
    client.result(1).await;
    log.news();
    client.list_changed().await;
    client.read(2, &stage.path("a/file")).await;
    client.asked().await;
    assert_eq!(client.result(2).await, "roots_pending");
    assert_eq!(log.news(), [format!("roots_pending tools/call read {}", stage.path("a/file"))]);
}

#[tokio::test]
async fn without_a_record_there_is_no_access() {
    let (stage, log) = (Stage::new(), Log::default());
    let mut client = start(&log).await;
    client.read(1, &stage.path("a/file")).await;
    let question = client.asked().await;
    client.answer(question, roots(&[&stage.path("a")])).await;
    assert_eq!(client.result(1).await, "a");
    log.full.store(true, Ordering::Relaxed);
    for (id, path) in [(2, stage.path("a/file")), (3, stage.path("b/file"))] {
        client.read(id, &path).await;
        assert_eq!(client.result(id).await, "audit_unavailable");
    }
    log.full.store(false, Ordering::Relaxed);
    client.read(4, &stage.path("a/file")).await;
    assert_eq!(client.result(4).await, "a");
}

/// Whoever keeps the log sees sessions apart.
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
        let mut client = Client::connect_rooted(handler).shake_hands(json!({})).await;
        for id in 0..2 {
            client.read(id, &stage.path("a/file")).await;
            assert_eq!(client.result(id).await, "no_roots");
        }
    }
    assert_eq!(*sessions.0.lock().unwrap(), ["1", "1", "2", "2"]);
}
