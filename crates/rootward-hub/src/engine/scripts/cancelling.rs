//! Cancelled requests, on both sides.

use serde_json::json;

use super::super::Change;
use super::{Client, Play};

#[test]
fn a_cancelled_waiting_request_is_dropped() {
    let mut play = Play::begun(Change::NewChild, Client::WithRoots);
    play.client(&json!({"method": "notifications/roots/list_changed"}));
    play.read(1, "project/file.txt");
    play.client(&json!({"method": "notifications/cancelled", "params": {"requestId": 1}}));
    play.pass(300);
    play.share(&["project", "other"]);
    play.greet(3);
    play.pass(20_000);
    assert!(play.given_methods(3).iter().all(|given| !given.contains("tools/call")));
    assert!(play.heard().iter().all(|message| message["id"] != 1));
}

#[test]
fn a_running_request_is_cancelled_at_its_own_server() {
    let mut play = Play::begun(Change::NewChild, Client::WithRoots);
    play.client(&json!({"id": 1, "method": "x"}));
    play.client(&json!({"method": "notifications/roots/list_changed"}));
    play.pass(300);
    play.share(&["other"]);
    play.greet(3);
    play.given(2);
    play.given(3);
    assert!(!play.is_told_to_end(2), "it owes an answer");
    play.client_bytes(b"{\"method\":\"notifications/cancelled\", \"params\":{\"requestId\":1,\"new\":1.0}}\n");
    // The old server gets the cancellation, and has nothing else to do.
    assert_eq!(play.given_text(2), [r#"{"method":"notifications/cancelled", "params":{"requestId":1,"new":1.0}}"#]);
    assert_eq!(play.given(3), Vec::<serde_json::Value>::new());
    play.settle();
    assert!(play.is_told_to_end(2), "nobody waits for its answer");
}

/// Ids can be spelled in two ways, and servers may know requests that Rootward does not.
#[test]
fn a_cancellation_of_something_unknown_reaches_the_server() {
    let mut play = Play::begun(Change::NewChild, Client::WithoutRoots);
    play.given(1);
    let line = r#"{"method":"notifications/cancelled","params":{"requestId":"\u0061"}}"#;
    play.client_bytes(format!("{line}\n").as_bytes());
    assert_eq!(play.given_text(1), [line]);
}

#[test]
fn initialize_cannot_be_cancelled() {
    let mut play = Play::new(Change::NewChild, super::Ceiling::Project);
    play.client(&json!({"id": 1, "method": "initialize", "params": {}}));
    play.client(&json!({"method": "notifications/cancelled", "params": {"requestId": 1}}));
    play.child(1, &json!({"id": 1, "result": {}}));
    play.client(&json!({"id": 2, "method": "x"}));
    assert!(play.given_methods(1).contains(&"x 2".to_owned()));
}

/// Server 2 has asked a question with id 1, and then server 3 was started for new roots.
fn with_a_question_and_a_new_server() -> Play {
    let mut play = Play::begun(Change::NewChild, Client::WithRoots);
    play.client(&json!({"id": 7, "method": "x"}));
    play.child(2, &json!({"id": 1, "method": "sampling/createMessage"}));
    play.client(&json!({"method": "notifications/roots/list_changed"}));
    play.pass(300);
    play.share(&["other"]);
    play.greet(3);
    play.heard();
    play
}

#[test]
fn a_server_cancels_its_questions_whatever_id_the_client_saw() {
    let mut play = with_a_question_and_a_new_server();
    // The new server's ids start from the beginning, too.
    play.child(3, &json!({"id": 1, "method": "elicitation/create"}));
    let sent = play.heard().remove(0)["id"].clone();
    assert_ne!(sent, 1);
    play.child(3, &json!({"method": "notifications/cancelled", "params": {"requestId": 1}}));
    assert_eq!(play.heard()[0]["params"]["requestId"], sent);
    play.child(2, &json!({"method": "notifications/cancelled", "params": {"requestId": 1}}));
    assert_eq!(play.heard()[0]["params"]["requestId"], 1);
}

#[test]
fn answers_find_the_server_that_asked() {
    let mut play = with_a_question_and_a_new_server();
    play.child_text(3, r#"{"id": 1 ,"method":"elicitation/create"}"#);
    let sent = play.heard().remove(0)["id"].clone();
    play.given(2);
    play.given(3);
    play.client_bytes(
        format!("{{\"id\":{sent},\"result\":{{ \"to\":3}}}}\n{{\"id\":1,\"result\":{{\"to\":2}}}}\n").as_bytes(),
    );
    assert_eq!(play.given_text(3), [r#"{"id":1,"result":{ "to":3}}"#]);
    assert_eq!(play.given_text(2), [r#"{"id":1,"result":{"to":2}}"#]);
    // A client's request with the same id is unrelated.
    play.client(&json!({"id": 1, "method": "y"}));
    play.child(3, &json!({"id": 1, "result": "y"}));
    assert_eq!(play.heard()[0]["result"], "y");
}

/// A replaced server ends once it owes nothing, even if the last message came from the client.
#[test]
fn a_replaced_server_ends_after_the_clients_last_answer() {
    let mut play = Play::begun(Change::NewChild, Client::WithRoots);
    play.child(2, &json!({"id": 1, "method": "sampling/createMessage"}));
    play.client(&json!({"method": "notifications/roots/list_changed"}));
    play.pass(300);
    play.heard();
    play.client(&json!({"method": "notifications/roots/list_changed"}));
    play.pass(300);
    play.share(&["other"]);
    play.greet(3);
    play.given(2);
    assert!(!play.is_told_to_end(2));
    play.client(&json!({"id": 1, "result": {}}));
    assert_eq!(play.given(2).len(), 1);
    play.settle();
    assert!(play.is_told_to_end(2));
}
