//! Messages to the operator.

use serde_json::json;

use super::super::Change;
use super::{Client, Play};

/// One line each, of reasonable length, without control characters.
#[test]
fn nothing_that_a_peer_says_reaches_the_terminal_raw() {
    let evil = format!("\u{1b}[31m\u{9b}2J\r\n\u{202e}{}", "x".repeat(100_000));
    let mut play = Play::begun(Change::NewChild, Client::WithRoots);
    play.list_tools_if_asked(2);
    play.said();
    let check = |play: &mut Play, what: &str| {
        let said = play.said();
        assert!(!said.is_empty(), "{what}");
        for text in said {
            let shown: String = text.chars().take(100).collect();
            assert!(!text.contains(|c: char| c.is_control() || c == '\u{202e}'), "{what}: {shown:?}");
            assert!(text.len() < 50_000, "{what}: {} bytes", text.len());
        }
    };
    let client = |play: &mut Play, message: serde_json::Value| {
        let text = message.to_string();
        play.client_frame(&text);
        play.settle();
    };
    client(&mut play, json!({"id": 1, "method": evil, "params": {"path": "/etc/passwd"}}));
    check(&mut play, "a method");
    let call = |name: &str, arguments| json!({"id": 2, "method": "tools/call", "params": {"name": name, "arguments": arguments}});
    client(&mut play, call(&evil, json!({"path": "/etc/passwd"})));
    play.list_tools_if_asked(2);
    check(&mut play, "a tool");
    client(&mut play, call("x", json!({format!("path{evil}"): "/etc/passwd"})));
    play.pass(300);
    check(&mut play, "a key");
    client(&mut play, call("x", json!({"path": format!("/etc/{evil}")})));
    play.pass(300);
    check(&mut play, "a path");
    client(&mut play, json!(evil));
    check(&mut play, "a line from the client");
    play.child(2, &json!(evil));
    check(&mut play, "a line from the server");
    // A server that is started for other roots and refuses to begin.
    play.client(&json!({"method": "notifications/roots/list_changed"}));
    play.pass(300);
    play.share(&["other"]);
    let greeting = play.given(3).remove(0);
    // JSON only requires the first 32 characters to be escaped.
    let error = format!("{{\"code\":1,\"message\":\"\u{9b}2J\u{202e}{}\"}}", "x".repeat(100_000));
    play.child_text(3, &format!(r#"{{"id":{},"error":{error}}}"#, greeting["id"]));
    check(&mut play, "an error from the server");
}
