//! Copilot CLI shares no roots.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::PROMPT;
use super::host::{Due, Host, RootsFrom, Server, Talk};
use super::installed::npm_program;
use super::running::{add, words};
use super::stage::{PROJECT_TOKEN, Stage};

pub(super) static HOST: Host = Host {
    name: "Copilot CLI",
    due: Due::LongCheck,
    roots: RootsFrom::CommandLine,
    install,
    version: &["--version"],
    variables,
    configure,
    talk: Talk::Model {
        list: &["mcp", "list"],
        // From `(local)` or `(http)`. The list shows what is configured, not what works.
        healthy: "(",
        converse: &["-p", PROMPT, "--allow-all-tools", "--trust-folder"],
    },
};

fn install(top: &Path) -> Result<Vec<PathBuf>> {
    let places = [("x86_64", "@github/copilot-linux-x64/copilot"), ("aarch64", "@github/copilot-linux-arm64/copilot")];
    npm_program(top, "copilot", &places)
}

fn configure(stage: &Stage, servers: &[Server]) -> Result<()> {
    // Copilot CLI replaces variables in headers.
    let header = format!("Authorization: Bearer ${{{PROJECT_TOKEN}}}");
    add(
        stage,
        servers,
        |name| words(["mcp", "add", name, "--"]),
        |name, url| words(["mcp", "add", "--transport", "http", "--header", &header, name, url]),
    )
}

fn variables(stage: &Stage) -> Vec<(&'static str, String)> {
    vec![
        ("COPILOT_OFFLINE", "true".to_owned()),
        ("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", stage.model)),
        ("COPILOT_MODEL", "scripted".to_owned()),
    ]
}
