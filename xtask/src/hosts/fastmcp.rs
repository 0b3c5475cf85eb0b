//! The command line of `FastMCP` shares no roots.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;

use super::host::{Due, Host, RootsFrom, Server, Talk};
use super::model::ToolCall;
use super::stage::Stage;
use crate::install::environment;

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

/// Writes one settings file per server. With several servers in one file, the tools get the server's name as a prefix.
fn configure(stage: &Stage, servers: &[Server]) -> Result<()> {
    for server in servers {
        let entry = json!({"command": server.command[0], "args": server.command[1..]});
        stage.write(&settings(server.name), &json!({"mcpServers": {server.name: entry}}).to_string())?;
    }
    Ok(())
}

fn settings(server: &str) -> String {
    format!("{server}.json")
}

fn list(stage: &Stage, _: &str, server: &str) -> Vec<String> {
    vec!["list".to_owned(), stage.home.join(settings(server)).display().to_string()]
}

fn call(stage: &Stage, _: &str, call: &ToolCall) -> Vec<String> {
    let settings = stage.home.join(settings(call.server)).display().to_string();
    let arguments = call.arguments.to_string();
    ["call", &settings, call.tool, "--json", "--input-json", &arguments].map(str::to_owned).to_vec()
}
