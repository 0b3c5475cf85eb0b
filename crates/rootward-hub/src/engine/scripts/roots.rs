//! Who named the roots, and what waits for them.

use serde_json::{Value, json};

use super::super::Change;
use super::{Ceiling, Client, Play};

fn code(heard: &[Value], id: u64) -> Option<&Value> {
    heard.iter().find(|message| message["id"] == id).map(|message| &message["result"]["structuredContent"]["code"])
}

#[test]
fn a_call_before_initialize_reaches_no_server() {
    let mut play = Play::new(Change::NewChild, Ceiling::Project);
    play.client(&json!({"id": 1, "method": "ping"}));
    play.read(2, "project/file.txt");
    play.client(&json!({"id": 3, "method": "tools/list"}));
    play.client(&json!({"method": "notifications/x"}));
    play.pass(30_000);
    let heard = play.heard();
    assert_eq!(heard[0]["result"], json!({}));
    assert!(heard[1..].iter().all(|message| message["error"]["code"] == -32600), "{heard:?}");
    assert_eq!((heard.len(), play.started()), (3, Vec::new()));
}

/// The client answers the question for its roots, then calls a tool. Also returns the server for its calls.
fn answered(ceiling: Ceiling, answer: &Value) -> (Play, u64) {
    let mut play = Play::new(Change::NewChild, ceiling);
    play.begin(Client::WithRoots);
    let question = play.heard().remove(0);
    let mut answer = answer.clone();
    answer["id"] = question["id"].clone();
    play.client(&answer);
    let serving = play.serving();
    play.read(1, "project/file.txt");
    play.list_tools(serving);
    play.pass(1000);
    (play, serving)
}

#[test]
fn unusable_answers_about_roots_refuse_calls() {
    let none = json!("no_roots");
    for (answer, expect) in [
        (json!({"result": {"roots": []}}), &none),
        (json!({"result": {"roots": [{"uri": "https://example.org"}]}}), &none),
        (json!({"result": {"roots": "garbage"}}), &json!("roots_failed")),
        (json!({"result": {}}), &json!("roots_failed")),
        (json!({"result": null}), &json!("roots_failed")),
        (json!({"error": {"code": -32601, "message": "Method not found"}}), &json!("roots_failed")),
        (json!({"error": null, "result": []}), &json!("roots_failed")),
    ] {
        let (mut play, _) = answered(Ceiling::None, &answer);
        assert_eq!(code(&play.heard(), 1), Some(expect), "{answer}");
    }
}

/// With a ceiling, a client that names no roots is served in it. A client whose roots are all unusable is not.
#[test]
fn the_ceiling_applies_to_a_client_that_names_no_roots() {
    for (answer, passes) in [
        (json!({"result": {"roots": []}}), true),
        (json!({"error": {"code": -32601, "message": "Method not found"}}), true),
        (json!({"result": {"roots": [{"uri": "https://example.org"}]}}), false),
    ] {
        let (mut play, serving) = answered(Ceiling::Project, &answer);
        let passed = play.given_methods(serving).contains(&"tools/call 1".to_owned());
        assert_eq!(passed, passes, "{answer}: {:?}", play.heard());
    }
}

/// A client that never answers gets lists, but no server gets its calls, because nobody knows its roots.
#[test]
fn a_client_that_never_names_its_roots_gets_lists_all_the_same() {
    let mut play = Play::begun(Change::NewChild, Client::WithRoots);
    // The handshake is cached: the second time no server runs until it is needed.
    play.reopen();

    play.begin(Client::WithRoots);
    assert_eq!(play.started(), Vec::<u64>::new());
    play.client(&json!({"id": 1, "method": "tools/list"}));
    play.read(2, "project/file.txt");
    play.client(&json!({"id": 3, "method": "tools/call", "params": {"name": "where"}}));
    play.pass(990);
    assert!(!play.heard().iter().any(|message| message["id"] == 1));
    play.pass(20);
    assert_eq!(play.heard(), [json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}})]);
    play.pass(8000);
    assert_eq!(play.started(), Vec::<u64>::new());
    // The wait for the client is over, and the server starts without directories.
    play.pass(2000);
    assert_eq!(play.started(), [1]);
    play.greet(1);
    play.pass(20_000);
    let heard = play.heard();
    assert!(matches!(code(&heard, 2).and_then(Value::as_str), Some("roots_pending" | "roots_failed")), "{heard:?}");
}

#[test]
fn many_changes_cause_one_question_and_one_new_server() {
    let mut play = Play::begun(Change::NewChild, Client::WithRoots);
    play.heard();
    play.started();
    for _ in 0..200 {
        play.client(&json!({"method": "notifications/roots/list_changed"}));
        play.pass(1);
    }
    play.read(1, "other/file.txt");
    play.pass(300);
    let questions = play.session().asked.len();
    assert_eq!(questions, 1);
    play.share(&["other"]);
    assert_eq!(play.started(), [3]);
    play.greet(3);
    play.list_tools(3);
    play.pass(300);
    assert!(play.given_methods(3).contains(&"tools/call 1".to_owned()));
}

/// A call that acts waits for the server with the roots, and so does an unknown list.
#[test]
fn a_call_without_paths_waits_for_the_server_with_the_roots() {
    let mut play = Play::new(Change::NewChild, Ceiling::None);
    play.begin(Client::WithRoots);
    play.client(&json!({"id": 2, "method": "tools/call", "params": {"name": "where"}}));
    play.client(&json!({"id": 3, "method": "tools/list"}));
    assert!(play.started().is_empty());
    play.share(&["project"]);
    play.client(&json!({"id": 4, "method": "tools/call", "params": {"name": "where"}}));
    play.greet(2);
    play.child(2, &json!({"id": 3, "result": {"tools": []}}));
    let given = play.given_methods(2);
    assert!(given.ends_with(&["tools/call 2".to_owned(), "tools/call 4".to_owned()]), "{given:?}");
}

#[test]
fn calls_wait_for_a_server_that_asks_for_its_roots() {
    let mut play = Play::begun(Change::NewChild, Client::WithRoots);
    play.read(1, "project/file.txt");
    play.list_tools(2);
    assert_eq!(play.given_methods(2), Vec::<String>::new());
    play.child(2, &json!({"id": "r", "method": "roots/list"}));
    let given = play.given(2);
    assert_eq!(given[0]["result"]["roots"][0]["uri"], play.uri("project"));
    assert_eq!(given[1]["method"], "tools/call");
    // A server that does not ask delays calls only briefly.
    let mut play = Play::begun(Change::NewChild, Client::WithRoots);
    play.read(1, "project/file.txt");
    play.list_tools(2);
    play.pass(190);
    assert_eq!(play.given_methods(2), Vec::<String>::new());
    play.pass(20);
    assert_eq!(play.given_methods(2), ["tools/call 1"]);
}

/// A server asks for its roots after its first call has stopped waiting. This happens only once: at later starts, the
/// call waits longer.
#[test]
fn the_first_call_of_a_server_that_asks_late_waits_at_its_next_start() {
    let mut play = Play::begun(Change::NewChild, Client::WithRoots);
    play.read(1, "project/file.txt");
    play.list_tools(2);
    play.pass(300);
    assert_eq!(play.given_methods(2), ["tools/call 1"]);
    // It is now known not to ask, so calls would not wait at its next start. It asks anyway, during a call.
    play.child(2, &json!({"id": "r", "method": "roots/list"}));
    play.given(2);
    let restart = |play: &mut Play, before: u64, call: u64| {
        play.ended(before);
        play.pass(2000);
        assert_eq!(play.started(), [before + 1]);
        play.greet(before + 1);
        play.given(before + 1);
        play.read(call, "project/file.txt");
        assert_eq!(play.given_methods(before + 1), Vec::<String>::new(), "the call waits");
    };
    play.started();
    restart(&mut play, 2, 2);
    play.child(3, &json!({"id": "r", "method": "roots/list"}));
    assert_eq!(play.given_methods(3).last().unwrap(), "tools/call 2");
    // A server that is known to ask gets more time.
    restart(&mut play, 3, 3);
    play.pass(1500);
    assert_eq!(play.given_methods(4), Vec::<String>::new());
    play.child(4, &json!({"id": "r", "method": "roots/list"}));
    assert_eq!(play.given_methods(4).last().unwrap(), "tools/call 3");
}

/// A root that is not a file URI is passed on to the server, but opens nothing.
#[test]
fn a_server_is_told_of_roots_of_other_schemes() {
    let mut play = Play::new(Change::NewChild, Ceiling::None);
    play.begin(Client::WithRoots);
    let elsewhere = json!({"uri": "https://api.example.com/v1/", "name": "API"});
    play.answer_roots(&json!({"roots": [elsewhere, {"uri": play.uri("project")}]}));
    play.greet(2);
    play.given(2);
    play.child(2, &json!({"id": "r", "method": "roots/list"}));
    let told = play.given(2).remove(0);
    assert_eq!(told["result"]["roots"], json!([{"uri": play.uri("project"), "name": "project"}, elsewhere]));
    play.read(1, "project/file.txt");
    play.list_tools(2);
    assert_eq!(play.given_methods(2), ["tools/call 1"]);
    play.read(2, "other/file.txt");
    assert_eq!(play.heard().last().unwrap()["result"]["structuredContent"]["code"], "outside_roots");
}

/// A client that names only such roots shared no directory, and no other roots are used instead.
#[test]
fn a_client_with_roots_of_other_schemes_alone_shared_no_directory() {
    let mut play = Play::new(Change::NewChild, Ceiling::Project);
    play.begin(Client::WithRoots);
    let elsewhere = json!([{"uri": "https://api.example.com/v1/"}]);
    play.answer_roots(&json!({"roots": elsewhere}));
    play.greet(2);
    play.given(2);
    play.child(2, &json!({"id": "r", "method": "roots/list"}));
    // A root always has a name.
    let address = "https://api.example.com/v1/";
    assert_eq!(play.given(2)[0]["result"]["roots"], json!([{"uri": address, "name": address}]));
    play.read(1, "project/file.txt");
    play.list_tools(2);
    let refused = play.heard().last().unwrap()["result"]["structuredContent"].clone();
    assert_eq!(refused["code"], "no_roots", "{refused}");
    assert!(refused["message"].as_str().unwrap().ends_with("none of the client's roots can be used"), "{refused}");
}

#[test]
fn the_client_is_told_what_differs_from_the_first_handshake() {
    let mut play = Play::new(Change::NewChild, Ceiling::None);
    play.begin(Client::WithRoots);
    play.share(&["project"]);
    play.greet_with(2, &json!({"capabilities": {"tools": {}, "prompts": {}}}));
    let methods: Vec<Value> = play.heard().into_iter().map(|mut message| message["method"].take()).collect();
    assert_eq!(methods, ["notifications/tools/list_changed", "notifications/prompts/list_changed"]);
}

/// The same server is notified of other roots, if the first one is the same.
#[test]
fn a_server_with_the_same_first_root_is_notified() {
    let mut play = Play::begun(Change::Told, Client::WithRoots);
    play.given(2);
    play.started();
    play.client(&json!({"method": "notifications/roots/list_changed"}));
    play.pass(300);
    play.share(&["project", "other"]);
    assert_eq!(play.given_methods(2), ["notifications/roots/list_changed null"]);
    assert_eq!(play.started(), Vec::<u64>::new());
    play.child(2, &json!({"id": "r", "method": "roots/list"}));
    assert_eq!(play.given(2)[0]["result"]["roots"].as_array().unwrap().len(), 2);
}

/// The operator reads the same reason as the client. A hint about the argument would not help.
#[test]
fn a_refusal_without_roots_names_the_reason_and_not_the_argument() {
    let mut play = Play::new(Change::NewChild, Ceiling::Project);
    play.begin(Client::WithRoots);
    play.share(&["other"]);
    let serving = play.serving();
    play.read(1, "other/file.txt");
    play.list_tools(serving);
    play.pass(1000);
    let heard = play.heard();
    assert_eq!(code(&heard, 1), Some(&json!("no_roots")), "{heard:?}");
    let refused = heard.iter().find(|message| message["id"] == 1).unwrap();
    assert_eq!(refused["result"]["structuredContent"]["hint"], Value::Null, "{refused}");
    let said = play.said().concat();
    let (shares, limit) = (play.path("other"), play.path("project"));
    assert!(said.contains(&format!("this client shares `{shares}`, the server is limited to `{limit}`")), "{said}");
    assert!(!said.contains("--treat"), "{said}");
}
