//! Remote servers behind the hub: a process without any directory reaches them over HTTP.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::{begin, hub, server};
use crate::wrap::scene::Scene;

const SECRET: &str = "hunter2-in-a-header";

/// A server over HTTP, and its port.
struct Remote {
    process: Child,
    port: u16,
}

impl Remote {
    fn start(port: u16) -> Remote {
        Remote::start_with(port, &[])
    }

    fn start_with(port: u16, words: &[&str]) -> Remote {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/hub/remote_server.py");
        let mut command = Command::new("python3");
        command.arg(script).arg(port.to_string()).args(words).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Remote { process, port: line.trim().parse().unwrap() }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp?key={SECRET}", self.port)
    }

    /// Its entry in a configuration, with these settings.
    fn entry(&self, settings: &Value) -> Value {
        json!({"url": self.url(), "headers": {"Authorization": "Bearer ${SECRET}"}, "rootward": settings})
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The hub with the secret in its environment.
fn hub_with_secret(scene: &Scene, config: &Value, words: &[&str]) -> Command {
    let mut command = hub(scene, config, words);
    command.env("SECRET", SECRET);
    command
}

/// The process that connects to an address: its command line, and its directory in `/proc`.
fn connector(address: &str) -> (String, PathBuf) {
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let words = |process: &PathBuf| {
        let words = std::fs::read(process.join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&words).trim_end_matches('\0').replace('\0', " "))
    };
    let mut found = processes.filter_map(|process| Some((words(&process)?, process)));
    found.find(|(words, _)| words.contains("rootward connect ") && words.contains(address)).unwrap()
}

#[test]
fn a_remote_and_a_local_server_behind_one_hub() {
    let scene = Scene::new();
    let remote = Remote::start(0);
    let config = json!({"mcpServers": {"far": remote.entry(&json!({})), "near": server(&json!({}))}});
    for _ in ["not remembered", "remembered"] {
        let mut command = hub_with_secret(&scene, &config, &[]);
        command.stderr(Stdio::piped());
        let mut client = begin(&mut command, &[scene.uri("project")]);
        let listed = client.ask("tools/list", json!({})).to_string();
        assert!(listed.contains("far__echo") && listed.contains("near__read"), "{listed}");
        assert_eq!(client.text("far__header", json!({})), format!("Bearer {SECRET}"));
        assert_eq!(client.text("near__where", json!({})), scene.text("project"));
        // Its address is on this machine, so its paths are checked. It does not get the roots.
        assert_eq!(client.text("far__read", json!({"path": scene.path("project/file.txt")})), "project");
        let refused = client.call("far__read", json!({"path": scene.path("outside/file.txt")}));
        assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{refused}");
        assert_eq!(client.text("far__roots", json!({})), "{\"roots\": []}");
        let told = client.call("get-roots", json!({}))["result"]["structuredContent"]["servers"][0].clone();
        assert_eq!(told["confinement"], "it runs on another machine; the paths in its calls are checked", "{told}");
        let address = format!("http://127.0.0.1:{}", remote.port);
        let (words, process) = connector(&address);
        assert!(words.ends_with(&format!("rootward connect {address}")), "{words}");
        let status = std::fs::read_to_string(process.join("status")).unwrap();
        assert!(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"), "{status}");
        let works_in = std::fs::read_link(process.join("cwd")).unwrap();
        assert!(!works_in.starts_with(scene.path("")), "{}", works_in.display());
        let (code, says) = client.end_with_errors();
        assert_eq!(code, Some(0), "{says}");
        assert!(!says.contains(SECRET), "{says}");
    }
    let decisions = scene.decisions();
    assert!(decisions.iter().any(|line| line["server"] == "far" && line["decision"] == "deny"), "{decisions:?}");
    assert!(!json!(decisions).to_string().contains(SECRET));
    for file in std::fs::read_dir(scene.path("home/.local/state/rootward/handshakes")).unwrap().flatten() {
        assert!(!std::fs::read_to_string(file.path()).unwrap().contains(SECRET));
    }
}

#[test]
fn a_remote_server_may_speak_only_the_modern_era() {
    let scene = Scene::new();
    let remote = Remote::start_with(0, &["modern"]);
    let config = json!({"mcpServers": {"far": remote.entry(&json!({"tell_roots": true}))}});
    for _ in ["not remembered", "remembered"] {
        let mut client = begin(&mut hub_with_secret(&scene, &config, &[]), &[scene.uri("project")]);
        assert_eq!(client.text("far__header", json!({})), format!("Bearer {SECRET}"));
        assert_eq!(client.text("far__read", json!({"path": scene.path("project/file.txt")})), "project");
        let refused = client.call("far__read", json!({"path": scene.path("outside/file.txt")}));
        assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{refused}");
        let told: Value = serde_json::from_str(&client.text("far__roots", json!({}))).unwrap();
        assert_eq!(told["roots"][0]["uri"], scene.uri("project"), "{told}");
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn a_remote_server_is_told_the_roots_if_the_file_says_so() {
    let scene = Scene::new();
    let remote = Remote::start(0);
    let config = json!({"mcpServers": {"far": remote.entry(&json!({"tell_roots": true}))}});
    let mut client = begin(&mut hub_with_secret(&scene, &config, &[]), &[scene.uri("project")]);
    let told: Value = serde_json::from_str(&client.text("far__roots", json!({}))).unwrap();
    assert_eq!(told["roots"][0]["uri"], scene.uri("project"), "{told}");
    client.share(&[scene.uri("other")]);
    let told: Value = serde_json::from_str(&client.text("far__roots", json!({}))).unwrap();
    assert_eq!(told["roots"][0]["uri"], scene.uri("other"), "{told}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn paths_that_mean_nothing_here_are_not_checked() {
    let scene = Scene::new();
    let remote = Remote::start(0);
    let config = json!({"mcpServers": {"far": remote.entry(&json!({"check_paths": false}))}});
    let mut client = begin(&mut hub_with_secret(&scene, &config, &[]), &[scene.uri("project")]);
    assert_eq!(client.text("far__echo", json!({"path": "/issues/1"})), "/issues/1");
    assert_eq!(client.text("far__echo", json!({"path": "/"})), "/");
    let told = client.call("get-roots", json!({}))["result"]["structuredContent"]["servers"][0].clone();
    assert_eq!(told["confinement"], "it runs on another machine and cannot see files on this one", "{told}");
    assert_eq!(told["roots"], json!([]), "{told}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_remote_server_that_was_restarted_is_used_again() {
    let scene = Scene::new();
    let remote = Remote::start(0);
    let port = remote.port;
    let config = json!({"mcpServers": {"far": remote.entry(&json!({})), "near": server(&json!({}))}});
    let mut client = begin(&mut hub_with_secret(&scene, &config, &[]), &[scene.uri("project")]);
    assert_eq!(client.text("far__echo", json!({"path": "a"})), "a");
    drop(remote);
    let failed = client.call("far__echo", json!({"path": "a"}));
    assert_eq!(failed["error"]["code"], -32603, "{failed}");
    let says = failed["error"]["message"].as_str().unwrap();
    assert!(says.contains("127.0.0.1") && !says.contains(SECRET), "{says}");
    assert_eq!(client.text("near__where", json!({})), scene.text("project"));
    let _again = Remote::start(port);
    // The new server does not know the session: the connector ends, at the latest with this call, and the next one begins
    // with a handshake.
    let called = client.call("far__echo", json!({"path": "a"}));
    let says = called["error"]["message"].as_str().unwrap_or("no longer knows this session");
    assert!(says.contains("no longer knows this session") && !says.contains(SECRET), "{called}");
    assert_eq!(client.text("far__echo", json!({"path": "a"})), "a");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn the_address_of_a_remote_server_is_checked() {
    let scene = Scene::new();
    let check = |entry: Value| {
        let config = json!({"mcpServers": {"far": entry}});
        let run = hub_with_secret(&scene, &config, &["--check"]).output().unwrap();
        let says = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert!(!says.contains(SECRET), "{says}");
        (run.status.code(), says)
    };
    let headers = json!({"Authorization": "Bearer ${SECRET}"});
    let url = format!("https://mcp.example.org/mcp?key={SECRET}");
    let (code, says) = check(json!({"url": url, "headers": headers}));
    assert_eq!(code, Some(0), "{says}");
    for expect in
        ["far: https://mcp.example.org/mcp?key=…", "headers: Authorization", "paths in its calls are not checked"]
    {
        assert!(says.contains(expect), "{says}");
    }
    let (code, says) = check(json!({"url": "http://mcp.example.org/", "headers": headers}));
    assert_eq!(code, Some(2), "{says}");
    assert!(says.contains("not encrypted") && says.contains("allow_plain_http"), "{says}");
    let allowed = json!({"allow_plain_http": true});
    let (code, says) = check(json!({"url": "http://mcp.example.org/", "rootward": allowed}));
    assert_eq!(code, Some(0), "{says}");
    assert!(says.contains("paths in its calls are checked"), "{says}");
    let (code, says) = check(json!({"command": "x", "rootward": {"check_paths": false}}));
    assert_eq!(code, Some(2), "{says}");
    assert!(says.contains("no effect on a server that is a command"), "{says}");
    let (code, says) = check(json!({"url": "https://mcp.example.org/", "type": "sse"}));
    assert_eq!(code, Some(2), "{says}");
    assert!(says.contains("streamable HTTP replaced it"), "{says}");
}
