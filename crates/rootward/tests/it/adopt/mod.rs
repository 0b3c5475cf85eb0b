//! `adopt` changes other clients' files only if a person agrees, changes only the servers' commands, and every server still works.

mod attacks;
mod hardship;
mod hub;
mod undo;
mod variables;

use std::fs;
use std::path::Path;

use rootward_testkit::client::{Client, message};
use serde_json::{Value, json};

use crate::roots::consent::on_a_terminal;
use crate::stage::{Stage, assert_told};

/// A server that does what the test tells it.
fn server() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/wrap/server.py").to_str().unwrap().to_owned()
}

/// The files of nine clients, and of a project. `[SERVER]` is the server, `[STAGE]` the stage.
const FILES: [(&str, &str); 10] = [
    (
        "home/.claude.json",
        r#"{
  "numStartups": 3,
  "mcpServers": {
    "one": {
      "type": "stdio",
      "command": "python3",
      "args": [
        "[SERVER]"
      ],
      "env": {
        "API_TOKEN": "abc123"
      }
    },
    "web": {
      "type": "http",
      "url": "https://example.com/mcp?key=abc123"
    }
  },
  "projects": {
    "[STAGE]/project": {
      "mcpServers": {
        "local": {
          "command": "python3",
          "args": ["[SERVER]"]
        }
      }
    }
  }
}"#,
    ),
    (
        "home/.config/Claude/claude_desktop_config.json",
        "{\"mcpServers\": {\"box\": {\"command\": \"docker\", \"args\": [\"run\", \"-i\", \"mcp/box\"]}, \"held\": {\"command\": \"rootward\", \"args\": [\"wrap\", \"--\", \"python3\", \"[SERVER]\"]}, \"files\": {\"command\": \"rootward\", \"args\": [\"serve\"]}}}\n",
    ),
    (
        "home/.cursor/mcp.json",
        "{\"mcpServers\": {\"one\": {\"command\": \"python3\", \"args\": [\"[SERVER]\"], \"envFile\": \"~/one.env\", \"env\": {\"HOME\": \"[STAGE]/home\", \"A\": \"b\"}}}}\n",
    ),
    (
        "home/.config/Code/User/mcp.json",
        "{\n\t// Mine.\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t\"one\": {\"type\": \"stdio\", \"command\": \"python3\", \"args\": [\"[SERVER]\",], \"env\": {\"K\": \"${input:key}\"}},\n\t},\n}\n",
    ),
    (
        "home/.codex/config.toml",
        "model = \"x\" # mine\n\n[mcp_servers.one]\ncommand = \"python3\"\nargs = [\"[SERVER]\"]\n\n[mcp_servers.one.env]\nAPI_TOKEN = \"abc123\"\n",
    ),
    (
        "home/.gemini/settings.json",
        "{\n  \"mcpServers\": {\n    \"one\": {\n      \"command\": \"python3\",\n      \"args\": [\n        \"[SERVER]\"\n      ]\n    }\n  }\n}",
    ),
    (
        "home/.config/opencode/opencode.jsonc",
        "{\n  \"mcp\": {\n    \"one\": {\n      \"type\": \"local\",\n      \"command\": [\n        \"python3\",\n        \"[SERVER]\"\n      ],\n      \"environment\": {\n        \"API_TOKEN\": \"abc123\"\n      }\n    }\n  }\n}",
    ),
    (
        "home/.codeium/windsurf/mcp_config.json",
        "{\"mcpServers\": {\"one\": {\"command\": \"python3\", \"args\": [\"[SERVER]\"], \"disabled\": true}}}",
    ),
    (
        "home/.config/zed/settings.json",
        "{\n  \"context_servers\": {\n    \"one\": {\"command\": {\"path\": \"python3\", \"args\": [\"[SERVER]\"], \"env\": {\"A\": \"b\"}}},\n    \"extension\": {\"settings\": {}}\n  }\n}\n",
    ),
    ("project/.mcp.json", "{\"mcpServers\": {\"shared\": {\"command\": \"python3\", \"args\": [\"[SERVER]\"]}}}\n"),
];

fn stage() -> Stage {
    let stage = Stage::new().with_path();
    let (server, top) = (server(), stage.top().to_str().unwrap().to_owned());
    for (path, text) in FILES {
        stage.write(path, &text.replace("[SERVER]", &server).replace("[STAGE]", &top));
    }
    stage
}

fn texts(stage: &Stage) -> Vec<String> {
    FILES.iter().map(|(path, _)| fs::read_to_string(stage.path(path)).unwrap()).collect()
}

/// A stage with one file of Cursor's.
fn stage_with(text: &str) -> Stage {
    let stage = Stage::new().with_path();
    stage.write("home/.cursor/mcp.json", &text.replace("[SERVER]", &server()));
    stage
}

fn cursor(stage: &Stage) -> String {
    fs::read_to_string(stage.path("home/.cursor/mcp.json")).unwrap()
}

fn json_of(stage: &Stage, words: &[&str]) -> Value {
    serde_json::from_str(&stage.run(words).stdout).unwrap()
}

#[test]
fn what_would_change_is_shown() {
    let stage = stage();
    let before = texts(&stage);
    let server = server();
    insta::with_settings!({ filters => vec![(server.as_str(), "[SERVER]")] }, {
        assert_told!("adopt", stage, ["adopt"], ["adopt", "codex"], ["adopt", ".mcp.json"]);
        assert_told!("adopt_wrong_use", stage, ["adopt", "emacs"], ["adopt", "README.md"], ["adopt", "--undo", "--no-try"]);
    });
    let told = stage.run(["adopt"]);
    assert!(!told.stdout.contains("abc123") && !told.stderr.contains("abc123"), "{}", told.stdout);
    let json = stage.run(["adopt", "--json"]);
    assert_eq!(json.code, Some(1));
    assert!(!json.stdout.contains("abc123"), "{}", json.stdout);
    assert_eq!(texts(&stage), before);
    assert!(!fs::exists(stage.path("home/.local/state/rootward/adopt")).unwrap());
}

#[test]
fn what_a_recipe_adds_to_a_command_is_shown() {
    let check = |arguments: &str, expect: &[&str]| {
        let stage = stage_with(&format!(
            r#"{{"mcpServers": {{"a": {{"command": "npx", "args": ["-y", "chrome-devtools-mcp@latest"{arguments}]}}}}}}"#
        ));
        let text = stage.run(["adopt", "cursor"]).stdout;
        let told = json_of(&stage, &["adopt", "cursor", "--json"]);
        let appended = told["files"][0]["servers"][0]["appended"].as_array().unwrap();
        for word in expect {
            assert!(appended.iter().any(|one| one == word), "{told}");
        }
        assert_eq!(expect.is_empty(), appended.is_empty(), "{told}");
        assert_eq!(text.contains("; it adds `--"), !expect.is_empty(), "{text}");
        assert!(text.contains("recipe `chrome-devtools`"), "{text}");
    };
    check("", &["--headless", "--chromeArg=--no-sandbox"]);
    check(r#", "--headless=false""#, &["--chromeArg=--no-sandbox"]);
    check(r#", "--browserUrl", "http://127.0.0.1:9222""#, &[]);
}

#[test]
fn the_directories_in_a_file_servers_arguments_are_named_as_its_limit() {
    let package = r#""-y", "@modelcontextprotocol/server-filesystem""#;
    let text = |arguments: &str| {
        let servers = format!(r#"{{"a": {{"command": "npx", "args": [{package}{arguments}]}}}}"#);
        stage_with(&format!(r#"{{"mcpServers": {servers}}}"#)).run(["adopt", "cursor"]).stdout
    };
    let limit = "recipe `filesystem`; limited to what the client shares within `/srv/a`, `/srv/b`)";
    let told = text(r#", "/srv/a", "/srv/b""#);
    assert!(told.contains(limit), "{told}");
    let told = text("");
    assert!(told.contains("(recipe `filesystem`)"), "{told}");
}

#[test]
fn nothing_is_changed_without_a_yes() {
    let stage = stage();
    let before = texts(&stage);
    for fed in ["", "y\n", "yes\n"] {
        stage.write("answer", fed);
        let answer = fs::File::open(stage.path("answer")).unwrap();
        let output = stage.command(["adopt"]).stdin(answer).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
    }
    for typed in ["n\n", "\n", "yep\n", "\u{4}"] {
        let run = on_a_terminal(&stage, "adopt", typed);
        assert_eq!(run.code, Some(1), "{typed:?}: {}", run.stdout);
        assert!(run.stdout.contains("Adopt these 10 servers? [y/N]"), "{}", run.stdout);
        assert!(run.stdout.contains("nothing was changed"), "{}", run.stdout);
    }
    assert_eq!(texts(&stage), before);
}

#[test]
fn a_person_says_yes_and_every_server_works() {
    let stage = stage();
    let run = on_a_terminal(&stage, "adopt", "y\n");
    let told = &run.stdout;
    assert_eq!(run.code, Some(0), "{told}");
    for line in [
        "adopted 10 servers; `rootward adopt --undo` reverts it\n",
        "  Claude Code, one: works, with 16 tools\n",
        "  Claude Code, local (in [STAGE]/project): works, with 16 tools\n",
        "  Claude Code, shared: works, with 16 tools\n",
        "  Cursor, one: works, with 16 tools\n",
        "  VS Code, one: not started: only the client knows `${input:key}`\n",
        "  Codex, one: works, with 16 tools\n",
        "  Gemini CLI, one: works, with 16 tools\n",
        "  opencode, one: works, with 16 tools\n",
        "  Windsurf, one: not started: it is switched off\n",
        "  Zed, one: works, with 16 tools\n",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    // A second run has nothing to do.
    let again = stage.run(["adopt"]);
    assert_eq!((again.code, again.stderr.as_str()), (Some(0), "there is nothing to adopt\n"), "{}", again.stdout);
}

#[test]
fn a_flag_starts_no_server_of_a_project() {
    let stage = stage();
    let told = json_of(&stage, &["adopt", "--yes", "--json"]);
    let files = told["files"].as_array().unwrap();
    assert!(files.iter().all(|file| file["changed"] == (file["client"] != "claude-desktop")), "{told}");
    let project = files.iter().find(|file| file["holder"] == "project").unwrap();
    assert_eq!(project["servers"][0]["works"], Value::Null, "{project}");
    assert!(project["servers"][0]["why"].as_str().unwrap().starts_with("a project's file names it"), "{project}");
    let own = &files.iter().find(|file| file["client"] == "claude-code").unwrap()["servers"][0];
    assert_eq!((&own["works"], &own["tools"]), (&json!(true), &json!(16)), "{own}");
    assert_eq!(own["becomes"], json!(["rootward", "wrap", "--env", "API_TOKEN", "--", "python3", server()]));
    // The same without starting anything.
    let stage = self::stage();
    let told = json_of(&stage, &["adopt", "claude-code", "--yes", "--no-try", "--json"]);
    assert_eq!(told["files"].as_array().unwrap().len(), 2, "{told}");
    assert_eq!(told["files"][0]["servers"][0]["works"], Value::Null, "{told}");
}

/// Runs the new command of an entry as the client would.
#[test]
fn an_adopted_server_is_held_and_has_its_variables() {
    let stage = stage();
    assert_eq!(stage.run(["adopt", "claude-code", "--yes", "--no-try"]).code, Some(0));
    let text = fs::read_to_string(stage.path("home/.claude.json")).unwrap();
    let config: Value = serde_json::from_str(&text).unwrap();
    let entry = &config["mcpServers"]["one"];
    let mut command = stage.command(entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
    assert_eq!(entry["command"], "rootward");
    command.envs(entry["env"].as_object().unwrap().iter().map(|(name, value)| (name, value.as_str().unwrap())));
    let mut client = Client::start(&mut command);
    let roots = [format!("file://{}", stage.path("project").display())];
    client.reply("roots/list", Some(json!({"result": message::roots(&roots)})));
    client.ask("initialize", json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}}));
    client.notify("notifications/initialized", ());
    assert_eq!(client.text("variable", json!({"name": "API_TOKEN"})), "\"abc123\"");
    assert_eq!(client.text("read", json!({"path": stage.path("project/README.md")})), "text");
    let refused = client.call("read", json!({"path": stage.path("outside/secret")}));
    assert_eq!(refused["result"]["structuredContent"]["code"], "outside_roots", "{refused}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_server_that_does_not_work_is_named_with_the_reason() {
    let stage = stage_with(
        r#"{"mcpServers": {"gone": {"command": "no-such-program"}, "dies": {"command": "python3", "args": ["[SERVER]"], "env": {"ENDS": "early"}},
            "good": {"command": "python3", "args": ["[SERVER]", "x"]}}}"#,
    );
    let run = stage.run(["adopt", "--yes"]);
    assert_eq!(run.code, Some(1), "{}{}", run.stdout, run.stderr);
    for line in [
        "  Cursor, gone: does not work: command `no-such-program` was not found",
        "  Cursor, dies: does not work: the server ended (exit code 5) before it answered",
        "  Cursor, good: works, with 16 tools\n",
    ] {
        assert!(run.stdout.contains(line), "{line}: {}", run.stdout);
    }
    // The cached handshake does not count: the same command now starts a server that dies.
    assert_eq!(stage.run(["adopt", "--undo", "--yes"]).code, Some(0));
    stage.write("home/.cursor/mcp.json", &cursor(&stage).replace("\"x\"]", "\"x\"], \"env\": {\"ENDS\": \"early\"}"));
    let run = stage.run(["adopt", "--yes"]);
    assert!(run.stdout.contains("  Cursor, good: does not work: the server ended (exit code 5)"), "{}", run.stdout);
}

#[test]
fn the_home_is_not_given_to_servers_that_are_tried() {
    let stage =
        stage_with(r#"{"mcpServers": {"a": {"command": "python3", "args": ["[SERVER]"], "env": {"SEEN": "seen"}}}}"#);
    fs::create_dir(stage.path("temporary")).unwrap();
    for (place, from_here) in [("home", false), ("", false), ("outside/deep", true)] {
        let mut command = stage.command(["adopt", "--yes"]);
        command.current_dir(stage.path(place)).env("TMPDIR", stage.path("temporary"));
        let run = command.output().unwrap();
        let told = String::from_utf8_lossy(&run.stdout);
        assert_eq!(run.status.code(), Some(0), "{told}");
        assert!(told.contains("  Cursor, a: works, with 16 tools\n"), "{told}");
        let says = String::from_utf8_lossy(&run.stderr);
        assert_eq!(says.contains("in an empty directory"), !from_here, "{says}");
        // The server writes the messages that it gets to a file in its working directory.
        assert_eq!(fs::exists(stage.path(place).join("seen")).unwrap(), from_here, "{place}");
        let record = fs::read(stage.path("home/.local/state/rootward/given-for-writing")).unwrap();
        let home = stage.path("home").canonicalize().unwrap();
        let given = String::from_utf8_lossy(&record).split('\0').any(|place| Path::new(place) == home);
        assert!(!given, "{}", String::from_utf8_lossy(&record));
        assert_eq!(stage.run(["adopt", "--undo", "--yes"]).code, Some(0));
    }
    assert_eq!(fs::read_dir(stage.path("temporary")).unwrap().count(), 0);
}

#[test]
fn the_program_is_called_by_its_path_if_its_name_is_not_enough() {
    let stage = Stage::new();
    let text = r#"{"mcpServers": {"a": {"command": "x"}}}"#;
    stage.write("home/.cursor/mcp.json", text);
    assert_eq!(stage.run(["adopt", "--yes", "--no-try"]).code, Some(0));
    assert!(cursor(&stage).contains(&format!("\"command\": \"{}\"", env!("CARGO_BIN_EXE_rootward"))));
    // `PATH` finds another program with that name first.
    let stage = Stage::new();
    stage.write("home/.cursor/mcp.json", text);
    stage.write("bin/rootward", "#!/bin/sh\n");
    fs::set_permissions(stage.path("bin/rootward"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_rootward")).parent().unwrap().display().to_string();
    let path = format!("{}:{program}", stage.path("bin").display());
    let stage = stage.with("PATH", path);
    assert_eq!(stage.run(["adopt", "--yes", "--no-try"]).code, Some(0));
    assert!(cursor(&stage).contains(&format!("\"command\": \"{}\"", env!("CARGO_BIN_EXE_rootward"))));
}
