//! When a server is notified: once for each change in what it sees.

use std::time::Duration;

use rootward_client::provider::{RootChoice, Server, Settings};
use rootward_core::Access;

use super::raw::Raw;
use super::stage::Stage;

#[tokio::test]
async fn a_change_is_told_to_those_who_see_it() {
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
    // One server sees it and is notified; the others get nothing, as the rest shows: their next frame is the next
    // answer.
    for names in [&["b"][..], &["b", "c"], &[]] {
        share(&["a"], names);
        git.told().await;
    }
    share(&["a", "d"], &[]);
    git.told().await;
    other.told().await;
    assert_eq!(other.roots().await, [stage.uri("a"), stage.uri("d")]);
    stage.provider.choose("git", &RootChoice::Only(vec![stage.directory("d")]));
    git.told().await;
    assert_eq!(git.roots().await, [stage.uri("d")]);
    assert_eq!(other.roots().await.len(), 2);
    assert!(remote.roots().await.is_empty());
}

/// Names and access are part of what is seen; a root that is saved in another place of the file is not.
#[tokio::test]
async fn what_is_the_same_is_not_told() {
    let stage = Stage::new();
    stage.share_all(&["a", "b"]);
    let mut server = Raw::connect(&stage.provider, Server::local("git")).await;
    stage.share_all(&["a", "b"]);
    stage.provider.look_again();
    let mut renamed = stage.root("a", Access::READ_WRITE, &[]);
    renamed.name = Some("web".to_owned());
    stage.share(vec![renamed.clone(), stage.root("b", Access::READ_WRITE, &[])]);
    server.told().await;
    stage.share(vec![renamed.clone(), stage.root("b", Access::READ, &[])]);
    server.told().await;
    renamed.given = None;
    stage.share(vec![renamed, stage.root("b", Access::READ, &[])]);
    assert_eq!(server.roots().await.len(), 2);
    // A root that vanishes, and comes back.
    std::fs::remove_dir(stage.directory("b")).unwrap();
    stage.provider.look_again();
    server.told().await;
    stage.directory("b");
    stage.provider.look_again();
    server.told().await;
    assert_eq!(server.roots().await.len(), 2);
}

/// Many changes at once are one; a server that asks meanwhile is answered with what is true.
#[tokio::test]
async fn changes_are_told_when_they_have_settled() {
    let stage =
        Stage::with(Settings { quiet: Duration::from_secs(3), longest: Duration::from_secs(3), ..Settings::default() });
    stage.share_all(&["a"]);
    let mut server = Raw::connect(&stage.provider, Server::local("git")).await;
    for turn in 0..100 {
        stage.share_all(&["a", &turn.to_string()]);
    }
    assert_eq!(server.roots().await, [stage.uri("a"), stage.uri("99")]);
    server.told().await;
    assert_eq!(server.roots().await, [stage.uri("a"), stage.uri("99")]);
}

/// Changes that never stop are still announced.
#[tokio::test]
async fn what_never_settles_is_told_in_the_end() {
    let settings =
        Settings { quiet: Duration::from_hours(1), longest: Duration::from_millis(50), ..Settings::default() };
    let stage = Stage::with(settings);
    stage.share_all(&["a"]);
    let mut server = Raw::connect(&stage.provider, Server::local("git")).await;
    stage.share_all(&["b"]);
    server.told().await;
}

/// What somebody finds out by a question, the others hear.
#[tokio::test]
async fn what_one_finds_out_all_are_told() {
    let stage = Stage::new();
    stage.share_all(&["a", "b"]);
    let mut one = Raw::connect(&stage.provider, Server::local("one")).await;
    let mut other = Raw::connect(&stage.provider, Server::local("other")).await;
    std::fs::remove_dir(stage.directory("b")).unwrap();
    assert_eq!(one.roots_and_news().await, [stage.uri("a")]);
    other.told().await;
    assert_eq!(other.roots().await, [stage.uri("a")]);
}
