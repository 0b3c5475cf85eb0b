//! Servers whose processes several clients share.

use serde_json::{Value, json};

use super::{Play, Script, script};
use crate::config::Isolation;
use crate::engine::ClientId;

fn shared(isolation: Isolation, ceiling: Option<&'static str>) -> Play {
    Play::new(vec![Script { ceiling, isolation, ..script("s", &["read", "write"]) }])
}

/// Clients that have begun, each with this directory.
fn clients<const N: usize>(play: &mut Play, roots: [&str; N]) -> [ClientId; N] {
    let mut first = Some(play.client);
    roots.map(|root| {
        let client = first.take().unwrap_or_else(|| play.middle.hub.open().unwrap());
        play.client = client;
        play.begin_with(&[root]);
        client
    })
}

/// A call by this client that the server answers.
fn call(play: &mut Play, client: ClientId, id: u64, token: &str) -> Value {
    play.client = client;
    let path = play.path(&play.shares[&client][0].clone()) + "/file.txt";
    play.ask(id, "tools/call", &json!({"name": "s__read", "arguments": {"path": path, "token": token}}));
    play.pass(3000);
    play.answer(id)["result"]["params"]["arguments"]["token"].clone()
}

#[test]
fn clients_with_the_same_roots_share_a_process() {
    for isolation in [Isolation::Session, Isolation::Roots] {
        let mut play = shared(isolation, None);
        let both = clients(&mut play, ["one", "one"]);
        for (number, client) in (1..).zip(both) {
            assert_eq!(call(&mut play, client, 7, &format!("{number}")), format!("{number}"));
        }
        let expect = if isolation == Isolation::Session { 2 } else { 1 };
        assert_eq!(play.starts, [expect], "{isolation:?}");
    }
}

#[test]
fn clients_with_different_roots_do_not_share_a_process() {
    let mut play = shared(Isolation::Roots, None);
    let both = clients(&mut play, ["one", "two"]);
    for client in both {
        assert_eq!(call(&mut play, client, 7, "x"), "x");
    }
    assert_eq!(play.starts, [2]);
    play.client = both[0];
    play.call(8, "s__read", &(play.path("two") + "/file.txt"));
    play.pass(3000);
    assert_eq!(play.answer(8)["result"]["structuredContent"]["code"], "outside_roots");
}

#[test]
fn a_read_only_root_is_read_only_in_a_shared_process() {
    let mut play = shared(Isolation::Roots, None);
    play.begin_with(&[]);
    let client = play.middle.hub.open().unwrap();
    play.client = client;
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": {"listChanged": true}}});
    play.client(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
    play.client(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let question = play.questions("roots/list").pop().unwrap();
    let root = json!({"uri": format!("file://{}", play.path("one")), "_meta": {"rootward.dev/access": "ro"}});
    play.client(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": [root]}}));
    let path = play.path("one") + "/file.txt";
    play.call(7, "s__read", &path);
    play.pass(3000);
    assert_eq!(play.answer(7)["result"]["params"]["arguments"]["path"], path);
    play.call(8, "s__write", &path);
    play.pass(3000);
    assert_eq!(play.answer(8)["result"]["structuredContent"]["code"], "access_denied");
}

#[test]
fn a_client_whose_roots_change_leaves_the_process_of_the_others() {
    let mut play = shared(Isolation::Roots, None);
    let [stays, moves] = clients(&mut play, ["one", "one"]);
    for client in [stays, moves] {
        assert_eq!(call(&mut play, client, 7, "x"), "x");
    }
    let process = play.child(0);
    play.client = moves;
    play.share_later();
    play.client(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    play.asked.clear();
    play.ask(8, "tools/call", &json!({"name": "s__read", "arguments": {"token": "later"}}));
    play.pass(300);
    assert_eq!(play.asked(0, "tools/call"), Vec::<Value>::new(), "the old process got a call");
    play.share(&["two"]);
    play.pass(3000);
    assert_eq!(play.answer(8)["result"]["params"]["arguments"]["token"], "later");
    assert_eq!(play.starts, [2]);
    assert_eq!(call(&mut play, stays, 9, "still"), "still");
    assert!(play.running.contains_key(&process), "the others lost their process");
    assert_eq!(play.starts, [2]);
}

/// Two clients use the same ids and tokens.
#[test]
fn clients_that_share_hear_only_their_own() {
    let mut play = shared(Isolation::All, Some("one"));
    play.scripts[0].manner = super::Manner::Answers;
    let both = clients(&mut play, ["two", "two"]);
    for client in both {
        play.client = client;
        play.ask(1, "tools/list", &json!({}));
        play.pass(3000);
        play.heard();
    }
    play.scripts[0].manner = super::Manner::Silent;
    for client in both {
        play.client = client;
        let meta = json!({"progressToken": "t"});
        play.ask(5, "tools/call", &json!({"name": "s__read", "arguments": {}, "_meta": meta}));
    }
    play.pass(3000);
    let asked = play.asked(0, "tools/call");
    assert_eq!(asked.len(), 2, "{asked:?}");
    let (first, second) = (&asked[0], &asked[1]);
    assert_ne!(first["id"], second["id"]);
    assert_ne!(first["params"]["_meta"]["progressToken"], second["params"]["_meta"]["progressToken"]);
    let progress = json!({"progressToken": second["params"]["_meta"]["progressToken"], "progress": 1});
    play.server(0, &json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}));
    play.client = both[0];
    assert_eq!(play.heard(), Vec::<Value>::new());
    play.client = both[1];
    assert_eq!(play.heard()[0]["params"]["progressToken"], "t");
    // The first client cancels: the second's request continues.
    play.client = both[0];
    play.client(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}));
    let cancelled = play.asked(0, "notifications/cancelled");
    assert_eq!(cancelled[0]["params"]["requestId"], first["id"]);
    play.server(0, &json!({"jsonrpc": "2.0", "id": second["id"], "result": {"for": "second"}}));
    assert_eq!(play.heard(), Vec::<Value>::new());
    play.client = both[1];
    assert_eq!(play.answer(5)["result"]["for"], "second");
    assert_eq!(play.starts, [1]);
}

#[test]
fn a_shared_server_cannot_ask_clients() {
    let mut play = shared(Isolation::All, Some("one"));
    let both = clients(&mut play, ["two", "two"]);
    play.client = both[0];
    play.ask(1, "tools/call", &json!({"name": "s__read", "arguments": {}}));
    play.pass(3000);
    play.heard();
    play.server(0, &json!({"jsonrpc": "2.0", "id": 9, "method": "sampling/createMessage", "params": {}}));
    for client in both {
        play.client = client;
        assert_eq!(play.heard(), Vec::<Value>::new());
    }
    let answers = play.asked.iter().filter(|(_, message)| message["id"] == 9 && message["error"]["code"] == -32601);
    assert_eq!(answers.count(), 1, "{:?}", play.asked);
}

#[test]
fn subscriptions_and_log_levels_are_per_client() {
    let mut play = shared(Isolation::All, Some("one"));
    let both = clients(&mut play, ["two", "two"]);
    let uri = json!({"uri": "demo-s://x"});
    for (client, level) in both.into_iter().zip(["error", "debug"]) {
        play.client = client;
        play.ask(1, "logging/setLevel", &json!({"level": level}));
        play.ask(2, "resources/read", &uri);
        play.pass(3000);
        play.heard();
    }
    play.client = both[0];
    play.ask(3, "resources/subscribe", &uri);
    play.pass(100);
    play.heard();
    let levels = play.asked(0, "logging/setLevel");
    assert_eq!(levels.last().unwrap()["params"]["level"], "debug", "{levels:?}");
    play.server(0, &json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": uri}));
    play.server(
        0,
        &json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}),
    );
    let heard = both.map(|client| {
        play.client = client;
        let heard = play.heard();
        heard.iter().map(|message| message["method"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    });
    assert_eq!(heard, [["notifications/resources/updated"], ["notifications/message"]]);
}

#[test]
fn notifications_that_may_concern_one_client_reach_nobody() {
    let mut play = shared(Isolation::All, Some("one"));
    let both = clients(&mut play, ["two", "two"]);
    for client in both {
        play.client = client;
        play.ask(1, "tools/call", &json!({"name": "s__read", "arguments": {}}));
        play.pass(3000);
        play.heard();
    }
    for method in ["notifications/tasks/status", "notifications/anything"] {
        play.server(0, &json!({"jsonrpc": "2.0", "method": method, "params": {"taskId": "t"}}));
    }
    play.server(0, &json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
    for client in both {
        play.client = client;
        let heard = play.heard();
        assert_eq!(heard.len(), 1, "{heard:?}");
        assert_eq!(heard[0]["method"], "notifications/tools/list_changed");
    }
}

#[test]
fn a_process_ends_when_the_last_client_has_left() {
    let mut play = shared(Isolation::Roots, None);
    let both = clients(&mut play, ["one", "one"]);
    for client in both {
        assert_eq!(call(&mut play, client, 7, "x"), "x");
    }
    for (client, running) in both.into_iter().zip([1, 0]) {
        let effects = play.middle.hub.left(play.now, client);
        play.carry_out(effects);
        assert_eq!(play.running.len(), running);
    }
}

#[test]
fn no_more_processes_than_the_limit() {
    let mut play = Play::new(vec![script("a", &["read"]), script("b", &["read"])]);
    let mut settings = crate::config::HubSettings::default();
    (settings.limits.children, settings.limits.sessions) = (1, 1);
    play.begin();
    play.ask(0, "tools/list", &json!({}));
    play.pass(3000);
    let names = ["a", "b"].map(str::to_owned);
    let (_, effects) = play.middle.hub.reconfigure(play.now, Vec::new(), &names, settings);
    play.carry_out(effects);
    assert_eq!(play.middle.hub.open(), None);
    play.call(1, "a__read", &(play.path("one") + "/file.txt"));
    play.pass(3000);
    assert!(play.answer(1)["result"]["server"] == "a");
    play.call(2, "b__read", &(play.path("one") + "/file.txt"));
    play.pass(12_000);
    let refused = play.answer(2);
    assert!(refused["error"]["message"].as_str().unwrap().contains("limits.children"), "{refused}");
    let child = play.child(0);
    play.running.remove(&child);
    let failure = crate::engine::Failure::new("it was ended");
    play.feed(crate::engine::Event::ChildEnded(child, &failure));
    play.feed(crate::engine::Event::Gone(child));
    play.pass(60_000);
    play.heard();
    play.call(3, "b__read", &(play.path("one") + "/file.txt"));
    play.pass(3000);
    assert!(play.answer(3)["result"]["server"] == "b");
}
