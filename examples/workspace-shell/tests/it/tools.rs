//! What the tools do, and what they know about the roots.

use serde_json::json;

use crate::scene::{Scene, begin, shell};

#[test]
fn commands_start_in_the_first_root() {
    let scene = Scene::new();
    let mut client = begin(&scene, scene.stdio());
    assert_eq!(
        shell(&mut client, "pwd; cat notes.txt"),
        format!("{}\nthis is project/notes.txt\n", scene.text("project"))
    );
    assert_eq!(
        client.says("shell", json!({"command": "pwd", "cwd": "src"})),
        format!("{}\n", scene.text("project/src"))
    );
    assert_eq!(client.why("shell", json!({"command": "pwd", "cwd": scene.path("other")})), "outside_roots");
    assert_eq!(shell(&mut client, "echo made > made.txt; cat made.txt >&2; exit 3"), "[stderr]\nmade\n[exit code 3]");
    assert_eq!(std::fs::read_to_string(scene.path("project/made.txt")).unwrap(), "made\n");
    assert_eq!(shell(&mut client, "true"), "[no output]");
    let late = client.says("shell", json!({"command": "echo begun; sleep 1000", "timeout_ms": 2000}));
    assert_eq!(late, "begun\n[timed out: it was killed, with every process that it started]");
}

#[test]
fn files_are_read_and_found_in_the_roots() {
    let scene = Scene::new();
    let mut client = begin(&scene, scene.stdio());
    assert_eq!(client.says("read_file", json!({"path": "notes.txt"})), "this is project/notes.txt\n");
    assert_eq!(
        client.says("read_file", json!({"path": scene.uri("project/notes.txt")})),
        "this is project/notes.txt\n"
    );
    assert_eq!(client.why("read_file", json!({"path": "/etc/shadow"})), "outside_roots");
    assert_eq!(client.says("search_files", json!({"pattern": "main"})), scene.text("project/src/main.lua"));
    assert_eq!(client.says("search_files", json!({"pattern": "secret"})), "no matches");
    assert_eq!(client.why("search_files", json!({"pattern": "secret", "path": scene.path("other")})), "outside_roots");
}

/// As the README says: nothing is known before the first list; then the list is cached until it changes.
#[test]
fn the_roots_are_cached_until_they_change() {
    let scene = Scene::new();
    let mut client = begin(&scene, scene.stdio());
    let cached = |client: &mut rootward_testkit::client::Client| {
        client.result("roots_cached", json!({})).data()["roots"].clone()
    };
    let inside = |client: &mut rootward_testkit::client::Client, path: String| {
        client.result("path_in_roots", json!({"path": path})).data()["inRoots"].clone()
    };
    assert_eq!((cached(&mut client), inside(&mut client, scene.text("project/x.lua"))), (json!(null), json!(null)));
    let root = json!([{"uri": scene.uri("project"), "name": "project", "access": ["read", "write", "delete"]}]);
    assert_eq!(client.result("roots", json!({})).data()["roots"], root);
    assert_eq!(cached(&mut client), root);
    assert_eq!(inside(&mut client, scene.text("project/x.lua")), json!(true));
    assert_eq!(inside(&mut client, scene.uri("project/x.lua")), json!(true));
    assert_eq!(inside(&mut client, "/var/log/x".to_owned()), json!(false));
    client.share([scene.uri("other")]);
    assert_eq!(client.result("roots", json!({})).data()["roots"][0]["uri"], scene.uri("other"));
    assert_eq!(inside(&mut client, scene.text("project/x.lua")), json!(false));
    assert_eq!(shell(&mut client, "ls"), "secret.txt\n");
}

#[test]
fn descriptions_name_the_roots_and_the_client_hears_of_changes() {
    let scene = Scene::new();
    let mut client = scene.stdio();
    let hello = client.shake_hands(json!({"roots": {"listChanged": true}}));
    assert_eq!(hello["result"]["capabilities"]["tools"]["listChanged"], true);
    assert_eq!(hello["result"]["serverInfo"]["name"], "workspace-shell");
    client.name_roots([scene.uri("project")]);
    let described = |client: &mut rootward_testkit::client::Client, name: &str| {
        let tools = client.ask("tools/list", json!({}));
        let tools = tools["result"]["tools"].as_array().unwrap().clone();
        tools.iter().find(|tool| tool["name"] == name).unwrap()["description"].as_str().unwrap().to_owned()
    };
    assert!(described(&mut client, "shell").ends_with("The client has not named its roots yet."));
    client.says("read_file", json!({"path": "notes.txt"}));
    client.next_where(|message| message["method"] == "notifications/tools/list_changed");
    for name in ["shell", "read_file", "search_files"] {
        let description = described(&mut client, name);
        assert!(description.contains(&format!("Allowed: `{}`", scene.text("project"))), "{description}");
    }
    assert!(!described(&mut client, "roots").contains("Allowed"));
    client.share([scene.uri("other")]);
    client.says("read_file", json!({"path": "secret.txt"}));
    client.next_where(|message| message["method"] == "notifications/tools/list_changed");
    assert!(described(&mut client, "shell").contains(&scene.text("other")));
}
