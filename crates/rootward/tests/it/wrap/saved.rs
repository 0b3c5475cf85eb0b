//! Saved roots that change while `wrap` runs: the server is restarted with the new ones.

#![expect(clippy::disallowed_methods, reason = "the test plays the user")]

use std::fs;
use std::time::{Duration, Instant};

use rootward_testkit::client::Client;
use serde_json::{Value, json};

use super::scene::{Says, Scene, begin};

/// Long enough for a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// Replaces the store atomically.
fn write(scene: &Scene, text: &str) {
    let directory = scene.path("home/.config/rootward");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("new"), text).unwrap();
    fs::rename(directory.join("new"), directory.join("roots.toml")).unwrap();
}

fn save(scene: &Scene, roots: &[(&str, &str)]) {
    let root = |(name, more): &(&str, &str)| format!("[[root]]\npath = '{}'\n{more}\n", scene.text(name));
    write(scene, &format!("version = 1\n{}", roots.iter().map(root).collect::<String>()));
}

/// Reads a file. Returns its text, or the code of the refusal.
fn read(client: &mut Client, path: &str) -> String {
    let result = client.call("read", json!({"path": path}))["result"].take();
    let code = result["structuredContent"]["code"].as_str();
    code.or_else(|| result["content"][0]["text"].as_str()).unwrap_or_default().to_owned()
}

/// Reads repeatedly until the result is `expect`.
fn until(client: &mut Client, path: &str, expect: &str) {
    let begun = Instant::now();
    loop {
        let read = read(client, path);
        if read == expect {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{path}: {read} and not {expect}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_store_is_followed() {
    for words in [&[][..], &["--sandbox", "off"]] {
        let scene = Scene::new();
        let [project, other] = ["project/file.txt", "other/file.txt"].map(|name| scene.text(name));
        let mut client = begin(&mut scene.wrap(words), Says::Nothing, &[]);
        assert_eq!(read(&mut client, &project), "no_roots");
        // Nothing was saved before, and the directory of the store did not exist.
        save(&scene, &[("project", "")]);
        until(&mut client, &project, "project");
        assert_eq!(read(&mut client, &other), "outside_roots");
        assert_eq!(client.text("where", json!({})), scene.text("project"));
        // Another root replaces it.
        save(&scene, &[("other", "")]);
        until(&mut client, &other, "other");
        assert_eq!(read(&mut client, &project), "outside_roots");
        let told: Value = serde_json::from_str(&client.text("roots", json!({}))).unwrap();
        assert_eq!(told, json!({"roots": [{"uri": scene.uri("other"), "name": "other"}]}), "{words:?}");
        // A file in the root is closed. In the sandbox it must not exist yet: the kernel cannot hide an existing file below
        // this root, so no server would start.
        let closed = if words.is_empty() { "later.txt" } else { "file.txt" };
        save(&scene, &[("other", &format!("restrict = [{{ pattern = '{closed}' }}]"))]);
        let closed = scene.text("other") + "/" + closed;
        until(&mut client, &closed, "restricted");
        // An unreadable store changes nothing.
        write(&scene, "version = 1\n[[root");
        std::thread::sleep(Duration::from_secs(3));
        assert_eq!(read(&mut client, &closed), "restricted");
        // An empty store removes all roots.
        write(&scene, "version = 1\n");
        until(&mut client, &other, "no_roots");
        assert_eq!(client.end(), Some(0));
    }
}

/// The kernel, too, confines the server to the current roots, even if no call comes.
#[test]
fn removed_roots_are_closed_to_an_idle_server() {
    let scene = Scene::new();
    save(&scene, &[("project", ""), ("other", "")]);
    let mut client = begin(&mut scene.wrap(&[]), Says::Nothing, &[]);
    assert_eq!(read(&mut client, &scene.text("other/file.txt")), "other");
    let mark = scene.mark(&mut client);
    save(&scene, &[("project", "")]);
    // The old server and all its processes end without a message from the client.
    mark.is_gone();
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_saved_pattern_is_followed_while_a_server_runs() {
    let scene = Scene::new();
    let file = |name: &str| {
        fs::create_dir_all(scene.path(&format!("clients/{name}/docs"))).unwrap();
        fs::write(scene.path(&format!("clients/{name}/docs/file.txt")), name).unwrap();
        scene.text(&format!("clients/{name}/docs/file.txt"))
    };
    let (acme, later) = (file("acme"), scene.text("clients/later/docs/file.txt"));
    write(&scene, &format!("version = 1\n[[root]]\npattern = '{}'\n", scene.text("clients/*/docs")));
    let mut client = begin(&mut scene.wrap(&[]), Says::Nothing, &[]);
    assert_eq!([read(&mut client, &acme), read(&mut client, &later)], ["acme", "outside_roots"]);
    file("later");
    until(&mut client, &later, "later");
    fs::rename(scene.path("clients/later"), scene.path("outside/later")).unwrap();
    until(&mut client, &later, "outside_roots");
    assert_eq!(read(&mut client, &acme), "acme");
    assert_eq!(client.end(), Some(0));
}
