//! `roots pick`: the real program on a real pseudo-terminal.

mod leaving;
mod terminal;

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::{STORE, stored};
use crate::place;
use crate::stage::Stage;
use terminal::Terminal;

/// A source directory with three projects that are not shared yet.
fn stage() -> Stage {
    let stage = Stage::new();
    for (path, text) in [
        ("home/src/app/.git/HEAD", "ref: refs/heads/main\n"),
        ("home/src/app/Cargo.toml", "[workspace]\nmembers = ['crates/*']\n"),
        ("home/src/app/crates/core/Cargo.toml", "[package]\nname = 'app-core'\n"),
        ("home/src/app/crates/core/lib.rs", "app"),
        ("home/src/shop/.git/HEAD", "ref: refs/heads/main\n"),
        ("home/src/shop/package.json", r#"{"name": "the-shop"}"#),
        ("home/src/tool/go.mod", "module example.org/tool\n"),
        ("home/notes/today", "notes"),
    ] {
        stage.write(path, text);
    }
    stage
}

fn command(stage: &Stage, words: &[&str]) -> Command {
    let mut command = stage.command([&["roots", "pick"], words].concat());
    command.current_dir(stage.path("home/src")).env("TERM", "xterm");
    command
}

/// A picker that shows the list.
fn begin(stage: &Stage, words: &[&str]) -> Terminal {
    let mut terminal = Terminal::start(&mut command(stage, words), 80, 24);
    terminal.sees(&["Choose the directories to share", "q quit", "> "]);
    terminal
}

/// Path and access of each saved root.
fn saved(stage: &Stage) -> Vec<(String, String)> {
    let listed: Value = serde_json::from_str(&stage.run(["roots", "list", "--json"]).stdout).unwrap();
    let home = stage.path("home");
    let root = |root: &Value| {
        let path = root["path"].as_str().unwrap().strip_prefix(home.to_str().unwrap()).unwrap().to_owned();
        let access: Vec<&str> = root["access"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        (path, access.join(" "))
    };
    listed["roots"].as_array().unwrap().iter().map(root).collect()
}

fn roots(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(path, access)| ((*path).to_owned(), (*access).to_owned())).collect()
}

#[test]
fn a_saved_pattern_stays_unless_it_is_unmarked() {
    let stage = stage();
    assert_eq!(stage.run(["roots", "add", "~/notes*:ro", "--yes"]).code, Some(0));
    let mut picker = begin(&stage, &[]);
    picker.sees(&["> [x] notes*", "a pattern", "[ ] app"]);
    picker.keys("\x1b[B ");
    picker.sees(&["> [x] app", "2 marked"]);
    picker.keys("\r");
    picker.sees(&["share it? [y/N]"]);
    picker.keys("y\n");
    assert_eq!(picker.ends(), Some(0));
    let app = ("/src/app", "read write delete");
    assert_eq!(saved(&stage), roots(&[("/notes*", "read"), app]));
    assert!(stored(&stage).contains("\npattern = \""), "{}", stored(&stage));
    let mut picker = begin(&stage, &[]);
    picker.sees(&["> [x] notes*"]);
    picker.keys(" ");
    picker.sees(&["> [ ] notes*"]);
    picker.keys("\r");
    picker.sees(&["remove `~/notes*` (read), for all clients", "make this change? [y/N]"]);
    picker.keys("y\n");
    assert_eq!(picker.ends(), Some(0));
    assert_eq!(saved(&stage), roots(&[app]));
}

#[test]
fn a_newcomer_picks_two_projects_and_serves_just_those() {
    let stage = stage();
    let mut picker = begin(&stage, &[]);
    picker.sees(&["[ ] app", "[ ]   app-core", "Cargo package, member of", "[ ] the-shop", "[ ] example.org/tool"]);
    assert!(!picker.screen.text().contains("[x]"), "{}", picker.screen.text());
    picker.keys(" ");
    picker.sees(&["> [x] app", "1 marked"]);
    picker.keys("\x1b[B\x1bOBr");
    picker.sees(&["> [x] the-shop", "read (new)", "2 marked"]);
    picker.keys("\r");
    picker.sees(&["share them? [y/N]"]);
    assert!(!fs::exists(stage.path(STORE)).unwrap(), "before the yes nothing is saved");
    picker.keys("y\n");
    assert_eq!(picker.ends(), Some(0));
    picker.assert_given_back();
    for line in [
        "share directory ",
        "  name     the-shop\n",
        "  access   read, write, delete\n",
        "  for      all clients, until it is removed\n",
        "shared `~/src/app` (read, write, delete), for all clients\n",
        "shared `~/src/shop` (the-shop; read), for all clients\n",
        "hint: `rootward serve` without any arguments serves the saved roots\n",
    ] {
        assert!(picker.screen.usual.contains(line), "{line}: {}", picker.screen.usual);
    }
    assert_eq!(saved(&stage), roots(&[("/src/app", "read write delete"), ("/src/shop", "read")]));
    assert!(stored(&stage).contains("by = \"rootward roots pick\"\n"), "{}", stored(&stage));

    let mut client = place::begin(&mut stage.command(["serve"]), json!({}));
    let text = |path: &str| stage.path(path).to_str().unwrap().to_owned();
    let told = client.says("list_allowed_directories", json!({}));
    assert!(told.contains(&text("home/src/app")) && told.contains(&text("home/src/shop")), "{told}");
    assert!(!told.contains("tool"), "{told}");
    let file = |path: &str| json!({"path": text(path)});
    assert_eq!(client.says("read_text_file", file("home/src/app/crates/core/lib.rs")), "app");
    assert!(client.says("read_text_file", file("home/src/shop/package.json")).contains("the-shop"));
    for outside in ["home/src/tool/go.mod", "home/notes/today", "outside/secret"] {
        assert_eq!(client.why("read_text_file", file(outside)), "outside_roots", "{outside}");
    }
    let new = json!({"path": text("home/src/shop/new"), "content": "x"});
    assert_eq!(client.why("write_file", new), "access_denied");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn saved_roots_are_marked_and_can_be_removed() {
    let stage = stage();
    for root in ["~/src/shop:ro", "~/notes:ro", "~/src/tool"] {
        assert_eq!(stage.run(["roots", "add", root, "--yes"]).code, Some(0));
    }
    let mut picker = begin(&stage, &[]);
    picker.sees(&["> [x] notes", "read (saved)", "[x] the-shop", "3 marked"]);
    // All at once: one is removed, one gets other access, one is new, and one stays.
    picker.keys(" /shop\rx\x1b");
    picker.sees(&["[ ] notes", "no longer shared", "full access (was read)", "5 found or saved"]);
    picker.keys("/core\r");
    picker.sees(&["1 of 5", "> [ ]", "esc show all"]);
    picker.keys("W");
    picker.sees(&["> [x]", "read, write (new)"]);
    picker.keys("\r");
    picker.sees(&["make these changes? [y/N]"]);
    picker.keys("yes\n");
    assert_eq!(picker.ends(), Some(0));
    for line in [
        "change `~/src/shop` from read-only to read, write, execute and delete, for all clients\n",
        "remove `~/notes` (read), for all clients\n",
        "removed `~/notes` (read), for all clients\n",
        "shared `~/src/app/crates/core` (app-core; read, write), for all clients\n",
    ] {
        assert!(picker.screen.usual.contains(line), "{line}: {}", picker.screen.usual);
    }
    let expect = [
        ("/src/shop", "read write execute delete"),
        ("/src/tool", "read write delete"),
        ("/src/app/crates/core", "read write"),
    ];
    assert_eq!(saved(&stage), roots(&expect));
    // One edit, recorded with its requester.
    let recorded = stage.run(["audit", "show"]).stdout;
    assert_eq!(recorded.matches("rootward roots pick").count(), 3, "{recorded}");
}

#[test]
fn a_directory_that_was_not_found_is_added_by_its_path() {
    let stage = stage();
    stage.write("home/.config/rootward/config.toml", "");
    let mut picker = begin(&stage, &[]);
    for (typed, says) in [
        ("~/gone", "it is not shared: does not exist"),
        ("/etc", "it cannot be shared: in `/etc`, which belongs to the system"),
        ("~/.config/rootward", "Rootward's own settings, saved roots"),
        ("~/src/*", "`rootward roots add` takes patterns"),
        ("~/notes:add", "not usable: `:add` is not an access suffix: use `:rw-nodelete`"),
        ("http://x", "not usable: scheme `http`, only `file` is supported"),
    ] {
        picker.keys(&format!("a{typed}"));
        picker.sees(&[&format!("add: {typed}_")]);
        picker.keys("\r");
        picker.sees(&[says, "0 marked"]);
        // The text stays, so that the user can correct it.
        picker.keys("x");
        picker.sees(&[&format!("add: {typed}x_")]);
        picker.keys("\x1b");
        picker.sees(&["q quit"]);
    }
    picker.keys("a~/notes:ro\r");
    picker.sees(&["> [x] notes", "~/notes", "read (new)", "1 marked", "added by its path"]);
    picker.keys("\r");
    picker.sees(&["access   read", "share it? [y/N]"]);
    picker.keys("y\n");
    assert_eq!(picker.ends(), Some(0));
    picker.assert_given_back();
    assert_eq!(saved(&stage), roots(&[("/notes", "read")]));
}

#[test]
fn for_one_client_only() {
    let stage = stage();
    assert_eq!(stage.run(["roots", "add", "~/src/app:ro", "--yes"]).code, Some(0));
    let mut picker = begin(&stage, &["--for", "git"]);
    picker.sees(&["> [x] app", "read (saved), for all clients", "[ ] app "]);
    picker.keys("/tool\r \r");
    picker.sees(&["for      `git`, until it is removed", "share it? [y/N]"]);
    picker.keys("y\n");
    assert_eq!(picker.ends(), Some(0));
    assert!(stored(&stage).contains("for = [\"git\"]"), "{}", stored(&stage));
}

#[test]
fn a_root_below_another_with_more_access() {
    let stage = stage();
    for root in ["~/src", "~/src/app:ro"] {
        assert_eq!(stage.run(["roots", "add", root, "--yes"]).code, Some(0));
    }
    let mut picker = begin(&stage, &[]);
    picker.keys("/app\r \r");
    // Without the deeper root, the one above decides.
    picker.sees(&[
        "remove `~/src/app` (read)",
        "this lets every client write and delete files in `~/src/app`",
        "make this change? [y/N]",
    ]);
    picker.keys("n\n");
    assert_eq!(picker.ends(), Some(1));
    assert_eq!(saved(&stage).len(), 2);
}

#[test]
fn hostile_names_do_not_reach_the_terminal() {
    let stage = stage();
    let hostile = "home/src/\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}gpj\nexe\r\u{9b}31m";
    stage.write(&format!("{hostile}/package.json"), r#"{"name": "\u001b[31mred\u202e"}"#);
    stage.write(&format!("{hostile}/sub/.git/HEAD"), "ref: refs/heads/main\n");
    stage.write("home/src/tool/package.json", "{\"name\": \"\u{202e}evil\u{2066}\", \"description\": \"\u{1b}[2J\"}");
    let mut picker = begin(&stage, &[]);
    picker.sees(&["\\u{1b}]0;owned\\u{7}", "\\u{202e}gpj\\nexe"]);
    picker.keys(" j ");
    picker.sees(&["2 marked"]);
    picker.keys("/\u{1b}[200~\u{1b}[31m\u{7}\u{202e}\u{1b}[201~");
    picker.sees(&["/[31m\\u{202e}_"]);
    // The test's screen fails on any control sequence that it does not know. Bidirectional characters are letters to it.
    assert!(!picker.screen.text().contains(['\u{202e}', '\u{2066}']), "{}", picker.screen.text());
    picker.keys("\u{15}\r\r");
    picker.sees(&["share them? [y/N]"]);
    picker.keys("n\n");
    assert_eq!(picker.ends(), Some(1));
    assert!(!picker.screen.usual.contains(['\u{202e}', '\u{2066}', '\u{9b}']), "{}", picker.screen.usual);
}

#[test]
fn screens_of_any_size() {
    let stage = stage();
    stage.write("home/src/世界のプロジェクト/package.json", r#"{"name": "世界のプロジェクト世界のプロジェクト"}"#);
    let mut command = command(&stage, &[]);
    let mut picker = Terminal::start(command.env("NO_COLOR", "1"), 20, 5);
    picker.sees(&["> [ ] app", "? help"]);
    assert!(picker.widest() <= 20 && picker.screen.text().lines().count() == 5, "{}", picker.screen.text());
    picker.resize(80, 24);
    picker.sees(&["Choose the directories", "世界のプロジェクト", "q quit"]);
    assert!(picker.widest() <= 80);
    picker.keys("G");
    picker.until("the last line", |screen| screen.text().contains("> [ ] 世界"));
    picker.resize(30, 8);
    picker.until("a narrow line", |screen| {
        let text = screen.text();
        text.lines().take(8).all(|line| unicode_width::UnicodeWidthStr::width(line) <= 30) && text.contains("> [ ] 世")
    });
    picker.keys("q");
    assert_eq!(picker.ends(), Some(1));
    assert!(!picker.screen.styled, "NO_COLOR");
}
