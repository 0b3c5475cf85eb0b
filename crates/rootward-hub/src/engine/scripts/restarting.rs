//! Servers that end too early, and what happens to waiting messages.

use serde_json::json;

use super::super::{Change, Event, Failure, Hope};
use super::{Ceiling, Client, Play};

/// The second process is traced; then the client gets the error.
#[test]
fn a_server_that_ends_before_it_answers_is_started_once_more() {
    let mut play = Play::new(Change::NewChild, Ceiling::Project);
    play.client(&json!({"id": 1, "method": "initialize", "params": {}}));
    play.ended(1);
    assert!(play.heard().is_empty() && !play.leaves() && play.started() == [1, 2]);
    assert_eq!(play.given_methods(2), ["initialize 1"]);
    play.ended(2);
    let heard = play.heard();
    assert_eq!((&heard[0]["id"], &heard[0]["error"]["code"]), (&json!(1), &json!(-32603)), "{heard:?}");
    assert!(play.leaves() && play.started().is_empty());
}

#[test]
fn waiting_requests_get_an_error_when_the_server_ends() {
    let mut play = Play::begun(Change::NewChild, Client::WithoutRoots);
    assert_eq!(play.given_methods(1), ["initialize \"i\"", "notifications/initialized null"]);
    for id in 1..=3 {
        play.client(&json!({"id": id, "method": "x"}));
    }
    play.child(1, &json!({"id": "own", "method": "sampling/createMessage"}));
    play.heard();
    play.ended(1);
    let heard = play.heard();
    let mut failed: Vec<u64> = heard.iter().filter_map(|message| message["id"].as_u64()).collect();
    failed.sort_unstable();
    assert_eq!(failed, [1, 2, 3]);
    let taken_back = heard.iter().find(|message| message["method"] == "notifications/cancelled").unwrap();
    assert_eq!(taken_back["params"]["requestId"], "own");
    assert_eq!(play.started(), [2]);
    play.client(&json!({"id": 4, "method": "x"}));
    play.greet(2);
    assert_eq!(play.given_methods(2), ["notifications/initialized null", "x 4"]);
}

/// The pauses between starts grow; calls in the meantime get errors after they have waited.
#[test]
fn a_server_that_keeps_ending_is_restarted_less_and_less_often() {
    for client in [Client::WithoutRoots, Client::WithRoots] {
        let mut play = Play::new(Change::NewChild, Ceiling::None);
        play.begin(client);
        if client == Client::WithRoots {
            play.share(&["project"]);
        } else {
            play.ended(1);
        }
        play.client(&json!({"id": 1, "method": "x"}));
        let mut starts = 0;
        for _ in 0..600 {
            play.pass(100);
            for number in play.started() {
                starts += 1;
                play.ended(number);
            }
        }
        assert!((5..=12).contains(&starts), "{client:?}: {starts} starts in a minute");
        if client == Client::WithoutRoots {
            assert!(play.heard().iter().any(|message| message["id"] == 1 && message["error"].is_object()));
        }
    }
}

/// Calls do not wait for the next restart: the client gets the reason at once.
#[test]
fn a_call_to_a_server_that_keeps_ending_gets_the_reason() {
    let mut play = Play::new(Change::NewChild, Ceiling::None);
    play.begin(Client::WithRoots);
    play.share(&["project"]);
    for number in 2..=3 {
        assert_eq!(play.started().last(), Some(&number));
        play.ended(number);
    }
    for (id, method) in [(1, "tools/list"), (2, "tools/call"), (3, "x")] {
        play.client(&json!({"id": id, "method": method, "params": {"name": "where"}}));
    }
    let heard = play.heard();
    let errors: Vec<_> = heard.iter().filter(|message| message["error"]["message"] == "code 7").collect();
    assert_eq!(errors.len(), 3, "{heard:?}");
    play.pass(150);
    assert_eq!(play.started(), [4]);
    play.greet(4);
    play.client(&json!({"id": 4, "method": "x"}));
    assert!(play.given_methods(4).contains(&"x 4".to_owned()));
}

/// A server that could not be replaced still has the old roots, so it gets no more calls.
#[test]
fn calls_fail_if_no_server_can_be_started_with_the_new_roots() {
    let mut play = Play::begun(Change::NewChild, Client::WithRoots);
    play.client(&json!({"method": "notifications/roots/list_changed"}));
    play.pass(300);
    play.share(&["other"]);
    assert_eq!(play.started(), [2, 3]);
    play.feed(Event::NotStarted(play.id(3), &Failure::new("the server was not started"), Hope::OtherRoots));
    play.settle();
    for id in [1, 2] {
        play.client(&json!({"id": id, "method": "tools/call", "params": {"name": "where"}}));
    }
    play.read(3, "other/file.txt");
    let heard = play.heard();
    for (id, message) in (1..).zip(heard.iter().filter(|message| message["id"].is_u64())) {
        assert_eq!(message["id"], id);
        assert_eq!(message["error"]["message"], "the server was not started", "{message}");
    }
    assert_eq!(heard.iter().filter(|message| message["id"].is_u64()).count(), 3, "{heard:?}");
    // With other roots everything works again, also for calls that waited for them.
    play.client(&json!({"method": "notifications/roots/list_changed"}));
    play.client(&json!({"id": 8, "method": "x"}));
    play.pass(300);
    play.share(&["project"]);
    assert_eq!(play.started(), [4]);
    play.greet(4);
    play.client(&json!({"id": 9, "method": "x"}));
    let given = play.given_methods(4);
    assert!(given.ends_with(&["x 8".to_owned(), "x 9".to_owned()]), "{given:?}");
}

/// The server for the new roots never runs: waiting calls get an error, and the engine does not poll constantly.
#[test]
fn calls_do_not_wait_forever_for_a_server_with_new_roots() {
    let mut play = Play::begun(Change::NewChild, Client::WithRoots);
    play.client(&json!({"method": "notifications/roots/list_changed"}));
    play.pass(300);
    play.share(&["other"]);
    play.started();
    play.ended(3);
    play.read(1, "other/file.txt");
    for _ in 0..200 {
        play.pass(100);
        for number in play.started() {
            play.ended(number);
        }
    }
    let heard = play.heard();
    assert!(heard.iter().any(|message| message["id"] == 1), "{heard:?}");
}

/// The server may have to be fetched first.
#[test]
fn a_call_waits_for_a_server_that_takes_long_to_start() {
    let mut play = Play::begun(Change::NewChild, Client::WithRoots);
    play.client(&json!({"method": "notifications/roots/list_changed"}));
    play.pass(300);
    play.share(&["other"]);
    play.read(1, "other/file.txt");
    play.pass(40_000);
    play.greet(3);
    play.pass(300);
    assert!(play.given_methods(3).contains(&"tools/call 1".to_owned()));
    // But not forever.
    play.client(&json!({"method": "notifications/roots/list_changed"}));
    play.pass(300);
    play.share(&["project"]);
    play.read(2, "project/file.txt");
    play.heard();
    play.pass(70_000);
    assert!(play.heard().iter().any(|message| message["id"] == 2 && message.get("error").is_some()));
}
