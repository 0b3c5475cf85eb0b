//! Promises to the user and the operator: names of roots, unusable roots, the form of refusals, the fallback directory, the log.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::place::{Place, begin, until};
use crate::roots::consent::on_a_terminal;
use crate::stage::Stage;
use crate::wrap::scene::{self, Says, Scene};

fn settings(place: &Place, text: &str) {
    fs::create_dir_all(place.path("home/.config/rootward")).unwrap();
    fs::write(place.path("home/.config/rootward/config.toml"), text).unwrap();
}

#[test]
fn a_refusal_is_an_error_if_the_settings_say_so() {
    let place = Place::new();
    settings(&place, "refusal = 'error'");
    let mut client = place.serve(&[&place.text("root")]);
    let answer = client.call("read_text_file", json!({"path": place.text("outside/secret.txt")}));
    let check = |answer: &Value, root: &str| {
        let error = &answer["error"];
        assert_eq!((&error["code"], &error["data"]["code"]), (&json!(-32602), &json!("outside_roots")), "{answer}");
        assert_eq!((&error["data"]["message"], &error["data"]["roots"][0]["uri"]), (&error["message"], &json!(root)));
    };
    check(&answer, &place.uri("root"));
    assert_eq!(client.end(), Some(0));

    let scene = Scene::new();
    settings(&scene, "refusal = 'error'");
    let mut client = scene::begin(&mut scene.wrap(&[&scene.text("project")]), Says::Nothing, &[]);
    check(&client.call("read", json!({"path": scene.text("other/file.txt")})), &scene.uri("project"));
    assert_eq!(client.text("read", json!({"path": "file.txt"})), "project");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_root_that_is_left_out_is_told_on_standard_error_on_record_and_by_get_roots() {
    let roots = |place: &Place, root: &str| {
        [place.uri(root), place.uri("gone"), "file:///etc/ssl".to_owned(), "file:///srv/a%2Fb".to_owned()]
    };
    let expect = |place: &Place| {
        json!([
            {"uri": place.uri("gone"), "reason": "unavailable"},
            {"uri": "file:///etc/ssl", "reason": "refused"},
            {"uri": "file:///srv/a%2Fb", "reason": "unusable"},
        ])
    };
    let check_told = |place: &Place, errors: &str| {
        for (root, says) in [
            (place.uri("gone").as_str(), "(unavailable): does not exist"),
            ("file:///etc/ssl", "(refused): cannot be shared: in `/etc`, which belongs to the system"),
            ("file:///srv/a%2Fb", "(unusable): not a usable root"),
        ] {
            let line = format!("rootward: the client's root `{root}` is left out {says}");
            assert_eq!(errors.matches(&line).count(), 1, "{line}\n{errors}");
            let on_record = |entry: &&Value| entry["path"] == root && entry["requester"] == "roots/list";
            let entries: Vec<Value> = place.decisions().iter().filter(on_record).cloned().collect();
            assert_eq!(entries.len(), 1, "{root}");
            assert_eq!(entries[0]["decision"], "deny");
            assert!(entries[0]["reason"].as_str().is_some_and(|reason| !reason.is_empty()));
        }
    };
    let place = Place::new();
    let mut client = begin(place.rootward(&["serve"]).stderr(Stdio::piped()), json!({"roots": {"listChanged": true}}));
    client.name_roots(roots(&place, "root"));
    let data = client.call("get-roots", json!({}))["result"]["structuredContent"].clone();
    assert_eq!(data["leftOut"], expect(&place), "{data}");
    // The same list again does not count as a change.
    client.share(roots(&place, "root"));
    assert_eq!(client.call("get-roots", json!({}))["result"]["structuredContent"]["rootsCount"], 1);
    let (_, errors) = client.end_with_errors();
    check_told(&place, &errors);

    for words in [&["--get-roots"][..], &[]] {
        let scene = Scene::new();
        let mut client = rootward_testkit::client::Client::start(scene.wrap(words).stderr(Stdio::piped()));
        client.name_roots(roots(&scene, "project"));
        client.shake_hands(json!({"roots": {"listChanged": true}}));
        assert_eq!(client.text("read", json!({"path": scene.text("project/file.txt")})), "project");
        if !words.is_empty() {
            let data = client.call("get-roots", json!({}))["result"]["structuredContent"].clone();
            assert_eq!(data["leftOut"], expect(&scene), "{data}");
        }
        let (_, errors) = client.end_with_errors();
        check_told(&scene, &errors);
    }
}

#[test]
fn servers_are_told_the_name_of_each_root() {
    let scene = Scene::new();
    fs::write(scene.path("project/Cargo.toml"), "[package]\nname = \"my-app\"").unwrap();
    fs::create_dir_all(scene.path("other/.git")).unwrap();
    fs::write(scene.path("other/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(scene.path("other/.git/config"), "[remote \"origin\"]\n\turl = git@example.com:me/tool.git\n").unwrap();
    let [project, other, outside] = ["project", "other", "outside"].map(|name| scene.text(name));
    let words = ["--get-roots", "--root", &project, "--root", &other, "--root", &outside];
    let mut client = begin(&mut scene.wrap(&words), json!({}));
    let data = client.call("get-roots", json!({}))["result"]["structuredContent"].clone();
    let names: Vec<&Value> = data["roots"].as_array().unwrap().iter().map(|root| &root["name"]).collect();
    assert_eq!(names, ["my-app", "tool", "outside"], "{data}");
    // The server also asks for its roots.
    let told: Value = serde_json::from_str(&client.text("roots", json!({}))).unwrap();
    let names: Vec<&Value> = told["roots"].as_array().unwrap().iter().map(|root| &root["name"]).collect();
    assert_eq!(names, ["my-app", "tool", "outside"], "{told}");
}

#[test]
fn adding_a_root_asks_for_its_name() {
    let stage = Stage::new();
    stage.write("project/src/package.json", "{\"name\": \"site\"}");
    let run = on_a_terminal(&stage, "roots add src", "y\n\n");
    assert!(run.stdout.contains("name [site]: "), "{}", run.stdout);
    let run = on_a_terminal(&stage, "roots add docs", "y\nmanuals\n");
    assert!(run.stdout.contains("name [docs]: "), "{}", run.stdout);
    assert_eq!(stage.run(["roots", "add", "README.md", "--yes"]).code, Some(0));
    let list: Value = serde_json::from_str(&stage.run(["roots", "list", "--json"]).stdout).unwrap();
    let mut names: Vec<&str> =
        list["roots"].as_array().unwrap().iter().filter_map(|root| root["name"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["README.md", "manuals", "site"]);
}

#[test]
fn a_root_that_cannot_be_added_is_the_protocols_error_object() {
    let stage = Stage::new();
    let check = |root: &str, code: i64, message: &str, uri: &str| {
        let run = stage.run(["roots", "add", root, "--yes", "--json"]);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        let error = serde_json::from_str::<Value>(&run.stdout).unwrap()["error"].clone();
        assert_eq!(
            (&error["code"], &error["message"], &error["data"]["uri"]),
            (&json!(code), &json!(message), &json!(uri))
        );
        assert!(error["data"]["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{error}");
    };
    check("http://example.com/path", -32602, "Invalid root URI", "http://example.com/path");
    check("/etc", -32603, "Root access denied", "file:///etc");
    check("file:///nothing/of/that/name", -32603, "Root access denied", "file:///nothing/of/that/name");
}

#[test]
fn what_is_detected_has_a_uri_and_a_name() {
    let stage = Stage::new();
    stage.write("project/.git/HEAD", "ref: refs/heads/main\n");
    stage.write("project/.git/config", "[remote \"origin\"]\n\turl = https://me:secret@example.com/me/tool.git\n");
    let run = stage.run(["roots", "detect", "--json"]);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let first = &found["suggestions"][0];
    let path = stage.top().canonicalize().unwrap().join("project");
    assert_eq!(first["uri"], format!("file://{}", path.display()), "{found}");
    assert_eq!(first["name"], "tool");
    assert!(!run.stdout.contains("secret"), "{}", run.stdout);
}

#[test]
fn a_fallback_directory_is_made_in_the_home_and_used_elsewhere_once_it_exists() {
    let place = Place::new();
    let fallback = place.text("home/.my-server/files");
    let mut command = place.rootward(&["serve"]);
    let mut client = begin(command.env("ROOTWARD_FALLBACK_DIR", &fallback), json!({}));
    assert_eq!(fs::metadata(&fallback).unwrap().mode() & 0o777, 0o700);
    assert_eq!(client.call("list_directory", json!({"path": "."}))["result"]["isError"], false);
    assert_eq!(client.end(), Some(0));

    // Elsewhere it is not created, but found when somebody else creates it.
    let elsewhere = place.text("root/later");
    let mut command = place.rootward(&["serve"]);
    let mut client = begin(command.env("ROOTWARD_FALLBACK_DIR", &elsewhere).stderr(Stdio::piped()), json!({}));
    let refused = client.call("list_directory", json!({"path": elsewhere}));
    let says = refused["result"]["content"][0]["text"].as_str().unwrap();
    let expect = "because the client shared no directories, and the fallback directory cannot be used";
    assert!(says.ends_with(expect), "{says}");
    assert!(!fs::exists(&elsewhere).unwrap());
    fs::create_dir(&elsewhere).unwrap();
    let client = std::cell::RefCell::new(client);
    until("the fallback directory is not found", || {
        client.borrow_mut().call("list_directory", json!({"path": elsewhere}))["result"]["isError"] == false
    });
    let (_, errors) = client.into_inner().end_with_errors();
    assert!(errors.contains("does not exist, and is used once it does"), "{errors}");

    // A pattern names no directory that could be created.
    let mut command = place.rootward(&["serve"]);
    let client =
        begin(command.env("ROOTWARD_FALLBACK_DIR", place.text("home/many/*")).stderr(Stdio::piped()), json!({}));
    assert!(!fs::exists(place.path("home/many")).unwrap());
    client.end_with_errors();

    // It is not created through a link.
    std::os::unix::fs::symlink(place.path("outside"), place.path("home/link")).unwrap();
    let mut command = place.rootward(&["serve"]);
    let client =
        begin(command.env("ROOTWARD_FALLBACK_DIR", place.text("home/link/made")).stderr(Stdio::piped()), json!({}));
    assert!(!fs::exists(place.path("outside/made")).unwrap());
    let (_, errors) = client.end_with_errors();
    assert!(errors.contains("cannot be created"), "{errors}");
}

#[test]
fn a_wrapped_server_gets_the_fallback_directory_once_it_exists() {
    let scene = Scene::new();
    let later = scene.text("project/later");
    let mut command = scene.wrap(&[]);
    let client = scene::begin(command.env("ROOTWARD_FALLBACK_DIR", &later), Says::Nothing, &[]);
    fs::create_dir(&later).unwrap();
    fs::write(scene.path("project/later/f"), "found").unwrap();
    let client = std::cell::RefCell::new(client);
    until("the fallback directory is not found", || {
        let answer = client.borrow_mut().call("read", json!({"path": format!("{later}/f")}));
        answer["result"]["content"][0]["text"] == "found"
    });
    assert_eq!(client.into_inner().end(), Some(0));
}

#[test]
fn a_client_outside_the_operators_list_hears_how_one_of_the_two_wins() {
    let scene = Scene::new();
    let mut client = scene::begin(&mut scene.wrap(&[&scene.text("project")]), Says::Roots, &[scene.uri("other")]);
    let answer = client.call("read", json!({"path": scene.text("other/file.txt")}));
    let says = answer["result"]["content"][0]["text"].as_str().unwrap();
    for part in [
        scene.text("project"),
        scene.text("other"),
        "ROOTWARD_IGNORE_CLIENT=true".into(),
        "ROOTWARD_MODE=replace".into(),
    ] {
        assert!(says.contains(&part), "{part}: {says}");
    }
}

#[test]
fn the_roots_are_named_in_instructions_and_by_the_resource() {
    let place = Place::new();
    let root = place.text("root");
    let mut client = rootward_testkit::client::Client::start(&mut place.rootward(&["serve", &format!("{root}:ro")]));
    let hello =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let says = client.ask("initialize", hello)["result"]["instructions"].as_str().unwrap().to_owned();
    assert!(says.ends_with(&format!("Shared now: `{root}` (read).")), "{says}");
    client.notify("notifications/initialized", ());
    let listed = client.ask("resources/list", json!({}))["result"]["resources"][0].clone();
    assert!(listed["description"].as_str().unwrap().contains(&root), "{listed}");
    let named = json!([{"uri": place.uri("root"), "name": "root", "access": ["read"]}]);
    assert_eq!(listed["_meta"]["rootward.dev/roots"], named, "{listed}");
    assert_eq!(client.end(), Some(0));
}

#[cfg(feature = "http")]
#[test]
fn the_log_works_without_http() {
    let place = Place::new();
    let mut command = place.rootward(&["serve", &place.text("root")]);
    let mut client = begin(command.env("ROOTWARD_LOG", "info").stderr(Stdio::piped()), json!({}));
    client.call("read_text_file", json!({"path": place.text("outside/secret.txt")}));
    let (_, errors) = client.end_with_errors();
    let logged = errors.lines().any(|line| line.contains("denied") && line.contains("outside/secret.txt"));
    assert!(logged && errors.contains("outside_roots"), "{errors}");

    let scene = Scene::new();
    let mut command = scene.wrap(&["--audit", "off", &scene.text("project")]);
    let mut client = scene::begin(command.env("ROOTWARD_LOG", "debug").stderr(Stdio::piped()), Says::Nothing, &[]);
    client.call("read", json!({"path": "file.txt"}));
    client.call("read", json!({"path": scene.text("other/file.txt")}));
    let (_, errors) = client.end_with_errors();
    for word in ["allowed", "denied"] {
        assert!(errors.lines().any(|line| line.contains(word) && line.contains("file.txt")), "{word}: {errors}");
    }
}
