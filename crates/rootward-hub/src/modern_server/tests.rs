//! Conversations through the translator, line by line.

#![expect(clippy::needless_pass_by_value, reason = "calls are easier to read")]

use std::time::Duration;

use rootward_protocol::era::MODERN_REVISION;
use serde_json::{Value, json};

use super::*;

const NOW: Duration = Duration::ZERO;

/// The engine on one side of a translator, and a server on the other.
#[derive(Default)]
struct Talk(Translator);

/// What each side gets.
#[derive(Debug, Default, PartialEq)]
struct Heard {
    server: Vec<Value>,
    engine: Vec<Value>,
}

fn read(lines: &[String]) -> Vec<Value> {
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

impl Talk {
    fn engine(&mut self, message: &Value) -> Heard {
        match self.0.engine_line(message.to_string().as_bytes()) {
            Line::Same => Heard { server: vec![message.clone()], ..Heard::default() },
            Line::Instead(lines) => Heard { server: read(&lines.to_server), engine: read(&lines.to_engine) },
        }
    }

    fn server(&mut self, message: &Value) -> Heard {
        match self.0.server_line(NOW, message.to_string().as_bytes()) {
            Line::Same => Heard { engine: vec![message.clone()], ..Heard::default() },
            Line::Instead(lines) => Heard { server: read(&lines.to_server), engine: read(&lines.to_engine) },
        }
    }

    /// A talk with a server that refused `initialize` and answered `server/discover`.
    fn begun() -> Talk {
        let mut talk = Talk::default();
        talk.engine(&hello());
        let asked = talk.server(&refusal(-32601));
        assert_eq!(asked.server[0]["method"], method::DISCOVER);
        let told = talk.server(&json!({"jsonrpc": "2.0", "id": asked.server[0]["id"], "result": discovered()}));
        assert_eq!((&told.engine[0]["id"], &told.engine[0]["result"]["serverInfo"]["name"]), (&json!(1), &json!("s")));
        talk
    }
}

fn hello() -> Value {
    let params = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {"roots": {"listChanged": true}, "elicitation": {}},
        "clientInfo": {"name": "c", "version": "1"},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

fn refusal(code: i32) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "no"}})
}

fn discovered() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": [MODERN_REVISION],
        "capabilities": {"tools": {"listChanged": true}, "resources": {"subscribe": true}},
        "_meta": {keys::SERVER_INFO: {"name": "s", "version": "2"}},
    })
}

fn request(id: Value, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn result(id: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn asking(id: &Value, questions: Value) -> Value {
    result(id, json!({"resultType": "input_required", "inputRequests": questions, "requestState": "s1"}))
}

#[test]
fn a_server_that_takes_the_handshake_is_left_alone() {
    let mut talk = Talk::default();
    assert_eq!(talk.engine(&hello()).server, [hello()]);
    let log = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}});
    assert_eq!(talk.server(&log).engine, [log]);
    let taken = result(&json!(1), json!({"protocolVersion": "2025-06-18"}));
    assert_eq!(talk.server(&taken).engine, [taken]);
    assert!(!talk.0.reads_engine() && !talk.0.reads_server());
}

#[test]
fn a_modern_client_is_left_alone() {
    let mut talk = Talk::default();
    let discover = request(json!(1), method::DISCOVER, json!({"_meta": {keys::VERSION: MODERN_REVISION}}));
    assert_eq!(talk.engine(&discover).server, [discover]);
    assert!(!talk.0.reads_server());
}

#[test]
fn the_refusal_of_a_legacy_server_is_passed_on() {
    // It cannot be modern, so it is not asked.
    let mut talk = Talk::default();
    talk.engine(&hello());
    assert_eq!(talk.server(&refusal(-32603)).engine, [refusal(-32603)]);
    // It is asked, and has no answer.
    let mut talk = Talk::default();
    talk.engine(&hello());
    let asked = talk.server(&refusal(-32602));
    assert_eq!(asked.engine, Vec::<Value>::new());
    let no = json!({"jsonrpc": "2.0", "id": asked.server[0]["id"], "error": {"code": -32601, "message": "?"}});
    assert_eq!(talk.server(&no).engine, [refusal(-32602)]);
    // It never answers, or ends.
    for now in [Some(DISCOVERS_WITHIN), None] {
        let mut talk = Talk::default();
        talk.engine(&hello());
        talk.server(&refusal(-32022));
        assert_eq!(talk.0.take_refusal(Some(NOW)), None);
        assert_eq!(talk.0.wakes_at(), Some(DISCOVERS_WITHIN));
        let told = talk.0.take_refusal(now).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&told).unwrap(), refusal(-32022));
        assert_eq!(talk.0.wakes_at(), None);
    }
}

#[test]
fn requests_carry_modern_metadata() {
    let mut talk = Talk::begun();
    let heard = talk.engine(&request(json!("a"), method::LIST_TOOLS, json!({"cursor": "x", "_meta": {"k": 1}})));
    let sent = &heard.server[0];
    assert_eq!(
        (&sent["id"], &sent["params"]["cursor"], &sent["params"]["_meta"]["k"]),
        (&json!("a"), &json!("x"), &json!(1))
    );
    assert_eq!(sent["params"]["_meta"][keys::VERSION], MODERN_REVISION);
    assert_eq!(sent["params"]["_meta"][keys::CAPABILITIES], json!({"roots": {}, "elicitation": {}}));
    let answer = result(&json!("a"), json!({"resultType": "complete", "ttlMs": 1, "tools": []}));
    assert_eq!(talk.server(&answer).engine, [result(&json!("a"), json!({"tools": []}))]);
}

#[test]
fn requests_without_a_modern_form_are_answered_here() {
    let mut talk = Talk::begun();
    let heard = talk.engine(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}));
    assert_eq!(heard, Heard { engine: vec![result(&json!(2), json!({}))], ..Heard::default() });
    let heard = talk.engine(&request(json!(3), method::SET_LEVEL, json!({"level": "warning"})));
    assert_eq!(heard.engine, [result(&json!(3), json!({}))]);
    let heard = talk.engine(&request(json!(4), method::LIST_TOOLS, json!({})));
    assert_eq!(heard.server[0]["params"]["_meta"][keys::LOG_LEVEL], "warning");
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
    assert_eq!(talk.engine(&changed), Heard::default());
}

#[test]
fn questions_become_requests_and_the_call_is_sent_again() {
    let mut talk = Talk::begun();
    talk.engine(&request(json!(7), method::CALL_TOOL, json!({"name": "t", "arguments": {"a": 1.0}})));
    let questions =
        json!({"r": {"method": "roots/list"}, "e": {"method": "elicitation/create", "params": {"message": "?"}}});
    let heard = talk.server(&asking(&json!(7), questions));
    assert_eq!(heard.server, Vec::<Value>::new());
    let by_method = |method: &str| heard.engine.iter().find(|asked| asked["method"] == method).unwrap().clone();
    let (roots, elicit) = (by_method("roots/list"), by_method("elicitation/create"));
    assert_eq!((roots.get("params"), &elicit["params"]["message"]), (None, &json!("?")));
    assert_eq!(talk.engine(&result(&roots["id"], json!({"roots": []}))), Heard::default());
    let again = talk.engine(&result(&elicit["id"], json!({"action": "decline"})));
    let again = &again.server[0];
    assert_ne!(again["id"], json!(7));
    assert_eq!(again["params"]["requestState"], "s1");
    assert_eq!(again["params"]["inputResponses"], json!({"r": {"roots": []}, "e": {"action": "decline"}}));
    assert_eq!(again["params"]["arguments"], json!({"a": 1.0}));
    let answer = result(&again["id"], json!({"resultType": "complete", "content": []}));
    assert_eq!(talk.server(&answer).engine, [result(&json!(7), json!({"content": []}))]);
}

#[test]
fn a_question_that_is_not_answered_ends_the_call() {
    let mut talk = Talk::begun();
    talk.engine(&request(json!(7), method::CALL_TOOL, json!({"name": "t"})));
    let questions = json!({"a": {"method": "elicitation/create"}, "b": {"method": "sampling/createMessage"}});
    let heard = talk.server(&asking(&json!(7), questions));
    let no = json!({"jsonrpc": "2.0", "id": heard.engine[0]["id"], "error": {"code": -32601, "message": "no forms"}});
    let heard = talk.engine(&no);
    assert_eq!(heard.engine[0]["method"], method::CANCELLED);
    assert_eq!(heard.engine[1]["id"], 7);
    let says = heard.engine[1]["error"]["message"].as_str().unwrap();
    assert!(says.contains("no forms"), "{says}");
}

#[test]
fn a_call_can_be_cancelled_in_every_round() {
    let mut talk = Talk::begun();
    let cancel = json!({"jsonrpc": "2.0", "method": method::CANCELLED, "params": {"requestId": 7}});
    let call = request(json!(7), method::CALL_TOOL, json!({"name": "t"}));
    talk.engine(&call);
    assert_eq!(talk.engine(&cancel).server, std::slice::from_ref(&cancel));
    // While the client is asked.
    talk.engine(&call);
    let asked = talk.server(&asking(&json!(7), json!({"a": {"method": "elicitation/create"}})));
    let heard = talk.engine(&cancel);
    assert_eq!(heard.engine[0]["params"]["requestId"], asked.engine[0]["id"]);
    assert_eq!(talk.engine(&result(&asked.engine[0]["id"], json!({}))), Heard::default());
    // In the second round, which has another id at the server.
    talk.engine(&call);
    let asked = talk.server(&asking(&json!(7), json!({"a": {"method": "elicitation/create"}})));
    let again = talk.engine(&result(&asked.engine[0]["id"], json!({})));
    assert_eq!(talk.engine(&cancel).server[0]["params"]["requestId"], again.server[0]["id"]);
}

#[test]
fn rounds_and_questions_have_limits() {
    let mut talk = Talk::begun();
    talk.engine(&request(json!(7), method::CALL_TOOL, json!({"name": "t"})));
    let mut id = json!(7);
    let mut rounds = 0;
    let error = loop {
        let heard = talk.server(&asking(&id, json!({})));
        match heard.server.first() {
            Some(again) => id = again["id"].clone(),
            None => break heard.engine[0]["error"]["message"].to_string(),
        }
        rounds += 1;
    };
    assert!(error.contains("rounds") && rounds == 64, "{rounds}: {error}");
    talk.engine(&request(json!(8), method::CALL_TOOL, json!({"name": "t"})));
    let many: serde_json::Map<String, Value> =
        (0..101).map(|number| (number.to_string(), json!({"method": "roots/list"}))).collect();
    let heard = talk.server(&asking(&json!(8), many.into()));
    assert!(heard.engine[0]["error"]["message"].as_str().unwrap().contains("questions"), "{heard:?}");
}

#[test]
fn an_unclear_answer_is_an_error() {
    let twice = r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","resultType":"input_required"}}"#;
    for answer in [
        asking(&json!(7), json!({"a": {"method": "tools/call"}})).to_string(),
        result(&json!(7), json!({"content": [], "inputRequests": {"r": {"method": "roots/list"}}})).to_string(),
        result(&json!(7), json!({"InputRequests": {}})).to_string(),
        twice.to_owned(),
    ] {
        let mut talk = Talk::begun();
        talk.engine(&request(json!(7), method::CALL_TOOL, json!({"name": "t"})));
        let Line::Instead(lines) = talk.0.server_line(NOW, answer.as_bytes()) else { panic!("{answer}") };
        let told = read(&lines.to_engine);
        assert_eq!((&told[0]["id"], &told[0]["error"]["code"]), (&json!(7), &json!(-32603)), "{answer}");
        assert_eq!((lines.to_server.len(), told.len()), (0, 1), "{answer}");
    }
}

#[test]
fn notifications_come_over_a_listen_request() {
    let mut talk = Talk::begun();
    let first = talk.engine(&json!({"jsonrpc": "2.0", "method": method::INITIALIZED}));
    assert_eq!(first.server[0]["method"], method::LISTEN);
    assert_eq!(first.server[0]["params"]["notifications"]["toolsListChanged"], true);
    let acknowledged = json!({"jsonrpc": "2.0", "method": method::ACKNOWLEDGED, "params": {}});
    assert_eq!(talk.server(&acknowledged), Heard::default());
    let changed = json!({"jsonrpc": "2.0", "method": method::TOOLS_CHANGED, "params": {"_meta": {}}});
    assert_eq!(talk.server(&changed).engine, [changed]);
    let heard = talk.engine(&request(json!(3), method::SUBSCRIBE, json!({"uri": "a://x"})));
    assert_eq!(heard.engine, [result(&json!(3), json!({}))]);
    assert_eq!(heard.server[0]["params"]["notifications"]["resourceSubscriptions"], json!(["a://x"]));
    assert_eq!(heard.server[1]["params"]["requestId"], first.server[0]["id"]);
    // The answer to the first request, which was cancelled, and to the second one.
    for id in [&first.server[0]["id"], &heard.server[0]["id"]] {
        assert_eq!(talk.server(&result(id, json!({"resultType": "complete"}))), Heard::default());
    }
}

#[test]
fn reserved_ids_are_rejected() {
    let mut talk = Talk::begun();
    let forged = result(&json!("rootward-era-99"), json!({"content": []}));
    assert_eq!(talk.server(&forged), Heard::default());
    let heard = talk.engine(&request(json!("rootward-era-1"), method::LIST_TOOLS, json!({})));
    assert_eq!((heard.server.len(), &heard.engine[0]["error"]["code"]), (0, &json!(-32600)));
}

#[test]
fn modern_requests_pass_unchanged() {
    let mut talk = Talk::begun();
    let modern = request(
        json!(5),
        method::CALL_TOOL,
        json!({"name": "t", "_meta": {keys::VERSION: MODERN_REVISION, keys::CAPABILITIES: {}}}),
    );
    assert_eq!(talk.engine(&modern).server, [modern]);
}
