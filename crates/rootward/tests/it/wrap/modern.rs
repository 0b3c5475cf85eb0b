//! Clients and servers of the modern era.

#![expect(clippy::needless_pass_by_value, reason = "calls are easier to read")]

use rootward_testkit::client::{Client, message, said};
use serde_json::{Value, json};

use super::scene::{Scene, start};

/// A client that can be asked for its roots.
fn with_roots(scene: &Scene) -> Client {
    start(&mut scene.wrap_server("modern_server.py", &[]))
}

fn call(client: &mut Client, capabilities: &Value, name: &str, arguments: &Value, carried: &Value) -> Value {
    let mut params = message::modern(capabilities, message::call(name, arguments.clone()));
    for (key, value) in carried.as_object().unwrap() {
        params[key] = value.clone();
    }
    client.ask("tools/call", params)
}

/// Calls a tool, and answers the question for roots.
fn call_in(client: &mut Client, root: &str, name: &str, arguments: Value) -> Value {
    let capabilities = json!({"roots": {}, "elicitation": {}});
    let question = call(client, &capabilities, name, &arguments, &json!({}));
    let result = &question["result"];
    assert_eq!(result["inputRequests"], json!({"rootward.dev/roots": {"method": "roots/list"}}), "{question}");
    let responses = json!({"rootward.dev/roots": {"roots": [{"uri": root}]}});
    let carried = json!({"requestState": result["requestState"], "inputResponses": responses});
    call(client, &capabilities, name, &arguments, &carried)
}

#[test]
fn a_call_takes_a_round_with_a_path_or_without() {
    let scene = Scene::new();
    let mut client = with_roots(&scene);
    let discovered = client.ask("server/discover", message::modern(&json!({"roots": {}}), json!({})));
    assert_ne!(discovered["result"]["directory"], scene.text("outside"), "it does not start in the user's directories");
    for (root, other) in [("project", "other"), ("other", "project")] {
        let path = scene.text(root) + "/file.txt";
        assert_eq!(said(&call_in(&mut client, &scene.uri(root), "read", json!({"path": path}))), root);
        assert_eq!(said(&call_in(&mut client, &scene.uri(root), "read", json!({"path": "file.txt"}))), root);
        let path = scene.text(other) + "/file.txt";
        let refused = call_in(&mut client, &scene.uri(root), "read", json!({"path": path}));
        assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{refused}");
        assert_eq!(refused["result"]["resultType"], "complete", "{refused}");
    }
    let plain = call_in(&mut client, &scene.uri("project"), "capabilities", json!({}));
    assert_eq!(said(&plain), r#"{"elicitation": {}, "roots": {}}"#);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn the_servers_own_question_for_roots_is_answered_here() {
    let scene = Scene::new();
    let mut client = with_roots(&scene);
    let answer = call_in(&mut client, &scene.uri("project"), "own_roots", json!({"path": "file.txt"}));
    let seen: Value = serde_json::from_str(&said(&answer)).unwrap();
    let roots = json!({"roots": [{"uri": scene.uri("project"), "name": "project"}]});
    assert_eq!(seen, json!({"inputResponses": {"r": roots}, "requestState": "mine"}));

    // The client answers its other questions.
    let question = call_in(&mut client, &scene.uri("project"), "both", json!({"path": "file.txt"}));
    assert_eq!(question["result"]["inputRequests"], json!({"w": {"method": "elicitation/create", "params": {}}}));
    let carried = json!({
        "requestState": question["result"]["requestState"],
        "inputResponses": {"w": {"action": "accept"}},
    });
    let capabilities = json!({"roots": {}, "elicitation": {}});
    // The state carries the roots, so the client is not asked for them again.
    let answer = call(&mut client, &capabilities, "both", &json!({"path": "file.txt"}), &carried);
    let seen: Value = serde_json::from_str(&said(&answer)).unwrap();
    assert_eq!(
        seen,
        json!({"inputResponses": {"r": roots, "w": {"action": "accept"}}, "requestState": "mine"}),
        "{answer}"
    );
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_client_without_roots_gets_the_ceiling_and_the_server_may_still_ask() {
    let scene = Scene::new();
    let mut client = start(&mut scene.wrap_server("modern_server.py", &[&scene.text("project")]));
    let none = json!({});
    let answer = call(&mut client, &none, "read", &json!({"path": "file.txt"}), &json!({}));
    assert_eq!(said(&answer), "project");
    let refused = call(&mut client, &none, "read", &json!({"path": scene.path("other/file.txt")}), &json!({}));
    assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{refused}");
    let capabilities = call(&mut client, &none, "capabilities", &json!({}), &json!({}));
    assert_eq!(said(&capabilities), r#"{"roots": {}}"#);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn an_unknown_round_is_refused() {
    let scene = Scene::new();
    let mut client = with_roots(&scene);
    let carried = json!({"requestState": "rootward-0-99"});
    let answer = call(&mut client, &json!({"roots": {}}), "read", &json!({"path": "file.txt"}), &carried);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_child_that_was_started_in_wider_roots_is_replaced() {
    let scene = Scene::new();
    std::fs::create_dir(scene.path("project/inner")).unwrap();
    let mut client = start(&mut scene.wrap(&[&scene.text("project")]));
    // Without roots, the client gets the ceiling. Then it declares roots.
    client.ask("server/discover", message::modern(&json!({}), json!({})));
    let initialize = json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}});
    client.ask("initialize", initialize);
    client.share(&[scene.uri("project/inner")]);
    client.notify("notifications/initialized", ());
    assert_eq!(client.text("where", json!({})), scene.text("project/inner"));
    let refused = client.call("read", json!({"path": scene.path("project/file.txt")}));
    assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{refused}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_server_cannot_have_its_own_question_answered_as_roots() {
    let scene = Scene::new();
    std::fs::create_dir(scene.path("project/inner")).unwrap();
    let mut client = start(&mut scene.wrap_server("modern_server.py", &[&scene.text("project")]));
    let root = scene.uri("project/inner");
    let question = call_in(&mut client, &root, "named", json!({"path": "."}));
    assert_eq!(question["result"]["inputRequests"]["rootward.dev/roots"]["method"], "elicitation/create", "{question}");
    let capabilities = json!({"roots": {}, "elicitation": {}});
    let carried = json!({
        "requestState": question["result"]["requestState"],
        "inputResponses": {"rootward.dev/roots": {"action": "accept"}},
    });
    // The next call has an answer that looks like roots, but belongs to the server's own question. The roots do not
    // change.
    let again = call(&mut client, &capabilities, "named", &json!({"path": "."}), &carried);
    let seen: Value = serde_json::from_str(&said(&again)).unwrap();
    let accepted = json!({"rootward.dev/roots": {"action": "accept"}});
    assert_eq!(seen, json!({"inputResponses": accepted, "requestState": "mine"}), "{again}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_server_that_wants_roots_for_a_call_without_paths_gets_those_of_the_client() {
    let scene = Scene::new();
    let mut client = with_roots(&scene);
    for root in ["project", "other"] {
        let answer = call_in(&mut client, &scene.uri(root), "own_roots", json!({}));
        let seen: Value = serde_json::from_str(&said(&answer)).unwrap();
        assert_eq!(seen["inputResponses"]["r"], json!({"roots": [{"uri": scene.uri(root), "name": root}]}), "{answer}");
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_server_that_wants_roots_among_others_gets_those_of_the_client() {
    let scene = Scene::new();
    let mut client = with_roots(&scene);
    let capabilities = json!({"roots": {}, "elicitation": {}});
    // Roots of an earlier call do not count for the next one.
    call_in(&mut client, &scene.uri("other"), "read", json!({"path": "file.txt"}));
    let carried = |answer: &Value, responses: Value| json!({"requestState": answer["result"]["requestState"], "inputResponses": responses});
    let asked = call(&mut client, &capabilities, "both", &json!({}), &json!({}));
    assert_eq!(asked["result"]["inputRequests"], json!({"rootward.dev/roots": {"method": "roots/list"}}), "{asked}");
    let roots = json!({"roots": [{"uri": scene.uri("project"), "name": "project"}]});
    let named = carried(&asked, json!({"rootward.dev/roots": roots}));
    let question = call(&mut client, &capabilities, "both", &json!({}), &named);
    assert_eq!(question["result"]["inputRequests"], json!({"w": {"method": "elicitation/create", "params": {}}}));
    let accepted = carried(&question, json!({"w": {"action": "accept"}}));
    let answer = call(&mut client, &capabilities, "both", &json!({}), &accepted);
    let seen: Value = serde_json::from_str(&said(&answer)).unwrap();
    assert_eq!(seen["inputResponses"], json!({"r": roots, "w": {"action": "accept"}}), "{answer}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_legacy_client_uses_a_server_that_speaks_only_the_modern_era() {
    let scene = Scene::new();
    for _ in ["not remembered", "remembered"] {
        let mut client = start(&mut scene.wrap_server("modern_server.py", &[]));
        client.name_roots([scene.uri("project")]);
        client.reply("elicitation/create", Some(json!({"result": {"action": "accept"}})));
        let capabilities = json!({"roots": {"listChanged": true}, "elicitation": {}});
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": capabilities});
        let answer = client.ask("initialize", hello);
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18", "{answer}");
        client.notify("notifications/initialized", ());
        let listed = client.ask("tools/list", json!({}));
        assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(5), "{listed}");
        assert_eq!(client.text("read", json!({"path": scene.path("project/file.txt")})), "project");
        let refused = client.call("read", json!({"path": scene.path("other/file.txt")}));
        assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{refused}");
        // Its questions reach the client, except the one for roots.
        let seen: Value = serde_json::from_str(&client.text("both", json!({}))).unwrap();
        let roots = json!({"roots": [{"uri": scene.uri("project"), "name": "project"}]});
        assert_eq!(seen["inputResponses"], json!({"r": roots, "w": {"action": "accept"}}), "{seen}");
        // Other roots need another process, which is greeted in the same way.
        client.share(&[scene.uri("other")]);
        assert_eq!(client.text("read", json!({"path": scene.path("other/file.txt")})), "other");
        let refused = client.call("read", json!({"path": scene.path("project/file.txt")}));
        assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{refused}");
        assert_eq!(client.end(), Some(0));
    }
}
