//! Codex shares no roots. It shows its model only the structured form of a result, if there is one.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::PROMPT;
use super::host::{Due, Host, RootsFrom, Server, Talk};
use super::installed::npm_program;
use super::running::{add, words};
use super::stage::{PROJECT_TOKEN, Stage};

const SETTINGS: &str = ".codex/config.toml";

pub(super) static HOST: Host = Host {
    name: "Codex",
    due: Due::EveryCheck,
    roots: RootsFrom::CommandLine,
    install,
    version: &["--version"],
    variables: |_| Vec::new(),
    configure,
    talk: Talk::Model {
        list: &["mcp", "list"],
        healthy: "enabled",
        converse: &["exec", "--skip-git-repo-check", PROMPT],
    },
};

fn install(top: &Path) -> Result<Vec<PathBuf>> {
    let places = [
        ("x86_64", "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"),
        ("aarch64", "@openai/codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex"),
    ];
    npm_program(top, "codex", &places)
}

fn configure(stage: &Stage, servers: &[Server]) -> Result<()> {
    let model = format!(
        "model = \"scripted\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\nname = \"scripted\"\n\
         base_url = \"{}/v1\"\nwire_api = \"responses\"\n",
        stage.model
    );
    stage.write(SETTINGS, &model)?;
    add(
        stage,
        servers,
        |name| words(["mcp", "add", name, "--"]),
        |name, url| words(["mcp", "add", name, "--url", url, "--bearer-token-env-var", PROJECT_TOKEN]),
    )?;
    wait_for(stage, &servers.iter().map(|server| server.name).collect::<Vec<_>>())
}

/// Makes Codex wait for these servers. Without it, Codex starts the conversation before slow servers are up.
pub(super) fn wait_for(stage: &Stage, servers: &[&str]) -> Result<()> {
    let file = stage.home.join(SETTINGS);
    let mut settings = fs::read_to_string(&file)?;
    for server in servers {
        let heading = format!("[mcp_servers.{server}]\n");
        settings = settings.replace(&heading, &format!("{heading}required = true\nstartup_timeout_sec = 60\n"));
    }
    Ok(fs::write(file, settings)?)
}
