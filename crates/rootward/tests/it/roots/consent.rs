//! Consent: asked for on a terminal or given with a flag, and never assumed.

use std::fs;

use super::{STORE, stored};
use crate::stage::{Run, Stage};

/// Runs the program on a new terminal, which `script` of util-linux provides, and types these lines.
pub(crate) fn on_a_terminal(stage: &Stage, arguments: &str, typed: &str) -> Run {
    let program = env!("CARGO_BIN_EXE_rootward");
    let mut command = stage.command([""; 0]);
    let envs: Vec<_> =
        command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
    command = std::process::Command::new("script");
    command.args(["-qec", &format!("'{program}' {arguments}"), "/dev/null"]);
    command.env_clear().env("PATH", "/usr/bin:/bin").envs(envs).current_dir(stage.path("project"));
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), typed.as_bytes()).unwrap();
    let mut run: Run = child.wait_with_output().unwrap().into();
    run.stdout = run.stdout.replace("\r\n", "\n").replace(stage.top().to_str().unwrap(), "[STAGE]");
    run
}

#[test]
fn nothing_is_shared_without_a_yes() {
    let stage = Stage::new();
    for fed in ["", "y\n", "yes\n"] {
        // From a file: the program does not read it, and writing to an unread pipe could fail.
        stage.write("answer", fed);
        let answer = fs::File::open(stage.path("answer")).unwrap();
        let run: Run = stage.command(["roots", "add", "src"]).stdin(answer).output().unwrap().into();
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains("there is no terminal to ask on\n\nhint: pass `--yes`"), "{}", run.stderr);
    }
    for typed in ["n\n", "\n", "yep\n", "\u{4}"] {
        let run = on_a_terminal(&stage, "roots add src", typed);
        assert_eq!(run.code, Some(1), "{typed:?}: {}", run.stdout);
        assert!(run.stdout.contains("nothing was shared"), "{}", run.stdout);
    }
    assert!(!fs::exists(stage.path(STORE)).unwrap());
    assert!(!fs::exists(stage.path("home/.local/state/rootward/audit")).unwrap(), "nothing happened");
}

#[test]
fn a_yes_is_given_to_what_was_shown() {
    let stage = Stage::new();
    stage.write("outside/.aws/credentials", "secret");
    let run = on_a_terminal(&stage, "roots add leak:ro --close '*.pem' --for git", "y\n");
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    for line in [
        "directory [STAGE]/outside\n",
        "  access   read\n",
        "  for      `git`, until it is removed\n",
        "  named as [STAGE]/project/leak, which leads there\n",
        "  closed   `*.pem`\n",
        "  closed   `.aws`\n",
        "share it? [y/N]",
        "shared `[STAGE]/outside` (read), for `git`\n",
    ] {
        assert!(run.stdout.contains(line), "{line}: {}", run.stdout);
    }
    assert!(stored(&stage).contains("by = \"rootward roots add\"\n"), "{}", stored(&stage));
}

/// What both tests ask before they give write access to a directory.
const SHARES_MORE: &str = "this lets every client write and delete files in `[STAGE]/project/src`";

#[test]
fn more_access_needs_a_yes_and_less_does_not() {
    let stage = Stage::new();
    assert_eq!(stage.run(["roots", "add", "src", "--close", "*.pem", "--read-only", "x", "--yes"]).code, Some(0));
    let check = |arguments: &[&str], code: i32| {
        let before = stored(&stage);
        let run = stage.run([&["roots", "grant", "src"], arguments].concat());
        assert_eq!(run.code, Some(code), "{arguments:?}: {}", run.stderr);
        assert_eq!(before == stored(&stage), code != 0, "{arguments:?}");
    };
    check(&["rwx"], 2);
    check(&["--open", "*.pem"], 2);
    check(&["--read-only", "*.pem"], 2);
    check(&["--open", "x", "--close", "y"], 2);
    check(&["read,execute"], 2);
    check(&["--close", "x"], 0);
    check(&["ro"], 0);
    check(&["rw"], 2);
    let run = on_a_terminal(&stage, "roots grant src rw", "y\n");
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    assert!(run.stdout.contains(SHARES_MORE), "{}", run.stdout);
}

#[test]
fn a_question_tells_clients_with_their_own_entry_apart() {
    let stage = Stage::new();
    for words in [["roots", "add", "src:ro", "--yes"].as_slice(), &["roots", "grant", "src", "none", "--for", "git"]] {
        assert_eq!(stage.run(words).code, Some(0));
    }
    let run = on_a_terminal(&stage, "roots grant src rw", "n\n");
    for says in [
        "this lets every client without an entry of its own write and delete files in `[STAGE]/project/src`",
        "this lets `git` read, write and delete files in `[STAGE]/project/src`",
    ] {
        assert!(run.stdout.contains(says), "{}", run.stdout);
    }
}

#[test]
fn removing_a_root_can_widen_access() {
    let stage = Stage::new();
    for words in [["roots", "add", ".", "--yes"], ["roots", "add", "src:ro", "--yes"]] {
        assert_eq!(stage.run(words).code, Some(0));
    }
    let may =
        |words: &[&str]| stage.run([&["check", "--access", "write", "src/main.rs"], words].concat()).code == Some(0);
    // Without the deeper root, the one above decides.
    let run = stage.run(["roots", "remove", "src"]);
    assert!(run.code == Some(2) && !may(&[]), "{}", run.stderr);
    let run = on_a_terminal(&stage, "roots remove src", "n\n");
    assert!(run.stdout.contains(SHARES_MORE) && !may(&[]), "{}", run.stdout);
    assert_eq!(stage.run(["roots", "remove", "src", "--yes"]).code, Some(0));
    assert!(may(&[]));
    // Removing it for one client leaves it shared with the others.
    assert_eq!(stage.run(["roots", "remove", ".", "--for", "git"]).code, Some(0));
    assert!(may(&[]) && may(&["--as", "editor"]) && !may(&["--as", "git"]));
    assert_eq!(stage.run(["roots", "grant", ".", "rw", "--for", "git"]).code, Some(2));
    assert!(!may(&["--as", "git"]));
}
