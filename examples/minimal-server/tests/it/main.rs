//! Tests the binary over standard input and output.
#![expect(clippy::disallowed_methods, reason = "tests create their own files")]

use std::process::Command;

use rootward_testkit::client::{Client, message};
use serde_json::json;

fn start() -> Client {
    Client::start(&mut Command::new(env!("CARGO_BIN_EXE_minimal-server")))
}

#[test]
fn reads_inside_and_refuses_outside() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("notes.txt"), "hello").unwrap();
    let mut client = start();
    client.shake_hands(json!({"roots": {"listChanged": true}}));
    client.name_roots([format!("file://{}", directory.path().display())]);
    assert_eq!(client.text("read_file", json!({"path": "notes.txt"})), "hello");
    assert_eq!(client.why("read_file", json!({"path": "/etc/passwd"})), "outside_roots");
}

#[test]
fn is_at_most_forty_lines() {
    assert!(include_str!("../../src/main.rs").lines().count() <= 40);
}

/// rmcp's own stdio transport drops `nextCursor`.
#[test]
fn follows_a_list_in_pages() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("notes.txt"), "hello").unwrap();
    let mut client = start();
    let result = client.shake_hands(json!({"roots": {}}));
    assert!(result["result"]["capabilities"]["extensions"]["rootward.dev/roots-paging"].is_object(), "{result}");
    let call = client.begin_call("read_file", json!({"path": directory.path().join("notes.txt")}));
    let question = client.next().unwrap();
    client.answer(question["id"].clone(), json!({"roots": [], "nextCursor": "more"}));
    let question = client.next().unwrap();
    assert_eq!(question["params"], json!({"cursor": "more"}), "{question}");
    let roots = message::roots([format!("file://{}", directory.path().display())]);
    client.answer(question["id"].clone(), roots);
    assert_eq!(client.answer_to(call)["result"]["content"][0]["text"], "hello");
}
