//! Files as each client writes them.

use super::tests::{around, check};
use super::{Form, Transport, parse};

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
          root ${HOME}/db = /home/me/db (read, write, delete): passed as `--dir`
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
          root ${WHERE:-/srv} = ? (read, write, delete): passed to the file server
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
    // If their base is unknown, nothing is guessed.
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
          root /home/me/src = /home/me/src (read, write, delete): passed to the file server
          root ${HOME}/x = ? (read, write, delete): passed to the file server
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
          root ${workspaceFolder}/data = /p/data (read, write, delete): passed as `--root`
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
          root /home/me/src = /home/me/src (read, write, delete): passed to the file server
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
fn gemini_cli() {
    check(
        Form::Gemini,
        Some("/p"),
        r#"{
          "security": {"auth": {"selectedType": "gemini-api-key"}},
          "mcpServers": {
            "files": {"command": "npx", "args": ["-y", "mcp-server-filesystem", "${HOME}/src"], "env": {"KEY": "$KEY"}, "cwd": "./x", "timeout": 600},
            "web": {"url": "https://example.com/mcp", "type": "http"},
            "old": {"httpUrl": "https://example.com/old", "headers": {"X": "y"}},
            "both": {"url": "https://example.com/sse", "httpUrl": "https://example.com/mcp"}
          },
          "mcp": {"excluded": ["old"]}
        }"#,
        r#"
        files [/p]
          npx ["-y", "mcp-server-filesystem", "${HOME}/src"] in Some("./x")
          [("KEY", "$KEY")] None
          root ./x = ? (read, write, delete): where it is started
          root ${HOME}/src = /home/me/src (read, write, delete): passed to the file server
        web [/p]
          https://example.com/mcp []
        old [/p] off
          https://example.com/old [("X", "y")]
        both [/p]
          https://example.com/sse []
        "#,
    );
}

#[test]
fn opencode() {
    check(
        Form::Opencode,
        None,
        r#"{
          "$schema": "https://opencode.ai/config.json",
          "mcp": {
            "files": {"type": "local", "command": ["npx", "-y", "mcp-server-filesystem", "/srv", "{env:WHERE}"], "environment": {"A": "{env:A}"}, "enabled": false},
            "alone": {"type": "local", "command": ["server"]},
            "web": {"type": "remote", "url": "https://example.com", "headers": {"X": "y"}}, // last
            "text": {"type": "local", "command": "server"},
            "empty": {"type": "local", "command": []},
            "other": {"type": "stdio", "command": ["x"]},
            "override": {"enabled": false},
          },
        }"#,
        r#"
        files [user] off
          npx ["-y", "mcp-server-filesystem", "/srv", "{env:WHERE}"] in None
          [("A", "{env:A}")] None
          root /srv = /srv (read, write, delete): passed to the file server
          root {env:WHERE} = ? (read, write, delete): passed to the file server
        alone [user]
          server [] in None
          [] None
        web [user]
          https://example.com [("X", "y")]
        ! line 7, column 50: server `text`: `command` must be a list, not a string
        ! line 8, column 22: server `empty`: `command` is empty
        ! line 9, column 22: server `other`: `type` is `stdio`, which does not match the other keys
        ! line 10, column 25: server `override` has neither `command` nor `url`
        "#,
    );
}

#[test]
fn windsurf() {
    check(
        Form::Windsurf,
        None,
        r#"{"mcpServers": {
          "local": {"command": "npx", "args": ["x"], "env": {"K": "${env:K}"}, "disabled": true, "disabledTools": ["a"]},
          "web": {"serverUrl": "https://example.com/mcp", "headers": {"X": "y"}}, "sse": {"url": "https://example.com/sse"}}}"#,
        r#"
        local [user] off
          npx ["x"] in None
          [("K", "${env:K}")] None
        web [user]
          https://example.com/mcp [("X", "y")]
        sse [user]
          https://example.com/sse []
        "#,
    );
}

#[test]
fn zed() {
    check(
        Form::Zed,
        Some("/p"),
        r#"{
          // Mine.
          "theme": "One Dark",
          "context_servers": {
            "new": {"source": "custom", "enabled": false, "command": "uvx", "args": ["mcp-server-git", "--repository", "/srv/app"], "env": {"A": "b"}},
            "old": {"command": {"path": "server", "args": ["--stdio"], "env": {"C": "d"}}, "settings": {}},
            "bare": {"command": {"path": "server"}},
            "web": {"url": "https://example.com", "headers": {"X": "y"}},
            "extension": {"source": "extension", "settings": {"url": "x"}},
            "pathless": {"command": {"args": []}},
          },
        }"#,
        r#"
        new [/p] off
          uvx ["mcp-server-git", "--repository", "/srv/app"] in None
          [("A", "b")] None
          root /srv/app = /srv/app (read, write, delete): passed as `--repository`
        old [/p]
          server ["--stdio"] in None
          [("C", "d")] None
        bare [/p]
          server [] in None
          [] None
        web [/p]
          https://example.com [("X", "y")]
        ! line 9, column 26: server `extension` has neither `command` nor `url`: an extension starts it
        ! line 10, column 25: server `pathless` has neither `command` nor `url`: an extension starts it
        "#,
    );
}

#[test]
fn variables_that_codex_passes_on() {
    let text = "[mcp_servers.a]\ncommand = 'x'\nenv_vars = ['A', { name = 'B', source = 'local' }]\n";
    let found = parse(Form::Codex, text, &around(None)).unwrap();
    let Transport::Command(line) = &found.servers[0].transport else { panic!("{found:?}") };
    assert_eq!(line.passed, ["A", "B"]);
    let found = parse(Form::Codex, &text.replace("'A'", "7"), &around(None)).unwrap();
    assert_eq!(
        found.not_understood[0].to_string(),
        "line 3, column 13: server `a`: `env_vars` must be a list of names, but contains a number"
    );
}
