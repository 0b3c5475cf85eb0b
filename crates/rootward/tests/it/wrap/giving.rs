//! How a server gets its directories, and which options the user has for calls.

use std::path::Path;

use rootward_testkit::client::Client;
use serde_json::{Value, json};

use super::scene::{Says, Scene, begin};

pub(super) fn words_of(client: &mut Client) -> Value {
    serde_json::from_str(&client.text("words", json!({}))).unwrap()
}

fn variable(client: &mut Client, name: &str) -> Value {
    serde_json::from_str(&client.text("variable", json!({"name": name}))).unwrap()
}

#[test]
fn directories_are_given_as_the_user_says() {
    let scene = Scene::new();
    let (project, other) = (scene.text("project"), scene.text("other"));
    let both = format!("{project}:{other}");
    for strength in ["auto", "off"] {
        let roots = [scene.uri("project"), scene.uri("other")];
        let begin =
            |inject: &str| begin(&mut scene.wrap(&["--sandbox", strength, "--inject", inject]), Says::Roots, &roots);
        let mut client = begin("args");
        assert_eq!(words_of(&mut client), json!([project, other]));
        client.share(&[scene.uri("other")]);
        client.text("read", json!({"path": "file.txt"}));
        assert_eq!(words_of(&mut client), json!([other]));
        assert_eq!(client.end(), Some(0));
        let mut client = begin("env:DIRECTORIES");
        assert_eq!((words_of(&mut client), variable(&mut client, "DIRECTORIES")), (json!([]), json!(both)));
        assert_eq!(client.end(), Some(0));
        for inject in ["none", "known"] {
            let mut client = begin(inject);
            assert_eq!((words_of(&mut client), variable(&mut client, "DIRECTORIES")), (json!([]), Value::Null));
            assert_eq!(client.end(), Some(0));
        }
    }
}

/// Some clients drop a `--` from a command line that they save.
#[test]
fn a_server_needs_no_dashes_before_its_command() {
    let scene = Scene::new();
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/wrap/server.py");
    let project = scene.text("project");
    let words = ["wrap", "--root", &project, "python3", server.to_str().unwrap(), "--root", "x", "--help", "--", "y"];
    let mut client = begin(&mut scene.rootward(&words), Says::Nothing, &[]);
    assert_eq!(words_of(&mut client), json!(["--root", "x", "--help", "--", "y"]));
    assert_eq!(client.text("where", json!({})), project);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn placeholders_for_roots_work_in_arguments_and_variables() {
    let scene = Scene::new();
    let (project, other) = (scene.text("project"), scene.text("other"));
    for strength in ["auto", "off"] {
        let mut wrap = scene.wrap(&["--sandbox", strength]);
        wrap.args(["--first=${root}", "${roots}", "all=${roots}", "${other}"]).env("PLACES", "in ${roots}");
        let mut client = begin(&mut wrap, Says::Roots, &[scene.uri("project"), scene.uri("other")]);
        let expect =
            json!([format!("--first={project}"), project, other, format!("all={project}:{other}"), "${other}"]);
        assert_eq!(words_of(&mut client), expect);
        assert_eq!(variable(&mut client, "PLACES"), json!(format!("in {project}:{other}")));
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn variables_are_passed_on_if_they_are_named() {
    let scene = Scene::new();
    for (words, expect) in
        [(&["--env", "TOKEN"][..], json!("t")), (&[], Value::Null), (&["--sandbox", "off"], json!("t"))]
    {
        let mut client = begin(scene.wrap(words).env("TOKEN", "t"), Says::Nothing, &[]);
        assert_eq!(variable(&mut client, "TOKEN"), expect, "{words:?}");
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn variables_are_passed_on_by_prefix() {
    let scene = Scene::new();
    let mut wrap = scene.wrap(&["--env", "MY_*"]);
    let mut client = begin(wrap.env("MY_TOKEN", "t").env("LD_OWN", "x").env("OTHER", "x"), Says::Nothing, &[]);
    let seen = ["MY_TOKEN", "LD_OWN", "OTHER"].map(|name| variable(&mut client, name));
    assert_eq!(seen, [json!("t"), Value::Null, Value::Null]);
    assert_eq!(client.end(), Some(0));
    for (pattern, says) in
        [("*", "every secret"), ("M*", "at least 2"), ("*_KEY", "last character"), ("A=b", "not the name")]
    {
        let run = scene.wrap(&["--env", pattern]).output().unwrap();
        let told = String::from_utf8(run.stderr).unwrap();
        assert!(run.status.code() == Some(2) && told.contains(says), "{pattern}: {told}");
    }
}

#[test]
fn a_person_is_told_once_which_variables_are_withheld() {
    let scene = Scene::new();
    let errors = |words: &[&str], restart: bool| {
        let mut wrap = scene.wrap(words);
        wrap.env("GITHUB_TOKEN", "s3cr3t").env("BRAVE_API_KEY", "s3cr3t").env("SHLVL", "1").env("LANG", "C");
        let mut client = begin(wrap.stderr(std::process::Stdio::piped()), Says::Roots, &[scene.uri("project")]);
        client.text("where", json!({}));
        if restart {
            client.share(&[scene.uri("other")]);
            client.text("where", json!({}));
        }
        client.end_with_errors().1
    };
    let told = errors(&[], true);
    let note = "note: 2 variables are withheld: BRAVE_API_KEY, GITHUB_TOKEN; pass one with --env BRAVE_API_KEY\n";
    assert_eq!(told.matches(note).count(), 1, "{told}");
    assert!(!told.contains("s3cr3t"), "{told}");
    let told = errors(&["--env", "BRAVE_API_KEY"], false);
    assert!(told.contains("note: 1 variable is withheld: GITHUB_TOKEN; pass it with --env GITHUB_TOKEN\n"), "{told}");
    for words in [["--env", "BRAVE_API_KEY", "--env", "GITHUB_*"].as_slice(), &["--sandbox", "off"]] {
        let told = errors(words, false);
        assert!(!told.contains("withheld"), "{words:?}: {told}");
    }
}

#[test]
fn what_is_only_reported_is_done_and_on_record() {
    let scene = Scene::new();
    let words = [&*scene.text("project"), "--sandbox", "off", "--enforce", "report"];
    let mut wrap = scene.wrap(&words);
    let mut client = begin(wrap.stderr(std::process::Stdio::piped()), Says::Nothing, &[]);
    assert_eq!(client.text("read", json!({"path": scene.text("outside/file.txt")})), "outside");
    let (_, says) = client.end_with_errors();
    assert!(says.contains("would be refused"), "{says}");
    let decisions = scene.decisions();
    assert_eq!((decisions.len(), &decisions[0]["decision"]), (1, &json!("deny")), "{decisions:?}");
}

#[test]
fn arguments_are_what_the_user_says_they_are() {
    let scene = Scene::new();
    let project = scene.text("project");
    let outside = scene.text("outside/file.txt");
    let check = |treat: &str, key: &str, value: &str, expect: &str| {
        let words = [&*project, "--sandbox", "off", "--treat", treat];
        let mut client = begin(&mut scene.wrap(&words), Says::Nothing, &[]);
        let mut arguments = json!({});
        arguments[key] = json!(value);
        let answer = client.call("echo", arguments);
        let code = answer["result"]["structuredContent"]["code"].as_str().unwrap_or("passed");
        assert_eq!(code, expect, "{treat} {key}: {answer}");
        assert_eq!(client.end(), Some(0));
    };
    check("echo.path=text", "path", &outside, "passed");
    check("other.path=text", "path", &outside, "outside_roots");
    check("echo.thing=read", "thing", "../outside/file.txt", "outside_roots");
    check("echo.else=read", "thing", "x/../y", "passed");
}
