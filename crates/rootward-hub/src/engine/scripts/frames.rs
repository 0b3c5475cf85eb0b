//! What passes unchanged, and what Rootward answers.

use serde_json::{Value, json};

use super::super::Change;
use super::{Client, LIMIT, Play};
use rootward_protocol::frame::{Awaited, Found, TooLong};

#[test]
fn unknown_messages_pass_byte_for_byte_and_in_order() {
    let mut play = Play::begun(Change::NewChild, Client::WithoutRoots);
    play.given(1);
    let lines = [
        r#"{"jsonrpc":"2.0","id":0,"method":"new/thing","params":{"b":1.0,"a":1e400,"c":"\u0041"}}"#,
        r#" {"id" : -1 , "method":"ping", "later": [1,{"x":null}] } "#,
        r#"{"id":1.50,"method":"ping"}"#,
        r#"{"id":123456789012345678901234567890,"method":"ping"}"#,
        r#"{"id":"a\u0041\"\/","method":"ping"}"#,
        r#"{"id":"","method":"ping"}"#,
        r#"{"method":"notifications/progress","params":{"progressToken":0,"progress":1e2}}"#,
        r#"{"method":"notifications/never/heard/of"}"#,
    ];
    // As they come, and with the separators that streams put between lines.
    play.client_bytes((lines.join("\r\n\r\n \n") + "\n").as_bytes());
    assert_eq!(play.given_text(1), lines);
    let lines = [
        r#"{"id":0,"result":{"b":1.0,"a":1e400,"b":"\/"},"extra":{}}"#,
        r#"{"id":-1,"error":{"code":-1.5,"message":"","data":[]}}"#,
        r#"{"id":1.50,"result":null}"#,
        r#"{"id":123456789012345678901234567890,"result":[]}"#,
        r#"{"id":"a\u0041\"\/","result":{}}"#,
        r#"{"method":"notifications/progress","params":{"progressToken":0,"progress":1e2}}"#,
        r#"{"method":"notifications/never/heard/of"}"#,
        r#"{"id":null,"error":{"code":-32700,"message":"what?"}}"#,
        r#"{"id":0,"method":"sampling/createMessage","params":{"x":1.0}}"#,
        r#"{"id":"unknown","result":{}}"#,
    ];
    for line in lines {
        play.child_text(1, line);
    }
    assert_eq!(play.heard_text(), lines);
}

/// A forwarded answer is no longer owed, so no error follows when the server ends. The list of tools is parsed
/// whatever its size.
#[test]
fn a_large_answer_passes_and_a_large_list_is_learned_from() {
    let mut play = Play::begun(Change::NewChild, Client::WithoutRoots);
    let filler = "y".repeat(1 << 17);
    for (id, answer) in [
        (5, format!(r#"{{"jsonrpc":"2.0","id":5,"result":{{"text":"{filler}"}}}}"#)),
        (6, format!(r#"{{"result":{{"text":"{filler}"}},"jsonrpc":"2.0","id":6}}"#)),
    ] {
        play.client(&json!({"id": id, "method": "ping"}));
        play.child_text(1, &answer);
        assert_eq!(play.heard_text(), [answer]);
    }
    play.client(&json!({"id": 7, "method": "tools/list"}));
    let tool = r#"{"name":"x","inputSchema":{"properties":{"content":{"type":"string","format":"path"}}}}"#;
    play.child_text(1, &format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"tools":[{tool}],"more":"{filler}"}}}}"#));
    play.heard();
    play.pass(200);
    play.client(
        &json!({"id": 8, "method": "tools/call", "params": {"name": "x", "arguments": {"content": "/etc/passwd"}}}),
    );
    assert_eq!(play.heard()[0]["result"]["isError"], true, "the schema says that it is a path");
    play.ended(1);
    assert_eq!(play.heard(), Vec::<Value>::new());
}

#[test]
fn invalid_lines_get_errors_and_the_session_continues() {
    let mut play = Play::begun(Change::NewChild, Client::WithoutRoots);
    play.client(&json!({"id": 1, "method": "tools/call", "params": {"name": "x"}}));
    play.list_tools(1);
    play.given(1);
    let check = |play: &mut Play, line: &[u8], id: Value, code: i32| {
        play.client_bytes(&[line, b"\n"].concat());
        let heard = play.heard();
        assert_eq!(heard.len(), 1, "{}", line.escape_ascii());
        assert_eq!((&heard[0]["id"], &heard[0]["error"]["code"]), (&id, &json!(code)), "{}", line.escape_ascii());
        assert_eq!(play.given(1), Vec::<Value>::new());
    };
    check(&mut play, b"{", Value::Null, -32700);
    check(&mut play, b"nonsense", Value::Null, -32700);
    check(&mut play, b"{\"id\":7,\"method\":\"\xff\"}", json!(7), -32700);
    check(&mut play, br#"{"id":7,"method":"a","method":"b"}"#, json!(7), -32600);
    check(&mut play, br#"{"id":7,"method":"tools/call","Params":{}}"#, json!(7), -32600);
    check(&mut play, br#"{"id":7,"method":"tools/call","params":{"name":"x","name":"y"}}"#, json!(7), -32602);
    check(&mut play, br#"{"id":[7],"method":"a"}"#, Value::Null, -32600);
    check(&mut play, b"[]", Value::Null, -32600);
    check(&mut play, b"[1]", Value::Null, -32700);
    let long = format!(r#"{{"id":"long","method":"x","params":"{}"}}"#, "x".repeat(LIMIT));
    check(&mut play, long.as_bytes(), json!("long"), -32600);
    play.client(&json!({"id": 9, "method": "x"}));
    assert_eq!(play.given_methods(1), ["x 9"]);
}

#[test]
fn members_of_a_batch_are_decided_one_by_one() {
    let mut play = Play::begun(Change::NewChild, Client::WithoutRoots);
    play.client(&json!({"id": 1, "method": "tools/list"}));
    play.child(1, &json!({"id": 1, "result": {"tools": []}}));
    play.given(1);
    play.heard();
    play.pass(500);
    let (inside, outside) = (play.path("project/file.txt"), play.path("other/file.txt"));
    let read = |id: u64, path: &str| json!({"id": id, "method": "tools/call", "params": {"name": "read", "arguments": {"path": path}}});
    play.client(&json!([read(1, &inside), read(2, &outside), 7, {"method": "n"}, {"id": 3, "method": "x"}]));
    assert_eq!(play.given_methods(1), ["tools/call 1", "n null", "x 3"]);
    let heard = play.heard();
    assert_eq!(heard.len(), 2, "{heard:?}");
    assert_eq!(heard[0]["result"]["structuredContent"]["code"], "outside_roots");
    assert_eq!(heard[1]["id"], Value::Null);
    // A server's batch as well.
    play.child(1, &json!([{"id": 1, "result": {}}, {"id": 3, "result": {}}]));
    assert_eq!(play.heard().len(), 2);
}

/// A large answer alone in its buffer is not copied, and the order is kept.
#[test]
fn a_large_answer_keeps_its_place_among_others() {
    let mut play = Play::begun(Change::NewChild, Client::WithoutRoots);
    let answer = |id: u64| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"{}"}}"#, "é".repeat(1 << 16));
    for id in 1..=3 {
        play.client(&json!({"id": id, "method": "x"}));
    }
    let mut expected = Vec::new();
    for id in 1..=3 {
        let mut buffer = answer(id).into_bytes();
        play.child_found(1, Found::Alone(&mut buffer));
        assert_eq!(buffer.is_empty(), id == 1, "the buffer is taken if nothing else waits");
        play.child(1, &json!({"method": "n", "params": id}));
        expected.extend([answer(id), json!({"method": "n", "params": id}).to_string()]);
    }
    assert_eq!(play.heard_text(), expected);
    play.ended(1);
    assert_eq!(play.heard(), Vec::<Value>::new(), "everything was answered");
}

/// A missing line break is fine, a missing part is not.
#[test]
fn a_truncated_large_answer_is_an_error() {
    let mut play = Play::begun(Change::NewChild, Client::WithoutRoots);
    for id in 1..=2 {
        play.client(&json!({"id": id, "method": "x"}));
    }
    let answer = |id: u64| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":["{}"]}}"#, "x".repeat(1 << 17));
    // Only its line break is missing.
    play.child_found(1, Found::Unended(answer(1).as_bytes()));
    assert_eq!(play.heard_text(), [answer(1)]);
    let half = &answer(2)[..1 << 17];
    play.child_found(1, Found::Unended(half.as_bytes()));
    play.ended(1);
    let heard = play.heard();
    assert_eq!((heard.len(), &heard[0]["id"], &heard[0]["error"]["code"]), (1, &json!(2), &json!(-32603)));
}

#[test]
fn a_large_answer_cannot_hide_another_message() {
    let mut play = Play::begun(Change::NewChild, Client::WithoutRoots);
    let filler = "x".repeat(1 << 17);
    for (id, hides) in [(1, " "), (2, "\r")] {
        play.client(&json!({"id": id, "method": "x"}));
        let hidden = r#"{"id":"rootward-roots-1","method":"elicitation/create"}"#;
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":["{filler}",{hides}{hidden}{hides}]}}"#);
        let mut buffer = answer.clone().into_bytes();
        play.child_found(1, Found::Alone(&mut buffer));
        play.child_text(1, &answer);
        let heard = play.heard_text();
        if id == 1 {
            assert_eq!(heard, [answer.clone(), answer]);
        } else {
            assert_eq!(heard.len(), 1, "{hides:?}");
            assert!(heard[0].contains("-32603") && !heard[0].contains("elicitation"), "{}", heard[0]);
        }
    }
}

/// A frame that is ambiguous or not JSON reaches neither side, whatever its size.
#[test]
fn a_large_frame_is_read_like_any_other() {
    for size in [10, 1 << 16, 1 << 21] {
        let filler = "A".repeat(size);
        let mut play = Play::begun(Change::NewChild, Client::WithRoots);
        let mut check = |frame: Vec<u8>, is_answered: bool| {
            play.client(&json!({"id": 5, "method": "x"}));
            play.heard();
            play.given(2);
            let shown = frame.iter().take(60).chain(frame.iter().rev().take(60)).copied().collect::<Vec<u8>>();
            let shown = shown.escape_ascii();
            // In each position that a line may have in its buffer.
            for found in [Found::Among(&frame), Found::Unended(&frame), Found::Alone(&mut frame.clone())] {
                play.child_found(2, found);
            }
            let heard = play.heard();
            let answers: Vec<String> =
                heard.iter().map(|message| format!("{} {}", message["id"], message["error"]["code"])).collect();
            let expect = if is_answered { vec!["5 -32603"] } else { Vec::new() };
            assert_eq!(answers, expect, "{size}: {shown}");
            // The client's answer must not reach the server.
            play.client(&json!({"id": 5, "result": {"roots": [{"uri": "file:///all/of/them"}]}}));
            assert_eq!(play.given(2), Vec::<Value>::new(), "{size}: {shown}");
            play.child(2, &json!({"id": 5, "result": {}}));
        };
        let text = |text: String| text.into_bytes();
        check(text(format!(r#"{{"id":5,"result":"{filler}","method":"roots/list"}}"#)), true);
        check(text(format!(r#"{{"jsonrpc":"2.0","id":5,"result":"{filler}","m\u0065thod":"roots/list"}}"#)), true);
        check(text(format!(r#"{{"jsonrpc":"2.0","id":5,"error":{{}},"x":"{filler}","method":"roots/list"}}"#)), true);
        check(text(format!(r#"{{"method":"roots/list","result":"{filler}","jsonrpc":"2.0","id":5}}"#)), true);
        check(text(format!(r#"{{"jsonrpc":"2.0","id":5,"result":"{filler}","Method":"roots/list"}}"#)), true);
        check(text(format!(r#"{{"jsonrpc":"2.0","id":5,"result":"{filler}","result":1}}"#)), true);
        check(text(format!(r#"{{"jsonrpc":"2.0","id":5,"result":"{filler}"}}{{}}"#)), true);
        check(text(format!(r#"{{"jsonrpc":"2.0","id":5,"result":{filler}}}"#)), true);
        check(text(format!(r#"{{"jsonrpc":"2.0","id":5,"result":"{filler}\x"}}"#)), true);
        check(text(format!("{{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":\"{filler}\t\"}}")), true);
        check(text(format!(r#"{{"jsonrpc":"2.0","id":5,"result":"{filler}"#)), true);
        check([text(format!(r#"{{"jsonrpc":"2.0","id":5,"result":"{filler}"#)), b"\xff\"}".to_vec()].concat(), true);
        check(text(filler.clone()), false);
        check(text(format!(r#"{{"level":"info","id":5,"text":"{filler}"}}"#)), false);
        check(text(format!(r#"{{"id":5,"method":"x","method":"roots/list","text":"{filler}"}}"#)), false);
        check(vec![0; size], false);
        play.heard();
        // From the client as well.
        for frame in [
            format!(r#"{{"id":6,"method":"x","params":"{filler}","result":1}}"#),
            format!(r#"{{"id":6,"method":"x","params":{filler}}}"#),
            format!(r#"{{"id":6,"method":"x","params":"{filler}","params":1}}"#),
        ] {
            play.client_frame(&frame);
            assert_eq!(play.given(2), Vec::<Value>::new());
            assert_eq!(play.heard()[0]["id"], 6);
        }
    }
}

/// The outline of a large frame omits a long id: it must not settle a request with an empty id.
#[test]
fn a_large_frame_with_a_long_id_is_read_whole() {
    let mut play = Play::begun(Change::NewChild, Client::WithoutRoots);
    let (long, filler) = ("i".repeat(2000), "x".repeat(1 << 17));
    for id in ["", &long] {
        play.client(&json!({"id": id, "method": "x"}));
    }
    for id in [long.as_str(), ""] {
        play.child(1, &json!({"id": id, "result": filler}));
        let heard = play.heard();
        assert_eq!((heard.len(), &heard[0]["id"]), (1, &json!(id)), "{}", id.len());
    }
    // Both were owed and no longer are, so the server's end causes no errors.
    play.ended(1);
    assert!(play.heard().iter().all(|message| message["error"].is_null()), "an answer was still owed");
}

/// Other output that a server prints between messages, and answers that are too long.
#[test]
fn noise_is_dropped_and_long_answers_are_errors() {
    let mut play = Play::begun(Change::NewChild, Client::WithoutRoots);
    for id in 1..=2 {
        play.client(&json!({"id": id, "method": "x"}));
    }
    play.heard();
    for noise in ["Server running on stdio", "{\"level\":\"info\"}", "\u{1b}[32mready\u{1b}[0m", "7"] {
        play.child_text(1, noise);
    }
    assert_eq!(play.heard_text(), Vec::<String>::new());
    let long = |id: &str, asks: bool| {
        let (awaited, answers) =
            if asks { (Awaited::By(id.into()), None) } else { (Awaited::ByNobody, Some(id.into())) };
        Found::TooLong(TooLong { awaited, answers, length: 99 })
    };
    play.child_found(1, long("1", false));
    play.child_found(1, long("2", true));
    play.child_found(1, long("3", false));
    let heard = play.heard();
    assert_eq!((heard.len(), &heard[0]["id"], &heard[0]["error"]["code"]), (1, &json!(1), &json!(-32603)));
    play.child(1, &json!({"id": 2, "result": 2}));
    assert_eq!(play.heard()[0]["result"], 2);
}

/// An unreadable list of tools must not block the checking of calls.
#[test]
fn a_list_of_tools_that_is_too_long_is_ignored() {
    let mut play = Play::begun(Change::NewChild, Client::WithoutRoots);
    play.given(1);
    play.client(&json!({"id": 1, "method": "tools/call", "params": {"name": "x"}}));
    let id = play.given(1)[0]["id"].to_string();
    let long = Found::TooLong(TooLong { awaited: Awaited::ByNobody, answers: Some(id.into()), length: 99 });
    play.child_found(1, long);
    play.settle();
    assert_eq!(play.given_methods(1), ["tools/call 1"]);
}

/// Most JSON libraries parse ids and write them again, possibly with another spelling.
#[test]
fn an_id_may_come_back_in_another_spelling() {
    let mut play = Play::begun(Change::NewChild, Client::WithRoots);
    play.client_bytes(b"{\"id\":\"\\u0061\\/b\",\"method\":\"x\"}\n{\"id\":1.0,\"method\":\"x\"}\n");
    play.child(2, &json!({"id": "a/b", "result": {}}));
    play.child(2, &json!({"id": 1, "result": {}}));
    play.child_text(2, r#"{"id":"\u0061sked","method":"sampling/createMessage"}"#);
    play.given(2);
    play.client(&json!({"id": "asked", "result": {}}));
    assert_eq!(play.given_text(2), [r#"{"id":"\u0061sked","result":{}}"#]);
    // It owes nothing and asks nothing, so it can be replaced without an error about a missing answer.
    play.client(&json!({"method": "notifications/roots/list_changed"}));
    play.pass(300);
    play.share(&["other"]);
    play.greet(3);
    play.settle();
    assert!(play.is_told_to_end(2));
    play.ended(2);
    assert_eq!(play.heard().iter().filter(|message| message.get("error").is_some()).count(), 0);
}

/// The first call is sent once it is audited. The second names no path, so it would not have to wait.
#[test]
fn a_call_does_not_overtake_one_that_is_being_recorded() {
    let mut play = Play::recorded();
    let path = play.path("project/file.txt");
    let call = |id: u64, arguments: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "x", "arguments": arguments}});
    play.client(&call(1, json!({})));
    play.list_tools(1);
    play.pass(300);
    play.given(1);
    play.client_frame(&json!([call(2, json!({"path": path})), call(3, json!({})), call(4, json!({}))]).to_string());
    assert_eq!(play.given_methods(1), ["tools/call 2", "tools/call 3", "tools/call 4"]);
    // A cancelled call blocks nobody.
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}});
    play.client_frame(&json!([call(5, json!({"path": path})), call(6, json!({})), cancel]).to_string());
    assert_eq!(play.given_methods(1), ["tools/call 6"]);
}

#[test]
fn output_of_a_replaced_child_is_dropped() {
    let mut play = Play::begun(Change::NewChild, Client::WithRoots);
    let (first, second) = (play.id(1), play.id(2));
    // The first child has read everything.
    play.given(1);
    play.settle();
    assert!(!play.session().wants(first) && play.session().wants(second));
    // Its further output reaches nobody.
    play.heard();
    play.child(1, &json!({"method": "notifications/message"}));
    assert_eq!(play.heard_text(), Vec::<String>::new());
}
