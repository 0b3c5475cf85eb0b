//! Backpressure: a side that does not read delays the side that writes, and nothing is lost.

use std::process::Stdio;

use rootward_testkit::client::Client;
use serde_json::json;

use crate::place::memory;

use super::scene::{Says, Scene, begin};

/// The program's peak memory, in kilobytes.
fn most_memory(client: &Client) -> u64 {
    memory(client.line.child.id(), "VmHWM:")
}

#[test]
fn a_client_that_does_not_read_holds_the_server_up_and_loses_nothing() {
    let scene = Scene::new();
    let mut command = scene.wrap(&[&scene.text("project"), "--sandbox", "off"]);
    let mut client = Client::start_unread(&mut command);
    client.begin("initialize", json!({"capabilities": {}}));
    client.notify("notifications/initialized", ());
    let flood = client.begin_call("flood", json!({"count": 100_000}));
    // Read nothing until the server is blocked, then read slowly, so that there is always a backlog.
    client.next();
    let before = most_memory(&client);
    std::thread::sleep(std::time::Duration::from_millis(500));
    let mut next = 0;
    loop {
        let message = client.next().unwrap();
        if message["id"] == flood {
            break;
        }
        assert_eq!(message["params"]["number"], next);
        next += 1;
    }
    assert_eq!(next, 100_000);
    let grown = most_memory(&client) - before;
    assert!(grown < 20_000, "a hundred megabytes went through, and {grown} kB were kept");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_server_that_does_not_read_holds_the_client_up() {
    let scene = Scene::new();
    let mut client = begin(&mut scene.wrap(&[&scene.text("project"), "--sandbox", "off"]), Says::Nothing, &[]);
    client.text("echo", json!({}));
    let before = most_memory(&client);
    let slow = client.begin_call("slow", json!({"seconds": 2}));
    // From another thread, because the write blocks.
    let words = "z".repeat(100_000);
    let ids: Vec<u64> = (0..200).map(|_| client.begin_call("echo", json!({"text": words}))).collect();
    let grown = most_memory(&client) - before;
    assert!(grown < 10_000, "{grown} kB were kept for a server that does not read");
    assert_eq!(client.answer_to(slow)["result"]["content"][0]["text"], "done");
    for id in ids {
        assert!(client.answer_to(id)["result"].is_object());
    }
    assert_eq!(client.end(), Some(0));
}

/// A server may write many lines that are not messages. Rootward's warnings about them may stay unread.
#[test]
fn an_unread_standard_error_blocks_nothing() {
    let scene = Scene::new();
    let mut command = scene.wrap(&[&scene.text("project"), "--sandbox", "off"]);
    let mut client = begin(command.stderr(Stdio::piped()), Says::Nothing, &[]);
    assert_eq!(client.text("noise", json!({"lines": 10_000})), "quiet again");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn large_results_pass() {
    let scene = Scene::new();
    let mut client = begin(&mut scene.wrap(&[&scene.text("project")]), Says::Nothing, &[]);
    let size = 20 << 20;
    let text = client.text("big", json!({"size": size}));
    assert_eq!(text.len(), size);
    assert!(text.bytes().all(|byte| byte == b'x'));
    // And there.
    let words = "w".repeat(size);
    assert!(client.text("echo", json!({"text": words})).contains(&words));
    assert_eq!(client.end(), Some(0));
}

/// Most servers write results without white space. Such results are forwarded by their id alone.
#[test]
fn large_results_are_whole_and_in_order() {
    let scene = Scene::new();
    let mut client = begin(&mut scene.wrap(&[&scene.text("project")]), Says::Nothing, &[]);
    let sizes = [60_000, 65_000, 66_000, 262_000, 1_000_000, 3_000_000, 9_000_000];
    // All at once, with small ones in between: one waits while another is written.
    let ids = sizes.map(|size| ["compact", "echo"].map(|tool| client.begin_call(tool, json!({"size": size}))));
    for (size, [large, little]) in sizes.iter().zip(ids) {
        let answer = client.answer_to(large);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text == "0123456789".repeat(size / 10), "{} of {size} bytes", text.len());
        let answer = client.answer_to(little);
        assert_eq!(answer["result"]["content"][0]["text"], json!({"size": size}).to_string().replace(':', ": "));
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_server_that_ends_in_the_middle_of_a_large_answer_has_not_answered() {
    let scene = Scene::new();
    let mut client = begin(&mut scene.wrap(&[&scene.text("project")]), Says::Nothing, &[]);
    client.text("echo", json!({}));
    let answer = client.call("compact", json!({"size": 1_000_000, "ends": 7}));
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    // A new server was started, and its output begins with a new line.
    assert_eq!(client.text("echo", json!({})), "{}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn too_long_messages_are_errors_and_the_session_continues() {
    let scene = Scene::new();
    let mut client = begin(&mut scene.wrap(&[&scene.text("project")]), Says::Nothing, &[]);
    for tool in ["big", "compact"] {
        let answer = client.call(tool, json!({"size": 70_000_000}));
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
    }
    let answer = client.call("echo", json!({"text": "w".repeat(65 << 20)}));
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert_eq!(client.text("echo", json!({})), "{}");
    assert_eq!(client.end(), Some(0));
}
