//! The operator's and the user's roots change while sessions run: the change applies to the next call, and subscribers
//! are notified.

use std::sync::Arc;

use rootward_core::session::Sources;
use rootward_core::{Access, Closed, Origin, Restriction, Restrictions, Root, RootSet, Validation};
use rootward_server::RootsService;
use serde_json::json;

use crate::client::{self, Read as _, roots, said};
use crate::modern::request;
use crate::rooted::Files;
use crate::stage::{Stage, settings};

fn saved(stage: &Stage, names: &[&str]) -> Sources {
    let root = |name: &&str| Root::from_path(stage.path(name), Origin::Store).unwrap();
    let place = stage.place().canonicalize().unwrap();
    assert_eq!(place, stage.place(), "a saved root is not followed through a link");
    let saved = RootSet::place_ambient(names.iter().map(root), &Validation::new(None));
    Sources { saved, ..Sources::default() }
}

fn closing(pattern: &str) -> Arc<Restrictions> {
    Arc::new(Restrictions::new(vec![Restriction::anywhere(pattern, Closed::Entirely).unwrap()]))
}

#[tokio::test]
async fn changed_saved_roots_apply_to_the_next_call() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let restrictions = Arc::clone(&service.settings().guard.restrictions);
    // One session that has seen roots, one that has not, and a modern client, which has no session.
    let rooted = service.install(Files::new());
    let mut updates = rooted.session().subscribe();
    let mut first = client::start_rooted(rooted, json!({})).await;
    let mut second = client::start_rooted(service.install(Files::new()), json!({})).await;
    assert_eq!(first.reads(1, &stage.path("a/file")).await, "no_roots");
    let before = updates.borrow_and_update().as_ref().unwrap().generation();
    for (names, expect) in [
        (&["a"][..], ["a", "outside_roots"]),
        (&["a", "b"], ["a", "b"]),
        (&["b"], ["outside_roots", "b"]),
        (&[], ["no_roots", "no_roots"]),
    ] {
        service.change(saved(&stage, names), Arc::clone(&restrictions));
        assert!(updates.has_changed().unwrap(), "{names:?}");
        assert_eq!(updates.borrow_and_update().as_ref().unwrap().list().len(), names.len());
        let mut modern = client::connect(service.install(Files::new()));
        for (path, expect) in ["a/file", "b/file"].into_iter().zip(expect) {
            for client in [&mut first, &mut second] {
                assert_eq!(client.reads(2, &stage.path(path)).await, expect, "{names:?} {path}");
            }
            modern.send(request(&json!({}), json!({"name": "read", "arguments": {"path": stage.path(path)}}))).await;
            assert_eq!(said(&modern.receive().await), expect, "{names:?} {path}");
        }
    }
    assert_eq!(updates.borrow().as_ref().unwrap().generation(), before + 4);
    // Subscribers are not notified if nothing changed.
    service.change(saved(&stage, &[]), restrictions);
    assert!(!updates.has_changed().unwrap());
}

#[tokio::test]
async fn roots_of_a_client_stay_as_they_are() {
    let stage = Stage::new();
    let service = RootsService::new(settings());
    let restrictions = Arc::clone(&service.settings().guard.restrictions);
    let mut client = client::start_rooted(service.install(Files::new()), json!({"roots": {}})).await;
    client.read(1, &stage.path("a/file")).await;
    // The saved roots change while the client is being asked.
    let question = client.asked().await;
    service.change(saved(&stage, &["b"]), Arc::clone(&restrictions));
    client.answer(question, roots(&[&stage.path("a")])).await;
    assert_eq!(client.said(1).await, "a");
    service.change(saved(&stage, &["a", "b"]), restrictions);
    assert_eq!(client.reads(2, &stage.path("b/file")).await, "outside_roots");
}

#[tokio::test]
async fn a_restriction_added_during_a_session_applies_to_the_next_call() {
    let stage = Stage::new();
    let mut settings = settings();
    settings.sources = saved(&stage, &["a"]);
    let sources = settings.sources.clone();
    let service = RootsService::new(settings);
    let rooted = service.install(Files::new());
    let session = rooted.session().clone();
    let mut client = client::start_rooted(rooted, json!({})).await;
    assert_eq!(client.reads(1, &stage.path("a/file")).await, "a");
    // This guard has the same roots, but not the restrictions that follow.
    let held = session.roots_cached().unwrap();
    for (pattern, expect) in [("file", "restricted"), ("other", "a"), ("file", "restricted")] {
        let before = session.roots_cached().unwrap().generation();
        service.change(sources.clone(), closing(pattern));
        assert_eq!(client.reads(2, &stage.path("a/file")).await, expect, "{pattern}");
        assert!(session.roots_cached().unwrap().generation() > before);
        let mut modern = client::connect(service.install(Files::new()));
        modern.send(request(&json!({}), json!({"name": "read", "arguments": {"path": stage.path("a/file")}}))).await;
        assert_eq!(said(&modern.receive().await), expect, "{pattern}");
    }
    // A running call keeps the guard it started with.
    assert!(held.check(stage.path("a/file"), Access::READ).is_ok());
}
