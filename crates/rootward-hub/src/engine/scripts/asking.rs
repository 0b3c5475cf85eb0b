//! Questions from a server to its client.

use serde_json::{Value, json};

use super::super::Change;
use super::{Ceiling, Client, Play};

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
    assert_eq!((passed, play.session().asked.len()), (1000, 1000));
    // An answered or cancelled question makes room for another.
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

/// A server that asks but never reads must not make Rootward keep its refusals in memory.
#[test]
fn unread_refusals_to_a_server_are_bounded() {
    let mut play = Play::begun(Change::NewChild, Client::WithRoots);
    for id in 0..1000 {
        play.ask(&json!(id));
    }
    let id = "x".repeat(1 << 20);
    for _ in 0..20 {
        play.child(2, &json!({"id": id, "method": "sampling/createMessage"}));
        play.child(2, &json!({"id": id, "method": "roots/list"}));
    }
    let unread = play.session().most_unread();
    assert!(unread < 12 << 20, "{unread}");
}

/// A modern client answers the questions in a result with all of its roots, so no request for roots may reach it.
#[test]
fn an_ambiguous_request_for_roots_reaches_no_client() {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut play = Play::new(Change::NewChild, Ceiling::Project);
    let request = |id: u64, method: &str| json!({"id": id, "method": method, "params": {"name": "x", "_meta": meta}});
    play.client(&request(1, "tools/list"));
    play.child(1, &json!({"id": 1, "result": {"tools": []}}));
    let mut id = 1;
    let mut check = |method: &str, result: &str| {
        id += 1;
        play.client(&request(id, method));
        play.heard();
        play.child_text(1, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
        let heard = play.heard_text();
        assert_eq!(heard.len(), 1, "{result}: {heard:?}");
        assert!(heard[0].contains("-32603") && !heard[0].contains("roots/list"), "{result}: {heard:?}");
    };
    let asked = |question: &str| format!(r#"{{"resultType":"input_required","inputRequests":{{"r":{question}}}}}"#);
    check("tools/call", &asked(r#"{"method":"roots/list","method":"elicitation/create"}"#));
    check("tools/call", &asked(r#"{"method":"elicitation/create","method":"roots/list"}"#));
    check("tools/call", &asked(r#"{"method":"elicitation/create","m\u0065thod":"roots/list"}"#));
    check("tools/call", &asked(r#"{"method":"elicitation/create","Method":"roots/list"}"#));
    check("tools/call", &asked(r#"{"method":"elicitation/create"},"r":{"method":"roots/list"}"#));
    check(
        "tools/call",
        r#"{"resultType":"complete","resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}}}"#,
    );
    // In an answer to a request that cannot ask questions.
    check("completion/complete", &asked(r#"{"method":"roots/list"}"#));
    check("never/heard/of", &asked(r#"{"method":"roots/list"}"#));
    // In another spelling, Rootward answers it.
    play.client(&request(99, "tools/call"));
    play.given(1);
    play.heard();
    let result = r#"{"resultType":"input\u005frequired","inputRequests":{"r":{"method":"roots\/list"}}}"#;
    play.child_text(1, &format!(r#"{{"jsonrpc":"2.0","id":99,"result":{result}}}"#));
    assert_eq!(play.heard_text(), Vec::<String>::new());
    assert_eq!(play.given(1)[0]["params"]["inputResponses"]["r"]["roots"][0]["uri"], play.uri("project"));
    // An answer to a request that the server was not sent.
    play.child_text(1, &format!(r#"{{"id":777,"result":{}}}"#, asked(r#"{"method":"roots/list"}"#)));
    assert!(!play.heard_text()[0].contains("roots/list"));
}
