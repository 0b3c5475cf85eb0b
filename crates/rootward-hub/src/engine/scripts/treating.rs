//! Strings that are not paths, and how a refusal tells the user to say so.

use serde_json::{Value, json};

use super::{Ceiling, Change, Client, Play};
use crate::engine::rules::{About, Rules};
use crate::scan::{Need, Protection, Treatment};

/// A play whose server has listed a tool, with adjusted rules.
fn play(adjust: impl FnOnce(&mut Rules)) -> Play {
    Play::with_tool("get-docs", &["libraryId", "path", "dir"], Change::Told, adjust)
}

/// The refusal of a call; `None` if it reached the server.
fn call(play: &mut Play, arguments: &Value) -> Option<Value> {
    play.refusal("get-docs", arguments)
}

#[test]
fn a_refusal_says_what_to_do_if_it_was_not_a_path() {
    let mut play = play(|rules| rules.treatments.add("get-docs.dir", Treatment::Path(Need::READ), About::ThisServer));
    let outside = play.path("other/file.txt");
    let hint = "if this is not a path, pass `--treat get-docs.path=text` to `rootward wrap`";
    let refused = call(&mut play, &json!({"path": outside})).unwrap();
    assert_eq!(refused["hint"], hint);
    assert!(refused["message"].as_str().unwrap().starts_with("path `"), "{refused}");
    let said = play.said();
    assert!(said.len() == 1 && said[0].starts_with("refused: ") && said[0].ends_with(&format!("; {hint}")), "{said:?}");
    // The user declared it a path; the flag could not be typed; there is no tool to name.
    for arguments in [json!({"dir": outside}), json!({"a\u{1b}": outside}), json!({"a".repeat(300): outside})] {
        let refused = call(&mut play, &arguments).unwrap();
        assert_eq!((refused.get("hint"), refused["code"].as_str()), (None, Some("outside_roots")), "{arguments}");
    }
    play.client(&json!({"id": 8, "method": "resources/read", "params": {"uri": "file:///etc/passwd"}}));
    let data = play.heard().pop().map(|answer| answer["error"]["data"].clone()).unwrap();
    assert_eq!((data.get("hint"), data["code"].as_str()), (None, Some("outside_roots")), "{data}");
    assert!(play.said().iter().all(|said| !said.contains("--treat")));
}

/// Following the hint helps.
#[test]
fn the_flag_that_a_refusal_names_lets_the_call_through() {
    for arguments in [
        json!({"path": "/etc/passwd"}),
        json!({"options": {"dir": ["/etc/passwd"]}}),
        json!({"git.path": "/etc/passwd"}),
        json!({"files": {"/etc/passwd": "x"}}),
        json!({"/etc/passwd": "x"}),
        json!(["/etc/passwd"]),
        json!("/etc/passwd"),
    ] {
        let mut strict = play(|_| {});
        let hint = call(&mut strict, &arguments).unwrap()["hint"].as_str().unwrap().to_owned();
        let place = hint.split("--treat ").nth(1).unwrap().split("=text").next().unwrap();
        let mut play = play(|rules| rules.treatments.add(place, Treatment::Text, About::ThisServer));
        assert_eq!(call(&mut play, &arguments), None, "{hint}: {arguments}");
    }
}

#[test]
fn a_path_to_nowhere_reaches_a_confined_server() {
    let id = json!({"libraryId": "/facebook/react"});
    assert_eq!(call(&mut play(|_| {}), &id).unwrap()["code"], "outside_roots");
    assert_eq!(call(&mut play(|rules| rules.protection = Protection::Kernel), &id), None);
    let outside = json!({"libraryId": "/etc/passwd"});
    assert_eq!(
        call(&mut play(|rules| rules.protection = Protection::Kernel), &outside).unwrap()["code"],
        "outside_roots"
    );
}

#[test]
fn no_string_is_a_path_to_a_server_that_sees_no_files_here() {
    let elsewhere = || play(|rules| rules.protection = Protection::Elsewhere);
    for arguments in [json!({"path": "/issues/1"}), json!({"path": "/"}), json!({"file": "file:///etc/passwd"})] {
        assert_eq!(call(&mut elsewhere(), &arguments), None, "{arguments}");
    }
}

#[test]
fn a_flag_that_matches_nothing_is_reported_once() {
    let mut play = Play::with(Change::Told, Ceiling::Project, |rules| {
        rules.treatments.add("read.pth", Treatment::Text, About::ThisServer);
        rules.treatments.add("write.path", Treatment::Text, About::ThisServer);
        rules.treatments.add("elsewhere.path", Treatment::Text, About::EveryServer);
    });
    play.begin(Client::WithoutRoots);
    let tool = |name: &str| json!({"name": name, "inputSchema": {"properties": {"path": {}}}});
    play.client(&json!({"id": 1, "method": "tools/list"}));
    play.child(1, &json!({"id": 1, "result": {"tools": [tool("read")], "nextCursor": "2"}}));
    assert_eq!(play.said(), [""; 0], "an incomplete list proves nothing");
    play.client(&json!({"id": 2, "method": "tools/list", "params": {"cursor": "2"}}));
    play.child(1, &json!({"id": 2, "result": {"tools": [tool("write")]}}));
    let expect = "`--treat read.pth=text` matches no argument of `read`; its arguments are `path`";
    assert_eq!(play.said(), [expect]);
    play.client(&json!({"id": 3, "method": "tools/list"}));
    play.child(1, &json!({"id": 3, "result": {"tools": []}}));
    assert_eq!(play.said(), [""; 0]);
}

#[test]
fn a_refusal_says_that_the_client_shared_nothing() {
    let way = "name one with `--root DIR`";
    let mut play = Play::with(Change::Told, Ceiling::None, |rules| rules.way = Some(way));
    play.begin(Client::WithoutRoots);
    play.client(&json!({"id": "list", "method": "tools/list"}));
    play.child(1, &json!({"id": "list", "result": {"tools": []}}));
    play.pass(500);
    play.heard();
    play.read(1, "project/file.txt");
    let (path, answer) = (play.path("project/file.txt"), play.heard().pop().unwrap());
    let expect = format!("path `{path}` is refused: this client shared no directories; {way}");
    assert_eq!(answer["result"]["content"][0]["text"], expect);
    assert_eq!(answer["result"]["structuredContent"]["message"], expect);
}
