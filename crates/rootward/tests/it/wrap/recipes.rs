//! Recipes: what they allow a known server, and what no recipe can allow.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::scene::{Says, Scene, begin};

/// Installs the test server as a program with this name.
pub(super) fn install(scene: &Scene, below: &str, name: &str) -> String {
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/wrap/server.py");
    let program = scene.path(below).join(name);
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    let script = format!("#!/usr/bin/env python3\n{}", std::fs::read_to_string(server).unwrap());
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    program.to_str().unwrap().to_owned()
}

/// Writes a user's recipe for a program.
fn write_recipe(scene: &Scene, program: &str, more: &str) {
    let directory = scene.path("home/.config/rootward/recipes");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("known.toml"), format!("about = \"x\"\nprograms = [{program:?}]\n{more}")).unwrap();
}

fn wrap(scene: &Scene, words: &[&str], program: &str) -> Command {
    let mut command = scene.wrap_command(words, &[program]);
    command.current_dir(scene.path("project")).stderr(Stdio::piped());
    command
}

/// Runs it without input until it exits.
fn run(command: &mut Command) -> (Option<i32>, String) {
    let run = command.stdin(Stdio::null()).output().unwrap();
    (run.status.code(), String::from_utf8(run.stderr).unwrap())
}

#[test]
fn a_recipe_gives_what_the_server_needs() {
    let scene = Scene::new();
    let program = install(&scene, "tools/bin", "known");
    let extra = scene.text("outside");
    let recipe = format!(
        "env = [\"KNOWN_*\"]\n[set]\nKNOWN_FILE = \"${{home}}/x\"\nKNOWN_ROOT = \"${{root}}\"\nKNOWN_GONE = \"${{userHome}}/gone\"\n\
         KNOWN_THERE = \"${{userHome}}/file.txt\"\n[allow]\nread = [{extra:?}, \"/gone\"]\n[arguments]\n\"*.path\" = \"text\"\n"
    );
    write_recipe(&scene, &program, &recipe);
    let project = scene.text("project");
    let file = json!({"path": scene.path("outside/file.txt")});
    let mut command = wrap(&scene, &[&project], &program);
    let mut client = begin(command.env("KNOWN_KEY", "k").env("OTHER_KEY", "o"), Says::Nothing, &[]);
    let mut variable = |name: &str| client.text("variable", json!({"name": name}));
    assert_eq!(variable("KNOWN_KEY"), "\"k\"");
    assert_eq!(variable("OTHER_KEY"), "null");
    assert_eq!(variable("KNOWN_ROOT"), json!(project).to_string());
    assert_eq!(variable("KNOWN_GONE"), "null");
    assert_eq!(variable("KNOWN_THERE"), json!(scene.text("home/file.txt")).to_string());
    let home = variable("HOME");
    assert_eq!(variable("KNOWN_FILE"), format!("{}/x\"", home.trim_end_matches('"')));
    assert_eq!(client.text("read", file.clone()), "outside");
    let (_, says) = client.end_with_errors();
    let note = format!("note: recipe `known` passes KNOWN_*, opens `{extra}` for read\n");
    assert!(says.contains(&note), "{says}");
    // The user's flags take precedence.
    let mut command = wrap(&scene, &["--treat", "read.path=read", &project], &program);
    let mut client = begin(command.env("KNOWN_FILE", "mine"), Says::Nothing, &[]);
    assert_eq!(client.text("variable", json!({"name": "KNOWN_FILE"})), "\"mine\"");
    assert_eq!(client.call("read", file.clone())["result"]["structuredContent"]["code"], "outside_roots");
    client.end();
    let mut command = wrap(&scene, &["--recipe", "none", &project], &program);
    let mut client = begin(command.env("KNOWN_KEY", "k"), Says::Nothing, &[]);
    assert_eq!(client.text("variable", json!({"name": "KNOWN_KEY"})), "null");
    assert_eq!(client.call("read", file)["result"]["structuredContent"]["code"], "outside_roots");
    client.end();
}

#[test]
fn a_recipe_sets_the_users_name_for_git() {
    let scene = Scene::new();
    let program = install(&scene, "tools/bin", "known");
    write_recipe(
        &scene,
        &program,
        "[set]\nKNOWN_NAME = \"${git:user.name}\"\nKNOWN_MAIL = \"${git:user.email}\"\nKNOWN_TOKEN = \"${git:github.token}\"\n",
    );
    std::fs::write(scene.path("home/.gitconfig"), "[github]\ntoken = secret\n[user]\nname = Ada Lovelace\n").unwrap();
    let project = scene.text("project");
    let mut client = begin(&mut wrap(&scene, &[&project], &program), Says::Nothing, &[]);
    let mut variable = |name: &str| client.text("variable", json!({"name": name}));
    assert_eq!(variable("KNOWN_NAME"), "\"Ada Lovelace\"");
    assert_eq!(variable("KNOWN_MAIL"), "null");
    assert_eq!(variable("KNOWN_TOKEN"), "\"${git:github.token}\"");
    client.end();
}

#[test]
fn a_recipe_sets_what_the_user_sets_and_does_not_pass() {
    let scene = Scene::new();
    let program = install(&scene, "tools/bin", "known");
    write_recipe(&scene, &program, "[set]\nKNOWN_OPTION = \"recipe\"\n");
    let project = scene.text("project");
    for (words, expect) in [(&[&*project][..], "\"recipe\""), (&["--env", "KNOWN_OPTION", &project], "\"user\"")] {
        let mut command = wrap(&scene, words, &program);
        let mut client = begin(command.env("KNOWN_OPTION", "user"), Says::Nothing, &[]);
        assert_eq!(client.text("variable", json!({"name": "KNOWN_OPTION"})), expect);
        client.end();
    }
}

#[test]
fn a_recipe_adds_options_to_the_command() {
    let scene = Scene::new();
    let program = install(&scene, "tools/bin", "known");
    let missing = scene.text("outside/browser");
    let recipe = format!(
        "own_proc = true\n[[append]]\narguments = [\"--added\", \"--level=1\"]\nunless = [\"--other\", \"KNOWN_OTHER\"]\n\
         missing = [{missing:?}]\n[[append]]\narguments = [\"--program=/usr/bin/gone\"]\n"
    );
    write_recipe(&scene, &program, &recipe);
    let check = |words: &[&str], own: &[&str], variable: Option<&str>, expect: &[&str]| {
        let mut command = scene.wrap_command(&[words, &["."]].concat(), &[&[&*program][..], own].concat());
        command.current_dir(scene.path("project")).stderr(Stdio::piped()).envs(variable.map(|name| (name, "x")));
        let mut client = begin(&mut command, Says::Nothing, &[]);
        assert_eq!(client.text("words", json!({})), json!(expect).to_string().replace(',', ", "), "{words:?} {own:?}");
        client.end_with_errors().1
    };
    let says = check(&[], &["x"], None, &["x", "--added", "--level=1"]);
    let note = "note: recipe `known` lets every process read its own files in `/proc`, adds `--added --level=1`\n";
    assert!(says.contains(note), "{says}");
    check(&[], &["--level", "2"], None, &["--level", "2", "--added"]);
    check(&[], &["--other=3"], None, &["--other=3"]);
    check(&[], &["--", "x"], None, &["--", "x"]);
    // A variable counts only if the server gets it.
    check(&[], &[], Some("KNOWN_OTHER"), &["--added", "--level=1"]);
    check(&["--env", "KNOWN_OTHER"], &[], Some("KNOWN_OTHER"), &[]);
    check(&["--sandbox", "off"], &[], None, &[]);
    check(&["--recipe", "none"], &[], None, &[]);
    std::fs::write(&missing, "").unwrap();
    check(&[], &[], None, &[]);
}

#[test]
fn a_recipe_opens_no_secret_place() {
    let scene = Scene::new();
    let program = install(&scene, "tools/bin", "known");
    for name in ["home/.ssh", "home/.local/state/rootward"] {
        std::fs::create_dir_all(scene.path(name)).unwrap();
    }
    symlink(scene.path("home/.ssh"), scene.path("home/link")).unwrap();
    for place in ["~/.ssh", "~/link", "~/.config/rootward", "~/.local/state/rootward", &scene.text("home")] {
        for list in ["read", "write"] {
            write_recipe(&scene, &program, &format!("[allow]\n{list} = [{place:?}]\n"));
            let (code, says) = run(&mut wrap(&scene, &["."], &program));
            assert_eq!(code, Some(2), "{place}: {says}");
            let expect = format!("recipe `known` opens `{place}`, which is a secret place or contains one");
            assert!(says.contains(&expect), "{says}");
        }
    }
}

#[test]
fn a_recipe_connects_to_nobody_who_acts_for_the_user() {
    let scene = Scene::new();
    let program = install(&scene, "tools/bin", "known");
    for name in ["docker.sock", "bus", "S.gpg-agent", "agent"] {
        let socket = scene.text(&format!("outside/{name}"));
        write_recipe(&scene, &program, &format!("[allow]\nsockets = [{socket:?}]\n"));
        let mut command = wrap(&scene, &["."], &program);
        command.env("SSH_AUTH_SOCK", scene.path("outside/agent"));
        command.env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", scene.text("outside/bus")));
        let (code, says) = run(&mut command);
        assert_eq!(code, Some(2), "{name}: {says}");
        assert!(says.contains("which acts for the user"), "{says}");
    }
    write_recipe(&scene, &program, &format!("[allow]\nsockets = [{:?}]\n", scene.text("outside/database.sock")));
    let (_, says) = run(&mut wrap(&scene, &["."], &program));
    assert!(says.contains("note: recipe `known` connects to `"), "{says}");
}

#[test]
fn a_recipe_is_for_what_no_confined_server_could_have_written() {
    let scene = Scene::new();
    let program = install(&scene, "project/bin", "known");
    write_recipe(&scene, &program, "env = [\"KNOWN_KEY\"]\n");
    // The program is in the root, and later in a place that was once writable.
    for words in [&["."][..], &[&scene.text("other")]] {
        let mut command = wrap(&scene, words, &program);
        let mut client = begin(command.env("KNOWN_KEY", "k"), Says::Nothing, &[]);
        assert_eq!(client.text("variable", json!({"name": "KNOWN_KEY"})), "null");
        let (_, says) = client.end_with_errors();
        assert!(says.contains("recipe `known` is not used, because a confined server could have written"), "{says}");
    }
    // Unless the user selects the recipe.
    let mut command = wrap(&scene, &["--recipe", "known", "."], &program);
    let mut client = begin(command.env("KNOWN_KEY", "k"), Says::Nothing, &[]);
    assert_eq!(client.text("variable", json!({"name": "KNOWN_KEY"})), "\"k\"");
    client.end();
}

#[test]
fn a_broken_recipe_starts_nothing() {
    let scene = Scene::new();
    let program = install(&scene, "tools/bin", "known");
    write_recipe(&scene, &program, "home = 7\n");
    let (code, says) = run(&mut wrap(&scene, &["."], &program));
    assert_eq!(code, Some(2));
    assert!(says.contains("known.toml`: line 3, column 8: "), "{says}");
    let (code, says) = run(&mut wrap(&scene, &["--recipe", "none", "."], &program));
    assert_eq!(code, Some(2), "the unreadable recipe may be the right one: {says}");
    let (code, says) = run(&mut scene.rootward(&["wrap", "--recipe", "gone", "--", "true"]));
    assert_eq!(code, Some(2));
    assert!(says.contains("known.toml`"), "{says}");
}

#[test]
fn tilde_in_a_flag_is_the_users_home() {
    let scene = Scene::new();
    let program = install(&scene, "tools/bin", "known");
    std::fs::create_dir(scene.path("home/extra")).unwrap();
    std::fs::write(scene.path("home/extra/file.txt"), "extra").unwrap();
    let words = ["--allow-read", "~/extra", "--treat", "read.path=text", "."];
    let mut client = begin(&mut wrap(&scene, &words, &program), Says::Nothing, &[]);
    assert_eq!(client.text("read", json!({"path": scene.path("home/extra/file.txt")})), "extra");
    client.end();
}
