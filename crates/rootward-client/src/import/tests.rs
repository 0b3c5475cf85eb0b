//! Files as each client writes them, and files as nobody should.

use std::fmt::Write;
use std::path::Path;

use super::{Around, Client, Enabled, Form, Found, Scope, Transport, parse};

fn around(project: Option<&str>) -> Around {
    Around { home: Some("/home/me".into()), project: project.map(Into::into) }
}

/// A line for everything that was found.
fn told(found: &Found) -> String {
    let mut told = String::new();
    let roots = |told: &mut String, roots: &[super::SuggestedRoot], indent: &str| {
        for root in roots {
            let path = root.path.as_deref().unwrap_or(Path::new("?"));
            writeln!(told, "{indent}root {} = {} ({}): {}", root.text, path.display(), root.access, root.why).unwrap();
        }
    };
    for server in &found.servers {
        let scope = match &server.scope {
            Scope::User => "user".to_owned(),
            Scope::Project(path) => path.clone(),
        };
        let off = if server.enabled == Enabled::Off { " off" } else { "" };
        writeln!(told, "{} [{scope}]{off}", server.name).unwrap();
        match &server.transport {
            Transport::Command(line) => {
                writeln!(told, "  {} {:?} in {:?}", line.program, line.arguments, line.directory).unwrap();
                writeln!(told, "  {:?} {:?}", line.variables, line.variables_file).unwrap();
            }
            Transport::Remote(remote) => writeln!(told, "  {} {:?}", remote.url, remote.headers).unwrap(),
        }
        roots(&mut told, &server.roots, "  ");
    }
    roots(&mut told, &found.roots, "");
    for mistake in &found.not_understood {
        writeln!(told, "! {mistake}").unwrap();
    }
    told
}

fn check(form: Form, project: Option<&str>, text: &str, expect: &str) {
    let found = parse(form, text, &around(project)).unwrap();
    let indented = |line: &str| line.strip_prefix("        ").unwrap_or(line).to_owned() + "\n";
    let expect: String = expect.trim_end().lines().skip(1).map(indented).collect();
    assert_eq!(told(&found), expect, "{text}");
}

#[test]
fn state_of_claude_code() {
    check(
        Form::ClaudeState,
        None,
        r#"{
          "numStartups": 41, "tipsHistory": {"shift-enter": 27}, "autoUpdates": true,
          "projects": {
            "/home/me/app": {
              "allowedTools": [], "history": [{"display": "hello"}], "hasTrustDialogAccepted": true,
              "mcpServers": {
                "db": {"type": "stdio", "command": "uvx", "args": ["mcp-db", "--dir", "${HOME}/db"], "env": {}},
                "old": {"command": "old-server"}
              },
              "disabledMcpServers": ["old", "github"], "enabledMcpjsonServers": []
            },
            "/tmp/try": {"hasTrustDialogAccepted": false, "mcpServers": {}}
          },
          "mcpServers": {
            "github": {"type": "http", "url": "https://api.example.com/mcp", "headers": {"Authorization": "Bearer abc"}},
            "events": {"type": "sse", "url": "https://example.com/sse"}
          }
        }"#,
        r#"
        github [user]
          https://api.example.com/mcp [("Authorization", "Bearer abc")]
        events [user]
          https://example.com/sse []
        db [/home/me/app]
          uvx ["mcp-db", "--dir", "${HOME}/db"] in None
          [] None
          root ${HOME}/db = /home/me/db (read, write, delete): given as `--dir`
        old [/home/me/app] off
          old-server [] in None
          [] None
        root /home/me/app = /home/me/app (read, write, delete): a trusted project
        "#,
    );
}

#[test]
fn projects_of_claude_code() {
    check(
        Form::ClaudeProject,
        Some("/p"),
        r#"{"mcpServers": {"files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "${WHERE:-/srv}"]}}}"#,
        r#"
        files [/p]
          npx ["-y", "@modelcontextprotocol/server-filesystem", "${WHERE:-/srv}"] in None
          [] None
          root ${WHERE:-/srv} = ? (read, write, delete): the file server is given it
        "#,
    );
    let settings = r#"{"permissions": {"allow": ["Bash(ls)"], "additionalDirectories": ["../docs/", "~/notes", "/srv/x", ".", "C:\\x", "/srv/x"]}}"#;
    check(
        Form::ClaudeSettings,
        Some("/p"),
        settings,
        r"
        root ../docs/ = /p/../docs/ (read, write, delete): in `permissions.additionalDirectories`
        root ~/notes = /home/me/notes (read, write, delete): in `permissions.additionalDirectories`
        root /srv/x = /srv/x (read, write, delete): in `permissions.additionalDirectories`
        root . = /p/. (read, write, delete): in `permissions.additionalDirectories`
        root C:\x = ? (read, write, delete): in `permissions.additionalDirectories`
        ",
    );
    // Where it is not known from where they count, nothing is guessed.
    let found = parse(Form::ClaudeSettings, settings, &around(None)).unwrap();
    assert_eq!(found.roots[0].path, None);
}

#[test]
fn claude_desktop() {
    check(
        Form::ClaudeDesktop,
        None,
        r#"{
          "globalShortcut": "",
          "mcpServers": {
            "filesystem": {
              "command": "npx",
              "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/src", "${HOME}/x"],
              "env": {"API_KEY": "abc", "DEBUG": ""}
            }
          }
        }"#,
        r#"
        filesystem [user]
          npx ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/src", "${HOME}/x"] in None
          [("API_KEY", "abc"), ("DEBUG", "")] None
          root /home/me/src = /home/me/src (read, write, delete): the file server is given it
          root ${HOME}/x = ? (read, write, delete): the file server is given it
        "#,
    );
}

#[test]
fn cursor() {
    let text = r#"{"mcpServers": {
      "py": {"command": "python", "args": ["${workspaceFolder}/tools/server.py", "--root", "${workspaceFolder}/data"],
             "env": {"K": "${env:K}"}, "envFile": ".env"},
      "far": {"url": "http://localhost:3000/sse", "headers": {"X-Key": "${env:K}"}, "disabled": true}
    }}"#;
    check(
        Form::Cursor,
        Some("/p"),
        text,
        r#"
        py [/p]
          python ["${workspaceFolder}/tools/server.py", "--root", "${workspaceFolder}/data"] in None
          [("K", "${env:K}")] Some(".env")
          root ${workspaceFolder}/data = /p/data (read, write, delete): given as `--root`
        far [/p] off
          http://localhost:3000/sse [("X-Key", "${env:K}")]
        "#,
    );
    assert_eq!(parse(Form::Cursor, text, &around(None)).unwrap().servers[0].roots[0].path, None);
}

#[test]
fn vs_code() {
    check(
        Form::VsCode,
        Some("/p"),
        r#"{
          // Asked for once.
          "inputs": [{"type": "promptString", "id": "key", "description": "API key", "password": true}],
          "servers": {
            "docker": {
              "type": "stdio", "command": "docker",
              "args": ["run", "-i", "--rm", "--mount", "type=bind,src=${workspaceFolder},dst=/w", "mcp/filesystem", "/w"],
              "env": {"API_KEY": "${input:key}", "PORT": 3000, "INHERITED": null}, "envFile": "${workspaceFolder}/.env", "cwd": "${workspaceFolder}",
            },
            "web": {"type": "http", "url": "https://example.com/mcp/", "headers": {"Authorization": "Bearer ${input:key}"}}, /* last */
          },
        }"#,
        r#"
        docker [/p]
          docker ["run", "-i", "--rm", "--mount", "type=bind,src=${workspaceFolder},dst=/w", "mcp/filesystem", "/w"] in Some("${workspaceFolder}")
          [("API_KEY", "${input:key}"), ("PORT", "3000")] Some("${workspaceFolder}/.env")
          root ${workspaceFolder} = /p (read, write, delete): where it is started
        web [/p]
          https://example.com/mcp/ [("Authorization", "Bearer ${input:key}")]
        "#,
    );
}

#[test]
fn codex() {
    let text = r#"
model = "gpt-5"
[mcp_servers.zeta]
command = "npx"
args = ["-y", "mcp-server-filesystem", "/home/me/src"]
cwd = "/home/me"
startup_timeout_sec = 20
env = { TOKEN = "abc" }
[mcp_servers.alpha]
url = "https://example.com/mcp"
bearer_token_env_var = "TOKEN"
http_headers = { X = "y" }
enabled = false
[sandbox_workspace_write]
writable_roots = ["/home/me/.pyenv/shims", "rel"]
network_access = true
[projects."/home/me/app"]
trust_level = "trusted"
[projects."/home/me/other"]
trust_level = "untrusted"
"#;
    check(
        Form::Codex,
        None,
        text,
        r#"
        zeta [user]
          npx ["-y", "mcp-server-filesystem", "/home/me/src"] in Some("/home/me")
          [("TOKEN", "abc")] None
          root /home/me = /home/me (read, write, delete): where it is started
          root /home/me/src = /home/me/src (read, write, delete): the file server is given it
        alpha [user] off
          https://example.com/mcp [("X", "y")]
        root /home/me/.pyenv/shims = /home/me/.pyenv/shims (read, write, delete): in `sandbox_workspace_write.writable_roots`
        root rel = ? (read, write, delete): in `sandbox_workspace_write.writable_roots`
        root /home/me/app = /home/me/app (read, write, delete): a trusted project
        "#,
    );
    // A project does not say which projects are trusted.
    let found = parse(Form::Codex, text, &around(Some("/p"))).unwrap();
    assert_eq!(found.roots.len(), 2);
}

#[test]
fn what_is_not_understood_is_told_and_the_rest_read() {
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
        ! line 2, column 44: server `number`: `args` is a list of strings, and has a number in it
        ! line 3, column 23: server `list`: `command` is a string, not a list
        ! line 4, column 11: server `both` has both `command` and `url`
        ! line 5, column 14: server `neither` has neither `command` nor `url`
        ! line 6, column 13: server `socket`: `type` is `ws`, which does not fit the rest
        ! line 7, column 12: server `mixed`: `type` is `http`, which does not fit the rest
        ! line 8, column 11: server `text` is a table, not a string
        ! line 9, column 12: server `empty`: `command` is empty
        ! line 10, column 43: server `env`: `env.PORT` is a string, not a number
        ! line 12, column 23: server `zero`: `command` has a null byte in it
        ! line 13, column 42: server `switch`: `disabled` is `true` or `false`, not a string
        ! line 14, column 16: server `\u{1b}[2J` is a table, not a number
        ! line 16, column 12: server `twice` stands twice: the last one holds
        ",
    );
    check(
        Form::ClaudeState,
        None,
        "{\"mcpServers\": [], \"projects\": 1}",
        r"
        ! line 1, column 16: `mcpServers` is a table, not a list
        ! line 1, column 32: `projects` is a table, not a number
        ",
    );
    for nothing in ["", " \n", "{}", "[]", "null", "// nothing", "{\"mcpServers\": {}}"] {
        assert_eq!(parse(Form::ClaudeDesktop, nothing, &around(None)).unwrap(), Found::default(), "{nothing:?}");
    }
}

#[test]
fn damage_has_its_place() {
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
fn a_flood_is_cut() {
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
    assert_eq!(names, ["claude-code", "claude-desktop", "cursor", "vscode", "codex"]);
}
