//! A client that has closed its end: its requests are still answered.

use serde_json::json;

use super::super::Change;
use super::{Ceiling, Client, Play};

/// `printf … | rootward wrap -- server`: the client sends everything before it reads an answer.
#[test]
fn a_client_that_sends_everything_at_once_is_answered() {
    for client in [Client::WithRoots, Client::WithoutRoots] {
        let mut play = Play::new(Change::NewChild, Ceiling::None);
        let capabilities = if client == Client::WithRoots { json!({"roots": {}}) } else { json!({}) };
        play.client(&json!({"id": 1, "method": "initialize", "params": {"capabilities": capabilities}}));
        play.client(&json!({"method": "notifications/initialized"}));
        play.client(&json!({"id": 2, "method": "tools/list"}));
        assert_eq!(play.heard_text(), Vec::<String>::new(), "nothing comes before the answer to `initialize`");
        play.close();
        play.settle();
        assert!(!play.leaves());
        assert_eq!(play.given_methods(1), ["initialize 1"]);
        play.child(1, &json!({"id": 1, "result": {}}));
        let number = play.serving();
        assert_eq!(play.given_methods(number), ["notifications/initialized null", "tools/list 2"]);
        play.child(number, &json!({"id": 2, "result": {}}));
        let answered: Vec<u64> = play.heard().iter().filter_map(|message| message["id"].as_u64()).collect();
        assert_eq!(answered, [1, 2]);
        play.settle();
        assert!(play.session().is_delivered() && !play.session().owes());
    }
}

/// Nobody is left to name the roots, so nothing waits for them.
#[test]
fn nothing_waits_for_a_client_that_is_gone() {
    let mut play = Play::new(Change::NewChild, Ceiling::None);
    play.begin(Client::WithRoots);
    play.read(2, "project/file.txt");
    assert!(!play.session().is_delivered());
    play.close();
    play.settle();
    play.started();
    play.greet(2);
    play.list_tools(2);
    // The server may still ask for its roots.
    play.pass(200);
    let heard = play.heard();
    assert!(heard.iter().any(|message| message["id"] == 2 && message["result"]["isError"] == true), "{heard:?}");
    assert!(play.session().is_delivered());
}

/// A server that exits when its input ends is not restarted, unless a message waits.
#[test]
fn no_server_is_started_for_a_client_that_is_gone() {
    let mut play = Play::begun(Change::NewChild, Client::WithoutRoots);
    play.client(&json!({"id": 1, "method": "x"}));
    play.started();
    play.close();
    play.ended(1);
    assert!(play.heard().iter().any(|message| message["id"] == 1 && message["error"].is_object()));
    play.pass(60_000);
    assert_eq!(play.started(), Vec::<u64>::new());
    assert!(!play.session().owes());
}
