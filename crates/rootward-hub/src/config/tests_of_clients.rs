//! Files as clients write them.

use super::*;

fn read(text: &str) -> HubConfig {
    let config = HubConfig::read(text).unwrap_or_else(|error| panic!("{error}\n{}", error.hint));
    assert_eq!(config.notes, []);
    config
}

fn process<'c>(config: &'c HubConfig, name: &str) -> &'c Stdio {
    match &config.server(name).unwrap().what {
        ServerKind::Stdio(process) => process,
        ServerKind::Http(_) => panic!("{name} is not a process"),
    }
}

fn remote<'c>(config: &'c HubConfig, name: &str) -> &'c Http {
    match &config.server(name).unwrap().what {
        ServerKind::Http(remote) => remote,
        ServerKind::Stdio(_) => panic!("{name} is a process"),
    }
}

fn args(process: &Stdio) -> Vec<&str> {
    process.args.iter().map(Template::written).collect()
}

#[test]
fn claude_desktop() {
    let config = read(
        r#"{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/Users/me/Desktop"]
    },
    "github": {
      "command": "docker",
      "args": ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
      "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "hunter2"}
    }
  },
  "preferences": {"menuBarEnabled": false}
}
"#,
    );
    assert_eq!(
        args(process(&config, "filesystem")),
        ["-y", "@modelcontextprotocol/server-filesystem", "/Users/me/Desktop"]
    );
    let github = process(&config, "github");
    assert_eq!((github.env[0].0.as_str(), github.env[0].1.written()), ("GITHUB_PERSONAL_ACCESS_TOKEN", "hunter2"));
}

#[test]
fn claude_code() {
    let config = read(
        r#"{
  "mcpServers": {
    "api": {
      "type": "http",
      "url": "${API_BASE_URL:-https://api.example.com}/mcp",
      "headers": {"Authorization": "Bearer ${API_KEY}"}
    },
    "db": {
      "type": "stdio",
      "command": "${HOME}/bin/db-server",
      "args": [],
      "env": {}
    }
  }
}"#,
    );
    assert_eq!(remote(&config, "api").url.written(), "${API_BASE_URL:-https://api.example.com}/mcp");
    assert_eq!(remote(&config, "api").headers[0].1.written(), "Bearer ${API_KEY}");
    assert_eq!(process(&config, "db").command.written(), "${HOME}/bin/db-server");
}

#[test]
fn cursor() {
    let config = read(
        r#"{
  "mcpServers": {
    "local": {
      "command": "python",
      "args": ["${workspaceFolder}/tools/server.py"],
      "env": {"API_KEY": "${env:API_KEY}"},
      "envFile": "${workspaceFolder}/.env"
    },
    "remote": {"url": "http://localhost:3000/mcp", "headers": {"API_KEY": "value"}}
  }
}"#,
    );
    let local = config.server("local").unwrap();
    assert!(local.uses_roots());
    assert_eq!(process(&config, "local").env_file.as_ref().map(Template::written), Some("${workspaceFolder}/.env"));
    assert_eq!(remote(&config, "remote").url.written(), "http://localhost:3000/mcp");
}

const VSCODE: &str = r#"{
  // Inputs are asked for once and kept by VS Code.
  "inputs": [
    {"type": "promptString", "id": "perplexity-key", "description": "Perplexity API Key", "password": true}
  ],
  "servers": {
    /* a server of the marketplace */
    "microsoft/playwright-mcp": {
      "type": "stdio",
      "command": "npx",
      "args": ["@playwright/mcp@latest"],
      "gallery": "https://api.mcp.example.com",
      "version": "0.0.1-seed"
    },
    "perplexity": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "server-perplexity-ask"],
      "env": {"PERPLEXITY_API_KEY": "${input:perplexity-key}", "PORT": 3000, "DEBUG": null},
      "dev": {"watch": "build/**/*.js", "debug": {"type": "node"}},
    },
    "github": {"type": "http", "url": "https://api.githubcopilot.com/mcp/"},
  },
}
"#;

#[test]
fn vscode() {
    let config = read(VSCODE);
    let names: Vec<&str> = config.servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["microsoft/playwright-mcp", "perplexity", "github"]);
    assert_eq!(config.servers[0].prefix(), "microsoft_playwright-mcp");
    let perplexity = process(&config, "perplexity");
    assert_eq!(perplexity.env[1].1.written(), "3000");
    assert_eq!(perplexity.unset, ["DEBUG"]);
    // The form is known and belongs to the client: the file is valid, and only this server cannot be started.
    let environment = ConfigVariables::default();
    let around = Surroundings { environment: &environment, home: None, roots: RootValues::At(&[]) };
    let error = expand(config.server("perplexity").unwrap(), &around).unwrap_err();
    assert_eq!(
        error.to_string(),
        "server `perplexity`: only the client that owns the file can fill in `${input:perplexity-key}`"
    );
    assert!(expand(config.server("github").unwrap(), &around).is_ok());
}

#[test]
fn vscode_settings() {
    let config = read(
        r#"{"editor.fontSize": 12, "mcp": {"inputs": [], "servers": {"time": {"command": "python", "args": ["-m", "x"]}}}}"#,
    );
    assert_eq!(args(process(&config, "time")), ["-m", "x"]);
}

#[test]
fn windsurf() {
    let config = read(
        r#"{
  "mcpServers": {
    "remote": {"serverUrl": "https://example.org/mcp", "headers": {"X-Key": "${env:KEY}"}},
    "local": {"command": "uvx", "args": ["mcp-server-git"], "disabled": false, "disabledTools": ["git_commit"]}
  }
}"#,
    );
    assert_eq!(remote(&config, "remote").url.written(), "https://example.org/mcp");
    let tools = &config.server("local").unwrap().rootward.tools;
    assert!(tools.allows("git_status") && !tools.allows("git_commit"));
}

#[test]
fn gemini() {
    let config = read(
        r#"{
  "sandbox": "docker",
  "mcpServers": {
    "remote": {"httpUrl": "https://example.org/mcp", "timeout": 5000, "trust": true},
    "local": {"command": "node", "args": ["a.js"], "includeTools": ["one"]}
  }
}"#,
    );
    assert_eq!(remote(&config, "remote").url.written(), "https://example.org/mcp");
    assert!(!config.server("local").unwrap().rootward.tools.allows("two"));
}

#[test]
fn a_file_that_begins_with_a_mark() {
    let text = "\u{feff}{\r\n  \"mcpServers\": {\"a\": {\"command\": \"a\"}}\r\n}\r\n";
    assert_eq!(read(text).servers.len(), 1);
}
