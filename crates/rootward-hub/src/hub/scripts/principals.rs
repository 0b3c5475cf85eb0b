//! Clients that connect over the network, each for a principal with its own ceiling.

use std::collections::BTreeSet;
use std::sync::Arc;

use rootward_core::{Origin, Root, RootSet, Validation};
use serde_json::{Value, json};

use super::{Play, Script, place, script};
use crate::config::Isolation;
use crate::front::{Caller, CallerPurpose, Middle};
use crate::principal::Principal;

/// A play with two principals: the ceiling of each is the directory with its name.
fn with_principals(scripts: Vec<Script>, servers: [Option<&[&str]>; 2]) -> Play {
    let mut play = Play::new(scripts);
    let principals = ["one", "two"].into_iter().zip(servers).map(|(name, servers)| {
        let root = Root::from_path(place(&play.directory, name), Origin::Config).unwrap();
        Arc::new(Principal {
            name: name.into(),
            ceiling: RootSet::place_ambient([root], &Validation::new(None)),
            servers: servers.map(|names| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>()),
        })
    });
    play.middle.hub.principals = principals.collect();
    play
}

/// A client of this principal connects and names the directories; `None` if it has no roots.
fn connect_as(play: &mut Play, principal: usize, shares: Option<&[&str]>) {
    play.client = play.middle.open(Caller { principal, purpose: CallerPurpose::Session }).unwrap();
    match shares {
        Some(shares) => play.begin_with(shares),
        None => {
            let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}});
            play.ask(0, "initialize", &params);
            play.client(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
            play.heard();
        }
    }
}

/// The result of reading in the directory: the code of the refusal, or `ok`.
fn read(play: &mut Play, directory: &str) -> String {
    let path = play.path(directory) + "/file.txt";
    play.call(9, "s__read", &path);
    play.pass(3000);
    match &play.answer(9)["result"]["structuredContent"]["code"] {
        Value::String(code) => code.clone(),
        _ => "ok".to_owned(),
    }
}

#[test]
fn a_principal_gets_nothing_outside_its_ceiling() {
    // The server's own ceiling, what the client shares, and the results of reading in each of the two.
    for (ceiling, shares, one, two) in [
        (None, Some(&["one", "two"][..]), "ok", "outside_roots"),
        (None, Some(&["two"][..]), "no_roots", "no_roots"),
        (None, None, "ok", "outside_roots"),
        (Some("two"), None, "no_roots", "no_roots"),
        (Some("two"), Some(&["one", "two"][..]), "no_roots", "no_roots"),
    ] {
        let mut play = with_principals(vec![Script { ceiling, ..script("s", &["read"]) }], [None, None]);
        connect_as(&mut play, 0, shares);
        let went = [read(&mut play, "one"), read(&mut play, "two")];
        let refused = |code: &str| matches!(code, "no_roots" | "outside_roots");
        for (went, expect) in went.iter().zip([one, two]) {
            assert_eq!(refused(went), refused(expect), "{ceiling:?} {shares:?}: {went} instead of {expect}");
        }
        // Roots that were saved for local clients, or given later, are not the principal's.
        let root = Root::from_path(place(&play.directory, "two"), Origin::Store).unwrap();
        let mut given = (*play.middle.hub.given).clone();
        given.sources.saved = RootSet::place_ambient([root], &Validation::new(None));
        let effects = play.middle.give(play.now, given);
        play.carry_out(effects);
        assert!(refused(&read(&mut play, "two")), "{ceiling:?} {shares:?}");
    }
}

#[test]
fn a_principal_uses_the_servers_that_are_named_for_it() {
    let scripts = || vec![script("s", &["read"]), script("t", &["read"])];
    let mut play = with_principals(scripts(), [Some(&["s"]), None]);
    connect_as(&mut play, 0, Some(&["one"]));
    play.ask(1, "tools/list", &json!({}));
    play.pass(3000);
    let listed = play.answer(1)["result"]["tools"].to_string();
    assert!(listed.contains("s__read") && !listed.contains("t__read"), "{listed}");
    let path = play.path("one") + "/file.txt";
    play.call(2, "t__read", &path);
    play.pass(60_000);
    assert!(play.answer(2)["error"]["message"].as_str().unwrap().contains("unknown tool"));
    assert_eq!(play.starts[1], 0);
    connect_as(&mut play, 1, Some(&["two"]));
    play.ask(1, "tools/list", &json!({}));
    play.pass(3000);
    assert!(play.answer(1)["result"]["tools"].to_string().contains("t__read"));
}

#[test]
fn principals_never_share_a_process() {
    for isolation in [Isolation::Roots, Isolation::All] {
        let mut play = with_principals(
            vec![Script {
                isolation,
                ceiling: Some("one").filter(|_| isolation == Isolation::All),
                ..script("s", &["read"])
            }],
            [None, None],
        );
        let ceiling = play.middle.hub.principals[0].ceiling.clone();
        play.middle.hub.principals[1] = Arc::new(Principal { name: "two".into(), ceiling, servers: None });
        for principal in [0, 0, 1] {
            connect_as(&mut play, principal, Some(&["one"]));
            assert_eq!(read(&mut play, "one"), "ok");
        }
        assert_eq!(play.starts, [2], "{isolation:?}");
    }
}

#[test]
fn a_client_that_is_gone_leaves_nothing() {
    for isolation in [Isolation::Session, Isolation::Roots] {
        let mut play = with_principals(vec![Script { isolation, ..script("s", &["read"]) }], [None, None]);
        let before = play.middle.hub.clients.len();
        connect_as(&mut play, 0, Some(&["one"]));
        assert_eq!(read(&mut play, "one"), "ok");
        assert_eq!(play.running.len(), 1);
        let effects = play.middle.forget(play.now, play.client);
        play.carry_out(effects);
        play.pass(10_000);
        assert!(play.running.is_empty(), "{:?}", play.running);
        let hub = &play.middle.hub;
        assert_eq!((hub.clients.len(), hub.branches.len(), hub.sessions.len()), (before, 0, 0));
    }
}

#[test]
fn an_unknown_principal_is_refused() {
    let mut play = with_principals(vec![script("s", &["read"])], [None, None]);
    assert_eq!(play.middle.open(Caller { principal: 2, purpose: CallerPurpose::Session }), None);
}

#[test]
fn what_a_server_told_one_principal_is_hidden_from_others() {
    let mut play = with_principals(vec![script("s", &["read"])], [None, None]);
    let listed = |play: &mut Play| {
        play.ask(1, "tools/list", &json!({}));
        play.pass(100);
        play.heard()
            .iter()
            .filter(|message| message["id"] == 1)
            .map(|message| message["result"].to_string())
            .collect::<String>()
    };
    // The server's list mentions the first principal's directory.
    play.grown.insert(0);
    connect_as(&mut play, 0, Some(&["one"]));
    assert_eq!(read(&mut play, "one"), "ok");
    play.ask(1, "tools/list", &json!({}));
    play.pass(3000);
    assert!(play.answer(1)["result"].to_string().contains("s__more"));
    play.grown.clear();
    // The list is cached for the same principal only.
    connect_as(&mut play, 0, Some(&["one"]));
    assert!(listed(&mut play).contains("s__more"));
    connect_as(&mut play, 1, Some(&["two"]));
    assert!(!listed(&mut play).contains("s__more"));
}
