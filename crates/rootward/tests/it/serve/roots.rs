//! Roots that change during a session: what is listed, announced and refused.

use rootward_testkit::client::{Client, message};
use serde_json::{Value, json};

use crate::place::{Place, begin};

/// Answers the next question about roots.
fn share(client: &mut Client, roots: &[String]) {
    let question = client.next_where(|message| message["method"] == "roots/list");
    client.answer(question["id"].clone(), message::roots(roots));
}

/// The description of a tool; `None` if it is not listed.
fn described(client: &mut Client, tool: &str) -> Option<String> {
    let list = client.ask("tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().unwrap();
    let found = tools.iter().find(|listed| listed["name"] == tool)?;
    Some(found["description"].as_str().unwrap().to_owned())
}

fn is_list_changed(message: &Value) -> bool {
    message["method"] == "notifications/tools/list_changed"
}

#[test]
fn a_list_follows_the_roots_and_a_root_that_is_gone_is_refused_at_once() {
    let place = Place::new();
    for name in ["root/one", "root/two"] {
        std::fs::create_dir(place.path(name)).unwrap();
        std::fs::write(place.path(name).join("f"), name).unwrap();
    }
    // The operator allows commands in the second root.
    let executable = format!("{}:rwx", place.text("root/two"));
    let mut command = place.rootward(&["serve", &place.text("root/one"), &executable]);
    let mut client = begin(&mut command, json!({"roots": {"listChanged": true}}));
    let [one, two] = ["root/one", "root/two"].map(|name| place.text(name));
    let read = |name: &str| json!({"path": place.text(name)});
    // A client that has not named a root gets the operator's roots.
    share(&mut client, &[]);
    assert_eq!(client.says("read_text_file", read("root/two/f")), "root/two");
    assert_eq!(client.says("shell", json!({"command": "cat f"})), "root/two");
    let says = described(&mut client, "list_allowed_directories").unwrap();
    assert!(says.contains(&one) && says.contains(&two), "{says}");
    assert!(described(&mut client, "shell").is_some_and(|says| says.contains(&two)));
    client.kept().clear();

    // From one root to another and back. The operator allows commands in only one of them, so the tool comes and goes.
    for (kept, gone) in [("root/one", "root/two"), ("root/two", "root/one"), ("root/one", "root/two")] {
        client.notify("notifications/roots/list_changed", ());
        // Sent before the new roots: both calls wait for them, and the removed root is refused.
        let revoked = client.begin_call("read_text_file", json!({"path": place.path(gone).join("f")}));
        let run = client.begin_call("shell", json!({"command": "cat f", "cwd": place.text(gone)}));
        share(&mut client, &[place.uri(kept)]);
        for id in [revoked, run] {
            let answer = client.answer_to(id);
            assert_eq!(answer["result"]["structuredContent"]["code"], "outside_roots", "{answer}");
        }
        assert_eq!(client.says("read_text_file", json!({"path": place.path(kept).join("f")})), kept);
        client.next_where(is_list_changed);
        let says = described(&mut client, "list_allowed_directories").unwrap();
        assert!(says.contains(&place.text(kept)) && !says.contains(&place.text(gone)), "{says}");
        assert_eq!(described(&mut client, "shell").is_some(), kept == "root/two", "{kept}");
    }

    // The client was notified of each change once, and of nothing else.
    client.notify("notifications/roots/list_changed", ());
    share(&mut client, &[place.uri("root/one")]);
    assert_eq!(client.says("read_text_file", read("root/one/f")), "root/one");
    let (rest, code) = client.end_with_rest();
    assert!(!rest.iter().any(is_list_changed), "{rest:?}");
    assert_eq!(code, Some(0));
}
