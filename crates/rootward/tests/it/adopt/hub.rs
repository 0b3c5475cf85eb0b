//! `adopt --hub` replaces a file's servers with one entry and moves them behind the hub. Undo restores the original bytes.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rootward_testkit::client::{Client, message};
use serde_json::{Value, json};

use super::{FILES, cursor, json_of, server, stage, stage_with, texts};
use crate::stage::Stage;

const HUBS: &str = "home/.config/rootward/hub";

/// Two processes and a remote server between them.
const TWO: &str = r#"{
  "mcpServers": {
    "one": {"command": "python3", "args": ["[SERVER]"], "env": {"API_TOKEN": "abc123"}},
    "web": {"url": "https://example.com/mcp?key=abc123"},
    "two": {"command": "python3", "args": ["[SERVER]"]}
  },
  "theme": "dark"
}
"#;

/// The existing hub configurations.
fn hubs(stage: &Stage) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(stage.path(HUBS)) else { return Vec::new() };
    let mut hubs: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    hubs.sort();
    hubs
}

fn read(path: impl AsRef<Path>) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn one_entry_takes_the_place_of_the_servers() {
    let stage = stage_with(TWO);
    let before = cursor(&stage);
    let run = stage.run(["adopt", "--hub"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_eq!(cursor(&stage), before);
    assert!(hubs(&stage).is_empty());
    for line in
        ["  one: will move behind the hub\n", "  web: skipped: a remote server", "+      \"command\": \"python3\",\n"]
    {
        assert!(run.stdout.contains(line), "{line}: {}", run.stdout);
    }
    assert!(!run.stdout.contains("abc123"), "{}", run.stdout);

    let run = stage.run(["adopt", "--hub", "--yes"]);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    for line in ["adopted 2 servers", "  Cursor, one: works, with 16 tools\n", "  Cursor, two: works, with 16 tools\n"]
    {
        assert!(run.stdout.contains(line), "{line}: {}", run.stdout);
    }
    let file = stage.path(HUBS).join("cursor.json");
    assert_eq!(hubs(&stage), [file.as_path()]);
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    let web = json!({"url": "https://example.com/mcp?key=abc123"});
    let hub = json!({"command": "rootward", "args": ["hub", "--config", file]});
    let now = read(stage.path("home/.cursor/mcp.json"));
    assert_eq!(now, json!({"mcpServers": {"rootward": hub, "web": web}, "theme": "dark"}));
    let one = json!({"command": "python3", "args": [server()], "env": {"API_TOKEN": "abc123"}});
    let two = json!({"command": "python3", "args": [server()]});
    assert_eq!(read(&file), json!({"mcpServers": {"one": one, "two": two}}));
    let checked = stage.run(["hub", "--check", "--config", file.to_str().unwrap()]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.stdout, checked.stderr);

    let run = stage.run(["adopt", "--undo", "--yes"]);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    for line in ["  rootward: replaced by one, two\n", "undone: 2 servers\n"] {
        assert!(run.stdout.contains(line), "{line}: {}", run.stdout);
    }
    assert!(!run.stdout.contains("abc123"), "{}", run.stdout);
    assert_eq!(cursor(&stage), before);
    assert!(hubs(&stage).is_empty());
}

#[test]
fn every_client_can_have_a_hub() {
    let stage = stage();
    let before = texts(&stage);
    let told = json_of(&stage, &["adopt", "--hub", "--yes", "--no-try", "--json"]);
    assert!(!told.to_string().contains("abc123"), "{told}");
    // The files of Claude Desktop, Cursor and VS Code have no server that the hub can run.
    let changed: Vec<bool> = texts(&stage).iter().zip(&before).map(|(now, before)| now != before).collect();
    assert_eq!(changed, [true, false, false, false, true, true, true, true, true, true]);
    let found = hubs(&stage);
    let told_files: Vec<&Value> =
        told["files"].as_array().unwrap().iter().flat_map(|file| file["hubs"].as_array().unwrap()).collect();
    assert_eq!((found.len(), told_files.len()), (FILES.len() - 3 + 1, found.len()), "{told}");
    for file in &found {
        let checked = stage.run(["hub", "--check", "--config", file.to_str().unwrap()]);
        assert_eq!(checked.code, Some(0), "{}: {}{}", file.display(), checked.stdout, checked.stderr);
    }
    let claude = read(stage.path("home/.claude.json"));
    let project = stage.path("project").to_str().unwrap().to_owned();
    assert_eq!(claude["mcpServers"]["rootward"]["type"], "stdio", "{claude}");
    assert!(claude["projects"][&project]["mcpServers"]["rootward-local"].is_object(), "{claude}");
    assert!(read(stage.path("project/.mcp.json"))["mcpServers"]["rootward-project"].is_object());
    let codex = fs::read_to_string(stage.path("home/.codex/config.toml")).unwrap();
    assert!(
        codex.starts_with("model = \"x\" # mine\n\n[mcp_servers.rootward]\ncommand = \"rootward\"\nargs = [\"hub\", "),
        "{codex}"
    );
    assert!(codex.ends_with("codex.json\", \"--root\", \".\"]\n"), "{codex}");
    assert_eq!(read(stage.path(HUBS).join("windsurf.json"))["mcpServers"]["one"]["disabled"], true);
    let run = stage.run(["adopt", "--undo", "--yes"]);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    assert_eq!(texts(&stage), before);
    assert!(hubs(&stage).is_empty());
}

#[test]
fn comments_elsewhere_stay() {
    let stage = Stage::new().with_path();
    let before = "{\n\t// Asked once.\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t// Mine.\n\t\t\"a\": {\"type\": \"stdio\", \"command\": \"x\"}, // a\n\t\t\"b\": {\"command\": \"y\", \"env\": {\"K\": \"${input:k}\"}},\n\t},\n}\n";
    stage.write("home/.config/Code/User/mcp.json", before);
    let text = || fs::read_to_string(stage.path("home/.config/Code/User/mcp.json")).unwrap();
    let told = json_of(&stage, &["adopt", "--hub", "vscode", "--yes", "--no-try", "--json"]);
    let file = stage.path(HUBS).join("vscode.json");
    let hub = format!(
        "\"rootward\": {{ \"type\": \"stdio\", \"command\": \"rootward\", \"args\": [\"hub\", \"--config\", \"{}\"] }}",
        file.display()
    );
    assert_eq!(text(), before.replace("\"a\": {\"type\": \"stdio\", \"command\": \"x\"}", &hub));
    let left = &told["files"][0]["servers"][1];
    assert_eq!((&left["verdict"], &left["reason"]), (&json!("not_wrapped"), &json!("not_by_hub")), "{told}");
    assert_eq!(told["files"][0]["hubs"], json!([{"name": "rootward", "config": file, "servers": ["a"]}]));
    // The user edits a comment: undo restores the server and keeps the comment.
    stage.write("home/.config/Code/User/mcp.json", &text().replace("// a\n", "// b\n"));
    assert_eq!(stage.run(["adopt", "--undo", "--yes"]).code, Some(0));
    assert_eq!(text(), before.replace("// a\n", "// b\n"));
}

/// Runs the new command of the entry as the client would.
#[test]
fn an_adopted_hub_has_its_servers() {
    let stage = stage_with(TWO);
    assert_eq!(stage.run(["adopt", "--hub", "cursor", "--yes", "--no-try"]).code, Some(0));
    let entry = read(stage.path("home/.cursor/mcp.json"))["mcpServers"]["rootward"].clone();
    let mut command = stage.command(entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
    let mut client = Client::start(&mut command);
    let roots = [format!("file://{}", stage.path("project").display())];
    client.reply("roots/list", Some(json!({"result": message::roots(&roots)})));
    client.ask("initialize", json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}}));
    client.notify("notifications/initialized", ());
    let listed = client.ask("tools/list", json!({})).to_string();
    assert!(listed.contains("\"one__read\"") && listed.contains("\"two__read\""), "{listed}");
    assert_eq!(client.text("one__variable", json!({"name": "API_TOKEN"})), "\"abc123\"");
    assert_eq!(client.text("two__read", json!({"path": stage.path("project/README.md")})), "text");
    let refused = client.call("two__read", json!({"path": stage.path("outside/secret")}));
    assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{refused}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn wrapped_servers_move_with_their_own_commands() {
    let stage = stage_with(TWO);
    let before = cursor(&stage);
    assert_eq!(stage.run(["adopt", "--yes", "--no-try"]).code, Some(0));
    assert_eq!(cursor(&stage).matches("\"wrap\"").count(), 2);
    assert_eq!(stage.run(["adopt", "--hub", "--yes", "--no-try"]).code, Some(0));
    let file = stage.path(HUBS).join("cursor.json");
    assert_eq!(read(&file)["mcpServers"]["one"]["command"], "python3");
    assert!(!cursor(&stage).contains("wrap"), "{}", cursor(&stage));
    // A server that is added later is wrapped, and one undo reverts everything.
    let more = ",\n    \"three\": {\"command\": \"x\"}\n  },\n  \"theme\"";
    stage.write("home/.cursor/mcp.json", &cursor(&stage).replace("\n  },\n  \"theme\"", more));
    let run = stage.run(["adopt", "--yes", "--no-try"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("  rootward: already the hub\n"), "{}", run.stdout);
    assert_eq!(stage.run(["adopt", "--undo", "--yes"]).code, Some(0));
    let now: Value = serde_json::from_str(&cursor(&stage)).unwrap();
    let expect: Value = serde_json::from_str(&before.replace("\n  },\n  \"theme\"", more)).unwrap();
    assert_eq!(now, expect);
    assert!(hubs(&stage).is_empty());
}

#[test]
fn a_wrapped_server_that_the_hub_cannot_run_stays_wrapped() {
    let stage =
        stage_with(r#"{"mcpServers": {"a": {"command": "x", "env": {"K": "${input:k}"}}, "b": {"command": "y"}}}"#);
    let before = cursor(&stage);
    assert_eq!(stage.run(["adopt", "--yes", "--no-try"]).code, Some(0));
    let run = stage.run(["adopt", "--hub", "--yes", "--no-try"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("  a: already wrapped\n"), "{}", run.stdout);
    let now = read(stage.path("home/.cursor/mcp.json"));
    assert_eq!(now["mcpServers"]["a"]["args"], json!(["wrap", "--env", "K", "--", "x"]), "{now}");
    assert!(now["mcpServers"]["b"].is_null() && now["mcpServers"]["rootward"].is_object(), "{now}");
    assert_eq!(stage.run(["adopt", "--undo", "--yes"]).code, Some(0));
    assert_eq!(cursor(&stage), before);
}

#[test]
fn no_second_hub_is_added() {
    let stage = stage_with(TWO);
    assert_eq!(stage.run(["adopt", "--hub", "--yes", "--no-try"]).code, Some(0));
    let now = cursor(&stage);
    let again = stage.run(["adopt", "--hub"]);
    assert_eq!((again.code, again.stderr.as_str()), (Some(0), "there is nothing to adopt\n"), "{}", again.stdout);
    assert!(again.stdout.contains("  rootward: already the hub\n"), "{}", again.stdout);
    stage.write("home/.cursor/mcp.json", &now.replace("\"web\"", "\"three\": {\"command\": \"x\"},\n    \"web\""));
    let again = stage.run(["adopt", "--hub", "--yes", "--no-try"]);
    assert!(again.stdout.contains("  three: skipped: the file already has a hub: "), "{}", again.stdout);
    assert_eq!(hubs(&stage).len(), 1);
}

#[test]
fn a_configuration_that_was_changed_since_is_kept() {
    let stage = stage_with(TWO);
    let before = cursor(&stage);
    assert_eq!(stage.run(["adopt", "--hub", "--yes", "--no-try"]).code, Some(0));
    let file = stage.path(HUBS).join("cursor.json");
    let changed = fs::read_to_string(&file).unwrap().replace("\"two\"", "\"renamed\"");
    fs::write(&file, &changed).unwrap();
    let run = stage.run(["adopt", "--undo", "--yes"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stdout.contains("`~/.config/rootward/hub/cursor.json` is kept: it, or its entry, was changed since"),
        "{}",
        run.stdout
    );
    assert_eq!((cursor(&stage), fs::read_to_string(&file).unwrap()), (before, changed.clone()));
    // Adopting again does not overwrite it.
    assert_eq!(stage.run(["adopt", "--hub", "--yes", "--no-try"]).code, Some(0));
    assert_eq!((hubs(&stage).len(), fs::read_to_string(&file).unwrap()), (2, changed));
}

#[test]
fn a_hub_that_was_changed_since_is_named_and_stays() {
    let stage = stage_with(TWO);
    assert_eq!(stage.run(["adopt", "--hub", "--yes", "--no-try"]).code, Some(0));
    let since = cursor(&stage).replace("cursor.json\"", "cursor.json\", \"--root\", \"/srv\"");
    stage.write("home/.cursor/mcp.json", &since);
    let run = stage.run(["adopt", "--undo", "--yes"]);
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert!(
        run.stdout.contains("  rootward: left as it is: its command was changed since; its servers are in"),
        "{}",
        run.stdout
    );
    assert_eq!((cursor(&stage), hubs(&stage).len()), (since, 1));
}

#[test]
fn each_server_that_does_not_work_is_named() {
    let stage = stage_with(
        r#"{"mcpServers": {"dies": {"command": "python3", "args": ["[SERVER]"], "env": {"ENDS": "early"}}, "good": {"command": "python3", "args": ["[SERVER]", "x"]},
            "gone": {"command": "no-such-program"}, "off": {"command": "x", "disabled": true}}}"#,
    );
    let run = stage.run(["adopt", "--hub", "--yes"]);
    assert_eq!(run.code, Some(1), "{}{}", run.stdout, run.stderr);
    for line in [
        "  Cursor, dies: does not work: ",
        "  Cursor, gone: does not work: ",
        "  Cursor, good: works, with 16 tools\n",
        "  Cursor, off: not started: it is switched off\n",
    ] {
        assert!(run.stdout.contains(line), "{line}: {}", run.stdout);
    }
}

#[test]
fn a_settings_directory_that_a_server_could_write_is_refused() {
    let stage = stage_with(TWO);
    let before = cursor(&stage);
    let run = stage.run(["sandbox", ".", "--", "true"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    fs::create_dir_all(stage.path("project/docs/settings")).unwrap();
    fs::create_dir_all(stage.path("home/.config")).unwrap();
    symlink(stage.path("project/docs/settings"), stage.path("home/.config/rootward")).unwrap();
    let run = stage.run(["adopt", "--hub", "--yes", "--no-try"]);
    assert_eq!(run.code, Some(2), "{}", run.stdout);
    assert!(run.stderr.contains("a confined server could have written"), "{}", run.stderr);
    assert_eq!(cursor(&stage), before);
}
