//! Questions of a server's to its client.

use serde_json::{Value, json};

use super::super::engine::Change;
use super::{Client, Play};

impl Play {
    fn ask(&mut self, id: &Value) -> bool {
        self.child(2, &json!({"id": id, "method": "sampling/createMessage"}));
        let passed = self.heard().iter().any(|message| message["method"] == "sampling/createMessage");
        let refused = self.given(2).iter().any(|message| message["id"] == *id && message["error"]["code"] == -32603);
        assert_ne!(passed, refused, "{id}");
        passed
    }
}

#[test]
fn a_server_has_a_bounded_number_of_questions_open() {
    let mut play = Play::begun(Change::NewChild, Client::WithRoots);
    play.given(2);
    let passed = (0..3000).filter(|id| play.ask(&json!(id))).count();
    assert_eq!((passed, play.engine.asked.len()), (1000, 1000));
    // One that is answered, or cancelled, makes room for another.
    play.client(&json!({"id": 7, "result": {}}));
    assert_eq!(play.given(2).len(), 1);
    assert!(play.ask(&json!("a")) && !play.ask(&json!("b")));
    play.child(2, &json!({"method": "notifications/cancelled", "params": {"requestId": 8}}));
    play.heard();
    assert!(play.ask(&json!("b")) && !play.ask(&json!("c")));
}

#[test]
fn the_ids_of_open_questions_have_a_bounded_length() {
    let mut play = Play::begun(Change::NewChild, Client::WithRoots);
    play.given(2);
    let long = |id: u64| json!(format!("{id}{}", "x".repeat(100_000)));
    let passed = (0..100).filter(|id| play.ask(&long(*id))).count();
    assert!((1..10).contains(&passed), "{passed}");
    assert!(play.ask(&json!(1)), "a short one still passes");
    assert!(!play.ask(&json!("x".repeat(2 << 20))));
}

/// Nor are refusals kept for one that asks and does not read.
#[test]
fn a_server_that_does_not_read_is_not_answered_without_end() {
    let mut play = Play::begun(Change::NewChild, Client::WithRoots);
    for id in 0..1000 {
        play.ask(&json!(id));
    }
    let id = "x".repeat(1 << 20);
    for _ in 0..20 {
        play.child(2, &json!({"id": id, "method": "sampling/createMessage"}));
        play.child(2, &json!({"id": id, "method": "roots/list"}));
    }
    let child = play.engine.children.values().next_back().unwrap();
    assert!(child.input.waiting().len() < 12 << 20, "{}", child.input.waiting().len());
}
