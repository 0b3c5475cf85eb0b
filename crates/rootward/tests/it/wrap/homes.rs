//! The home of a server: per project, shared by all projects, temporary, or none.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rootward_testkit::client::Client;
use serde_json::json;

use super::scene::{Says, Scene, begin};

const KEPT: &str = "home/.local/state/rootward/homes";

/// The server accepts any path: only the kernel confines it.
fn wrap(scene: &Scene, home: &str, root: &str) -> Command {
    let root = scene.text(root);
    let mut words = vec!["--treat", "read.path=text", "--treat", "write_file.path=text", "--root", &root];
    if !home.is_empty() {
        words.extend(["--home", home]);
    }
    scene.wrap(&words)
}

fn start(scene: &Scene, home: &str, root: &str) -> Client {
    begin(&mut wrap(scene, home, root), Says::Nothing, &[])
}

fn home_of(client: &mut Client) -> String {
    serde_json::from_str(&client.text("variable", json!({"name": "HOME"}))).unwrap()
}

/// Has the server read its kept file, then write it. Returns both results.
fn keep(scene: &Scene, home: &str, root: &str) -> (String, String) {
    let mut client = start(scene, home, root);
    let file = format!("{}/kept.txt", home_of(&mut client));
    let read = client.text("read", json!({"path": file}));
    let written = client.text("write_file", json!({"path": file, "content": root}));
    client.end();
    (read, written)
}

#[test]
fn a_home_lasts_for_its_server_and_project() {
    const GONE: &str = "failed: No such file or directory";
    let scene = Scene::new();
    let check = |home: &str, root: &str, expect: &str| {
        assert_eq!(keep(&scene, home, root), (expect.to_owned(), "written".to_owned()), "{home} {root}");
    };
    check("", "project", GONE);
    check("", "project", "project");
    check("project", "project", "project");
    check("", "other", GONE);
    check("", "other", "other");
    check("shared", "project", GONE);
    check("shared", "other", "project");
    check("private", "project", GONE);
    check("private", "project", GONE);
    assert_eq!(keep(&scene, "none", "project"), (GONE.to_owned(), "failed: Permission denied".to_owned()));
    let homes: Vec<PathBuf> = std::fs::read_dir(scene.path(KEPT)).unwrap().map(|home| home.unwrap().path()).collect();
    assert_eq!(homes.len(), 1, "{homes:?}");
    let mode = homes[0].metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_home_is_closed_to_all_other_servers() {
    let scene = Scene::new();
    keep(&scene, "", "project");
    let homes = std::fs::read_dir(scene.path(KEPT)).unwrap().next().unwrap().unwrap().path();
    let kept = std::fs::read_dir(homes).unwrap().next().unwrap().unwrap().path().join("kept.txt");
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "project");
    for root in ["other", "home"] {
        let mut client = start(&scene, "", root);
        assert_eq!(client.text("read", json!({"path": kept})), "failed: Permission denied", "{root}");
        client.end();
    }
}

#[test]
fn a_kept_home_is_not_moved_by_a_link() {
    let scene = Scene::new();
    keep(&scene, "", "project");
    let homes = std::fs::read_dir(scene.path(KEPT)).unwrap().next().unwrap().unwrap().path();
    let kept = std::fs::read_dir(&homes).unwrap().next().unwrap().unwrap().path();
    for moved in [kept, homes, scene.path(KEPT)] {
        std::fs::rename(&moved, moved.with_extension("moved")).unwrap();
        symlink(scene.path("outside"), &moved).unwrap();
        let mut client = Client::start(wrap(&scene, "", "project").stderr(Stdio::piped()));
        let answer = client.ask("initialize", json!({"protocolVersion": "2025-06-18", "capabilities": {}}));
        assert!(answer["error"].is_object(), "{answer}");
        let (_, says) = client.end_with_errors();
        assert!(says.contains("is a link that a confined server could have made"), "{says}");
        std::fs::remove_file(&moved).unwrap();
        std::fs::rename(moved.with_extension("moved"), &moved).unwrap();
    }
    assert_eq!(std::fs::read_dir(scene.path("outside")).unwrap().count(), 1, "nothing was created behind the link");
}

#[test]
fn a_learner_does_not_see_the_home_that_lasts() {
    let scene = Scene::new();
    let root = scene.uri("project");
    let words = ["--env", "TELLS"];
    let begin = || {
        let mut command = scene.wrap(&[&words[..], &["--home", "shared", "--treat", "write_file.path=text"]].concat());
        let mut client = Client::start(command.env("TELLS", "home"));
        client.name_roots([root.clone()]);
        let answer = client.ask("initialize", json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}}));
        client.notify("notifications/initialized", ());
        (client, answer["result"]["instructions"].clone())
    };
    let (mut client, instructions) = begin();
    assert_eq!(instructions, "nothing");
    let file = format!("{}/kept.txt", home_of(&mut client));
    assert_eq!(client.text("write_file", json!({"path": file, "content": "SECRET OF A PROJECT"})), "written");
    client.end();
    std::fs::remove_dir_all(scene.path("home/.local/state/rootward/handshakes")).unwrap();
    let (client, instructions) = begin();
    assert_eq!(instructions, "nothing");
    client.end();
}
