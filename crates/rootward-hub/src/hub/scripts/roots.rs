//! The client's roots, for all servers and for `get-roots`.

use super::*;

#[test]
fn the_client_is_asked_once_for_all_servers() {
    let mut play = Play::new(vec![script("a", &["read"]), script("b", &["read"]), script("c", &["read"])]);
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": {"listChanged": true}}});
    play.ask(0, "initialize", &params);
    play.client(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    play.ask(1, "tools/list", &json!({}));
    play.pass(100);
    assert_eq!(play.questions("roots/list").len(), 1);
}

#[test]
fn a_question_after_a_change_gets_no_older_answer() {
    let mut play = Play::new(vec![script("a", &["read"])]);
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": {"listChanged": true}}});
    play.ask(0, "initialize", &params);
    play.client(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let first = play.questions("roots/list");
    assert_eq!(first.len(), 1);
    play.client(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    // The server's branch opens now, and asks.
    play.ask(1, "tools/list", &json!({}));
    let second = play.questions("roots/list");
    assert_eq!(second.len(), 1, "the branch asks for itself");
    let list = |name: &str| json!({"roots": [{"uri": format!("file://{}", play.path(name))}]});
    let (old, new) = (list("two"), list("one"));
    play.client(&json!({"jsonrpc": "2.0", "id": first[0]["id"], "result": old}));
    play.client(&json!({"jsonrpc": "2.0", "id": second[0]["id"], "result": new}));
    play.pass(600);
    play.share(&["one"]);
    let (inside, outside) = (play.path("one"), play.path("two"));
    play.call(2, "a__read", &inside);
    play.pass(3000);
    assert_eq!(play.answer(2)["result"]["server"], "a");
    play.call(3, "a__read", &outside);
    play.pass(3000);
    assert_eq!(play.answer(3)["result"]["structuredContent"]["code"], "outside_roots");
}

#[test]
fn a_server_may_have_fewer_roots_than_the_client_names() {
    let mut play = Play::begun(vec![script("a", &["read"]), Script { ceiling: Some("two"), ..script("b", &["read"]) }]);
    let path = play.path("one") + "/file.txt";
    play.call(1, "a__read", &path);
    play.call(2, "b__read", &path);
    play.pass(3000);
    let heard = play.heard();
    let of = |id: u64| heard.iter().find(|message| message["id"] == id).unwrap();
    assert_eq!(of(1)["result"]["server"], "a");
    assert_eq!(of(2)["result"]["isError"], true, "{}", of(2));
    play.ask(3, "tools/call", &json!({"name": "get-roots", "arguments": {}}));
    play.pass(3000);
    let told = play.answer(3)["result"]["structuredContent"].clone();
    assert_eq!((&told["rootsCount"], &told["supportsRoots"]), (&json!(1), &json!(true)), "{told}");
    assert_eq!(told["filePaths"], json!([play.path("one")]));
    assert_eq!(told["servers"][0]["roots"], json!([play.path("one")]), "{told}");
    assert_eq!(told["servers"][1]["roots"], json!([]), "{told}");
}

#[test]
fn a_revoked_root_is_gone_for_the_next_call() {
    let mut play = Play::begun(vec![script("a", &["read"]), script("b", &["read"])]);
    let path = play.path("one") + "/file.txt";
    for (id, tool) in [(1, "a__read"), (2, "b__read")] {
        play.call(id, tool, &path);
        play.pass(3000);
        assert_eq!(play.answer(id)["result"]["isError"], Value::Null);
    }
    play.share_later();
    play.client(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    play.call(3, "a__read", &path);
    play.call(4, "b__read", &path);
    play.pass(400);
    play.share(&["two"]);
    play.pass(400);
    let heard = play.heard();
    for id in [3, 4] {
        let answer = heard.iter().find(|message| message["id"] == id).unwrap_or_else(|| panic!("{heard:?}"));
        assert_eq!(answer["result"]["structuredContent"]["code"], "outside_roots", "{answer}");
    }
}
