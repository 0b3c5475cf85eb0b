//! Roots on a disk that does not answer: looking them up delays no other call, and ends with a timeout.

use std::sync::mpsc;
use std::time::Duration;

use rootward_server::{RootsService, Settings};
use serde_json::json;

use crate::client::{self, Client, Read as _, roots};
use crate::rooted::Files;
use crate::stage::{Stage, settings};

/// Keeps the only blocking thread, which reads the disk, busy until this is dropped.
struct StuckDisk(#[expect(dead_code, reason = "its end is the signal")] mpsc::Sender<()>);

impl StuckDisk {
    fn new() -> StuckDisk {
        let (sender, receiver) = mpsc::channel();
        tokio::task::spawn_blocking(move || receiver.recv());
        StuckDisk(sender)
    }
}

fn on_one_disk<F: Future>(test: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).enable_all().build().unwrap().block_on(test)
}

async fn start(settings: Settings) -> Client {
    let handler = RootsService::new(settings).install(Files::new());
    client::start_rooted(handler, json!({"roots": {"listChanged": true}})).await
}

/// Brings a session to this state: its client failed once, was asked again, and has answered. The next call looks up
/// its roots on a disk that does not answer.
async fn being_looked_up(client: &mut Client, stage: &Stage) -> StuckDisk {
    client.read(1, &stage.path("a/file")).await;
    let question = client.asked().await;
    client.send(json!({"jsonrpc": "2.0", "id": question, "error": {"code": -32603, "message": "no"}})).await;
    assert_eq!(client.said(1).await, "roots_failed");
    tokio::time::sleep(settings().policy.retry_after * 2).await;
    client.read(2, &stage.path("a/file")).await;
    let question = client.asked().await;
    assert_eq!(client.said(2).await, "roots_failed");
    let disk = StuckDisk::new();
    client.answer(question, roots(&[&stage.path("a")])).await;
    disk
}

async fn needs_no_roots(client: &mut Client, id: u64) {
    assert_eq!(client.calls(id, "echo", json!({"path": "x"})).await, "x");
}

#[test]
fn a_change_while_roots_are_looked_up_leaves_no_call_behind() {
    on_one_disk(async {
        let stage = Stage::new();
        let mut client = start(settings()).await;
        let disk = being_looked_up(&mut client, &stage).await;
        client.read(3, &stage.path("b/file")).await;
        client.send(json!({"jsonrpc": "2.0", "id": "ping", "method": "ping"})).await;
        assert_eq!(client.receive().await["id"], "ping");
        client.list_changed().await;
        drop(disk);
        client.answer_roots(roots(&[&stage.path("b")])).await;
        assert_eq!(client.said(3).await, "b");
    });
}

#[test]
fn a_call_without_paths_does_not_wait_for_a_disk() {
    on_one_disk(async {
        let stage = Stage::new();
        let mut client = start(settings()).await;
        let disk = being_looked_up(&mut client, &stage).await;
        needs_no_roots(&mut client, 3).await;
        // A call with a path waits, and sees the roots that were found.
        client.read(4, &stage.path("a/file")).await;
        needs_no_roots(&mut client, 5).await;
        drop(disk);
        assert_eq!(client.said(4).await, "a");
    });
}

#[test]
fn missing_roots_are_looked_up_within_the_timeout() {
    on_one_disk(async {
        let stage = Stage::new();
        let mut settings = settings();
        settings.policy.timeout = Duration::from_millis(300);
        let mut client = start(settings.clone()).await;
        client.read(1, &stage.path("a/file")).await;
        client.answer_roots(roots(&[&stage.path("a"), &stage.path("none")])).await;
        assert_eq!(client.said(1).await, "a");
        tokio::time::sleep(settings.policy.retry_after * 2).await;
        let disk = StuckDisk::new();
        needs_no_roots(&mut client, 2).await;
        // The lookup does not finish; the roots that are already known still apply.
        assert_eq!(client.reads(3, &stage.path("a/file")).await, "a");
        std::fs::create_dir(stage.place().join("none")).unwrap();
        std::fs::write(stage.place().join("none/file"), "found").unwrap();
        drop(disk);
        tokio::time::sleep(settings.policy.retry_after * 2).await;
        assert_eq!(client.reads(4, &stage.path("none/file")).await, "found");
    });
}
