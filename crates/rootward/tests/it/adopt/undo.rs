//! `adopt --undo` restores the original bytes, or at least the original commands.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::{FILES, cursor, json_of, stage, stage_with, texts};
use crate::roots::consent::on_a_terminal;

const SHELF: &str = "home/.local/state/rootward/adopt";

fn kept(stage: &crate::stage::Stage) -> usize {
    let names = fs::read_dir(stage.path(SHELF)).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name != "lock").count()
}

#[test]
fn every_client_gets_its_bytes_back() {
    let stage = stage();
    let before = texts(&stage);
    assert_eq!(stage.run(["adopt", "--yes", "--no-try"]).code, Some(0));
    let changed = texts(&stage).iter().zip(&before).filter(|(now, before)| now != before).count();
    // Claude Desktop's file has no server to wrap.
    assert_eq!((changed, kept(&stage)), (FILES.len() - 1, 2 * (FILES.len() - 1)));
    let run = on_a_terminal(&stage, "adopt --undo", "n\n");
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert!(run.stdout.contains("Undo these 10 servers? [y/N]"), "{}", run.stdout);
    assert!(!run.stdout.contains("abc123"), "{}", run.stdout);
    assert_eq!(stage.run(["adopt", "--undo"]).code, Some(1));
    let run = on_a_terminal(&stage, "adopt --undo", "y\n");
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    assert!(run.stdout.contains("undone: 10 servers\n"), "{}", run.stdout);
    assert_eq!(texts(&stage), before);
    assert_eq!(kept(&stage), 0);
    let again = stage.run(["adopt", "--undo", "--yes"]);
    assert_eq!((again.code, again.stdout.as_str()), (Some(0), "nothing to undo\n"));
    assert_eq!(texts(&stage), before);
}

#[test]
fn only_the_named_file_is_undone() {
    let stage = stage();
    let before = texts(&stage);
    assert_eq!(stage.run(["adopt", "--yes", "--no-try"]).code, Some(0));
    let wrapped = texts(&stage);
    let expect = |undone: &[usize]| {
        let at = |number: usize| if undone.contains(&number) { &before[number] } else { &wrapped[number] };
        assert!(texts(&stage).iter().enumerate().all(|(number, text)| text == at(number)), "{undone:?}");
    };
    assert_eq!(stage.run(["adopt", "--undo", "gemini", "--yes"]).code, Some(0));
    expect(&[1, 5]);
    assert_eq!(stage.run(["adopt", "--undo", ".mcp.json", "--yes"]).code, Some(0));
    expect(&[1, 5, 9]);
    let told = json_of(&stage, &["adopt", "--undo", "codex", "--yes", "--json"]);
    assert_eq!(told["files"][0]["restored"], json!(["one"]), "{told}");
    expect(&[1, 4, 5, 9]);
}

#[test]
fn two_adopts_and_one_undo() {
    let stage = stage_with("{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n  }\n}\n");
    assert_eq!(stage.run(["adopt", "--yes", "--no-try"]).code, Some(0));
    let more = "},\n    \"b\": {\"command\": \"y\", \"args\": [\"1\"]} // mine\n  }\n}\n";
    stage.write("home/.cursor/mcp.json", &cursor(&stage).replace("}\n  }\n}\n", more));
    assert_eq!(stage.run(["adopt", "--yes", "--no-try"]).code, Some(0));
    assert!(cursor(&stage).contains(r#""b": {"command": "rootward", "args": ["wrap", "--", "y", "1"]} // mine"#));
    assert_eq!(stage.run(["adopt", "--undo", "--yes"]).code, Some(0));
    assert_eq!(cursor(&stage), format!("{{\n  \"mcpServers\": {{\n    \"a\": {{\"command\": \"x\"{more}"));
    assert_eq!(kept(&stage), 0);
}

#[test]
fn an_entry_that_was_changed_since_is_named_and_stays() {
    let stage = stage_with(r#"{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}, "c": {"command": "z"}}}"#);
    assert_eq!(stage.run(["adopt", "--yes", "--no-try"]).code, Some(0));
    let since = cursor(&stage)
        .replace(r#""--", "x""#, r#""--root", "/srv", "--", "x""#)
        .replace(r#", "c": {"command": "rootward", "args": ["wrap", "--", "z"]}"#, "");
    stage.write("home/.cursor/mcp.json", &since);
    let run = stage.run(["adopt", "--undo", "--yes"]);
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    for line in [
        "  a: left as it is: its command was changed since\n",
        "  b: gets its own command back\n",
        "  c: it is no longer in the file\n",
    ] {
        assert!(run.stdout.contains(line), "{line}: {}", run.stdout);
    }
    let now = r#"{"mcpServers": {"a": {"command": "rootward", "args": ["wrap", "--root", "/srv", "--", "x"]}, "b": {"command": "y"}}}"#;
    assert_eq!(cursor(&stage), now);
    let told = json_of(&stage, &["adopt", "--undo", "--yes", "--json"]);
    let left: Vec<&Value> = told["files"][0]["left"].as_array().unwrap().iter().map(|left| &left["name"]).collect();
    assert_eq!(left, ["a"], "{told}");
    assert_eq!(cursor(&stage), now);
}

#[test]
fn the_record_of_a_missing_file_is_kept() {
    let stage = stage_with(r#"{"mcpServers": {"a": {"command": "x"}}}"#);
    let before = cursor(&stage);
    assert_eq!(stage.run(["adopt", "--yes", "--no-try"]).code, Some(0));
    let file = stage.path("home/.cursor/mcp.json");
    fs::rename(&file, stage.path("aside")).unwrap();
    let run = stage.run(["adopt", "--undo", "--yes"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("the file no longer exists; its record is kept"), "{}", run.stderr);
    fs::rename(stage.path("aside"), &file).unwrap();
    assert_eq!(stage.run(["adopt", "--undo", "--yes"]).code, Some(0));
    assert_eq!(cursor(&stage), before);
}

#[test]
fn a_link_in_place_of_an_adopted_file_is_not_followed() {
    let stage = stage_with(r#"{"mcpServers": {"a": {"command": "x"}}}"#);
    assert_eq!(stage.run(["adopt", "--yes", "--no-try"]).code, Some(0));
    let wrapped = cursor(&stage);
    stage.write("home/other.json", &wrapped);
    let file = stage.path("home/.cursor/mcp.json");
    fs::remove_file(&file).unwrap();
    symlink("../other.json", &file).unwrap();
    let run = stage.run(["adopt", "--undo", "--yes"]);
    assert_eq!(run.code, Some(2), "{}", run.stdout);
    assert!(run.stderr.contains("a link is in its place now"), "{}", run.stderr);
    assert_eq!(fs::read_to_string(stage.path("home/other.json")).unwrap(), wrapped);
}
