//! Malicious config files, links and undo records.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use serde_json::{Value, json};

use super::{cursor, json_of, stage_with};
use crate::stage::Stage;

const GOOD: &str = r#"{"mcpServers": {"a": {"command": "x"}}}"#;

/// Files that are refused, each with its reason; the others are still adopted.
#[test]
fn files_that_are_not_a_config() {
    let stage = stage_with(GOOD);
    let claude = stage.path("home/.claude.json");
    let check = |says: &str| {
        let run = stage.run(["adopt", "--yes", "--no-try"]);
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        let expect = format!("error: `~/.claude.json` cannot be adopted: {says}");
        assert!(run.stderr.contains(&expect), "{expect}: {}", run.stderr);
        assert!(cursor(&stage).contains("rootward"));
        assert_eq!(stage.run(["adopt", "--undo", "--yes"]).code, Some(0));
        assert_eq!(cursor(&stage), GOOD);
    };
    assert!(Command::new("mkfifo").arg(&claude).status().unwrap().success());
    check("not a regular file");
    fs::remove_file(&claude).unwrap();
    fs::File::create(&claude).unwrap().set_len(50 << 20).unwrap();
    check("larger than 8 MiB");
    for (text, says) in [
        ("{\n  \"mcpServers\": {,}\n}", "line 2, column 18: unexpected token in object"),
        ("{\"mcpServers\": {\"a\": {\"command\": \"x\"}}", "line 1, column 1: unterminated object"),
        ("{\"a\": \"\u{1b}[2J\" x}", "line 1, column"),
    ] {
        fs::write(&claude, text).unwrap();
        check(says);
        assert_eq!(fs::read_to_string(&claude).unwrap(), text);
    }
    fs::remove_file(&claude).unwrap();
    symlink("/dev/zero", &claude).unwrap();
    check("not a regular file");
    fs::remove_file(&claude).unwrap();
    symlink(".claude.json", &claude).unwrap();
    check("");
}

/// Gives a confined command write access to a place.
pub(super) fn given(stage: &Stage, place: &str) {
    let root = stage.path(place);
    let run = stage.run(["sandbox", "--root", root.to_str().unwrap(), "--", "true"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

#[test]
fn a_link_that_a_server_could_have_made_is_not_followed() {
    let stage = Stage::new().with_path();
    fs::create_dir_all(stage.path("home/.cursor")).unwrap();
    stage.write("outside/mcp.json", GOOD);
    symlink(stage.path("outside/mcp.json"), stage.path("home/.cursor/mcp.json")).unwrap();
    // A link that the user made is followed, and stays a link.
    assert_eq!(stage.run(["adopt", "--yes", "--no-try"]).code, Some(0));
    assert!(fs::symlink_metadata(stage.path("home/.cursor/mcp.json")).unwrap().is_symlink());
    assert!(cursor(&stage).contains("rootward"));
    assert_eq!(stage.run(["adopt", "--undo", "--yes"]).code, Some(0));
    assert_eq!(cursor(&stage), GOOD);
    given(&stage, "outside");
    let run = stage.run(["adopt", "--yes", "--no-try"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("it is a link, and a confined server could have written"), "{}", run.stderr);
    assert_eq!(cursor(&stage), GOOD);
}

#[test]
fn a_project_does_not_lead_out_of_itself() {
    let stage = Stage::new().with_path();
    stage.write("outside/mcp.json", GOOD);
    symlink("../outside/mcp.json", stage.path("project/.mcp.json")).unwrap();
    let run = stage.run(["adopt", "--yes", "--no-try"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("it leads out of the project"), "{}", run.stderr);
    assert_eq!(fs::read_to_string(stage.path("outside/mcp.json")).unwrap(), GOOD);
}

#[test]
fn a_project_chooses_neither_settings_nor_program() {
    let stage = Stage::new().with_path();
    let evil = json!({"mcpServers": {
        "home": {"command": "x", "env": {"HOME": "/tmp/evil"}},
        "roots": {"command": "x", "env": {"ROOTWARD_ROOTS": "/"}},
        "good": {"command": "x", "env": {"TOKEN": "${TOKEN}"}},
    }});
    stage.write("project/.mcp.json", &evil.to_string());
    let told = json_of(&stage, &["adopt", "--yes", "--no-try", "--json"]);
    let of = |name: &str| {
        let servers = told["files"][0]["servers"].as_array().unwrap();
        servers.iter().find(|server| server["name"] == name).unwrap().clone()
    };
    for name in ["home", "roots"] {
        assert_eq!((&of(name)["verdict"], &of(name)["reason"]), (&json!("not_wrapped"), &json!("steered")), "{told}");
    }
    assert_eq!(of("good")["verdict"], "wrap");
}

#[test]
fn a_program_that_calls_itself_rootward_is_not_trusted() {
    let stage = Stage::new().with_path();
    stage.write("project/bin/rootward", "#!/bin/sh\n");
    fs::set_permissions(stage.path("project/bin/rootward"), fs::Permissions::from_mode(0o755)).unwrap();
    let config = json!({"mcpServers": {
        "planted": {"command": "./bin/rootward", "args": ["wrap", "--", "x"]},
        "gone": {"command": "/no/such/rootward", "args": ["serve"]},
        "good": {"command": "rootward", "args": ["wrap", "--", "x"]},
        "path": {"command": env!("CARGO_BIN_EXE_rootward"), "args": ["wrap", "--", "x"]},
    }});
    stage.write("project/.mcp.json", &config.to_string());
    let run = stage.run(["adopt"]);
    for line in [
        "  planted: not wrapped: it calls a program `rootward` that is not this one\n",
        "  gone: not wrapped: it calls a program `rootward` that is not this one\n",
        "  good: already wrapped\n",
        "  path: already wrapped\n",
    ] {
        assert!(run.stdout.contains(line), "{line}: {}", run.stdout);
    }
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

#[test]
fn nothing_moves_the_cursor() {
    let names = ["\u{1b}[2J", "a\nb", "\u{202e}x", "\u{7f}", "ä"];
    let mut servers = serde_json::Map::new();
    for name in names {
        servers.insert(name.to_owned(), json!({"command": name, "args": [name], "env": {name: name}}));
        servers.insert(format!("{name}2"), json!({"command": 1}));
    }
    // A comment holds the raw characters, too.
    let text = format!("{{ // \u{1b}[31m \u{202e}\n\"mcpServers\": {}}}\n", Value::from(servers));
    let stage = stage_with(&text);
    for words in [&["adopt"][..], &["adopt", "--yes"], &["adopt", "--undo"], &["adopt", "--undo", "--yes"]] {
        let run = stage.run(words);
        let told = run.stdout + &run.stderr;
        assert!(!told.contains(['\u{1b}', '\u{202e}', '\u{7f}']), "{words:?}: {told:?}");
    }
    assert_eq!(cursor(&stage), text);
}

#[test]
fn a_planted_record_is_refused() {
    let stage = stage_with(GOOD);
    let before = cursor(&stage);
    assert_eq!(stage.run(["adopt", "--yes", "--no-try"]).code, Some(0));
    let shelf = stage.path("home/.local/state/rootward/adopt");
    let record = fs::read_dir(&shelf).unwrap().map(|entry| entry.unwrap().path());
    let record = record.into_iter().find(|path| path.extension().is_some_and(|end| end == "json")).unwrap();
    let text = fs::read_to_string(&record).unwrap();
    assert_eq!(fs::metadata(&record).unwrap().permissions().mode() & 0o777, 0o600);
    let wrapped = cursor(&stage);
    for planted in [
        text.replace("\"x\"", "\"x\", \"more\""),
        text.replace("\"wrap\"", "\"serve\""),
        text.replace("mcp.json", "../.bashrc"),
        text.replace("\"version\": 1", "\"version\": 9"),
        text.replace("\"entries\"", "\"other\": 1, \"entries\""),
        "{".to_owned(),
        "[]".to_owned(),
        String::new(),
    ] {
        fs::write(&record, &planted).unwrap();
        let run = stage.run(["adopt", "--undo", "--yes"]);
        assert_ne!(run.code, Some(0), "{planted}: {}{}", run.stdout, run.stderr);
        assert_eq!(cursor(&stage), wrapped, "{planted}");
    }
    // A backup with another command is not restored.
    fs::write(&record, &text).unwrap();
    fs::write(record.with_extension("backup"), before.replace("\"x\"", "\"evil\"")).unwrap();
    assert_eq!(stage.run(["adopt", "--undo", "--yes"]).code, Some(0));
    assert_eq!(cursor(&stage), before);
}

#[test]
fn duplicates_and_odd_entries_stay() {
    let text = r#"{"mcpServers": {"twice": {"command": "x"}, "twice": {"command": "y"}, "empty": {"command": ""}, "list": {"command": ["x"]},
        "number": {"command": "x", "env": {"A": 1}}, "both": {"command": "x", "url": "y"}, "bare": {"command": "python3"}}}"#;
    let stage = stage_with(text);
    let run = stage.run(["adopt", "--yes", "--no-try"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("  twice: not wrapped: duplicate key `twice`\n"), "{}", run.stdout);
    assert!(
        run.stdout.contains("left as it is: line 1, column 80: server `empty`: `command` is empty"),
        "{}",
        run.stdout
    );
    let wrapped = r#""bare": {"command": "rootward", "args": ["wrap", "--", "python3"]}"#;
    assert_eq!(cursor(&stage), text.replace(r#""bare": {"command": "python3"}"#, wrapped));
}
