//! Known file servers: the directories in their arguments are a ceiling, and they get the current roots instead.

use std::process::{Command, Stdio};

use rootward_testkit::client::Client;
use serde_json::{Value, json};

use super::giving::words_of;
use super::scene::{Says, Scene, begin};

/// Installs the test server under the name of a known one.
fn install(scene: &Scene, below: &str) -> String {
    super::recipes::install(scene, below, "rust-mcp-filesystem")
}

/// `rootward wrap` in front of it, started in the parent of all directories.
fn wrap(scene: &Scene, words: &[&str], server: &[&str]) -> Command {
    let mut command = scene.wrap_command(words, server);
    command.current_dir(scene.path("")).stderr(Stdio::piped());
    command
}

fn code(client: &mut Client, path: &str) -> Value {
    client.call("read", json!({"path": path}))["result"]["structuredContent"]["code"].clone()
}

#[test]
fn directories_in_the_arguments_are_a_ceiling() {
    let scene = Scene::new();
    let program = install(&scene, "tools/bin");
    let (project, other, outside) = (scene.text("project"), scene.text("other"), scene.text("outside/file.txt"));
    for strength in ["auto", "off"] {
        let server = [&*program, "--allow-write", "project", "./other", "gone"];
        let options = ["--sandbox", strength];
        // A client without roots gets the directories in the arguments.
        let mut client = begin(&mut wrap(&scene, &options, &server), Says::Nothing, &[]);
        assert_eq!(words_of(&mut client), json!([project, other, "--allow-write"]));
        assert_eq!(client.text("read", json!({"path": scene.path("other/file.txt")})), "other");
        assert_eq!(code(&mut client, &outside), "outside_roots");
        let (ended, says) = client.end_with_errors();
        assert_eq!(ended, Some(0));
        let reported = "warning: directory `gone` in the server's arguments is left out: does not exist\n";
        assert!(says.contains(reported), "{says}");
        // A client with roots gets the intersection.
        let roots = [scene.uri("other"), scene.uri("outside")];
        let mut client = begin(&mut wrap(&scene, &options, &server), Says::Roots, &roots);
        assert_eq!(words_of(&mut client), json!([other, "--allow-write"]));
        assert_eq!(code(&mut client, &outside), "outside_roots");
        assert_eq!(code(&mut client, &scene.text("project/file.txt")), "outside_roots");
        client.end();
    }
}

/// The example of the document that the hub grew from.
#[test]
fn filesystem_server_gets_its_directories() {
    let scene = Scene::new();
    let program = super::recipes::install(&scene, "tools/bin", "filesystem-server");
    let roots = [scene.uri("project"), scene.uri("other")];
    let mut client = begin(&mut wrap(&scene, &[], &[&program, "--read-only"]), Says::Roots, &roots);
    assert_eq!(words_of(&mut client), json!([scene.text("project"), scene.text("other"), "--read-only"]));
    client.end();
}

#[test]
fn arguments_and_flags_narrow_each_other() {
    let scene = Scene::new();
    let program = install(&scene, "tools/bin");
    let (project, outside) = (scene.text("project"), scene.text("outside"));
    let server = [&*program, &*project, "other"];
    let read_only = format!("{project}:ro");
    let mut client = begin(&mut wrap(&scene, &["--root", &read_only], &server), Says::Nothing, &[]);
    assert_eq!(words_of(&mut client), json!([project]));
    assert_eq!(client.text("read", json!({"path": scene.path("project/file.txt")})), "project");
    assert_eq!(code(&mut client, &scene.text("other/file.txt")), "outside_roots");
    let written = client.call("write_file", json!({"path": scene.path("project/new")}));
    assert_eq!(written["result"]["structuredContent"]["code"], "access_denied", "{written}");
    client.end();
    // An empty intersection is a ceiling, too: everything is refused.
    for says in [Says::Nothing, Says::Roots] {
        let roots = [scene.uri("outside"), scene.uri("project")];
        let mut client = begin(&mut wrap(&scene, &["--root", &outside], &server), says, &roots);
        assert_eq!(words_of(&mut client), json!([]));
        for name in ["project", "other", "outside"] {
            let code = code(&mut client, &scene.text(&format!("{name}/file.txt")));
            assert!(code == "no_roots" || code == "outside_roots", "{says:?} {name}: {code}");
        }
        let (_, errors) = client.end_with_errors();
        assert!(errors.contains("in the server's arguments is left out: "), "{errors}");
    }
}

#[test]
fn a_server_that_others_could_have_written_names_no_ceiling() {
    let scene = Scene::new();
    let program = install(&scene, "project/bin");
    let server = [&*program, "other"];
    // The program is inside the directory that it may write.
    for words in [&["--root", "project"][..], &[]] {
        let mut client = begin(&mut wrap(&scene, words, &[&program, "project"]), Says::Nothing, &[]);
        assert_eq!(words_of(&mut client), json!(["project"]), "{words:?}");
        let (_, errors) = client.end_with_errors();
        assert!(errors.contains("recipe `rust-mcp-filesystem` is not used"), "{errors}");
    }
    // After the first start, that directory counts as writable material.
    let mut client = begin(&mut wrap(&scene, &[], &server), Says::Nothing, &[]);
    assert_eq!(words_of(&mut client), json!(["other"]));
    assert_eq!(code(&mut client, &scene.text("other/file.txt")), "no_roots");
    client.end();
}
