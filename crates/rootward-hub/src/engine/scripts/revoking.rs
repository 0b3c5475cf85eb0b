//! A root is removed while calls run in it, and while others arrive.

use serde_json::{Value, json};

use super::super::Change;
use super::Seen;
use super::{Client, Play};

impl Play {
    /// A play whose server is processing a call without paths, with the id 1.
    fn working(change: Change) -> Play {
        let mut play = Play::begun(change, Client::WithRoots);
        play.client(&json!({"id": 0, "method": "tools/list"}));
        play.child(2, &json!({"id": 0, "result": {"tools": []}}));
        play.pass(300);
        play.client(&json!({"id": 1, "method": "tools/call", "params": {"name": "work"}}));
        assert!(play.given_methods(2).contains(&"tools/call 1".to_owned()));
        play.heard();
        play.started();
        play
    }

    /// The client announces a change of its roots, and names these when asked.
    fn change_roots(&mut self, names: &[&str]) {
        self.client(&json!({"method": "notifications/roots/list_changed"}));
        self.pass(300);
        self.share(names);
    }

    fn is_killed(&self, number: u64) -> bool {
        self.seen.contains(&Seen::Kill(number))
    }

    fn error_of(&mut self, id: u64) -> Option<String> {
        let heard = self.heard().into_iter().find(|message| message["id"] == id)?;
        heard["error"]["message"].as_str().map(str::to_owned)
    }
}

/// Calls that act but name no path.
fn calls() -> Vec<Value> {
    vec![
        json!({"id": 2, "method": "tools/call", "params": {"name": "work", "arguments": {"text": "x"}}}),
        json!({"id": 3, "method": "prompts/get", "params": {"name": "p"}}),
        json!({"id": 4, "method": "resources/read", "params": {"uri": "https://example.org/"}}),
        json!({"id": 5, "method": "completion/complete", "params": {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "v"}}}),
        json!({"id": 6, "method": "never/heard/of"}),
        json!({"method": "notifications/never/heard/of"}),
    ]
}

#[test]
fn calls_without_paths_wait_until_the_roots_are_known_again() {
    let mut play = Play::working(Change::NewChild);
    play.client(&json!({"method": "notifications/roots/list_changed"}));
    for call in calls() {
        play.client(&call);
    }
    // These never wait.
    for method in
        ["ping", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "logging/setLevel"]
    {
        play.client(&json!({"id": method, "method": method}));
        assert_eq!(play.given_methods(2), [format!("{method} \"{method}\"")]);
    }
    play.client(&json!({"method": "notifications/cancelled", "params": {"requestId": 1}}));
    play.client(&json!({"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}}));
    assert_eq!(play.given_methods(2), ["notifications/cancelled null", "notifications/progress null"]);
    play.pass(300);
    play.share(&["other"]);
    assert_eq!(play.started(), [3]);
    play.greet(3);
    play.pass(300);
    assert_eq!(play.given_methods(2), Vec::<String>::new());
    let given: Vec<Value> = play.given(3).into_iter().filter(|message| message["id"] != Value::Null).collect();
    let ids: Vec<u64> = given.iter().filter_map(|message| message["id"].as_u64()).collect();
    assert_eq!(ids, [2, 3, 4, 5, 6], "{given:?}");
}

/// A client that announces a change of its roots and then takes its time to name them.
#[test]
fn calls_without_paths_wait_no_longer_than_the_timeout() {
    let mut play = Play::working(Change::NewChild);
    play.client(&json!({"method": "notifications/roots/list_changed"}));
    for call in calls() {
        play.client(&call);
    }
    play.pass(9900);
    assert_eq!(play.given_methods(2), Vec::<String>::new());
    let heard = play.heard();
    assert_eq!(heard.iter().filter(|message| message["id"].is_number()).count(), 0, "{heard:?}");
    play.pass(200);
    assert_eq!(play.given_methods(2), Vec::<String>::new());
    let heard = play.heard();
    for id in 2..=6 {
        assert_eq!(heard.iter().filter(|message| message["id"] == id).count(), 1, "{id}: {heard:?}");
    }
}

/// A server that asks its client during a call gets the answer, so that it can finish.
#[test]
fn an_answer_to_a_servers_question_never_waits() {
    let mut play = Play::working(Change::NewChild);
    play.child(2, &json!({"id": "s", "method": "sampling/createMessage", "params": {}}));
    play.client(&json!({"method": "notifications/roots/list_changed"}));
    play.client(&json!({"id": "s", "result": {"role": "assistant"}}));
    assert_eq!(play.given(2), [json!({"id": "s", "result": {"role": "assistant"}})]);
    play.pass(300);
    play.child(2, &json!({"id": "t", "method": "sampling/createMessage", "params": {}}));
    play.client(&json!({"id": "t", "error": {"code": -1, "message": "no"}}));
    assert_eq!(play.given(2).len(), 1);
}

#[test]
fn a_server_that_still_works_in_a_removed_root_is_ended() {
    for change in [Change::NewChild, Change::Told] {
        let mut play = Play::working(change);
        play.change_roots(&["other"]);
        play.pass(4900);
        assert!(!play.is_killed(2), "{change:?}");
        assert_eq!(play.error_of(1), None);
        play.pass(200);
        assert!(play.is_killed(2), "{change:?}");
        let says = play.error_of(1).expect("an error");
        assert!(says.contains("a root was removed"), "{says}");
        // Calls go to the server that was started with the new roots.
        assert_eq!(play.started(), [3]);
        play.greet(3);
        play.client(&json!({"id": 2, "method": "tools/call", "params": {"name": "work"}}));
        play.pass(300);
        assert!(play.given_methods(3).contains(&"tools/call 2".to_owned()));
    }
}

/// Even if no other server replaces it.
#[test]
fn a_removed_root_ends_a_server_whose_successor_is_slow() {
    let mut play = Play::working(Change::NewChild);
    play.change_roots(&[]);
    assert_eq!(play.started(), [3]);
    play.pass(5100);
    assert!(play.is_killed(2));
    assert!(play.error_of(1).is_some());
}

#[test]
fn a_server_whose_roots_remain_may_take_its_time() {
    for names in [&["project", "other"][..], &["other", "project"]] {
        let mut play = Play::working(Change::NewChild);
        play.change_roots(names);
        play.greet(3);
        play.pass(60_000);
        assert!(!play.is_killed(2), "{names:?}");
        play.child(2, &json!({"id": 1, "result": {}}));
        assert_eq!(play.heard().iter().filter(|message| message["id"] == 1).count(), 1);
    }
    // A root that is shared again before the time is up.
    let mut play = Play::working(Change::NewChild);
    play.change_roots(&["other"]);
    play.pass(3000);
    play.change_roots(&["project", "other"]);
    play.pass(60_000);
    assert!(!play.is_killed(2));
}

#[test]
fn a_server_that_finishes_in_time_is_not_killed() {
    let mut play = Play::working(Change::NewChild);
    play.change_roots(&["other"]);
    play.greet(3);
    play.pass(3000);
    play.child(2, &json!({"id": 1, "result": {"late": true}}));
    assert!(play.is_told_to_end(2) && !play.is_killed(2));
    play.pass(10_000);
    let heard = play.heard();
    assert_eq!(heard.iter().filter(|message| message["id"] == 1 && message.get("result").is_some()).count(), 1);
    assert!(!play.is_killed(2));
}
