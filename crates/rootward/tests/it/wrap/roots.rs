//! Whose roots apply, and what happens while they are unknown.

use std::time::Duration;

use rootward_testkit::client::Client;
use serde_json::{Value, json};

use super::scene::{Says, Scene, begin, begin_with};

fn code(answer: &Value) -> &str {
    answer["result"]["structuredContent"]["code"].as_str().unwrap_or_default()
}

fn sentence(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn a_client_without_roots_is_served_in_the_ceiling_alone() {
    let scene = Scene::new();
    let mut client = begin(&mut scene.wrap(&[&scene.text("project")]), Says::Nothing, &[]);
    assert_eq!(client.text("where", json!({})), scene.text("project"));
    assert_eq!(client.text("read", json!({"path": "file.txt"})), "project");
    assert_eq!(code(&client.call("read", json!({"path": scene.text("other/file.txt")}))), "outside_roots");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn without_any_roots_calls_are_refused_and_told_why() {
    let scene = Scene::new();
    let mut client = begin(&mut scene.wrap(&[]), Says::Nothing, &[]);
    let refused = client.call("read", json!({"path": scene.text("project/file.txt")}));
    assert_eq!(code(&refused), "no_roots", "{refused}");
    assert!(sentence(&refused).contains("roots"), "{refused}");
    assert_eq!(client.text("echo", json!({"number": 1})), r#"{"number": 1}"#);
    assert_eq!(client.end(), Some(0));
}

/// The server gets a directory and one inside it, and replaces the inner one with a link: in this session, in the next, and if
/// another session shared the outer one.
#[test]
fn a_nested_root_does_not_become_a_link_to_anywhere() {
    let scene = Scene::new();
    let (outer, inner) = (scene.uri("project"), scene.uri("project/app"));
    std::fs::create_dir(scene.path("project/app")).unwrap();
    let secret = json!({"path": scene.path("outside/file.txt")});
    let begin = |roots: &[String]| {
        let mut client = begin(&mut scene.wrap(&["--treat", "read.path=text"]), Says::Roots, roots);
        let says = client.text("read", secret.clone());
        assert!(says.starts_with("failed"), "{roots:?}: {says}");
        client
    };
    let mut client = begin(&[outer.clone(), inner.clone()]);
    std::fs::rename(scene.path("project/app"), scene.path("project/moved")).unwrap();
    std::os::unix::fs::symlink(scene.path("outside"), scene.path("project/app")).unwrap();
    client.share(&[inner.clone(), outer.clone()]);
    let says = client.text("read", secret.clone());
    assert!(says.starts_with("failed"), "after a change: {says}");
    assert_eq!(client.end(), Some(0));
    assert_eq!(begin(&[outer, inner.clone()]).end(), Some(0));
    assert_eq!(begin(&[inner]).end(), Some(0));
    // The link is also refused as a root on the command line, with a hint.
    let link = scene.text("project/app");
    let run = scene.wrap(&[&link]).stdin(std::process::Stdio::null()).output().unwrap();
    let told = String::from_utf8_lossy(&run.stderr);
    let expect = "is a link that a confined server could have made; name its target, or run `rootward roots add`";
    assert!(told.contains(&link) && told.contains(expect), "{told}");
}

#[test]
fn unusable_answers_about_roots_refuse_calls() {
    let scene = Scene::new();
    for (answer, expect) in [
        (json!({"result": {"roots": []}}), "no_roots"),
        (json!({"result": {"roots": [{"uri": "https://example.org/"}]}}), "no_roots"),
        (json!({"result": {"roots": [{"uri": "file:///no/such/place"}]}}), "no_roots"),
        (json!({"result": {"roots": [{"uri": "file:///etc"}]}}), "no_roots"),
        (json!({"result": {"roots": 7}}), "roots_failed"),
        (json!({"result": "garbage"}), "roots_failed"),
        (json!({"error": {"code": -32601, "message": "Method not found"}}), "roots_failed"),
    ] {
        let wrap = &mut scene.wrap(&["--sandbox", "off"]);
        let mut client = begin_with(wrap, Says::Roots, Some(answer.clone()));
        let refused = client.call("read", json!({"path": scene.text("project/file.txt")}));
        assert_eq!(code(&refused), expect, "{answer}: {refused}");
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn a_client_that_never_answers_gets_lists_and_a_reason() {
    let scene = Scene::new();
    // The second time, the handshake is cached, and no server runs yet.
    for _ in 0..2 {
        let mut wrap = scene.wrap(&["--sandbox", "off"]);
        wrap.env("ROOTWARD_ROOTS_TIMEOUT_MS", "1500");
        let mut client = begin_with(&mut wrap, Says::Roots, None);
        let read = client.begin_call("read", json!({"path": "file.txt"}));
        assert!(client.ask("tools/list", json!({}))["result"]["tools"].is_array());
        assert!(client.kept().iter().all(|message| message["id"] != read), "lists do not wait for roots");
        let refused = client.answer_to(read);
        assert!(["roots_pending", "roots_failed"].contains(&code(&refused)), "{refused}");
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn a_ceiling_narrows_what_the_client_names() {
    let scene = Scene::new();
    std::fs::create_dir(scene.path("project/part")).unwrap();
    std::fs::write(scene.path("project/part/file.txt"), "part").unwrap();
    let ceiling = scene.text("project/part");
    let roots = [scene.uri("project"), scene.uri("other")];
    let mut client = begin(&mut scene.wrap(&[&ceiling]), Says::Roots, &roots);
    assert_eq!(client.text("where", json!({})), ceiling);
    assert_eq!(client.text("read", json!({"path": "file.txt"})), "part");
    for path in ["project/file.txt", "other/file.txt", "project/part/../file.txt"] {
        assert_eq!(code(&client.call("read", json!({"path": scene.text(path)}))), "outside_roots", "{path}");
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_root_for_reading_refuses_writes() {
    let scene = Scene::new();
    for (strength, treat) in [("auto", "write_file.path=text"), ("auto", ""), ("off", "")] {
        let ceiling = format!("{}:ro", scene.text("project"));
        let mut words = vec![&*ceiling, "--sandbox", strength];
        if !treat.is_empty() {
            words.extend(["--treat", treat]);
        }
        let mut client = begin(&mut scene.wrap(&words), Says::Nothing, &[]);
        assert_eq!(client.text("read", json!({"path": "file.txt"})), "project");
        let written = client.call("write_file", json!({"path": "file.txt", "content": "other"}));
        if treat.is_empty() {
            assert_eq!(code(&written), "access_denied", "{written}");
        } else {
            // The gate misses it, but the kernel refuses it.
            assert_eq!(sentence(&written), "failed: Permission denied");
        }
        assert_eq!(client.text("read", json!({"path": "file.txt"})), "project");
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn many_changes_end_in_the_last_roots() {
    let scene = Scene::new();
    for strength in ["auto", "off"] {
        let wrap = &mut scene.wrap(&["--sandbox", strength]);
        let mut client = begin(wrap, Says::Roots, &[scene.uri("project")]);
        assert_eq!(client.text("read", json!({"path": "file.txt"})), "project");
        for round in 0..50 {
            let name = if round % 2 == 0 { "other" } else { "project" };
            client.share(&[scene.uri(name)]);
        }
        client.share(&[scene.uri("other")]);
        assert_eq!(client.text("read", json!({"path": "file.txt"})), "other");
        assert_eq!(code(&client.call("read", json!({"path": scene.text("project/file.txt")}))), "outside_roots");
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn a_call_under_way_may_finish_when_its_root_is_revoked() {
    let scene = Scene::new();
    let mut client = begin(&mut scene.wrap(&[]), Says::Roots, &[scene.uri("project")]);
    let old = client.text("process", json!({}));
    let slow = client.begin_call("slow", json!({"seconds": 2}));
    client.share(&[scene.uri("other")]);
    assert_eq!(code(&client.call("read", json!({"path": scene.text("project/file.txt")}))), "outside_roots");
    assert_ne!(client.text("process", json!({})), old);
    assert_eq!(client.text("where", json!({})), scene.text("other"));
    assert_eq!(client.answer_to(slow)["result"]["content"][0]["text"], "done");
    // Afterwards the old server ends.
    let begun = std::time::Instant::now();
    while std::path::Path::new("/proc").join(&old).exists() {
        assert!(begun.elapsed().as_secs() < 30, "the old server is still running");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_root_that_appears_later_is_found() {
    let scene = Scene::new();
    let roots = [scene.uri("project"), scene.uri("late")];
    let mut client = begin(&mut scene.wrap(&[]), Says::Roots, &roots);
    assert_eq!(client.text("read", json!({"path": "file.txt"})), "project");
    std::fs::create_dir(scene.path("late")).unwrap();
    std::fs::write(scene.path("late/file.txt"), "late").unwrap();
    let begun = std::time::Instant::now();
    loop {
        let answer = client.call("read", json!({"path": scene.text("late/file.txt")}));
        if sentence(&answer) == "late" {
            break;
        }
        assert_eq!(code(&answer), "outside_roots", "{answer}");
        assert!(begun.elapsed().as_secs() < 30, "it was never found");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(client.end(), Some(0));
}

/// A secret place below a root stays closed to calls and to the server. Everything else works.
#[test]
fn a_root_with_secrets_in_it() {
    let scene = Scene::new();
    std::fs::create_dir(scene.path("project/.ssh")).unwrap();
    std::fs::write(scene.path("project/.ssh/id"), "secret").unwrap();
    for _ in ["not remembered", "remembered"] {
        let mut wrap = scene.wrap(&[]);
        wrap.stderr(std::process::Stdio::piped());
        let mut client = begin(&mut wrap, Says::Roots, &[scene.uri("project")]);
        assert_eq!(client.text("read", json!({"path": "file.txt"})), "project");
        assert_eq!(code(&client.call("read", json!({"path": ".ssh/id"}))), "restricted");
        let (code, says) = client.end_with_errors();
        assert_eq!(code, Some(0));
        assert!(says.contains(".ssh` must stay closed") && says.contains("hint:"), "{says}");
    }
}

/// A directory with too many entries beside a secret place: the server is not started, and client and operator get the
/// reason.
#[test]
fn a_root_that_cannot_be_held() {
    let scene = Scene::new();
    std::fs::create_dir(scene.path("project/.ssh")).unwrap();
    for number in 0..8_192 {
        std::os::unix::fs::symlink("x", scene.path(&format!("project/entry-{number}"))).unwrap();
    }
    for _ in ["not remembered", "remembered"] {
        let mut wrap = scene.wrap(&[]);
        wrap.stderr(std::process::Stdio::piped());
        let mut client = begin(&mut wrap, Says::Roots, &[scene.uri("project")]);
        for _ in 0..2 {
            let answer = client.call("read", json!({"path": "file.txt"}));
            let says = answer["error"]["message"].as_str().unwrap_or_default();
            assert!(says.contains("was not started") && says.contains("--unenforced allow"), "{answer}");
        }
        // With other roots, it is started.
        client.share(&[scene.uri("other")]);
        assert_eq!(client.text("read", json!({"path": "file.txt"})), "other");
        let (code, says) = client.end_with_errors();
        assert_eq!(code, Some(0));
        assert!(says.contains(".ssh") && says.contains("hint:"), "{says}");
    }
}

#[test]
fn calls_wait_for_a_server_that_asks_for_its_roots() {
    let scene = Scene::new();
    for strength in ["auto", "off"] {
        for _ in ["not remembered", "remembered"] {
            let words = ["--sandbox", strength, "--env", "ASKS"];
            let mut client = begin(scene.wrap(&words).env("ASKS", "roots"), Says::Roots, &[scene.uri("project")]);
            client.text("read", json!({"path": "file.txt"}));
            assert_eq!(client.text("asked", json!({})), json!([scene.uri("project")]).to_string());
            client.share(&[scene.uri("project"), scene.uri("other")]);
            client.text("read", json!({"path": scene.text("other/file.txt")}));
            let listed: Value = serde_json::from_str(&client.text("asked", json!({}))).unwrap();
            assert_eq!(listed, json!([scene.uri("project"), scene.uri("other")]), "{strength}");
            assert_eq!(client.end(), Some(0));
        }
    }
}

#[test]
fn calls_without_paths_are_made_in_the_roots() {
    let scene = Scene::new();
    for strength in ["auto", "off"] {
        let wrap = &mut scene.wrap(&["--sandbox", strength]);
        let mut client = begin(wrap, Says::Roots, &[scene.uri("project")]);
        assert_eq!(client.text("where", json!({})), scene.text("project"));
        assert_eq!(client.end(), Some(0));
    }
}

/// Directories that match the operator's pattern come and go while the server runs.
#[test]
fn a_pattern_is_followed_as_directories_come_and_go() {
    let scene = Scene::new();
    for name in ["clients/acme/docs", "clients/.hidden/docs", "clients/empty"] {
        std::fs::create_dir_all(scene.path(name)).unwrap();
    }
    let file = |name: &str| std::fs::write(scene.path(&format!("clients/{name}/docs/file.txt")), name).unwrap();
    file("acme");
    let pattern = scene.text("clients/*/docs");
    let read = |client: &mut Client, name: &str| {
        client.call("read", json!({"path": scene.path(&format!("clients/{name}/docs/file.txt"))}))
    };
    let mut client = begin(&mut scene.wrap(&["--root", &pattern]), Says::Nothing, &[]);
    assert_eq!(read(&mut client, "acme")["result"]["content"][0]["text"], "acme");
    for name in [".hidden", "empty", "later"] {
        assert_eq!(read(&mut client, name)["result"]["structuredContent"]["code"], "outside_roots", "{name}");
    }
    std::fs::create_dir_all(scene.path("clients/later/docs")).unwrap();
    file("later");
    let until = |client: &mut Client, name: &str, is_so: fn(&Value) -> bool| {
        for _ in 0..100 {
            let answer = read(client, name);
            if is_so(&answer) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("{name}: {}", read(client, name));
    };
    until(&mut client, "later", |answer| answer["result"]["content"][0]["text"] == "later");
    std::fs::rename(scene.path("clients/later"), scene.path("outside/later")).unwrap();
    until(&mut client, "later", |answer| answer["result"]["structuredContent"]["code"] == "outside_roots");
    assert_eq!(read(&mut client, "acme")["result"]["content"][0]["text"], "acme");
    assert_eq!(client.end(), Some(0));
    // A client that names the parent directory gets the matches in it. A client's own pattern is not a root.
    let mut client = begin(&mut scene.wrap(&["--root", &pattern]), Says::Roots, &[scene.uri("clients")]);
    assert_eq!(read(&mut client, "acme")["result"]["content"][0]["text"], "acme");
    assert_eq!(client.end(), Some(0));
    let mut client = begin(&mut scene.wrap(&[]), Says::Roots, &[scene.uri("clients/*/docs")]);
    assert_eq!(read(&mut client, "acme")["result"]["structuredContent"]["code"], "no_roots");
    assert_eq!(client.end(), Some(0));
}
