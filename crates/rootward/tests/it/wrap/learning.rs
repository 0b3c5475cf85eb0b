//! `--learn`: writes a recipe from what a confined server was refused.

use std::process::{Command, Stdio};

use serde_json::json;

use super::scene::{Says, Scene, begin};

fn wrap(scene: &Scene, file: &str) -> Command {
    let words = ["--learn", file, "--treat", "read.path=text", "--treat", "write_file.path=text", "--root"];
    let mut command = scene.wrap(&[&words[..], &[&scene.text("project")]].concat());
    command.env("A_TOKEN", "s3cr3t").stderr(Stdio::piped());
    command
}

/// One run in which the server tries these files.
fn learn(scene: &Scene, file: &str, reads: &[&str]) -> String {
    let mut client = begin(&mut wrap(scene, file), Says::Nothing, &[]);
    for path in reads {
        assert_eq!(client.text("read", json!({"path": scene.path(path)})), "failed: Permission denied", "{path}");
    }
    let (code, says) = client.end_with_errors();
    assert_eq!(code, Some(0), "{says}");
    std::fs::read_to_string(file).unwrap()
}

#[test]
fn what_was_refused_is_written_down_and_not_allowed() {
    let scene = Scene::new();
    let file = scene.text("learned.toml");
    let text = learn(&scene, &file, &["outside/file.txt"]);
    let outside = scene.text("outside/file.txt");
    assert!(text.contains(&format!("  # \"{outside}\", # it tried to read or run this\n")), "{text}");
    assert!(text.contains("  # \"A_TOKEN\", # "), "{text}");
    assert!(!text.contains("s3cr3t"), "{text}");
    // Accepted lines stay, and new ones are added.
    std::fs::write(&file, text.replace("# \"A_TOKEN\"", "\"A_TOKEN\"")).unwrap();
    let text = learn(&scene, &file, &["other/file.txt"]);
    assert!(text.contains("\n  \"A_TOKEN\", # "), "{text}");
    assert!(text.contains(&outside) && text.contains(&scene.text("other/file.txt")), "{text}");
    // The file is a valid recipe.
    let recipes = scene.path("home/.config/rootward/recipes");
    std::fs::create_dir_all(&recipes).unwrap();
    std::fs::rename(&file, recipes.join("learned.toml")).unwrap();
    let listed = scene.rootward(&["recipe", "learned"]).output().unwrap();
    assert_eq!(listed.status.code(), Some(0), "{listed:?}");
}

#[test]
fn learning_proposes_no_secret() {
    let scene = Scene::new();
    std::fs::create_dir_all(scene.path("home/.ssh")).unwrap();
    std::fs::write(scene.path("home/.ssh/id_rsa"), "KEY").unwrap();
    let text = learn(&scene, &scene.text("learned.toml"), &["home/.ssh/id_rsa", "home/file.txt"]);
    assert!(!text.contains(".ssh"), "{text}");
    assert!(text.contains("# Not proposed: "), "{text}");
    assert!(text.contains("# \"~/file.txt\", "), "{text}");
}

#[test]
fn a_file_of_somebody_elses_is_not_written() {
    let scene = Scene::new();
    let file = scene.text("project/mine.toml");
    std::fs::write(&file, "mine = true\n").unwrap();
    let run = wrap(&scene, &file).stdin(Stdio::null()).output().unwrap();
    assert_eq!(run.status.code(), Some(2), "{run:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine = true\n");
    assert!(run.stdout.is_empty());
}

#[test]
fn a_recipe_is_not_learned_where_the_server_can_write() {
    let scene = Scene::new();
    let refused = "a confined server could have changed it";
    // In the root that the command line names.
    let file = scene.text("project/learned.toml");
    let run = wrap(&scene, &file).stdin(Stdio::null()).output().unwrap();
    let says = String::from_utf8(run.stderr).unwrap();
    assert!(run.status.code() == Some(2) && says.contains(refused), "{says}");
    // In a root that the client names later.
    let file = scene.text("other/learned.toml");
    let mut command = scene.wrap(&["--learn", &file]);
    let mut client = begin(command.stderr(Stdio::piped()), Says::Roots, &[scene.uri("other")]);
    assert_eq!(client.text("where", json!({})), scene.text("other"));
    let (code, says) = client.end_with_errors();
    assert!(code == Some(2) && says.contains(refused), "{says}");
    assert!(!std::path::Path::new(&file).exists());
}

#[test]
fn nothing_is_learned_without_the_sandbox() {
    let scene = Scene::new();
    let run = scene.wrap(&["--sandbox", "off", "--learn", "x.toml"]).stdin(Stdio::null()).output().unwrap();
    let says = String::from_utf8(run.stderr).unwrap();
    assert!(run.status.code() == Some(2) && says.contains("needs a confined server"), "{says}");
}
