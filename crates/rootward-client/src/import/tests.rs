//! Malformed files, and functions that the tests of readers share.

use std::fmt::Write;
use std::path::Path;

use super::{Client, Enabled, FileContents, FileContext, Form, Scope, Transport, parse};

pub(super) fn around(project: Option<&str>) -> FileContext {
    FileContext { home: Some("/home/me".into()), project: project.map(Into::into) }
}

/// A line for everything that was found.
fn lines(found: &FileContents) -> String {
    let mut text = String::new();
    let roots = |text: &mut String, roots: &[super::SuggestedRoot], indent: &str| {
        for root in roots {
            let path = root.path.as_deref().unwrap_or(Path::new("?"));
            writeln!(text, "{indent}root {} = {} ({}): {}", root.text, path.display(), root.access, root.why).unwrap();
        }
    };
    for server in &found.servers {
        let scope = match &server.scope {
            Scope::User => "user".to_owned(),
            Scope::Project(path) => path.clone(),
        };
        let off = if server.enabled == Enabled::Off { " off" } else { "" };
        writeln!(text, "{} [{scope}]{off}", server.name).unwrap();
        match &server.transport {
            Transport::Command(line) => {
                writeln!(text, "  {} {:?} in {:?}", line.program, line.arguments, line.directory).unwrap();
                writeln!(text, "  {:?} {:?}", line.variables, line.variables_file).unwrap();
            }
            Transport::Remote(remote) => writeln!(text, "  {} {:?}", remote.url, remote.headers).unwrap(),
        }
        roots(&mut text, &server.roots, "  ");
    }
    roots(&mut text, &found.roots, "");
    for mistake in &found.not_understood {
        writeln!(text, "! {mistake}").unwrap();
    }
    text
}

pub(super) fn check(form: Form, project: Option<&str>, text: &str, expect: &str) {
    let found = parse(form, text, &around(project)).unwrap();
    let indented = |line: &str| line.strip_prefix("        ").unwrap_or(line).to_owned() + "\n";
    let expect: String = expect.trim_end().lines().skip(1).map(indented).collect();
    assert_eq!(lines(&found), expect, "{text}");
}

#[test]
fn entries_that_are_not_understood_are_reported_and_the_rest_is_read() {
    check(
        Form::ClaudeDesktop,
        None,
        r#"{"mcpServers": {
  "number": {"command": "x", "args": ["a", 1]},
  "list": {"command": ["x"]},
  "both": {"command": "x", "url": "y"},
  "neither": {"cmd": "x"},
  "socket": {"type": "ws", "url": "ws://x"},
  "mixed": {"type": "http", "command": "x"},
  "text": "x",
  "empty": {"command": " "},
  "env": {"command": "x", "env": {"PORT": 3000}},
  "null": {"command": "x", "args": null, "env": null, "cwd": null},
  "zero": {"command": "a\u0000b"},
  "switch": {"command": "x", "disabled": "no"},
  "\u001b[2J": 1,
  "twice": {"command": "first"},
  "twice": {"command": "last"}
}}"#,
        r"
        null [user]
          x [] in None
          [] None
        twice [user]
          last [] in None
          [] None
        ! line 2, column 44: server `number`: `args` must be a list of strings, but contains a number
        ! line 3, column 23: server `list`: `command` must be a string, not a list
        ! line 4, column 11: server `both` has both `command` and `url`
        ! line 5, column 14: server `neither` has neither `command` nor `url`
        ! line 6, column 13: server `socket`: `type` is `ws`, which does not match the other keys
        ! line 7, column 12: server `mixed`: `type` is `http`, which does not match the other keys
        ! line 8, column 11: server `text` must be a table, not a string
        ! line 9, column 12: server `empty`: `command` is empty
        ! line 10, column 43: server `env`: `env.PORT` must be a string, not a number
        ! line 12, column 23: server `zero`: `command` contains a NUL byte
        ! line 13, column 42: server `switch`: `disabled` must be a boolean, not a string
        ! line 14, column 16: server `\u{1b}[2J` must be a table, not a number
        ! line 16, column 12: duplicate key: server `twice`; the last one counts
        ",
    );
    check(
        Form::ClaudeState,
        None,
        "{\"mcpServers\": [], \"projects\": 1}",
        r"
        ! line 1, column 16: `mcpServers` must be a table, not a list
        ! line 1, column 32: `projects` must be a table, not a number
        ",
    );
    for nothing in ["", " \n", "{}", "[]", "null", "// nothing", "{\"mcpServers\": {}}"] {
        assert_eq!(parse(Form::ClaudeDesktop, nothing, &around(None)).unwrap(), FileContents::default(), "{nothing:?}");
    }
}

#[test]
fn syntax_errors_have_a_position() {
    let check = |form, text: &str, expect: &str| {
        assert_eq!(parse(form, text, &around(None)).unwrap_err().to_string(), expect, "{text}");
    };
    check(Form::Cursor, "{\n  \"mcpServers\": {\n", "line 2, column 17: unterminated object");
    check(Form::Cursor, "{\"a\": 1} x", "line 1, column 10: text cannot contain more than one JSON value");
    check(Form::Cursor, "{\"ä\": 'x'}", "line 1, column 7: single-quoted strings are not allowed");
    check(Form::Cursor, "{\"a\": 1 \"b\": 2}", "line 1, column 8: expected comma");
    check(Form::Codex, "[mcp_servers.x]\ncommand = \"x\"\ncommand = \"y\"\n", "line 3, column 1: duplicate key");
    check(Form::Codex, "a = \n", "line 1, column 5: string values must be quoted, expected literal string");
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    for (form, text) in [
        (Form::VsCode, deep("[", "]")),
        (Form::VsCode, deep("{\"a\":", "}")),
        (Form::Codex, format!("a = {}", deep("[", "]"))),
        (Form::Codex, format!("a = {}", deep("{a=", "}"))),
    ] {
        assert!(parse(form, &text, &around(None)).is_err());
    }
}

#[test]
fn too_many_entries_are_cut_off() {
    let entry = |number: usize| format!("\"s{number}\": {{\"command\": \"x\"}}");
    let servers: Vec<String> = (0..3000).map(entry).collect();
    let found = parse(Form::Cursor, &format!("{{\"mcpServers\": {{{}}}}}", servers.join(",")), &around(None)).unwrap();
    assert_eq!(found.servers.len(), 1000);
    assert!(found.not_understood[0].says.contains("more than 1000 servers"));
    let servers: Vec<String> = (0..3000).map(|number| format!("\"s{number}\": 1")).collect();
    let found = parse(Form::Cursor, &format!("{{\"mcpServers\": {{{}}}}}", servers.join(",")), &around(None)).unwrap();
    assert_eq!(found.not_understood.len(), 100);
}

#[test]
fn names_of_clients_are_their_own() {
    let mut names: Vec<&str> = Client::ALL.iter().map(|client| client.name()).collect();
    names.dedup();
    assert_eq!(
        names,
        ["claude-code", "claude-desktop", "cursor", "vscode", "codex", "gemini-cli", "opencode", "windsurf", "zed"]
    );
}
