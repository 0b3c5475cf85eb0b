//! The command line of the MCP Inspector shares the roots in its settings. `xtask serve` and `xtask wrap` test it in each era.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::host::{Due, Host, Reached, RootsFrom, Server, Talk};
use super::model::ToolCall;
use super::stage::{PROJECTS, Stage};
use taskkit::install::{node_at_least, packages};

pub(super) static HOST: Host = Host {
    name: "MCP Inspector",
    due: Due::LongCheck,
    roots: RootsFrom::Host,
    install,
    version: &["--cli", "--version"],
    variables: |_| Vec::new(),
    configure,
    talk: Talk::User { list, call },
};

fn install(top: &Path) -> Result<Vec<PathBuf>> {
    let program = packages(top, "inspector")?.join("node_modules/.bin/mcp-inspector");
    Ok(vec![node_at_least(top, crate::inspector::NODE)?, program])
}

/// Writes one settings file per project, because the file contains the roots.
fn configure(stage: &Stage, servers: &[Server]) -> Result<()> {
    for project in PROJECTS {
        let roots = json!([{"uri": format!("file://{}", stage.project(project).display()), "name": project}]);
        let entry = |server: &Server| match &server.reached {
            Reached::Command(command) => {
                json!({"type": "stdio", "command": command[0], "args": command[1..], "roots": roots})
            }
            Reached::Url(url) => {
                let headers = json!({"Authorization": format!("Bearer {}", stage.token(project))});
                json!({"type": "streamable-http", "url": url, "headers": headers, "roots": roots})
            }
        };
        let entries: Map<String, Value> =
            servers.iter().map(|server| (server.name.to_owned(), entry(server))).collect();
        stage.write(&format!("{project}.json"), &json!({"mcpServers": entries}).to_string())?;
    }
    Ok(())
}

fn request(stage: &Stage, project: &str, server: &str, method: &str) -> Vec<String> {
    let settings = stage.home.join(format!("{project}.json")).display().to_string();
    ["--cli", "--config", &settings, "--server", server, "-q", "--format", "json", "--method", method]
        .map(str::to_owned)
        .to_vec()
}

fn list(stage: &Stage, project: &str, server: &str) -> Vec<String> {
    request(stage, project, server, "tools/list")
}

fn call(stage: &Stage, project: &str, call: &ToolCall) -> Vec<String> {
    let mut words = request(stage, project, call.server, "tools/call");
    words.extend(["--tool-name", call.tool].map(str::to_owned));
    for (name, value) in call.arguments.as_object().into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        words.extend(["--tool-arg".to_owned(), format!("{name}={value}")]);
    }
    words
}
