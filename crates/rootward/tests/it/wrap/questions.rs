//! Cancelled calls, progress, and questions from the server.

use serde_json::{Value, json};

use super::scene::{Says, Scene, begin};

fn sampling(message: &Value) -> bool {
    message["method"] == "sampling/createMessage"
}

#[test]
fn a_cancelled_call_is_not_answered_and_the_server_knows() {
    let scene = Scene::new();
    let mut client = begin(&mut scene.wrap(&[&scene.text("project")]), Says::Nothing, &[]);
    let first = client.begin_call("hold", json!({}));
    let second = client.begin_call("hold", json!({}));
    client.notify("notifications/cancelled", json!({"requestId": first}));
    assert_eq!(client.text("free", json!({})), "free");
    assert_eq!(client.answer_to(second)["result"]["content"][0]["text"], "free");
    client.text("echo", json!({}));
    assert!(client.kept().iter().all(|message| message["id"] != first));
    // A crash does not answer it either.
    let third = client.begin_call("hold", json!({}));
    client.notify("notifications/cancelled", json!({"requestId": third}));
    assert!(client.call("crash", json!({}))["error"].is_object());
    client.text("echo", json!({}));
    assert!(client.kept().iter().all(|message| message["id"] != third));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn progress_comes_before_the_answer_and_with_its_token() {
    let scene = Scene::new();
    let mut client = begin(&mut scene.wrap(&[&scene.text("project")]), Says::Nothing, &[]);
    client.text("echo", json!({}));
    for token in [json!("t"), json!(0)] {
        let id = client.begin("tools/call", json!({"name": "progress", "_meta": {"progressToken": token}}));
        for number in 0..3 {
            let progress = client.next().unwrap();
            assert_eq!(progress["params"], json!({"progressToken": token, "progress": number}));
        }
        assert_eq!(client.next().unwrap()["id"], id);
    }
    assert_eq!(client.end(), Some(0));
}

/// The old and the new server have asked with the same id.
#[test]
fn questions_of_two_servers_under_one_id_are_told_apart() {
    let scene = Scene::new();
    let mut client = begin(&mut scene.wrap(&[]), Says::Roots, &[scene.uri("project")]);
    assert_eq!(client.text("where", json!({})), scene.text("project"));
    let old = client.begin("tools/call", json!({"name": "ask"}));
    let from_old = client.next_where(sampling);
    client.share(&[scene.uri("other")]);
    assert_eq!(client.text("read", json!({"path": "file.txt"})), "other");
    let new = client.begin("tools/call", json!({"name": "ask"}));
    let from_new = client.next_where(sampling);
    assert_ne!(from_old["id"], from_new["id"]);
    client.answer(from_new["id"].clone(), json!({"for": "new"}));
    client.answer(from_old["id"].clone(), json!({"for": "old"}));
    for (id, words) in [(old, r#"{"for": "old"}"#), (new, r#"{"for": "new"}"#)] {
        let answer = client.answer_to(id);
        assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains(words), "{answer}");
    }
    assert_eq!(client.end(), Some(0));
}
