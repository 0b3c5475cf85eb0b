//! Variables in a file that an entry names (`envFile`): the server gets them, and nobody else sees them.

use std::fs;

use serde_json::json;

use super::attacks::given;
use super::{cursor, json_of, server, stage_with};
use crate::stage::Stage;

/// An entry in the user's own config, with this file.
fn entry(file: &str) -> String {
    format!(r#"{{"mcpServers": {{"a": {{"command": "python3", "args": ["[SERVER]"], "envFile": "{file}"}}}}}}"#)
}

#[test]
fn a_server_gets_the_variables_of_its_file() {
    let stage = stage_with(&entry("~/own.env"));
    stage.write("home/own.env", "# mine\nTOKEN=abc123\nexport ENDS='early'\nXDG_DATA_DIRS=/x\n");
    let before = cursor(&stage);
    let run = stage.run(["adopt", "--yes"]);
    let told = format!("{}{}", run.stdout, run.stderr);
    // The server ends because it was given `ENDS`.
    assert_eq!(run.code, Some(1), "{told}");
    assert!(told.contains("  Cursor, a: does not work: the server ended (exit code 5) before it answered"), "{told}");
    assert!(told.contains("(not passed on: XDG_DATA_DIRS; Rootward itself reads XDG_DATA_DIRS, too)"), "{told}");
    assert!(!told.contains("abc123") && !cursor(&stage).contains("abc123"), "{told}");
    assert!(cursor(&stage).contains(r#"["wrap", "--env", "TOKEN", "--env", "ENDS", "--", "python3","#));
    assert_eq!(stage.run(["adopt", "--undo", "--yes"]).code, Some(0));
    assert_eq!(cursor(&stage), before);
}

#[test]
fn variables_from_a_file_that_a_server_could_write_are_not_used() {
    let stage = stage_with("{}");
    stage.write("outside/own.env", "AWS_SECRET_ACCESS_KEY=\n");
    let file = stage.path("outside/own.env");
    let text = entry(file.to_str().unwrap()).replace("[SERVER]", &server());
    stage.write("home/.cursor/mcp.json", &text);
    let told = stage.run(["adopt"]).stdout;
    assert!(told.contains(r#""wrap", "--env", "AWS_SECRET_ACCESS_KEY", "--""#), "the control: {told}");
    given(&stage, "outside");
    let run = stage.run(["adopt", "--yes", "--no-try"]);
    let says = format!("a: skipped: a confined server may be able to write `{}`, whose variables", file.display());
    assert!(run.stdout.contains(&says), "{}", run.stdout);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), "there is nothing to adopt\n"));
    assert_eq!(cursor(&stage), text);
}

#[test]
fn a_project_cannot_steer_rootward_with_a_file() {
    let stage = Stage::new().with_path();
    let entries = json!({"servers": {
        "own": {"command": "x", "envFile": "${workspaceFolder}/.env"},
        "relative": {"command": "x", "envFile": ".env"},
        "elsewhere": {"command": "x", "envFile": "${userHome}/own.env"},
    }});
    stage.write("project/.vscode/mcp.json", &entries.to_string());
    stage.write("project/.env", "TOKEN=abc123\n");
    stage.write("home/own.env", "SECRET=abc123\n");
    let told = json_of(&stage, &["adopt", "--json"]);
    let of = |name: &str| {
        let servers = told["files"][0]["servers"].as_array().unwrap();
        servers.iter().find(|server| server["name"] == name).unwrap().clone()
    };
    for name in ["own", "relative"] {
        let (verdict, reason) = (&of(name)["verdict"], &of(name)["reason"]);
        assert_eq!((verdict, reason), (&json!("not_wrapped"), &json!("steered_by_file")), "{told}");
    }
    // A project's entry must not reveal the names of the user's variables.
    assert_eq!(of("elsewhere")["becomes"], json!(["rootward", "wrap", "--", "x"]), "{told}");
    assert!(!told.to_string().contains("abc123"), "{told}");
    let shown = stage.run(["adopt"]).stdout;
    let note = "elsewhere: will be wrapped (variables in `${userHome}/own.env` are not passed on (a project names a file outside itself)";
    assert!(shown.contains(note), "{shown}");
    assert_eq!(fs::read_to_string(stage.path("project/.vscode/mcp.json")).unwrap(), entries.to_string());
}
