//! Gemini CLI shares the directories of its workspace. Its `mcp add` drops a `--` in the server's command.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;

use super::PROMPT;
use super::host::{Due, Host, RootsFrom, Server, Talk};
use super::installed::npm_folder;
use super::remote::header;
use super::running::{add, words};
use super::stage::Stage;
use taskkit::install::node;

pub(super) static HOST: Host = Host {
    name: "Gemini CLI",
    due: Due::LongCheck,
    roots: RootsFrom::Host,
    install,
    version: &["--version"],
    variables,
    configure,
    talk: Talk::Model {
        list: &["mcp", "list"],
        healthy: "Connected",
        converse: &["-m", "gemini-2.5-flash", "--yolo", "-p", PROMPT],
    },
};

fn install(top: &Path) -> Result<Vec<PathBuf>> {
    Ok(vec![node(top)?, npm_folder(top, "gemini-cli")?.join("@google/gemini-cli/bundle/gemini.js")])
}

fn configure(stage: &Stage, servers: &[Server]) -> Result<()> {
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": false},
        "privacy": {"usageStatisticsEnabled": false},
    });
    stage.write(".gemini/settings.json", &settings.to_string())?;
    let header = header();
    add(
        stage,
        servers,
        |name| words(["mcp", "add", "--scope", "user", name]),
        |name, url| words(["mcp", "add", "--scope", "user", "--transport", "http", name, url, "--header", &header]),
    )
}

fn variables(stage: &Stage) -> Vec<(&'static str, String)> {
    vec![
        // Gemini CLI starts no servers in a project that its user has not trusted yet.
        ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
        ("GOOGLE_GEMINI_BASE_URL", stage.model.clone()),
        ("GEMINI_API_KEY", "none".to_owned()),
    ]
}
