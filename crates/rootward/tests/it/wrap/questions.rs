//! Questions that are taken back, progress, and questions of the server's own.

use serde_json::{Value, json};

use super::client::{Client, Says, Scene};

fn sampling(message: &Value) -> bool {
    message["method"] == "sampling/createMessage"
}

#[test]
fn a_cancelled_call_is_not_answered_and_the_server_knows() {
    let scene = Scene::new();
    let mut client = Client::begin(&mut scene.wrap(&[&scene.text("project")]), Says::Nothing, &[]);
    let first = client.ask("tools/call", json!({"name": "hold"}));
    let second = client.ask("tools/call", json!({"name": "hold"}));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": first}}));
    assert_eq!(client.says("free", json!({})), "free");
    assert_eq!(client.answer_to(&second)["result"]["content"][0]["text"], "free");
    client.says("echo", json!({}));
    assert!(client.kept().iter().all(|message| message["id"] != first));
    // Nor is it answered by a crash.
    let third = client.ask("tools/call", json!({"name": "hold"}));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": third}}));
    assert!(client.tool("crash", json!({}))["error"].is_object());
    client.says("echo", json!({}));
    assert!(client.kept().iter().all(|message| message["id"] != third));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn progress_comes_before_the_answer_and_with_its_token() {
    let scene = Scene::new();
    let mut client = Client::begin(&mut scene.wrap(&[&scene.text("project")]), Says::Nothing, &[]);
    client.says("echo", json!({}));
    for token in [json!("t"), json!(0)] {
        let id = client.ask("tools/call", json!({"name": "progress", "_meta": {"progressToken": token}}));
        for number in 0..3 {
            let progress = client.next().unwrap();
            assert_eq!(progress["params"], json!({"progressToken": token, "progress": number}));
        }
        assert_eq!(client.next().unwrap()["id"], id);
    }
    assert_eq!(client.end(), Some(0));
}

/// The old server has asked, and so has the new one, under the same id.
#[test]
fn questions_of_two_servers_under_one_id_are_told_apart() {
    let scene = Scene::new();
    let mut client = Client::begin(&mut scene.wrap(&[]), Says::Roots, &[scene.uri("project")]);
    assert_eq!(client.says("where", json!({})), scene.text("project"));
    let old = client.ask("tools/call", json!({"name": "ask"}));
    let from_old = client.next_where(sampling);
    client.share(&[scene.uri("other")]);
    assert_eq!(client.says("read", json!({"path": "file.txt"})), "other");
    let new = client.ask("tools/call", json!({"name": "ask"}));
    let from_new = client.next_where(sampling);
    assert_ne!(from_old["id"], from_new["id"]);
    client.send(&json!({"jsonrpc": "2.0", "id": from_new["id"], "result": {"for": "new"}}));
    client.send(&json!({"jsonrpc": "2.0", "id": from_old["id"], "result": {"for": "old"}}));
    for (id, words) in [(old, r#"{"for": "old"}"#), (new, r#"{"for": "new"}"#)] {
        let answer = client.answer_to(&id);
        assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains(words), "{answer}");
    }
    assert_eq!(client.end(), Some(0));
}
