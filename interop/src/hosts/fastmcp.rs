//! The command line of `FastMCP` shares no roots.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;

use super::host::{Due, Host, Reached, RootsFrom, Server, Talk};
use super::model::ToolCall;
use super::stage::{PROJECTS, Stage};
use taskkit::install::environment;

pub(super) static HOST: Host = Host {
    name: "FastMCP",
    due: Due::LongCheck,
    roots: RootsFrom::CommandLine,
    install,
    version: &["version"],
    variables: |_| Vec::new(),
    configure,
    talk: Talk::User { list, call },
};

fn install(top: &Path) -> Result<Vec<PathBuf>> {
    Ok(vec![environment(top, "hosts/fastmcp", "hosts/fastmcp/requirements.txt")?.with_file_name("fastmcp")])
}

/// Writes one settings file per server and project: with several servers in one file, `FastMCP` prefixes the tools with the server's name,
/// and over HTTP each project has its own token.
fn configure(stage: &Stage, servers: &[Server]) -> Result<()> {
    for server in servers {
        for project in PROJECTS {
            let entry = match &server.reached {
                Reached::Command(command) => json!({"command": command[0], "args": command[1..]}),
                Reached::Url(url) => {
                    let headers = json!({"Authorization": format!("Bearer {}", stage.token(project))});
                    json!({"url": url, "transport": "http", "headers": headers})
                }
            };
            stage.write(&settings(project, server.name), &json!({"mcpServers": {server.name: entry}}).to_string())?;
        }
    }
    Ok(())
}

fn settings(project: &str, server: &str) -> String {
    format!("{project}-{server}.json")
}

fn list(stage: &Stage, project: &str, server: &str) -> Vec<String> {
    vec!["list".to_owned(), stage.home.join(settings(project, server)).display().to_string()]
}

fn call(stage: &Stage, project: &str, call: &ToolCall) -> Vec<String> {
    let settings = stage.home.join(settings(project, call.server)).display().to_string();
    let arguments = call.arguments.to_string();
    ["call", &settings, call.tool, "--json", "--input-json", &arguments].map(str::to_owned).to_vec()
}
