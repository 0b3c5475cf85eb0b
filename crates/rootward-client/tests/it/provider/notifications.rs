//! When a server is notified: once for each change in what it sees.

use std::time::Duration;

use rootward_client::provider::{RootChoice, Server, Settings};
use rootward_core::Access;

use super::raw::Raw;
use super::stage::Stage;

#[tokio::test]
async fn a_change_is_announced_to_the_servers_that_see_it() {
    let stage = Stage::new();
    let share = |all: &[&str], git: &[&str]| {
        let all = all.iter().map(|name| stage.root(name, Access::READ, &[]));
        stage.share(all.chain(git.iter().map(|name| stage.root(name, Access::READ, &["git"]))).collect());
    };
    share(&["a"], &[]);
    let mut git = Raw::connect(&stage.provider, Server::local("git")).await;
    let mut other = Raw::connect(&stage.provider, Server::local("other")).await;
    let mut remote = Raw::connect(&stage.provider, Server::remote("remote")).await;
    assert_eq!(other.roots().await, [stage.uri("a")]);
    // One server sees the change and is notified. The others get nothing: their next frame is an answer, below.
    for names in [&["b"][..], &["b", "c"], &[]] {
        share(&["a"], names);
        git.notified().await;
    }
    share(&["a", "d"], &[]);
    git.notified().await;
    other.notified().await;
    assert_eq!(other.roots().await, [stage.uri("a"), stage.uri("d")]);
    stage.provider.choose("git", &RootChoice::Only(vec![stage.directory("d")]));
    git.notified().await;
    assert_eq!(git.roots().await, [stage.uri("d")]);
    assert_eq!(other.roots().await.len(), 2);
    assert!(remote.roots().await.is_empty());
}

/// A changed name or access is announced; the same roots shared again are not.
#[tokio::test]
async fn an_unchanged_list_is_not_announced() {
    let stage = Stage::new();
    stage.share_all(&["a", "b"]);
    let mut server = Raw::connect(&stage.provider, Server::local("git")).await;
    stage.share_all(&["a", "b"]);
    stage.provider.look_again();
    let mut renamed = stage.root("a", Access::READ_WRITE, &[]);
    renamed.name = Some("web".to_owned());
    stage.share(vec![renamed.clone(), stage.root("b", Access::READ_WRITE, &[])]);
    server.notified().await;
    stage.share(vec![renamed.clone(), stage.root("b", Access::READ, &[])]);
    server.notified().await;
    renamed.given = None;
    stage.share(vec![renamed, stage.root("b", Access::READ, &[])]);
    assert_eq!(server.roots().await.len(), 2);
    // A root that vanishes, and comes back.
    std::fs::remove_dir(stage.directory("b")).unwrap();
    stage.provider.look_again();
    server.notified().await;
    stage.directory("b");
    stage.provider.look_again();
    server.notified().await;
    assert_eq!(server.roots().await.len(), 2);
}

/// Many quick changes cause one notification; a server that asks in between gets the current list.
#[tokio::test]
async fn changes_are_announced_once_they_settle() {
    let stage =
        Stage::with(Settings { quiet: Duration::from_secs(3), longest: Duration::from_secs(3), ..Settings::default() });
    stage.share_all(&["a"]);
    let mut server = Raw::connect(&stage.provider, Server::local("git")).await;
    for turn in 0..100 {
        stage.share_all(&["a", &turn.to_string()]);
    }
    assert_eq!(server.roots().await, [stage.uri("a"), stage.uri("99")]);
    server.notified().await;
    assert_eq!(server.roots().await, [stage.uri("a"), stage.uri("99")]);
}

/// Changes that never stop are still announced.
#[tokio::test]
async fn changes_that_never_settle_are_announced_eventually() {
    let settings =
        Settings { quiet: Duration::from_hours(1), longest: Duration::from_millis(50), ..Settings::default() };
    let stage = Stage::with(settings);
    stage.share_all(&["a"]);
    let mut server = Raw::connect(&stage.provider, Server::local("git")).await;
    stage.share_all(&["b"]);
    server.notified().await;
}

/// If one server's request reveals a change, the other servers are notified.
#[tokio::test]
async fn a_change_found_by_one_request_is_announced_to_all() {
    let stage = Stage::new();
    stage.share_all(&["a", "b"]);
    let mut one = Raw::connect(&stage.provider, Server::local("one")).await;
    let mut other = Raw::connect(&stage.provider, Server::local("other")).await;
    std::fs::remove_dir(stage.directory("b")).unwrap();
    assert_eq!(one.roots_and_news().await, [stage.uri("a")]);
    other.notified().await;
    assert_eq!(other.roots().await, [stage.uri("a")]);
}
