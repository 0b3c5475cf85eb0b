//! Ways out of the picker that change nothing, and the terminal after each of them.

use std::fs;
use std::process::Stdio;

use super::terminal::Terminal;
use super::*;
use crate::stage::Run;

/// Whether nothing was saved, and nothing was put on record.
fn assert_untouched(stage: &Stage) {
    assert!(!fs::exists(stage.path(STORE)).unwrap());
    assert!(!fs::exists(stage.path("home/.local/state/rootward/audit")).unwrap());
}

#[test]
fn leaving_changes_nothing() {
    let stage = stage();
    for keys in ["q", "\x1b", "\x03", " jx\x03", "/app\x03", "?\x03"] {
        let mut picker = begin(&stage, &[]);
        assert!(picker.is_taken() && picker.screen.styled);
        picker.keys(keys);
        assert_eq!(picker.ends(), Some(1), "{}", keys.escape_debug());
        picker.assert_given_back();
        // A long scan may have told how far it was.
        assert!(picker.screen.usual.ends_with("nothing was changed\n"), "{}", picker.screen.usual);
        assert_untouched(&stage);
    }
}

#[test]
fn without_a_yes_nothing_changes() {
    let stage = stage();
    for typed in ["n\n", "\n", "yep\n", "\u{4}"] {
        let mut picker = begin(&stage, &[]);
        picker.keys(" \r");
        picker.sees(&["share it? [y/N]"]);
        picker.assert_given_back();
        picker.keys(typed);
        assert_eq!(picker.ends(), Some(1), "{}", typed.escape_debug());
        assert!(picker.screen.usual.ends_with("nothing was changed\n"), "{}", picker.screen.usual);
        assert_untouched(&stage);
    }
}

#[test]
fn enter_alone_marks_nothing() {
    let stage = stage();
    let mut picker = begin(&stage, &[]);
    picker.keys("\r");
    picker.sees(&["nothing is changed yet: space marks, q leaves"]);
    picker.keys("z");
    picker.sees(&["`?` shows the keys"]);
    picker.keys("?");
    picker.sees(&["mark or unmark", "any key goes back"]);
    picker.keys("qq");
    assert_eq!(picker.ends(), Some(1));
}

#[test]
fn what_was_typed_ahead_is_no_answer() {
    let stage = stage();
    let mut picker = begin(&stage, &[]);
    // More than is read at once, so that some of it waits in the terminal when the question comes.
    picker.keys(&format!(" \r{}{}", "z".repeat(1022), "y\n".repeat(100)));
    picker.sees(&["share it? [y/N]"]);
    picker.keys("n\n");
    assert_eq!(picker.ends(), Some(1), "{}", picker.screen.usual);
    assert_untouched(&stage);
    // What is pasted presses no keys at all.
    let mut picker = begin(&stage, &[]);
    picker.keys("\x1b[200~ \r y\ry\n\x1b[201~G");
    picker.sees(&["> [ ] example.org/tool", "0 marked"]);
    picker.keys("q");
    assert_eq!(picker.ends(), Some(1));
}

#[test]
fn a_terminal_that_goes_away() {
    let stage = stage();
    // Also in the middle of a key.
    for keys in ["", " ", "\x1b[1", " \r"] {
        let mut picker = begin(&stage, &[]);
        picker.keys(keys);
        if keys.ends_with('\r') {
            picker.sees(&["share it? [y/N]"]);
        }
        picker.hang_up();
        assert_ne!(picker.ends(), Some(0));
        assert_untouched(&stage);
    }
}

#[test]
fn a_signal_gives_the_terminal_back() {
    let stage = stage();
    for signal in ["TERM", "INT"] {
        let mut picker = begin(&stage, &[]);
        picker.keys(" ");
        picker.sees(&["> [x] app"]);
        // A paste that has no end yet holds up nothing.
        picker.keys("\x1b[200~x");
        let number = picker.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &number]).status().unwrap().success());
        assert_eq!(picker.ends(), Some(2), "{signal}");
        picker.assert_given_back();
        assert!(picker.screen.usual.contains("ended by a signal; nothing was changed"), "{}", picker.screen.usual);
    }
    // At the question it ends the program as it ends any other.
    let mut picker = begin(&stage, &[]);
    picker.keys(" \r");
    picker.sees(&["share it? [y/N]"]);
    let number = picker.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &number]).status().unwrap().success());
    assert_eq!(picker.ends(), None);
    assert_untouched(&stage);
}

#[test]
fn without_a_terminal_nothing_is_picked() {
    let stage = stage();
    stage.write("keys", " \ry\n");
    let keys = fs::File::open(stage.path("keys")).unwrap();
    let run: Run = command(&stage, &[]).stdin(keys).stderr(Stdio::piped()).output().unwrap().into();
    assert_eq!(run.code, Some(2));
    let expect = "error: there is no terminal to choose on\n\nhint: `rootward roots detect` lists what could be shared, \
                  `rootward roots add DIR --yes` shares it\n";
    assert_eq!(run.stderr, expect);
    assert_untouched(&stage);
}

#[test]
fn a_store_that_another_program_changes_meanwhile() {
    let stage = stage();
    let mut picker = begin(&stage, &[]);
    picker.keys(" \r");
    picker.sees(&["share it? [y/N]"]);
    assert_eq!(stage.run(["roots", "add", "~/notes", "--yes"]).code, Some(0));
    picker.keys("y\n");
    assert_eq!(picker.ends(), Some(2));
    assert!(picker.screen.usual.contains("another program changed the saved roots"), "{}", picker.screen.usual);
    assert_eq!(saved(&stage).len(), 1);
}

#[test]
fn what_is_gone_or_not_for_sharing() {
    let stage = stage();
    stage.write("home/src/all.code-workspace", r#"{"folders": [{"path": "/srv/elsewhere"}]}"#);
    let mut picker = begin(&stage, &[]);
    picker.keys("/tool\r ");
    picker.sees(&["> [x]   example.org/tool"]);
    fs::rename(stage.path("home/src/tool"), stage.path("home/src/moved")).unwrap();
    picker.keys("\r");
    picker.sees(&[">  -    example.org/tool", "unmarked `~/src/tool`: does not exist", "0 marked"]);
    picker.keys(" ");
    picker.sees(&["it cannot be shared: does not exist"]);
    picker.keys("q");
    assert_eq!(picker.ends(), Some(1));
    // A place of the system may be looked at, and is not for sharing.
    let system = tempfile::tempdir_in("/dev/shm").unwrap();
    fs::write(system.path().join("go.mod"), "module example.org/system\n").unwrap();
    let mut picker = begin(&stage, &[system.path().to_str().unwrap()]);
    picker.sees(&[">  -  example.org/system", "not for sharing: in `/dev`, which belongs to the system"]);
    for key in [" ", "r", "x"] {
        picker.keys(key);
        picker.sees(&["it cannot be shared: in `/dev`, which belongs to the system", "0 marked"]);
        picker.keys("j");
        picker.sees(&["q leave"]);
    }
    picker.keys("q");
    assert_eq!(picker.ends(), Some(1));
    assert_untouched(&stage);
}

/// A picker that prints lines, after these were typed.
fn in_lines(stage: &Stage, term: &str, typed: &str) -> Terminal {
    let mut picker = Terminal::start(command(stage, &[]).env("TERM", term), 80, 24);
    picker.sees(&["numbers to mark"]);
    picker.keys(typed);
    picker
}

#[test]
fn terminals_that_only_print_lines() {
    let stage = stage();
    for (typed, expect) in [
        ("\n", "[ ] app-core  ~/src/app/crates/core  Cargo package, member of `~/src/app`\n"),
        ("\u{4}", "nothing was changed"),
        ("9\n\n", "not a number of the list: `9`"),
        ("0\n\n", "not a number of the list: `0`"),
        ("1:fly\n\n", "not a number of the list: `1:fly`"),
        ("-1\n\n", "that changes nothing"),
    ] {
        for term in ["dumb", ""] {
            let mut picker = in_lines(&stage, term, typed);
            assert_eq!(picker.ends(), Some(1), "{typed}: {}", picker.screen.usual);
            assert!(picker.screen.usual.contains(expect), "{typed}: {}", picker.screen.usual);
            picker.assert_given_back();
        }
    }
    assert_untouched(&stage);
    for (typed, answer, code, expect) in [
        ("1 3:ro\n", "n\n", 1, "nothing was changed"),
        ("1, 3:ro\n", "y\n", 0, "shared `~/src/shop` (the-shop; read), for all"),
        ("-1 3:rw\n", "y\n", 0, "removed `~/src/app`"),
    ] {
        let mut picker = in_lines(&stage, "dumb", typed);
        picker.sees(&["[y/N]"]);
        picker.keys(answer);
        assert_eq!(picker.ends(), Some(code), "{typed}: {}", picker.screen.usual);
        assert!(picker.screen.usual.contains(expect), "{typed}: {}", picker.screen.usual);
    }
    assert_eq!(saved(&stage), roots(&[("/src/shop", "read write delete")]));
}

#[test]
fn lines_typed_ahead_are_no_answer() {
    let stage = stage();
    let mut picker = in_lines(&stage, "dumb", "1\ny\ny\n");
    picker.sees(&["share it? [y/N]"]);
    picker.keys("n\n");
    assert_eq!(picker.ends(), Some(1), "{}", picker.screen.usual);
    assert_untouched(&stage);
}

#[test]
fn where_there_is_nothing_to_choose() {
    let stage = stage();
    let mut picker = Terminal::start(command(&stage, &["~/notes"]).env("TERM", "dumb"), 80, 24);
    assert_eq!(picker.ends(), Some(1));
    assert!(picker.screen.usual.contains("nothing found that could be shared\n"), "{}", picker.screen.usual);
    // On a screen, a directory can be added by its path.
    let mut picker = Terminal::start(&mut command(&stage, &["~/notes"]), 80, 24);
    picker.sees(&["nothing here; a adds a directory", "0 found or saved"]);
    picker.keys("q");
    assert_eq!(picker.ends(), Some(1));
    let mut picker = Terminal::start(&mut command(&stage, &["--for", " "]), 80, 24);
    assert_eq!(picker.ends(), Some(2));
    assert_untouched(&stage);
}
