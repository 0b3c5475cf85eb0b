//! A server that is a package: Rootward fetches it first, and answers the client meanwhile.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rootward_testkit::client::Client;
use serde_json::{Value, json};

use super::scene::{Says, Scene, begin};
use crate::place::until;

/// A fake `npm install` that installs the test server. It waits until a file `go` exists beside it.
const NPM: &str = r#"#!/bin/sh
lib="$(dirname "$0")/../lib"
while [ $# -gt 1 ]; do case "$1" in --prefix) dir="$2"; shift;; esac; shift; done
top="$dir/node_modules/name"
mkdir -p "$top" "$dir/node_modules/.bin"
echo '{"version": "1.0", "bin": {"name": "server.py"}}' > "$top/package.json"
{ echo '#!/usr/bin/python3'; cat "$lib/server.py"; } > "$top/server.py"; chmod +x "$top/server.py"
ln -s ../name/server.py "$dir/node_modules/.bin/name"
while [ ! -e "$lib/go" ]; do sleep 0.05; done
[ ! -e "$lib/fail" ] || { echo 'npm error 404 no such package'; exit 1; }
"#;

const LINE: [&str; 3] = ["npx", "-y", "name"];

/// A scene with `npm` and `npx`.
struct Shop {
    scene: Scene,
}

impl Shop {
    fn new() -> Shop {
        let shop = Shop { scene: Scene::new() };
        fs::create_dir_all(shop.scene.path("tools/bin")).unwrap();
        fs::create_dir_all(shop.scene.path("tools/lib")).unwrap();
        for (name, text) in [("npm", NPM), ("npx", "#!/bin/sh\nexit 9\n")] {
            let path = shop.scene.path("tools/bin").join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let server = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/wrap/server.py");
        fs::copy(server, shop.scene.path("tools/lib/server.py")).unwrap();
        shop
    }

    fn open(self) -> Shop {
        self.put("go");
        self
    }

    fn put(&self, name: &str) {
        fs::write(self.scene.path("tools/lib").join(name), "").unwrap();
    }

    fn wrap(&self, words: &[&str]) -> Command {
        let mut command = self.scene.wrap_command(words, &LINE);
        command.env("PATH", format!("{}:/usr/bin:/bin", self.scene.text("tools/bin"))).stderr(Stdio::piped());
        command
    }

    fn entry(&self) -> Option<PathBuf> {
        let entries = fs::read_dir(self.scene.path("home/.cache/rootward/packages/npm")).ok()?;
        entries.flatten().map(|entry| entry.path()).next()
    }

    /// Waits until the fetch has started.
    fn fetches(&self) {
        let is_there = || Some(self.entry()?.join("1/node_modules/.bin/name").symlink_metadata().is_ok());
        until("no fetch is under way", || is_there().unwrap_or(false));
    }
}

/// Sends `initialize` and does not wait for the answer.
fn ask_to_begin(command: &mut Command, says: Says) -> (Client, Value) {
    let mut client = Client::start(command);
    let capabilities = if says == Says::Roots { json!({"roots": {"listChanged": true}}) } else { json!({}) };
    let id = client.begin("initialize", json!({"protocolVersion": "2025-06-18", "capabilities": capabilities}));
    (client, json!(id))
}

#[test]
fn a_package_serves_every_project_and_is_fetched_once() {
    let shop = Shop::new().open();
    for (project, fetches) in [("project", 1), ("other", 0), ("other", 0)] {
        let mut client = begin(&mut shop.wrap(&[]), Says::Roots, &[shop.scene.uri(project)]);
        assert_eq!(client.text("read", json!({"path": "file.txt"})), project);
        assert_eq!(client.text("where", json!({})), shop.scene.text(project));
        let refused = client.call("read", json!({"path": shop.scene.path("outside/file.txt")}));
        assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{refused}");
        let (code, errors) = client.end_with_errors();
        assert_eq!((code, errors.matches("fetching package `name`").count()), (Some(0), fetches), "{errors}");
    }
}

#[test]
fn a_client_is_answered_while_the_package_is_fetched() {
    for says in [Says::Roots, Says::Nothing] {
        let shop = Shop::new();
        let (mut client, hello) = ask_to_begin(&mut shop.wrap(&[&shop.scene.text("project")]), says);
        client.name_roots([shop.scene.uri("project")]);
        shop.fetches();
        // Only Rootward can answer this, and it does so at once.
        let answer = client.ask("notifications/cancelled", json!({"requestId": 99}));
        assert_eq!(answer["error"]["code"], -32600, "{says:?}: {answer}");
        shop.put("go");
        let answer = client.answer_to(hello);
        assert_eq!(answer["result"]["serverInfo"]["name"], "server", "{says:?}: {answer}");
        client.notify("notifications/initialized", ());
        assert_eq!(client.text("read", json!({"path": "file.txt"})), "project");
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn a_client_hears_why_its_package_could_not_be_fetched() {
    for says in [Says::Roots, Says::Nothing] {
        let shop = Shop::new().open();
        shop.put("fail");
        let (mut client, hello) = ask_to_begin(&mut shop.wrap(&[&shop.scene.text("project")]), says);
        let answer = client.answer_to(hello);
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("package `name` could not be fetched: 404 no such package"), "{says:?}: {answer}");
        let (code, errors) = client.end_with_errors();
        assert_eq!(code, Some(2), "{errors}");
        assert!(errors.contains("404 no such package") && errors.contains("hint:"), "{errors}");
    }
}

#[test]
fn a_client_that_leaves_takes_the_fetch_with_it() {
    for (signal, code) in [("TERM", Some(143)), ("KILL", None)] {
        let shop = Shop::new();
        let (client, _) = ask_to_begin(&mut shop.wrap(&[&shop.scene.text("project")]), Says::Roots);
        shop.fetches();
        client.signal(signal);
        assert_eq!(client.end(), code);
        assert!(!shop.entry().unwrap().join("current").exists());
        // The lock is free: the next session fetches, and removes what was left.
        shop.put("go");
        let mut client = begin(&mut shop.wrap(&[]), Says::Roots, &[shop.scene.uri("project")]);
        assert_eq!(client.text("read", json!({"path": "file.txt"})), "project");
        assert_eq!(client.end(), Some(0));
        let names = fs::read_dir(shop.entry().unwrap()).unwrap().flatten().map(|entry| entry.file_name());
        assert_eq!(names.filter(|name| name.to_str().unwrap().starts_with("work-")).count(), 0, "{signal}");
    }
}

#[test]
fn two_sessions_at_once_fetch_once() {
    let shop = Shop::new();
    let begin = || ask_to_begin(&mut shop.wrap(&[&shop.scene.text("project")]), Says::Nothing);
    let (one, other) = (begin(), begin());
    shop.fetches();
    shop.put("go");
    let mut fetches = 0;
    for (mut client, hello) in [one, other] {
        assert_eq!(client.answer_to(hello)["result"]["serverInfo"]["name"], "server");
        let (code, errors) = client.end_with_errors();
        assert_eq!(code, Some(0), "{errors}");
        let is_fetch = |line: &&str| line.contains("fetching package") && !line.contains("another process");
        fetches += errors.lines().filter(is_fetch).count();
    }
    assert_eq!(fetches, 1);
}

/// A newer install by another process is only for that process's servers.
#[test]
fn a_restarted_server_runs_from_the_same_install() {
    let shop = Shop::new().open();
    let words = [&*shop.scene.text("project"), "--env", "STARTS"];
    let starts = shop.scene.path("project/starts");
    let mut client = begin(shop.wrap(&words).env("STARTS", &starts), Says::Nothing, &[]);
    let current = shop.entry().unwrap().join("current");
    fs::write(&current, r#"{"install":7,"fetched":0,"tried":null,"version":null}"#).unwrap();
    let crashed = client.begin("tools/call", json!({"name": "crash"}));
    assert_eq!(client.answer_to(crashed)["error"]["code"], -32603);
    assert_eq!(client.text("read", json!({"path": "file.txt"})), "project");
    let (code, errors) = client.end_with_errors();
    assert_eq!((code, errors.matches("fetching package").count()), (Some(0), 1), "{errors}");
    assert!(fs::read_to_string(starts).unwrap().lines().count() >= 2);
}

#[test]
fn without_a_sandbox_the_runner_runs_as_it_was_typed() {
    let shop = Shop::new().open();
    let run = shop.wrap(&["--sandbox", "off"]).stdin(Stdio::null()).output().unwrap();
    assert!(shop.entry().is_none(), "{run:?}");
}

#[test]
fn the_cache_is_listed_and_cleaned() {
    let shop = Shop::new().open();
    let cache = |words: &[&str]| {
        let mut command = shop.scene.rootward(&[&["cache"], words].concat());
        let run = command.output().unwrap();
        (run.status.code(), String::from_utf8(run.stdout).unwrap(), String::from_utf8(run.stderr).unwrap())
    };
    let (code, _, says) = cache(&["list"]);
    assert!(code == Some(1) && says.contains("there are no packages in `~/.cache/rootward/packages`"), "{says}");
    let mut client = begin(&mut shop.wrap(&[&shop.scene.text("project")]), Says::Nothing, &[]);
    let (code, list, _) = cache(&["list"]);
    assert!(
        code == Some(0)
            && list.starts_with("name\n  runner    npx\n  installed 1.0\n")
            && list.contains("used      now"),
        "{list}"
    );
    let doctor = shop.scene.rootward(&["doctor"]).output().unwrap();
    let doctor = String::from_utf8(doctor.stdout).unwrap();
    let line = doctor.lines().find(|line| line.starts_with("  fetched ")).unwrap_or_default();
    assert!(
        line.contains(" 1, ") && line.contains("B in ") && line.contains("/.cache/rootward/packages; "),
        "{doctor}"
    );
    let (code, says, _) = cache(&["clean"]);
    assert!(code == Some(1) && says.contains("kept name: a server runs from it"), "{says}");
    assert_eq!(client.text("read", json!({"path": "file.txt"})), "project");
    client.end();
    // What cannot be removed is not in use.
    let entry = shop.entry().unwrap();
    fs::rename(entry.join("lock"), entry.join("moved")).unwrap();
    fs::create_dir(entry.join("lock")).unwrap();
    let (code, says, errors) = cache(&["clean"]);
    assert_eq!((code, says.as_str()), (Some(2), ""), "{errors}");
    assert!(errors.contains("` was not removed: "), "{errors}");
    let (code, says, _) = cache(&["clean", "--json"]);
    let says: Value = serde_json::from_str(&says).unwrap();
    let count = |what: &str| says[what].as_array().unwrap().len();
    assert_eq!((code, count("removed"), count("kept"), count("failed")), (Some(2), 0, 0, 1), "{says}");
    fs::remove_dir(entry.join("lock")).unwrap();
    fs::rename(entry.join("moved"), entry.join("lock")).unwrap();
    // Leftovers of earlier versions.
    let old = shop.scene.path("home/.cache/rootward/packages/npx-0123456789abcdef");
    fs::create_dir_all(old.join("npm")).unwrap();
    let (_, list, _) = cache(&["list", "--json"]);
    let list: Value = serde_json::from_str(&list).unwrap();
    let packages = list["packages"].as_array().unwrap();
    assert_eq!(packages[0]["kind"], "runner cache", "{list}");
    assert_eq!((&packages[1]["package"], &packages[1]["in_use"]), (&json!("name"), &json!(false)), "{list}");
    let (code, _, says) = cache(&["clean", "other"]);
    assert!(code == Some(2) && says.contains("there is no package `other`"), "{says}");
    let (code, says, _) = cache(&["clean", "name"]);
    assert!(code == Some(0) && says.starts_with("removed name"), "{says}");
    assert!(shop.entry().is_none() && old.exists());
    let (code, says, _) = cache(&["clean", "--json"]);
    let says: Value = serde_json::from_str(&says).unwrap();
    assert_eq!((code, says["removed"].as_array().unwrap().len()), (Some(0), 1), "{says}");
    assert!(!old.exists());
}
