//! One list of all servers' tools.

use super::*;

fn names(answer: &Value) -> Vec<String> {
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("no list: {answer}"));
    tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

#[test]
fn all_tools_are_listed_in_the_order_of_the_servers() {
    let mut play = Play::begun(vec![script("b", &["read", "list"]), script("a", &["read"])]);
    play.ask(1, "tools/list", &json!({}));
    play.pass(3000);
    let answer = play.answer(1);
    assert_eq!(names(&answer), ["get-roots", "b__read", "b__list", "a__read"]);
    assert_eq!(answer["result"]["nextCursor"], Value::Null);
}

#[test]
fn a_server_that_never_answers_delays_lists_only_briefly() {
    let silent = Script { manner: Manner::Silent, ..script("silent", &["x"]) };
    let dead = Script { manner: Manner::Dead, ..script("dead", &["x"]) };
    let mut play = Play::begun(vec![silent, script("a", &["read"]), dead]);
    play.ask(1, "tools/list", &json!({}));
    play.pass(1000);
    assert_eq!(play.heard(), Vec::<Value>::new());
    play.pass(4000);
    assert_eq!(names(&play.answer(1)), ["get-roots", "a__read"]);
}

#[test]
fn a_server_that_cannot_be_started_is_left_out_and_named() {
    let missing = Script { manner: Manner::Missing, ..script("missing", &["x"]) };
    let mut play = Play::begun(vec![missing, script("a", &["read"])]);
    play.ask(1, "tools/list", &json!({}));
    play.pass(3000);
    assert_eq!(names(&play.answer(1)), ["get-roots", "a__read"]);
    play.ask(2, "tools/call", &json!({"name": "get-roots"}));
    play.pass(3000);
    let answer = play.answer(2);
    let servers = &answer["result"]["structuredContent"]["servers"];
    assert_eq!(servers[0]["state"], "failed");
    assert!(servers[0]["error"].as_str().unwrap().contains("no such program"), "{servers}");
}

#[test]
fn a_changed_list_is_announced_and_listed_again() {
    let mut play = Play::begun(vec![script("a", &["read"])]);
    let (one, file) = (play.path("one"), "file.txt");
    play.call(7, "a__read", &format!("{one}/{file}"));
    play.pass(3000);
    play.answer(7);
    play.ask(1, "tools/list", &json!({}));
    play.pass(3000);
    assert_eq!(names(&play.answer(1)), ["get-roots", "a__read"]);
    play.grown.insert(0);
    play.server(0, &json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
    play.pass(3000);
    let heard = play.heard();
    assert!(heard.iter().any(|message| message["method"] == "notifications/tools/list_changed"), "{heard:?}");
    play.ask(2, "tools/list", &json!({}));
    play.pass(3000);
    assert_eq!(names(&play.answer(2)), ["get-roots", "a__read", "a__more"]);
}

#[test]
fn a_denied_tool_is_neither_listed_nor_called() {
    for catalog in [Catalog::Merged, Catalog::Compact] {
        let filter = denying(&["write*"]);
        let mut play = Play::with(vec![Script { filter, ..script("a", &["read", "write_file"]) }], catalog);
        play.begin();
        let path = play.path("one");
        if catalog == Catalog::Merged {
            play.ask(1, "tools/list", &json!({}));
            play.pass(3000);
            assert_eq!(names(&play.answer(1)), ["get-roots", "a__read"]);
            play.call(2, "a__write_file", &path);
            play.pass(3000);
            assert_eq!(play.answer(2)["error"]["code"], -32602);
        } else {
            let call = json!({"serverName": "a", "toolName": "write_file", "toolArgs": {"path": path}});
            play.ask(2, "tools/call", &json!({"name": "call-tool", "arguments": call}));
            play.pass(3000);
            assert_eq!(play.answer(2)["result"]["isError"], true);
        }
        assert_eq!(play.asked(0, "tools/call"), Vec::<Value>::new());
    }
}

#[test]
fn the_compact_form_finds_and_calls_tools() {
    let mut play = Play::with(vec![script("a", &["read", "list"]), script("b", &["read"])], Catalog::Compact);
    play.begin();
    play.ask(1, "tools/list", &json!({}));
    assert_eq!(names(&play.answer(1)), ["get-roots", "list-all-tools", "find-tools", "get-tool", "call-tool"]);
    let call = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
    play.ask(2, "tools/call", &call("list-all-tools", json!({})));
    play.pass(3000);
    let found = play.answer(2)["result"]["structuredContent"].clone();
    let count = |found: &Value| -> Vec<usize> {
        found["servers"].as_array().unwrap().iter().map(|server| server["tools"].as_array().unwrap().len()).collect()
    };
    assert_eq!(count(&found), [2, 1], "{found}");
    play.ask(3, "tools/call", &call("find-tools", json!({"query": "LI"})));
    let found = play.answer(3)["result"]["structuredContent"].clone();
    assert_eq!(found["servers"][0]["tools"][0]["toolName"], "list", "{found}");
    play.ask(4, "tools/call", &call("get-tool", json!({"serverName": "b", "toolName": "read"})));
    assert_eq!(play.answer(4)["result"]["structuredContent"]["name"], "read");
    let (inside, outside) = (play.path("one") + "/file.txt", "/etc/passwd".to_owned());
    let toolcall =
        |path: &str| call("call-tool", json!({"serverName": "b", "toolName": "read", "toolArgs": {"path": path}}));
    play.ask(5, "tools/call", &toolcall(&inside));
    play.pass(3000);
    let answer = play.answer(5);
    assert_eq!((&answer["result"]["server"], &answer["result"]["params"]["name"]), (&json!("b"), &json!("read")));
    play.ask(6, "tools/call", &toolcall(&outside));
    play.pass(3000);
    assert_eq!(play.answer(6)["result"]["structuredContent"]["code"], "outside_roots");
    assert_eq!(play.asked(1, "tools/call").len(), 1);
}
