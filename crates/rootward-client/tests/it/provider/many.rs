//! Many servers at once, and some that misbehave.

use std::time::Duration;

use rootward_client::provider::Server;
use rootward_core::Access;
use serde_json::json;

use super::raw::{ROOM, Raw, Route};
use super::stage::Stage;

/// Every server is notified of each change, with one frame each.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_servers_are_notified_once_each() {
    let stage = Stage::new();
    stage.share_all(&["a"]);
    let mut servers = Vec::new();
    for number in 0..1000 {
        servers.push(Raw::connect(&stage.provider, Server::local(format!("server {number}"))).await);
    }
    assert_eq!(stage.provider.connected(), 1000);
    for change in [&["a", "b"][..], &["b"]] {
        stage.share_all(change);
        for server in &mut servers {
            server.notified().await;
        }
    }
    // No other frame was sent: the next frame of each server is the answer to its request.
    for server in &mut servers {
        assert_eq!(server.roots().await, [stage.uri("b")]);
    }
}

/// One server does not read, one is gone: the others hear of every change, and the first finally hears of the last one.
#[tokio::test]
async fn a_stuck_server_and_a_dead_one_do_not_delay_others() {
    let stage = Stage::new();
    stage.share_all(&["a"]);
    let mut stuck = Raw::connect_over(&stage.provider, Server::local("stuck"), json!({}), Route::Transport, 16).await;
    let dead = Raw::connect(&stage.provider, Server::local("dead")).await;
    let mut well = Raw::connect(&stage.provider, Server::local("well")).await;
    assert_eq!(stage.provider.connected(), 3);
    // Keep the client's end: the server is what ended.
    let client = dead.die();
    for turn in 0..20 {
        stage.share_all(&["a", &turn.to_string()]);
        well.notified().await;
        assert_eq!(well.roots().await, [stage.uri("a"), stage.uri(&turn.to_string())]);
    }
    forgotten(&stage, 2).await;
    drop(client);
    // One more change that only `well` sees: once it is announced, the previous change was checked for all servers.
    let names = ["a", "19"].map(|name| stage.root(name, Access::READ_WRITE, &[]));
    stage.share(names.into_iter().chain([stage.root("well", Access::READ, &["well"])]).collect());
    well.notified().await;
    // One notification for twenty changes.
    stuck.notified().await;
    assert_eq!(stuck.roots().await, [stage.uri("a"), stage.uri("19")]);
    // The stuck server now works like the others.
    stage.share_all(&["a"]);
    stuck.notified().await;
    well.notified().await;
    assert_eq!(stuck.roots().await, [stage.uri("a")]);
}

/// The requests of one server wait for each other; those of other servers do not wait for them.
#[tokio::test]
async fn a_flooding_server_gets_one_lookup_at_a_time() {
    const QUESTIONS: usize = 2000;
    let stage = Stage::new();
    stage.share_all(&["a", "b", "c"]);
    let mut flooding = Raw::connect(&stage.provider, Server::local("flooding")).await;
    let mut well = Raw::connect(&stage.provider, Server::local("well")).await;
    for id in 0..QUESTIONS {
        flooding.send(&json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"})).await;
    }
    assert_eq!(well.roots().await.len(), 3);
    for _ in 0..QUESTIONS {
        assert_eq!(flooding.receive().await["result"]["roots"].as_array().unwrap().len(), 3);
    }
    // Idle threads stay for a while, so a few more may exist than have work; one per request would be hundreds.
    let threads = std::fs::read_dir("/proc/self/task").unwrap().count();
    assert!(threads < 50, "{threads} threads");
}

#[tokio::test]
async fn a_connection_that_ends_is_forgotten() {
    let stage = Stage::new();
    stage.share_all(&["a"]);
    let server = Raw::connect_over(&stage.provider, Server::local("one"), json!({}), Route::Pipes, ROOM).await;
    let other = Raw::connect(&stage.provider, Server::local("other")).await;
    assert_eq!(stage.provider.connected(), 2);
    server.client.cancel().await.unwrap();
    forgotten(&stage, 1).await;
    drop(other);
    forgotten(&stage, 0).await;
    // A handshake that fails leaves nothing behind.
    let (_, there) = tokio::io::duplex(64);
    assert!(stage.provider.install((), Server::local("none")).serve(there).await.is_err());
    forgotten(&stage, 0).await;
}

/// Waits until this many connections are left.
async fn forgotten(stage: &Stage, left: usize) {
    for _ in 0..2000 {
        if stage.provider.connected() == left {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{} are connected", stage.provider.connected());
}
