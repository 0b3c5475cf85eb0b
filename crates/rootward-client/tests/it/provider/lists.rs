//! The roots that a server gets.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use rootward_client::provider::{LocalPaths, Locality, RootChoice, Server};
use rootward_client::store::SavedRoot;
use rootward_core::{Access, Origin, Root, RootSet, Validation, Yes};
use serde_json::{Value, json};

use super::raw::{Raw, uris};
use super::stage::Stage;

#[tokio::test]
async fn roots_are_declared_and_listed() {
    let stage = Stage::new();
    let named = SavedRoot { name: Some("web".to_owned()), ..stage.root("a b#c", Access::READ, &[]) };
    stage.share(vec![named, stage.root("b", Access::READ_WRITE, &[])]);
    let mut server = Raw::connect(&stage.provider, Server::local("git")).await;
    assert_eq!(server.declared["roots"], json!({"listChanged": true}));
    assert_eq!(server.declared["extensions"], json!({"rootward.dev/roots-paging": {}}));
    let access = |words: Value| json!({"rootward.dev/access": words});
    let expect = json!({"roots": [
        {"uri": stage.uri("a%20b%23c"), "name": "web", "_meta": access(json!(["read"]))},
        {"uri": stage.uri("b"), "name": "b", "_meta": access(json!(["read", "write", "delete"]))},
    ]});
    assert_eq!(server.ask(Value::Null).await["result"], expect);
    for parameters in [json!({}), json!({"_meta": {"progressToken": 7}}), json!({"cursor": null})] {
        assert_eq!(server.ask(parameters).await["result"], expect);
    }
}

#[tokio::test]
async fn each_server_gets_its_own_roots() {
    let stage = Stage::new();
    stage.share(vec![
        stage.root("all", Access::READ, &[]),
        stage.root("git", Access::READ, &["git"]),
        stage.root("both", Access::READ, &["git", "editor"]),
        stage.root("chosen", Access::READ, &[]),
    ]);
    let uris = |names: &[&str]| names.iter().map(|name| stage.uri(name)).collect::<Vec<_>>();
    let only = |choice| Server { choice, ..Server::local("git") };
    for (server, expect) in [
        (Server::local("git"), uris(&["all", "git", "both", "chosen"])),
        (Server::local("editor"), uris(&["all", "both", "chosen"])),
        (Server::local("other"), uris(&["all", "chosen"])),
        (Server::default(), uris(&["all", "chosen"])),
        (only(RootChoice::Only(vec![stage.directory("chosen"), stage.directory("not shared")])), uris(&["chosen"])),
        (only(RootChoice::Only(Vec::new())), Vec::new()),
    ] {
        let shown = format!("{server:?}");
        assert_eq!(Raw::connect(&stage.provider, server).await.roots().await, expect, "{shown}");
    }
}

#[tokio::test]
async fn a_choice_does_not_open_what_is_closed_in_it() {
    let stage = Stage::new();
    let roots = ["top", "top/closed", "top/less", "top/same", "alone"];
    let access = [Access::READ_WRITE, Access::NONE, Access::READ, Access::READ_WRITE, Access::NONE];
    stage.share(roots.iter().zip(access).map(|(name, access)| stage.root(name, access, &[])).collect());
    let uris = |names: &[&str]| names.iter().map(|name| stage.uri(name)).collect::<Vec<_>>();
    let choice = RootChoice::Only(vec![stage.directory("top")]);
    let mut chosen = Raw::connect(&stage.provider, Server { choice, ..Server::local("git") }).await;
    assert_eq!(chosen.roots().await, uris(&["top", "top/closed", "top/less"]));
    let answer = chosen.ask(Value::Null).await;
    assert_eq!(answer["result"]["roots"][1]["_meta"]["rootward.dev/access"], json!([]));
    // A root that gives no access and takes none away is not listed.
    let mut other = Raw::connect(&stage.provider, Server::local("other")).await;
    assert_eq!(other.roots().await, uris(&["top", "top/closed", "top/less", "top/same"]));
}

#[tokio::test]
async fn a_remote_server_gets_no_roots() {
    let stage = Stage::new();
    stage.share_all(&["a"]);
    let vouched = RootSet::place_ambient(Root::from_path(stage.directory("b"), Origin::Flag), &Validation::new(None));
    let choice = RootChoice::HostVouches(vouched);
    let asked = Locality::Remote(LocalPaths::UserSaidYes);
    for (server, expect) in [
        (Server::remote("web"), Vec::new()),
        (Server { choice, ..Server::remote("web") }, Vec::new()),
        (Server { locality: Locality::Remote(LocalPaths::default()), ..Server::default() }, Vec::new()),
        (Server { locality: asked, ..Server::remote("web") }, vec![stage.uri("a")]),
    ] {
        assert_eq!(Raw::connect(&stage.provider, server).await.roots().await, expect);
    }
}

#[tokio::test]
async fn only_existing_roots_are_listed() {
    let stage = Stage::new();
    let names = ["a", "missing", "linked", "vouched", "vouched too"];
    let [_, missing, linked, vouched, gone] = names.map(|name| stage.directory(name));
    let not_text = stage.directory("x").join(OsStr::from_bytes(b"\xff"));
    std::fs::create_dir(&not_text).unwrap();
    stage.share(vec![
        stage.root("a", Access::READ, &[]),
        stage.root("missing", Access::READ, &[]),
        stage.root("linked", Access::READ, &[]),
        SavedRoot::new(not_text, Access::READ),
        SavedRoot::new("/etc", Access::READ),
    ]);
    let both = [vouched, gone.clone()].map(|path| Root::from_path(path, Origin::Flag).unwrap());
    let choice = RootChoice::HostVouches(RootSet::place_ambient(both, &Validation::new(None)));
    std::fs::remove_dir(&missing).unwrap();
    std::fs::remove_dir(&linked).unwrap();
    std::os::unix::fs::symlink("/srv", &linked).unwrap();
    std::fs::remove_dir(&gone).unwrap();
    std::os::unix::fs::symlink("/srv", &gone).unwrap();
    let mut server = Raw::connect(&stage.provider, Server::local("git")).await;
    assert_eq!(server.roots().await, [stage.uri("a")]);
    let mut other = Raw::connect(&stage.provider, Server { choice, ..Server::local("git") }).await;
    assert_eq!(other.roots().await, [stage.uri("vouched")]);
    // The directory is back, and the next request sees it.
    stage.directory("missing");
    assert_eq!(server.roots_and_news().await, [stage.uri("a"), stage.uri("missing")]);
}

#[tokio::test]
async fn consent_for_one_server_is_not_shared_with_others() {
    let mut stage = Stage::new();
    let (for_git, for_all, once) = (stage.directory("git"), stage.directory("all"), stage.directory("once"));
    stage.say_yes(&for_git, Some("git"), Yes::Session);
    stage.say_yes(&for_all, None, Yes::Session);
    stage.share(Vec::new());
    let mut git = Raw::connect(&stage.provider, Server::local("git")).await;
    let mut other = Raw::connect(&stage.provider, Server::local("other")).await;
    assert_eq!(git.roots().await, [stage.uri("git"), stage.uri("all")]);
    assert_eq!(other.roots().await, [stage.uri("all")]);
    // `Once` applies to the existing connection only.
    let permit = stage.say_yes(&once, Some("git"), Yes::Once);
    assert_eq!(stage.provider.give(permit), 1);
    git.notified().await;
    assert_eq!(git.roots().await, [stage.uri("git"), stage.uri("all"), stage.uri("once")]);
    assert_eq!(other.roots().await, [stage.uri("all")]);
    let mut again = Raw::connect(&stage.provider, Server::local("git")).await;
    assert_eq!(again.roots().await, [stage.uri("git"), stage.uri("all")]);
    // After the user withdraws it, the root is gone.
    stage.take_back(&for_git, Some("git"));
    stage.share(Vec::new());
    again.notified().await;
    assert_eq!(uris(&again.ask(Value::Null).await["result"]), [stage.uri("all")]);
}

/// Consent for more access than is saved adds to it.
#[tokio::test]
async fn session_consent_adds_to_the_saved_access() {
    let mut stage = Stage::new();
    let path = stage.directory("a");
    stage.say_yes(&path, None, Yes::Session);
    stage.share(vec![stage.root("a", Access::EXECUTE, &[])]);
    let mut server = Raw::connect(&stage.provider, Server::local("git")).await;
    let answer = server.ask(Value::Null).await;
    assert_eq!(answer["result"]["roots"].as_array().unwrap().len(), 1);
    assert_eq!(answer["result"]["roots"][0]["_meta"]["rootward.dev/access"], json!(["read", "execute"]));
}
