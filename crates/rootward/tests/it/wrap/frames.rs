//! Frames between real processes: messages that are not for Rootward pass unchanged.

use std::process::Stdio;

use rootward_testkit::client::{Line, PATIENCE, Received};
use serde_json::{Value, json};

use super::scene::{Says, Scene, begin};

#[test]
fn unknown_messages_reach_the_server_byte_for_byte() {
    let scene = Scene::new();
    let seen = scene.path("project/seen");
    let words = [&*scene.text("project"), "--env", "SEEN"];
    let mut client = begin(scene.wrap(&words).env("SEEN", &seen), Says::Nothing, &[]);
    let lines = [
        r#"{"jsonrpc":"2.0","id":0,"method":"new/thing","params":{"b":1.0,"a":1e30,"text":"\u0041\"é☃"}}"#,
        r#"{"id" : -1 , "method":"ping", "later": [1,{"x":null}] }"#,
        r#"{"id":1.50,"method":"ping"}"#,
        r#"{"id":123456789012345678901234567890,"method":"ping"}"#,
        r#"{"id":"a\u0041\"\/","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/never/heard/of","params":[1,2]}"#,
    ];
    for line in lines {
        // With the line ends and blank lines that some clients send.
        client.send_line(&format!("{line}\r\n\r\n  "));
    }
    for id in [json!(0), json!(-1), json!(1.5), json!(1.234_567_890_123_456_8e29), json!("aA\"/")] {
        assert!(client.answer_to(id.clone())["result"].is_object(), "{id}");
    }
    assert_eq!(client.end(), Some(0));
    let seen = std::fs::read_to_string(seen).unwrap();
    let got: Vec<&str> = seen.lines().filter(|line| !line.contains("initialize")).collect();
    assert_eq!(got, lines);
}

#[test]
fn messages_from_the_server_reach_the_client_byte_for_byte() {
    let scene = Scene::new();
    let mut client = begin(&mut scene.wrap(&[&scene.text("project")]), Says::Nothing, &[]);
    let lines = [
        r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"b":1.0,"a":1e400,"b":"\/\u0041"}}"#,
        r#" {"method" : "notifications/progress" , "params":{}, "new":[ 1 ]}"#,
        r#"{"id":"not\u0020asked","result":null}"#,
    ];
    let noise = "Listening on stdio\n\n\u{1b}[1m{\"level\":\"info\"}\n\r\n";
    let said = format!("{}\r\n{noise}{}\n{}\n", lines[0], lines[1], lines[2]);
    client.begin_call("raw", json!({"text": said}));
    for line in lines {
        assert_eq!(client.line.receive(PATIENCE).unwrap(), Received::Frame(line.to_owned()));
    }
    // The last line, without a line break.
    client.begin_call("raw", json!({"text": lines[0]}));
    client.close();
    assert_eq!(client.line.receive(PATIENCE).unwrap(), Received::Frame(lines[0].to_owned()));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_last_line_without_an_end_is_a_line() {
    use std::io::Write;
    let scene = Scene::new();
    let mut command = scene.wrap(&[&scene.text("project"), "--sandbox", "off"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let said = concat!(
        "{\"id\":1,\"method\":\"initialize\",\"params\":{}}\n{\"method\":\"notifications/initialized\"}\n",
        "{\"id\":2,\"method\":\"ping\"}"
    );
    child.stdin.take().unwrap().write_all(said.as_bytes()).unwrap();
    let run = child.wait_with_output().unwrap();
    let said = String::from_utf8(run.stdout).unwrap();
    let ids: Vec<Value> = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone()).collect();
    assert_eq!((ids, run.status.code()), (vec![json!(1), json!(2)], Some(0)));
}

#[test]
fn the_same_id_from_both_sides_at_once() {
    let scene = Scene::new();
    let mut client = begin(&mut scene.wrap(&[&scene.text("project")]), Says::Nothing, &[]);
    client.text("echo", json!({}));
    for id in [json!(5), json!("5"), json!("a\"/é"), json!(-1), json!(0.5), json!("rootward-tools-1")] {
        let params = json!({"name": "ask", "arguments": {"id": id}});
        client.send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
        let question = client.next_where(|message| message["method"] == "sampling/createMessage");
        // An id that looks like one of Rootward's own is replaced.
        assert_eq!(question["id"] == id, id != json!("rootward-tools-1"), "{question}");
        client.answer(question["id"].clone(), json!({"said": 1}));
        let answer = client.answer_to(id);
        assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains(r#"{"said": 1}"#), "{answer}");
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn invalid_lines_get_errors_and_the_session_continues() {
    let scene = Scene::new();
    let mut client = begin(&mut scene.wrap(&[&scene.text("project")]), Says::Nothing, &[]);
    for line in ["{", "nonsense", "[]", "{\"id\":null}", "\u{0}", "[[[[[[", "{\"id\":1,\"id\":2,\"method\":\"x\"}"] {
        client.send_line(line);
        let answer = client.next().unwrap();
        assert!(answer["id"].is_null() && answer["error"]["code"].is_i64(), "{line}: {answer}");
    }
    client
        .send_line(r#"{"id":"x","method":"tools/call","params":{"name":"echo","arguments":{"path":"a","path":"b"}}}"#);
    assert_eq!(client.answer_to("x")["error"]["code"], -32602);
    let deep = format!(r#"{{"id":"y","method":"x","params":{{"a":{}{}}}}}"#, "[".repeat(5000), "]".repeat(5000));
    client.send_line(&deep);
    assert_eq!(client.answer_to("y")["error"]["code"], -32602);
    assert_eq!(client.text("echo", json!({"number": 1})), r#"{"number": 1}"#);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn members_of_a_batch_are_decided_one_by_one() {
    let scene = Scene::new();
    let mut client = begin(&mut scene.wrap(&[&scene.text("project")]), Says::Nothing, &[]);
    let read = |id: &str, path: String| {
        let params = json!({"name": "read", "arguments": {"path": path}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let (inside, outside) = (scene.text("project/file.txt"), scene.text("outside/file.txt"));
    client.send(
        json!([read("in", inside), read("out", outside), {"jsonrpc": "2.0", "id": "list", "method": "tools/list"}]),
    );
    assert_eq!(client.answer_to("in")["result"]["content"][0]["text"], "project");
    assert_eq!(client.answer_to("out")["result"]["structuredContent"]["code"], "outside_roots");
    assert!(client.answer_to("list")["result"]["tools"].is_array());
    assert_eq!(client.end(), Some(0));
}
