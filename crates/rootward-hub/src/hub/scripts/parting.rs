//! Requests reach the right servers, under the servers' own names.

use super::*;

#[test]
fn a_call_reaches_its_server_under_the_servers_own_name() {
    let mut play = Play::begun(vec![script("a", &["read"]), script("b", &["read"])]);
    let path = play.path("one") + "/file.txt";
    play.call(1, "b__read", &path);
    play.pass(3000);
    let answer = play.answer(1);
    assert_eq!(answer["result"]["server"], "b", "{answer}");
    assert_eq!(answer["result"]["params"], json!({"name": "read", "arguments": {"path": path}}));
    // No other server was started to take calls.
    assert_eq!(play.starts, [0, 1]);
}

#[test]
fn a_path_outside_reaches_no_server() {
    let mut play = Play::begun(vec![script("a", &["read"])]);
    let outside = play.path("two") + "/file.txt";
    play.call(1, "a__read", &outside);
    play.pass(3000);
    let answer = play.answer(1);
    assert_eq!(answer["result"]["structuredContent"]["code"], "outside_roots", "{answer}");
    assert_eq!(play.asked(0, "tools/call"), Vec::<Value>::new());
}

#[test]
fn an_ambiguous_request_reaches_no_server() {
    let mut play = Play::begun(vec![script("a", &["read"]), script("b", &["read"])]);
    play.ask(1, "tools/list", &json!({}));
    play.pass(3000);
    play.heard();
    let twice = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a__read","name":"b__read"}}"#;
    play.client_text(twice);
    play.pass(3000);
    assert_eq!(play.answer(2)["error"]["code"], -32602);
    assert!(play.asked(0, "tools/call").is_empty() && play.asked(1, "tools/call").is_empty());
}

#[test]
fn an_id_in_use_is_refused() {
    let mut play =
        Play::begun(vec![script("a", &["read"]), Script { manner: Manner::Silent, ..script("b", &["read"]) }]);
    play.ask(1, "tools/list", &json!({}));
    play.ask(1, "ping", &json!({}));
    play.heard();
    play.ask(1, "tools/call", &json!({"name": "a__read"}));
    assert_eq!(play.answer(1)["error"]["code"], -32600);
}

#[test]
fn unknown_tools_are_errors_and_known_tools_need_no_list_first() {
    let mut play = Play::begun(vec![script("a", &["read"])]);
    play.call(1, "a__write", &play.path("one"));
    play.pass(3000);
    assert_eq!(play.answer(1)["error"]["code"], -32602);
    play.call(2, "read", &play.path("one"));
    play.pass(3000);
    assert_eq!(play.answer(2)["error"]["code"], -32602);
    play.call(3, "a__read", &play.path("one"));
    play.pass(3000);
    assert_eq!(play.answer(3)["result"]["server"], "a");
}

#[test]
fn prompts_resources_and_completions_find_their_server() {
    let mut play = Play::begun(vec![script("a", &[]), script("b", &[])]);
    let mut check = |id: u64, method: &str, params: Value, server: &str, expect: Value| {
        play.ask(id, method, &params);
        play.pass(3000);
        let answer = play.answer(id);
        assert_eq!((&answer["result"]["server"], &answer["result"]["params"]), (&json!(server), &expect), "{answer}");
    };
    check(1, "prompts/get", json!({"name": "b__greet"}), "b", json!({"name": "greet"}));
    check(2, "resources/read", json!({"uri": "demo-b://x"}), "b", json!({"uri": "demo-b://x"}));
    check(3, "resources/read", json!({"uri": "demo-a://at/7"}), "a", json!({"uri": "demo-a://at/7"}));
    check(4, "resources/subscribe", json!({"uri": "demo-a://x"}), "a", json!({"uri": "demo-a://x"}));
    let complete = |reference: Value| json!({"ref": reference, "argument": {"name": "n", "value": "v"}});
    let prompt = |name: &str| json!({"type": "ref/prompt", "name": name});
    check(5, "completion/complete", complete(prompt("a__greet")), "a", complete(prompt("greet")));
    let template = json!({"type": "ref/resource", "uri": "demo-b://at/{id}"});
    check(6, "completion/complete", complete(template.clone()), "b", complete(template));
    play.ask(7, "resources/read", &json!({"uri": "demo-c://x"}));
    play.pass(3000);
    assert_eq!(play.answer(7)["error"]["code"], -32002);
    play.ask(8, "no/such", &json!({}));
    assert_eq!(play.answer(8)["error"]["code"], -32601);
}

#[test]
fn a_cancellation_reaches_only_the_server_with_the_call() {
    let mut play = Play::with_two_running();
    let path = play.path("one");
    play.scripts[1].manner = Manner::Silent;
    play.call(3, "b__read", &path);
    play.client(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}));
    assert_eq!(play.asked(1, "notifications/cancelled").len(), 1);
    assert_eq!(play.asked(0, "notifications/cancelled").len(), 0);
}
