//! `check` with one path or several.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::stage::{Stage, assert_told};

#[test]
fn allowed() {
    let stage = Stage::new();
    assert_told!(
        "check_allowed",
        stage,
        ["check", "--root", ".", "README.md"],
        ["check", "--root", ".", "README.md", "src/../README.md", "absolute", "missing", "dangling", "."],
        ["check", "--root", "..", "linked/../secret"],
        ["check", "--root", ".", "README.md/below"],
        ["check", "--root", "README.md", "README.md"],
        ["check", "--root", "src:ro", "--root", "docs:rw-nodelete", "--access", "read,write", "docs/new"],
        ["check", "--root", ".:rwx", "--access", "execute", "src/main.rs"],
        ["check", "--root", ".", "--base", "src", "main.rs"],
        ["check", "--root", "~", "~/notes"],
        ["check", "--root", ".", "--access", "delete", "fifo"],
        ["check", "--root", ".", "--json", "README.md", "missing"],
    );
}

#[test]
fn denied() {
    let stage = Stage::new();
    assert_told!(
        "check_denied",
        stage,
        ["check", "--root", ".", "../outside/secret"],
        ["check", "--root", ".", "leak/secret"],
        ["check", "--root", ".", "linked/../secret"],
        ["check", "--root", ".", "loop"],
        ["check", "--root", ".:ro", "--access", "write", "README.md"],
        ["check", "--root", ".:ro", "--access", "write,delete", "README.md"],
        ["check", "--root", ".", "--access", "execute", "README.md"],
        ["check", "--root", ".", ".ssh/key"],
        ["check", "--root", ".", "--access", "write", ".git/hooks/pre-commit"],
        ["check", "--root", ".", "fifo"],
        ["check", "--root", ".", "https://example.com/x"],
        ["check", "--root", ".", "C:\\Users\\me"],
        ["check", "--root", ".", "file:///a/..%2Fb"],
        ["check", "--root", ".", "~other/x"],
        ["check", "--root", ".", ""],
        ["check", "README.md"],
        ["check", "--root", ".", "--json", "leak/secret", "../outside/secret", ".ssh/key", "C:\\x"],
    );
}

#[test]
fn several_paths_have_one_hint_of_a_kind() {
    let stage = Stage::new();
    assert_told!(
        "check_several",
        stage,
        ["check", "--root", ".", "../outside/secret", "README.md", "../outside/deep/x", "fifo", "src/main.rs"],
    );
}

#[test]
fn roots_that_cannot_be_used() {
    let stage = Stage::new();
    assert_told!(
        "check_roots",
        stage,
        ["check", "--root", "gone:ro", "--root", ".", "README.md"],
        ["check", "--root", "gone", "--root", "fifo", "README.md"],
        ["check", "--root", "file:///srv/..%2Fetc", "README.md"],
        ["check", "--root", "", "README.md"],
        ["check", "--root", "http://x/", "README.md"],
        ["check", "--root", ".", "--base", "C:\\x", "README.md"],
        ["check", "--root", ".", "--base", "nope", "README.md"],
        ["check", "--root", ".", "--base", "README.md", "README.md"],
    );
}

#[test]
fn many_roots_are_not_all_listed() {
    let stage = Stage::new();
    let mut arguments = vec!["check".to_owned()];
    for number in 0..12 {
        stage.write(&format!("project/root{number}/file"), "");
        arguments.extend(["--root".to_owned(), format!("root{number}")]);
    }
    arguments.push("README.md".to_owned());
    let run = stage.run(&arguments);
    assert!(run.stderr.contains("root7` (read, write, delete), and 4 more\n"), "{}", run.stderr);
}

#[test]
fn names_that_are_not_text_work() {
    let stage = Stage::new();
    let name = OsStr::from_bytes(b"odd\xff\n");
    std::fs::write(stage.path("project").join(name), "").unwrap();
    let [check, root, here, json] = ["check", "--root", ".", "--json"].map(OsStr::new);
    let run = stage.run([check, root, here, name]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(run.stdout.lines().count(), 1);
    assert!(run.stdout.starts_with("allow  odd\\xff\\n -> "), "{}", run.stdout);
    let run = stage.run([check, root, here, json, name]);
    let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["path"], "odd\\xff\\n");
    let explain = stage.run([OsStr::new("explain"), root, here, json, name]);
    let answer: serde_json::Value = serde_json::from_str(&explain.stdout).unwrap();
    assert_eq!(answer["steps"][0]["path"], format!("{}/odd\\xff\\n", stage.path("project").display()));
}

#[test]
fn a_missing_working_directory_is_not_a_base() {
    let stage = Stage::new();
    let run = |arguments: &str| {
        let script = format!("mkdir gone && cd gone && rmdir ../gone && exec \"$0\" {arguments}");
        let mut command = std::process::Command::new("/bin/sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_rootward")]).arg(stage.path("project"));
        let output = command.current_dir(stage.path("project")).env_clear().env("PATH", "/bin:/usr/bin").output();
        let output = output.unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap())
    };
    let check = |arguments: &str, code: i32, says: &str| {
        let (seen, said) = run(arguments);
        assert_eq!(seen, Some(code), "{arguments}: {said}");
        assert!(said.contains(says), "{arguments}: {said}");
    };
    let says = "path `README.md` is relative, and the working directory cannot be found";
    check("check --root \"$1\" README.md", 1, says);
    check("explain --root \"$1\" README.md", 1, says);
    check("check --json --root \"$1\" README.md", 1, "\"invalid_path\"");
    check("check --root \"$1\" \"$1/README.md\"", 0, "allow");
    check("check --root \"$1\" --base \"$1\" README.md", 0, "allow");
    check("check --root \"$1\" --base . README.md", 2, "not a usable base: `.`");
    check("check --root . /etc", 2, "not a usable root: `.` (not an absolute path)");
}

#[test]
fn a_root_itself_is_not_deleted() {
    let stage = Stage::new();
    assert_told!(
        "check_root_itself",
        stage,
        ["check", "--root", "src", "--access", "delete", "src"],
        ["check", "--root", "README.md", "--access", "read,delete", "absolute"],
        ["check", "--root", "src", "--json", "--access", "delete", "src/../src"],
        ["check", "--root", "src", "--access", "write", "src"],
        ["check", "--root", ".", "--root", "src", "--access", "delete", "src", "src/main.rs", "docs"],
    );
}

#[test]
fn a_reader_that_goes_away_prints_no_error() {
    let stage = Stage::new();
    let check = |arguments: &[&str]| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = stage.command(arguments).stdout(writer).output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    };
    check(&["check", "--root", ".", "README.md"]);
    check(&["check", "--root", ".", "--json", "README.md"]);
    check(&["explain", "--root", ".", "README.md"]);
    check(&["explain", "--root", ".", "--json", "README.md"]);
    check(&["doctor"]);
    check(&["doctor", "--json"]);
}

#[test]
fn a_write_error_is_reported() {
    let stage = Stage::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = stage.command(["doctor", "--json"]).stdout(full).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "error: the answer cannot be written: no space left on device\n");
}
