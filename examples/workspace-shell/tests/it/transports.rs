//! Both transports, both eras.

use std::process::Stdio;

use rootward_testkit::client::http::OwnStream;
use serde_json::json;

use crate::scene::{Scene, begin, client, shell};

#[test]
fn sessions_over_http_are_held_to_their_own_roots() {
    let scene = Scene::new();
    let server = scene.http();
    for own_stream in [OwnStream::Open, OwnStream::None] {
        let mut one = begin(&scene, client(&server, own_stream));
        let mut other = client(&server, own_stream);
        other.shake_hands(json!({"roots": {"listChanged": true}}));
        other.name_roots([scene.uri("other")]);
        assert_eq!(shell(&mut one, "cat notes.txt"), "this is project/notes.txt\n");
        assert_eq!(shell(&mut other, "cat secret.txt"), "this is other/secret.txt\n");
        assert_eq!(one.why("read_file", json!({"path": scene.path("other/secret.txt")})), "outside_roots");
        assert!(shell(&mut one, &format!("cat {}", scene.text("other/secret.txt"))).contains("Permission denied"));
        assert_eq!(one.says("search_files", json!({"pattern": "lua"})), scene.text("project/src/main.lua"));
        assert_eq!(other.result("path_in_roots", json!({"path": "secret.txt"})).data()["inRoots"], true);
        // A root that is taken back is closed for the next call.
        one.share([scene.uri("other")]);
        assert_eq!(one.why("read_file", json!({"path": scene.path("project/notes.txt")})), "outside_roots");
        assert_eq!(shell(&mut one, "ls"), "secret.txt\n");
    }
}

#[test]
fn modern_clients_name_their_roots_with_each_call() {
    let scene = Scene::new();
    let project = [scene.uri("project")];
    let mut client = scene.stdio();
    assert_eq!(
        client.modern_result("shell", json!({"command": "cat notes.txt"}), &project).success(),
        "this is project/notes.txt\n"
    );
    assert_eq!(
        client.modern_result("read_file", json!({"path": "notes.txt"}), &project).success(),
        "this is project/notes.txt\n"
    );
    let outside = json!({"path": scene.path("other/secret.txt")});
    assert_eq!(client.modern_result("read_file", outside, &project).code(), Some("outside_roots"));
    let found = client.modern_result("search_files", json!({"pattern": "main"}), &project);
    assert_eq!(found.success(), scene.text("project/src/main.lua"));
    assert_eq!(client.modern_result("roots", json!({}), &project).data()["roots"][0]["uri"], scene.uri("project"));
    // There is no session to cache them.
    assert_eq!(client.modern_result("roots_cached", json!({}), &project).data()["roots"], json!(null));
}

#[test]
fn a_client_without_roots_is_told_how_to_name_them() {
    let scene = Scene::new();
    let mut client = scene.stdio();
    client.shake_hands(json!({}));
    let said = client.fails("shell", json!({"command": "ls"}));
    assert!(said.contains("this client shared no directories; name one in `ROOTWARD_ROOTS`"), "{said}");
    let mut client =
        rootward_testkit::client::Client::start(scene.command().env("ROOTWARD_ROOTS", scene.path("project")));
    client.shake_hands(json!({}));
    assert_eq!(shell(&mut client, "ls"), "notes.txt\nsrc\n");
}

#[test]
fn listens_on_this_machine_only() {
    let scene = Scene::new();
    for (arguments, says) in [
        (&["--http", "0.0.0.0:0"][..], "`0.0.0.0:0` is not a loopback address"),
        (&["--http"], "usage: workspace-shell [--http ADDRESS:PORT]"),
        (&["--http", "here"], "invalid socket address"),
    ] {
        let output = scene.command().args(arguments).stderr(Stdio::piped()).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && errors.contains(says), "{errors}");
    }
}
