//! Modern clients in front of the hub, with legacy and modern servers.

use rootward_testkit::client::{Client, message, said};
use serde_json::{Value, json};

use super::{hub, server, two};
use crate::wrap::scene::Scene;

/// A call by a client with roots and sampling, with the state and answers of the previous round.
fn call(client: &mut Client, tool: &str, arguments: &Value, carried: &Value) -> Value {
    let capabilities = json!({"roots": {}, "sampling": {}});
    let mut params = message::modern(&capabilities, message::call(tool, arguments.clone()));
    for (key, value) in carried.as_object().unwrap() {
        params[key] = value.clone();
    }
    client.ask("tools/call", params)
}

/// A call in this root: the hub asks the client for its roots, and the client calls again.
fn call_in(client: &mut Client, root: &str, tool: &str, arguments: &Value) -> Value {
    let question = call(client, tool, arguments, &json!({}));
    let result = &question["result"];
    assert_eq!(result["inputRequests"], json!({"rootward.dev/roots": {"method": "roots/list"}}), "{question}");
    let responses = json!({"rootward.dev/roots": message::roots([root])});
    call(client, tool, arguments, &json!({"requestState": result["requestState"], "inputResponses": responses}))
}

#[test]
fn a_modern_client_uses_legacy_servers() {
    let scene = Scene::new();
    for _ in ["not remembered", "remembered"] {
        let mut client = Client::start(&mut hub(&scene, &two(&scene), &[]));
        let discovered = client.ask("server/discover", message::modern(&json!({}), json!({})));
        assert_eq!(discovered["result"]["supportedVersions"][0], message::MODERN, "{discovered}");
        let listed = client.ask("tools/list", message::modern(&json!({"roots": {}}), json!({})));
        let names = listed["result"]["tools"].to_string();
        assert!(names.contains("a__read") && names.contains("b__read") && !names.contains("b__crash"), "{listed}");
        assert_eq!(listed["result"]["resultType"], "complete", "{listed}");
        for (root, other) in [("project", "outside"), ("outside", "project")] {
            let read = |client: &mut Client, place: &str| {
                let path = scene.text(place) + "/file.txt";
                call_in(client, &scene.uri(root), "a__read", &json!({"path": path}))
            };
            assert_eq!(said(&read(&mut client, root)), root);
            let refused = read(&mut client, other);
            assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{refused}");
            assert_eq!(said(&call_in(&mut client, &scene.uri(root), "a__where", &json!({}))), scene.text(root));
            let told: Value =
                serde_json::from_str(&said(&call_in(&mut client, &scene.uri(root), "a__roots", &json!({})))).unwrap();
            assert_eq!(told["roots"][0]["uri"], scene.uri(root), "{told}");
        }
        let fixed = json!({"path": scene.text("other") + "/file.txt"});
        assert_eq!(said(&call_in(&mut client, &scene.uri("project"), "b__read", &fixed)), "other");
        assert_eq!(client.end(), Some(0));
    }
    let denied = scene.decisions().into_iter().filter(|line| line["decision"] == "deny").count();
    assert_eq!(denied, 4);
}

#[test]
fn a_legacy_servers_question_reaches_a_modern_client() {
    let scene = Scene::new();
    let config = json!({"mcpServers": {"a": server(&json!({}))}});
    let mut client = Client::start(&mut hub(&scene, &config, &[]));
    let question = call_in(&mut client, &scene.uri("project"), "a__ask", &json!({}));
    let asked = question["result"]["inputRequests"].as_object().unwrap_or_else(|| panic!("{question}"));
    let (name, told) = asked.iter().next().unwrap();
    assert_eq!(told["method"], "sampling/createMessage", "{question}");
    let responses = json!({name: {"role": "assistant", "content": {"type": "text", "text": "yes"}, "model": "m"}});
    let carried = json!({"requestState": question["result"]["requestState"], "inputResponses": responses});
    let answer = said(&call(&mut client, "a__ask", &json!({}), &carried));
    let heard: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(heard["result"]["content"]["text"], "yes", "{answer}");
    assert_eq!(client.end(), Some(0));
}

/// The configuration of a server that speaks only the modern era.
fn modern_only() -> Value {
    let server = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/wrap/modern_server.py");
    json!({"mcpServers": {"m": {"command": "python3", "args": [server]}, "l": server_of_legacy()}})
}

fn server_of_legacy() -> Value {
    server(&json!({}))
}

#[test]
fn servers_of_both_eras_serve_clients_of_both() {
    let scene = Scene::new();
    for _ in ["not remembered", "remembered"] {
        let mut client = super::begin(&mut hub(&scene, &modern_only(), &[]), &[scene.uri("project")]);
        for server in ["m", "l"] {
            let tool = format!("{server}__read");
            assert_eq!(client.text(&tool, json!({"path": scene.path("project/file.txt")})), "project");
            let refused = client.call(&tool, json!({"path": scene.path("other/file.txt")}));
            assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{refused}");
        }
        let seen: Value = serde_json::from_str(&client.text("m__own_roots", json!({}))).unwrap();
        assert_eq!(seen["inputResponses"]["r"]["roots"][0]["uri"], scene.uri("project"), "{seen}");
        assert_eq!(client.end(), Some(0));

        let mut client = Client::start(&mut hub(&scene, &modern_only(), &[]));
        for server in ["m", "l"] {
            let tool = format!("{server}__read");
            let read = |client: &mut Client, place: &str| {
                call_in(client, &scene.uri("project"), &tool, &json!({"path": scene.text(place) + "/file.txt"}))
            };
            assert_eq!(said(&read(&mut client, "project")), "project");
            let refused = read(&mut client, "other");
            assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{refused}");
        }
        assert_eq!(client.end(), Some(0));
    }
}
