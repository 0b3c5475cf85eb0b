//! What a server offers, before the roots are known: a learner finds out, or Rootward answers without it.

use serde_json::{Value, json};

use super::super::{Change, Event, Failure, Hope, Learners};
use super::{Ceiling, Client, Play, Seen};

const WITH_TOOLS: &str = r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}"#;

fn hello(version: &str) -> Value {
    let params = json!({"protocolVersion": version, "capabilities": {"roots": {"listChanged": true}}});
    json!({"id": "i", "method": "initialize", "params": params})
}

/// The metadata of a modern request.
fn modern() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
    })
}

impl Play {
    fn with_learner() -> Play {
        let mut play = Play::new(Change::NewChild, Ceiling::None);
        play.client(&hello("2025-06-18"));
        assert_eq!(play.started(), [1]);
        play
    }

    /// A play whose server may have to be fetched first.
    fn fetching() -> Play {
        let mut play = Play::new(Change::NewChild, Ceiling::None);
        let session = play.engine.sessions.get_mut(&play.session).unwrap();
        session.links[0].learners = Learners::Fetching;
        play
    }

    /// The learner answers `initialize`, and the client continues.
    fn learn(&mut self, result: &str) {
        self.child(1, &json!({"id": "i", "result": serde_json::from_str::<Value>(result).unwrap()}));
        self.client(&json!({"method": "notifications/initialized"}));
    }

    /// The client was answered in the learner's place.
    fn improvised(&mut self) -> Value {
        let mut heard = self.heard();
        assert_eq!(heard[0]["id"], "i", "{heard:?}");
        self.client(&json!({"method": "notifications/initialized"}));
        heard[0]["result"].take()
    }

    /// Answers the list requests that a server got. Returns their methods.
    fn answer_lists(&mut self, number: u64, answer: impl Fn(&str) -> Value) -> Vec<String> {
        let mut asked = Vec::new();
        for question in self.given(number) {
            let method = question["method"].as_str().unwrap_or_default().to_owned();
            if method.ends_with("/list") {
                self.child(number, &json!({"id": question["id"], "result": answer(&method)}));
                asked.push(method);
            }
        }
        asked
    }
}

#[test]
fn a_learner_tells_what_the_server_offers_and_ends() {
    let mut play = Play::with_learner();
    play.learn(r#"{"capabilities":{"tools":{},"resources":{}}}"#);
    let asked = play.answer_lists(1, |_| json!({"tools": [{"name": "a"}], "resources": []}));
    assert_eq!(asked, ["tools/list", "resources/list", "resources/templates/list"]);
    assert!(play.is_told_to_end(1) && play.seen.contains(&Seen::Kill(1)));
    play.heard();
    // The lists are known at once, before the roots are.
    play.client(&json!({"id": 1, "method": "tools/list"}));
    assert_eq!(play.heard()[0]["result"]["tools"][0]["name"], "a");
}

#[test]
fn the_learner_is_gone_before_the_server_starts() {
    let mut play = Play::with_learner();
    play.learn(WITH_TOOLS);
    play.share(&["project"]);
    assert!(play.started().is_empty(), "the learner still lists its tools");
    play.feed(Event::Tick);
    let question = play.given(1).into_iter().find(|message| message["method"] == "tools/list").unwrap();
    let list = json!({"id": question["id"], "result": {"tools": []}}).to_string();
    play.child_found(1, rootward_protocol::frame::Found::Among(list.as_bytes()));
    play.feed(Event::Tick);
    assert!(play.is_told_to_end(1) && play.started().is_empty(), "its process may still run");
    play.settle();
    assert_eq!(play.started(), [2]);
}

#[test]
fn a_learner_that_lists_too_slowly_is_not_waited_for() {
    let mut play = Play::with_learner();
    play.learn(WITH_TOOLS);
    play.share(&["project"]);
    play.pass(1900);
    assert!(play.started().is_empty());
    play.pass(200);
    assert_eq!(play.started(), [2]);
}

/// The learner ends because it has no directory, never answers, or cannot be started. The client does not notice.
#[test]
fn a_failing_learner_is_not_an_error() {
    let ends: [fn(&mut Play); 3] = [
        |play| play.ended(1),
        |play| play.pass(20_100),
        |play| {
            play.feed(Event::NotStarted(play.id(1), &Failure::new("planted"), Hope::OtherRoots));
            play.settle();
        },
    ];
    for end in ends {
        let mut play = Play::with_learner();
        end(&mut play);
        let result = play.improvised();
        assert_eq!(result["protocolVersion"], "2025-06-18");
        let mut offered: Vec<&str> = result["capabilities"].as_object().unwrap().keys().map(String::as_str).collect();
        offered.sort_unstable();
        assert_eq!(offered, ["completions", "logging", "prompts", "resources", "tools"]);
        assert!(!play.leaves());
        play.share(&["project"]);
        assert_eq!(play.started(), [2]);
        play.greet_with(2, &serde_json::from_str(WITH_TOOLS).unwrap());
        // Requests for what the server lacks get empty answers; the others get the server's own.
        for (id, method, nothing) in [
            (1, "prompts/list", json!({"prompts": []})),
            (2, "resources/list", json!({"resources": []})),
            (3, "resources/templates/list", json!({"resourceTemplates": []})),
            (4, "completion/complete", json!({"completion": {"values": []}})),
            (5, "logging/setLevel", json!({})),
        ] {
            play.heard();
            play.client(&json!({"id": id, "method": method, "params": {}}));
            assert_eq!(play.heard(), [json!({"jsonrpc": "2.0", "id": id, "result": nothing})], "{method}");
        }
        play.client(&json!({"id": 6, "method": "tools/list"}));
        assert!(play.given_methods(2).contains(&"tools/list 6".to_owned()));
    }
}

#[test]
fn a_missing_program_is_reported_at_once() {
    let mut play = Play::with_learner();
    play.feed(Event::NotStarted(play.id(1), &Failure::new("there is no such program"), Hope::None));
    assert_eq!(play.heard()[0]["error"]["message"], "there is no such program");
    assert!(play.leaves());
}

#[test]
fn a_list_that_was_empty_without_a_server_is_announced_later() {
    let mut play = Play::with_learner();
    play.ended(1);
    play.improvised();
    play.client(&json!({"id": 1, "method": "tools/list"}));
    play.client(&json!({"id": 2, "method": "prompts/list"}));
    play.pass(1010);
    assert_eq!(play.heard().len(), 3, "a question and two lists");
    play.client(&json!({"method": "notifications/roots/list_changed"}));
    play.pass(300);
    play.share(&["project"]);
    play.greet_with(2, &serde_json::from_str(WITH_TOOLS).unwrap());
    let asked = play.answer_lists(2, |_| json!({"tools": [{"name": "a"}]}));
    assert_eq!(asked, ["tools/list"]);
    let heard = play.heard();
    assert_eq!(heard.iter().filter(|message| message.get("method").is_some()).count(), 1, "{heard:?}");
    assert_eq!(heard.last().unwrap()["method"], "notifications/tools/list_changed");
}

/// Hosts wait five seconds for a list.
#[test]
fn a_list_waits_for_a_server_that_starts_but_not_forever() {
    let mut play = Play::with_learner();
    play.ended(1);
    play.improvised();
    play.share(&["project"]);
    play.client(&json!({"id": 1, "method": "tools/list"}));
    play.pass(3900);
    assert!(!play.heard().iter().any(|message| message["id"] == 1));
    play.pass(200);
    assert_eq!(play.heard().last().unwrap()["result"], json!({"tools": []}));
}

#[test]
fn an_older_revision_continues_and_a_newer_one_is_remembered() {
    for (revision, goes_on) in [("2024-11-05", true), ("2025-06-18", true), ("2025-11-25", false)] {
        let mut play = Play::with_learner();
        play.ended(1);
        play.improvised();
        play.share(&["project"]);
        play.greet_with(2, &json!({"protocolVersion": revision, "capabilities": {}}));
        play.client(&json!({"id": 1, "method": "x"}));
        assert_eq!(play.given_methods(2).contains(&"x 1".to_owned()), goes_on, "{revision}");
        if !goes_on {
            let heard = play.heard();
            let says = heard.iter().find(|message| message["id"] == 1).unwrap()["error"]["message"].as_str().unwrap();
            assert!(says.contains("2025-11-25") && says.contains("reconnect"), "{says}");
            play.reopen();
            play.client(&hello("2025-06-18"));
            assert_eq!(play.heard()[0]["result"]["protocolVersion"], "2025-11-25");
        }
    }
}

#[test]
fn only_the_answers_of_a_learner_reach_the_client() {
    let mut play = Play::with_learner();
    play.child(1, &json!({"method": "notifications/message", "params": {"data": "x"}}));
    play.child(1, &json!({"id": "q", "method": "sampling/createMessage"}));
    play.child(1, &json!({"id": "r", "method": "roots/list"}));
    play.child(1, &json!({"id": "nobody", "result": {}}));
    assert_eq!(play.heard(), Vec::<Value>::new());
    let given = play.given(1);
    assert_eq!(given[1]["error"]["code"], -32603, "{given:?}");
    assert_eq!(given[2]["result"], json!({"roots": []}));
}

#[test]
fn a_client_without_roots_is_answered_by_the_server_itself() {
    let mut play = Play::new(Change::NewChild, Ceiling::Project);
    play.begin(Client::WithoutRoots);
    play.client(&json!({"id": 1, "method": "x"}));
    assert_eq!(play.given_methods(1), [r#"initialize "i""#, "notifications/initialized null", "x 1"]);
}

/// A host tries the modern era first. A server that does not know that era is not asked twice.
#[test]
fn a_server_that_rejects_discovery_is_remembered_as_legacy() {
    let mut play = Play::new(Change::NewChild, Ceiling::None);
    let meta = modern();
    let discover = json!({"id": "d", "method": "server/discover", "params": {"_meta": meta}});
    play.client(&discover);
    assert_eq!(play.started(), [1]);
    play.child(1, &json!({"id": "d", "error": {"code": -32601, "message": "Method not found"}}));
    assert_eq!(play.heard()[0]["error"]["code"], -32601);
    play.client(&hello("2025-11-25"));
    assert!(play.started().is_empty(), "the same learner goes on");
    play.learn(r#"{"capabilities":{}}"#);
    play.share(&["project"]);
    assert_eq!(play.started(), [2]);
    play.reopen();
    play.client(&discover);
    play.client(&hello("2025-11-25"));
    let heard = play.heard();
    assert_eq!((&heard[0]["error"]["code"], &heard[1]["id"]), (&json!(-32601), &json!("i")), "{heard:?}");
    assert!(play.started().is_empty(), "both answers come from memory");
}

#[test]
fn a_learner_that_answers_discovery_too_late_is_asked_as_legacy() {
    let mut play = Play::new(Change::NewChild, Ceiling::None);
    let meta = modern();
    play.client(&json!({"id": "d", "method": "server/discover", "params": {"_meta": meta}}));
    play.pass(20_100);
    assert_eq!(play.heard()[0]["error"]["code"], -32601);
    play.client(&hello("2025-11-25"));
    play.child(1, &json!({"id": "d", "result": {}}));
    assert!(play.heard().is_empty(), "a late answer is dropped");
    play.learn(r#"{"capabilities":{}}"#);
    assert_eq!(play.heard()[0]["id"], "i");
}

/// Claude Code waits three seconds for the answer, then begins with `initialize`. The late answer must not be cached
/// as the one to `initialize`.
#[test]
fn a_late_answer_to_discovery_is_not_remembered_for_initialize() {
    let mut play = Play::new(Change::NewChild, Ceiling::None);
    let meta = modern();
    let discover = json!({"id": "d", "method": "server/discover", "params": {"_meta": meta}});
    play.client(&discover);
    play.client(&hello("2025-11-25"));
    play.child(1, &json!({"id": "d", "result": {"supportedVersions": ["2026-07-28"], "capabilities": {}}}));
    play.reopen();
    play.heard();
    play.client(&discover);
    play.client(&hello("2025-11-25"));
    let heard = play.heard();
    assert!(heard.iter().all(|heard| heard["id"] != "i"), "{heard:?}");
}

#[test]
fn a_modern_call_without_paths_asks_for_roots() {
    let mut play = Play::new(Change::NewChild, Ceiling::None);
    let meta = modern();
    let params = json!({"name": "where", "arguments": {}, "_meta": meta});
    play.client(&json!({"id": 1, "method": "tools/list", "params": {"_meta": meta}}));
    play.child(1, &json!({"id": 1, "result": {"tools": [], "resultType": "complete"}}));
    play.heard();
    play.client(&json!({"id": 2, "method": "tools/call", "params": params}));
    let asked = play.heard().remove(0);
    assert_eq!(asked["result"]["inputRequests"]["rootward.dev/roots"]["method"], "roots/list", "{asked}");
    assert_eq!(play.given_methods(1), ["tools/list 1"]);
    let mut again = params;
    again["requestState"] = asked["result"]["requestState"].clone();
    again["inputResponses"] = json!({"rootward.dev/roots": {"roots": [{"uri": play.uri("project")}]}});
    play.client(&json!({"id": 3, "method": "tools/call", "params": again}));
    play.settle();
    assert!(play.is_told_to_end(1));
    assert_eq!(play.started(), [1, 2]);
}

/// If it were stopped during a download, the real start would download everything again.
#[test]
fn a_learner_may_finish_downloading_the_server() {
    let mut play = Play::fetching();
    play.client(&hello("2025-06-18"));
    play.pass(20_100);
    play.improvised();
    play.share(&["project"]);
    play.client(&json!({"id": 1, "method": "tools/list"}));
    play.pass(10_000);
    assert_eq!(play.heard().last().unwrap()["result"], json!({"tools": []}));
    assert!(!play.is_told_to_end(1) && play.started() == [1]);
    play.child(1, &json!({"id": "i", "result": serde_json::from_str::<Value>(WITH_TOOLS).unwrap()}));
    assert!(play.heard().is_empty(), "the client has its answer");
    play.answer_lists(1, |_| json!({"tools": [{"name": "a"}]}));
    assert_eq!(play.heard()[0]["method"], "notifications/tools/list_changed");
    assert!(play.is_told_to_end(1) && play.started() == [2]);
    // But not forever.
    let mut play = Play::fetching();
    play.client(&hello("2025-06-18"));
    play.pass(20_100);
    play.improvised();
    play.share(&["project"]);
    play.pass(60_100);
    assert!(play.is_told_to_end(1) && play.started() == [1, 2]);
}

/// An error may just mean that the learner has no directory.
#[test]
fn rootward_answers_for_a_learner_that_rejects_initialize() {
    for (code, is_passed_on) in [(-32603, false), (-32000, false), (-32602, true)] {
        let mut play = Play::with_learner();
        play.child(1, &json!({"id": "i", "error": {"code": code, "message": "no directory"}}));
        let heard = play.heard();
        assert_eq!(heard[0].get("error").is_some(), is_passed_on, "{heard:?}");
        assert_eq!(play.is_told_to_end(1), !is_passed_on);
        if is_passed_on {
            play.client(&hello("2025-03-26"));
            assert!(play.given_methods(1).contains(&"initialize \"i\"".to_owned()), "the client begins again");
        }
    }
    let mut play = Play::with_learner();
    play.child_text(1, r#"{"id":"i","result":{"a":1,"a":2},"result":{}}"#);
    assert!(play.heard()[0]["result"]["capabilities"]["tools"].is_object() && play.is_told_to_end(1));
}

/// A container is not stopped with the program that started it.
#[test]
fn a_server_that_must_not_be_started_twice_has_no_learner() {
    let mut play = Play::new(Change::NewChild, Ceiling::None);
    play.engine.sessions.get_mut(&play.session).unwrap().links[0].learners = Learners::Never;
    play.client(&hello("2025-06-18"));
    play.improvised();
    assert!(play.started().is_empty());
    play.share(&["project"]);
    assert_eq!(play.started(), [1]);
}

#[test]
fn a_modern_list_that_a_learner_never_answers_is_an_error() {
    let mut play = Play::new(Change::NewChild, Ceiling::None);
    let meta = modern();
    play.client(&json!({"id": 1, "method": "tools/list", "params": {"_meta": meta}}));
    play.client(&json!({"id": 2, "method": "subscriptions/listen", "params": {"_meta": meta}}));
    play.pass(20_100);
    let heard = play.heard();
    assert_eq!((heard.len(), &heard[0]["id"], heard[0].get("error").is_some()), (1, &json!(1), true), "{heard:?}");
    // A learner's question is an error, because nobody may answer it.
    play.client(&json!({"id": 3, "method": "tools/list", "params": {"_meta": meta}}));
    let asked = json!({"resultType": "input_required", "inputRequests": {"a": {"method": "elicitation/create"}}});
    play.child(1, &json!({"id": 3, "result": asked}));
    assert!(play.heard()[0].get("error").is_some());
}
