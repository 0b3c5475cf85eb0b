//! `rootward wrap`, in front of a scripted server.

mod file_servers;
mod frames;
mod full;
mod giving;
mod homes;
mod learning;
mod life;
mod limits;
mod modern;
mod packages;
mod pressure;
mod questions;
mod recipes;
mod recording;
mod roots;
mod saved;
pub(crate) mod scene;
pub(crate) mod stress;
mod treating;
mod working_directory;

use serde_json::{Value, json};

use scene::{Says, Scene, begin};

#[test]
fn a_server_lives_in_the_roots_that_its_client_names() {
    let scene = Scene::new();
    for _ in ["not remembered", "remembered"] {
        let mut client = begin(&mut scene.wrap(&[]), Says::Roots, &[scene.uri("project")]);
        assert_eq!(client.text("read", json!({"path": "file.txt"})), "project");
        assert_eq!(client.text("read", json!({"path": scene.path("project/file.txt")})), "project");
        assert_eq!(client.text("where", json!({})), scene.text("project"));
        let listed: Value = serde_json::from_str(&client.text("roots", json!({}))).unwrap();
        assert_eq!(listed, json!({"roots": [{"uri": scene.uri("project"), "name": "project"}]}));
        let refused = client.call("read", json!({"path": scene.path("outside/file.txt")}));
        assert_eq!(refused["result"]["isError"], true, "{refused}");
        assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{refused}");
        assert_eq!(client.end(), Some(0));
    }
    let denied = scene.decisions().iter().filter(|line| line["decision"] == "deny").count();
    assert_eq!((denied, scene.decisions().len()), (2, 6));
}

/// If no rule recognizes a path, the gate misses it, but the kernel still confines the server.
#[test]
fn what_the_gate_does_not_see_the_kernel_refuses() {
    let scene = Scene::new();
    let outside = scene.text("outside/file.txt");
    for (strength, expect) in [("auto", "failed: Permission denied"), ("off", "outside")] {
        let words = [scene.text("project")];
        let treat = ["--treat", "read.path=text", "--sandbox", strength];
        let words: Vec<&str> = words.iter().map(String::as_str).chain(treat).collect();
        let mut client = begin(&mut scene.wrap(&words), Says::Nothing, &[]);
        assert_eq!(client.text("read", json!({"path": outside})), expect);
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn a_revoked_root_is_gone_for_the_next_call() {
    let scene = Scene::new();
    for strength in ["auto", "off"] {
        let wrap = &mut scene.wrap(&["--sandbox", strength]);
        let mut client = begin(wrap, Says::Roots, &[scene.uri("project")]);
        assert_eq!(client.text("read", json!({"path": scene.path("project/file.txt")})), "project");
        client.share(&[scene.uri("other")]);
        let refused = client.call("read", json!({"path": scene.path("project/file.txt")}));
        assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{refused}");
        assert_eq!(client.text("read", json!({"path": scene.path("other/file.txt")})), "other");
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn relative_paths_mean_the_first_root_after_a_change() {
    let scene = Scene::new();
    for strength in ["auto", "off"] {
        let wrap = &mut scene.wrap(&["--sandbox", strength]);
        let mut client = begin(wrap, Says::Roots, &[scene.uri("project")]);
        assert_eq!(client.text("read", json!({"path": "file.txt"})), "project");
        client.share(&[scene.uri("other"), scene.uri("project")]);
        assert_eq!(client.text("read", json!({"path": "file.txt"})), "other");
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn a_server_cannot_take_the_id_of_the_question_for_roots() {
    let scene = Scene::new();
    let mut client = begin(&mut scene.wrap(&[]), Says::Roots, &[scene.uri("project")]);
    let call = client.begin_call("ask", json!({"id": "rootward-roots-99"}));
    let question = client.next_where(|message| message["method"] == "sampling/createMessage");
    assert_ne!(question["id"], "rootward-roots-99");
    client.answer(question["id"].clone(), json!({"model": "m"}));
    // The server still gets its answer.
    let text = client.answer_to(call)["result"]["content"][0]["text"].to_string();
    assert!(text.contains("rootward-roots-99") && text.contains("model"), "{text}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn without_a_record_no_call_with_paths_passes() {
    let scene = Scene::new();
    let mut client = begin(&mut scene.wrap(&[&scene.text("project")]), Says::Nothing, &[]);
    assert_eq!(client.text("read", json!({"path": "file.txt"})), "project");
    // A removed log is started again, but here it cannot be.
    let log = scene.path("home/.local/state/rootward/audit");
    std::fs::remove_dir_all(&log).unwrap();
    std::fs::write(&log, "").unwrap();
    let refused = client.call("read", json!({"path": "file.txt"}));
    assert_eq!(refused["result"]["structuredContent"]["code"], "audit_unavailable", "{refused}");
    assert_eq!(client.text("echo", json!({"number": 7})), r#"{"number": 7}"#);
    assert_eq!(client.end(), Some(0));
    // If no log can be created, the server is not started.
    let run = scene.wrap(&[&scene.text("project")]).stdin(std::process::Stdio::null()).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("the audit log"), "{run:?}");
}

/// A client that escapes more than necessary: the same id, in another spelling.
#[test]
fn an_answer_counts_however_its_id_is_escaped() {
    let scene = Scene::new();
    let mut client = begin(&mut scene.wrap(&[]), Says::Nothing, &[]);
    let call = client.begin_call("ask", json!({"id": "a/b"}));
    client.next_where(|message| message["method"] == "sampling/createMessage");
    client.send_line(r#"{"jsonrpc":"2.0","id":"a\/b","result":{"model":"m"}}"#);
    assert!(client.answer_to(call)["result"]["content"][0]["text"].to_string().contains("model"));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn an_answer_that_nobody_asked_for_reaches_no_server() {
    let scene = Scene::new();
    let seen = scene.path("project/seen");
    let mut wrap = scene.wrap(&[&scene.text("project"), "--env", "SEEN"]);
    let mut client = begin(wrap.env("SEEN", &seen), Says::Nothing, &[]);
    client.answer("rootward-roots-7", json!({"roots": [{"uri": "file:///unasked"}]}));
    client.answer(99, json!("unasked"));
    client.text("echo", json!({}));
    let seen = std::fs::read_to_string(seen).unwrap();
    assert!(seen.contains("echo") && !seen.contains("unasked"), "{seen}");
    let answer = client.ask("notifications/cancelled", json!({"requestId": 1}));
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert_eq!(client.end(), Some(0));
}
