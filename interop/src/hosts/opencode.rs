//! opencode shares its working directory.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;

use super::PROMPT;
use super::host::{Due, Host, RootsFrom, Server, Talk};
use super::installed::npm_program;
use super::remote::header;
use super::running::{add, words};
use super::stage::Stage;

pub(super) static HOST: Host = Host {
    name: "opencode",
    due: Due::LongCheck,
    roots: RootsFrom::Host,
    install,
    version: &["--version"],
    variables: |_| Vec::new(),
    configure,
    talk: Talk::Model {
        list: &["mcp", "list"],
        healthy: "connected",
        converse: &["run", "--model", "scripted/scripted", PROMPT],
    },
};

/// This package contains the program; the package `opencode-ai` only locates it.
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
    // opencode expects a header as `NAME=VALUE`.
    let header = header().replacen(": ", "=", 1);
    add(
        stage,
        servers,
        |name| words(["mcp", "add", name, "--"]),
        |name, url| words(["mcp", "add", name, "--url", url, "--header", &header]),
    )
}
