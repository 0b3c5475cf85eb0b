//! opencode: shares the directory it was started in.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;

use super::PROMPT;
use super::host::{Host, Roots, Server, Talk, Turn};
use super::installed::npm_program;
use super::running::add;
use super::stage::Stage;

pub(super) static HOST: Host = Host {
    name: "opencode",
    turn: Turn::LongCheck,
    roots: Roots::OfHost,
    install,
    version: &["--version"],
    variables: |_| Vec::new(),
    configure,
    talk: Talk::Model {
        list: &["mcp", "list"],
        well: "connected",
        converse: &["run", "--model", "scripted/scripted", PROMPT],
    },
};

/// The registry has the program itself under this name; the package that most people install only looks for it.
fn install(top: &Path) -> Result<Vec<PathBuf>> {
    npm_program(top, "opencode", &[("x86_64", "opencode-linux-x64/bin/opencode")])
}

fn configure(stage: &Stage, servers: &[Server]) -> Result<()> {
    let settings = json!({
        "provider": {"scripted": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": format!("{}/v1", stage.model), "apiKey": "none"},
            "models": {"scripted": {"name": "scripted"}},
        }},
        "autoupdate": false,
        "share": "disabled",
    });
    stage.write(".config/opencode/opencode.json", &settings.to_string())?;
    add(stage, &["mcp", "add"], &["--"], servers)
}
