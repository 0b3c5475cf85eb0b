//! Arguments that are not paths, and how the user declares them.

use std::process::Stdio;

use serde_json::{Value, json};

use super::scene::{Says, Scene, begin};

/// The code of a refusal, or a word that says that there was none.
fn code(answer: &Value) -> &str {
    answer["result"]["structuredContent"]["code"].as_str().unwrap_or("passed")
}

#[test]
fn ids_and_routes_reach_a_confined_server() {
    let scene = Scene::new();
    for (strength, expect) in [("auto", "passed"), ("off", "outside_roots")] {
        let words = [&*scene.text("project"), "--sandbox", strength];
        let mut client = begin(&mut scene.wrap(&words), Says::Nothing, &[]);
        for text in ["/facebook/react", "/api/users", "/platforms/javascript/guides/nextjs"] {
            let answer = client.call("echo", json!({"libraryId": text, "entities": [{"name": text}]}));
            assert_eq!(code(&answer), expect, "{strength}: {answer}");
            assert_eq!(code(&client.call("echo", json!({"path": text}))), "outside_roots", "{strength}: {text}");
        }
        assert_eq!(code(&client.call("echo", json!({"libraryId": "/etc/passwd"}))), "outside_roots");
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn what_the_host_says_of_itself_is_not_refused() {
    let scene = Scene::new();
    for strength in ["auto", "off"] {
        let words = [&*scene.text("project"), "--sandbox", strength];
        let mut client = begin(&mut scene.wrap(&words), Says::Nothing, &[]);
        let host = json!({"name": "echo", "arguments": {"number": 7}, "_meta": {"exe": "/usr/bin/codex"}});
        assert_eq!(code(&client.ask("tools/call", host)), "passed");
        let argument = json!({"name": "echo", "arguments": {"_meta": {"exe": "/usr/bin/codex"}}});
        assert_eq!(code(&client.ask("tools/call", argument)), "outside_roots");
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn the_settings_file_says_what_arguments_are_and_a_flag_counts_more() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.path("home/.config/rootward")).unwrap();
    let settings = "treat = ['echo.path=text', 'echo.thing=read', 'other.path=text']\n";
    std::fs::write(scene.path("home/.config/rootward/config.toml"), settings).unwrap();
    let project = scene.text("project");
    for (flags, expect) in [
        (&[][..], ["passed", "outside_roots"]),
        (&["--treat", "echo.path=read"], ["outside_roots", "outside_roots"]),
        (&["--treat", "echo.thing=text"], ["passed", "passed"]),
    ] {
        let words = [&[&*project], flags].concat();
        let mut client = begin(scene.wrap(&words).stderr(Stdio::piped()), Says::Nothing, &[]);
        for (key, expect) in ["path", "thing"].into_iter().zip(expect) {
            let answer = client.call("echo", json!({key: "../outside/file.txt"}));
            assert_eq!(code(&answer), expect, "{flags:?} {key}: {answer}");
        }
        let (ended, says) = client.end_with_errors();
        assert_eq!(ended, Some(0));
        // No warning, because most servers do not have the tools that the file names.
        assert!(!says.contains("other.path"), "{says}");
    }
}

#[test]
fn the_operator_gets_the_hint_for_strings_that_are_not_paths() {
    let scene = Scene::new();
    let words = [&*scene.text("project"), "--treat", "ecko.path=text"];
    let mut client = begin(scene.wrap(&words).stderr(Stdio::piped()), Says::Nothing, &[]);
    let answer = client.call("echo", json!({"path": scene.path("outside/file.txt")}));
    let flag = "`--treat echo.path=text`";
    assert!(answer["result"]["structuredContent"]["hint"].as_str().unwrap().contains(flag), "{answer}");
    let (_, says) = client.end_with_errors();
    assert!(says.contains(flag), "{says}");
    let unmatched = "`--treat ecko.path=text` matches no tool of this server; its tools are `echo`, ";
    assert_eq!(says.matches(unmatched).count(), 1, "{says}");
}

#[test]
fn a_client_without_roots_reads_how_to_name_one() {
    let scene = Scene::new();
    let mut client = begin(&mut scene.wrap(&[]), Says::Nothing, &[]);
    let answer = client.call("read", json!({"path": "file.txt"}));
    let says = answer["result"]["structuredContent"]["message"].as_str().unwrap();
    assert!(says.starts_with("path `file.txt` is refused: this client shared no directories; name one with"), "{says}");
    assert_eq!(client.end(), Some(0));
}
