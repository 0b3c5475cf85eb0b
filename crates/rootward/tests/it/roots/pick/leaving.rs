//! Leaving the picker without a change, and the state of the terminal afterwards.

use std::fs;
use std::process::Stdio;

use super::terminal::Terminal;
use super::*;
use crate::stage::Run;

/// Asserts that nothing was saved or audited.
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
        // A long scan may have shown its progress.
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
    picker.sees(&["nothing to change yet: press space to mark, q to quit"]);
    picker.keys("z");
    picker.sees(&["press ? for help"]);
    picker.keys("?");
    picker.sees(&["mark or unmark", "press any key to go back"]);
    picker.keys("qq");
    assert_eq!(picker.ends(), Some(1));
}

#[test]
fn keys_typed_ahead_are_not_an_answer() {
    let stage = stage();
    let mut picker = begin(&stage, &[]);
    // More than one read takes, so that some of it waits in the terminal when the question comes.
    picker.keys(&format!(" \r{}{}", "z".repeat(1022), "y\n".repeat(100)));
    picker.sees(&["share it? [y/N]"]);
    picker.keys("n\n");
    assert_eq!(picker.ends(), Some(1), "{}", picker.screen.usual);
    assert_untouched(&stage);
    // Pasted text does not count as key presses.
    let mut picker = begin(&stage, &[]);
    picker.keys("\x1b[200~ \r y\ry\n\x1b[201~G");
    picker.sees(&["> [ ] example.org/tool", "0 marked"]);
    picker.keys("q");
    assert_eq!(picker.ends(), Some(1));
}

#[test]
fn a_terminal_that_goes_away() {
    let stage = stage();
    // Also in the middle of a key's escape sequence.
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
        // An unfinished paste delays nothing.
        picker.keys("\x1b[200~x");
        let number = picker.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &number]).status().unwrap().success());
        assert_eq!(picker.ends(), Some(2), "{signal}");
        picker.assert_given_back();
        assert!(picker.screen.usual.contains("ended by a signal; nothing was changed"), "{}", picker.screen.usual);
    }
    // At the question, the signal ends the program as usual.
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
    let expect = "error: this needs a terminal\n\nhint: `rootward roots detect` lists what could be shared, \
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
fn missing_and_unshareable_directories() {
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
    // A system directory can be viewed but not shared.
    let system = tempfile::tempdir_in("/dev/shm").unwrap();
    fs::write(system.path().join("go.mod"), "module example.org/system\n").unwrap();
    let mut picker = begin(&stage, &[system.path().to_str().unwrap()]);
    picker.sees(&[">  -  example.org/system", "cannot be shared: in `/dev`, which belongs to the system"]);
    for key in [" ", "r", "x"] {
        picker.keys(key);
        picker.sees(&["it cannot be shared: in `/dev`, which belongs to the system", "0 marked"]);
        picker.keys("j");
        picker.sees(&["q quit"]);
    }
    picker.keys("q");
    assert_eq!(picker.ends(), Some(1));
    assert_untouched(&stage);
}

/// A picker in line mode, after this was typed.
fn in_lines(stage: &Stage, term: &str, typed: &str) -> Terminal {
    let mut picker = Terminal::start(command(stage, &[]).env("TERM", term), 80, 24);
    picker.sees(&["type numbers to mark"]);
    picker.keys(typed);
    picker
}

#[test]
fn terminals_that_only_print_lines() {
    let stage = stage();
    for (typed, expect) in [
        ("\n", "[ ] app-core  ~/src/app/crates/core  Cargo package, member of `~/src/app`\n"),
        ("\u{4}", "nothing was changed"),
        ("9\n\n", "not a number from the list: `9`"),
        ("0\n\n", "not a number from the list: `0`"),
        ("1:fly\n\n", "not a number from the list: `1:fly`"),
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
        ("1, 3:ro\n", "y\n", 0, "shared `~/src/shop` (the-shop; read), for all clients"),
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
fn lines_typed_ahead_are_not_an_answer() {
    let stage = stage();
    let mut picker = in_lines(&stage, "dumb", "1\ny\ny\n");
    picker.sees(&["share it? [y/N]"]);
    picker.keys("n\n");
    assert_eq!(picker.ends(), Some(1), "{}", picker.screen.usual);
    assert_untouched(&stage);
}

#[test]
fn with_nothing_to_choose() {
    let stage = stage();
    let mut picker = Terminal::start(command(&stage, &["~/notes"]).env("TERM", "dumb"), 80, 24);
    assert_eq!(picker.ends(), Some(1));
    assert!(picker.screen.usual.contains("nothing found that could be shared\n"), "{}", picker.screen.usual);
    // On a screen, a directory can be added by its path.
    let mut picker = Terminal::start(&mut command(&stage, &["~/notes"]), 80, 24);
    picker.sees(&["nothing found: press a to add a directory", "0 found or saved"]);
    picker.keys("q");
    assert_eq!(picker.ends(), Some(1));
    let mut picker = Terminal::start(&mut command(&stage, &["--for", " "]), 80, 24);
    assert_eq!(picker.ends(), Some(2));
    assert_untouched(&stage);
}
