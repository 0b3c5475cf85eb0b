//! Claude Code shares its working directory, and tries the modern era first.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::PROMPT;
use super::host::{Due, Host, RootsFrom, Server, Talk};
use super::installed::npm_program;
use super::remote::header;
use super::running::{add, words};
use super::stage::Stage;

pub(super) static HOST: Host = Host {
    name: "Claude Code",
    due: Due::EveryCheck,
    roots: RootsFrom::Host,
    install,
    version: &["--version"],
    variables,
    configure,
    talk: Talk::Model {
        list: &["mcp", "list"],
        healthy: "Connected",
        converse: &[
            "-p",
            PROMPT,
            "--allowedTools",
            "mcp__serve,mcp__npm,mcp__python,mcp__hub,mcp__remote,mcp__gateway",
        ],
    },
};

pub(super) fn install(top: &Path) -> Result<Vec<PathBuf>> {
    let places = [
        ("x86_64", "@anthropic-ai/claude-code-linux-x64/claude"),
        ("aarch64", "@anthropic-ai/claude-code-linux-arm64/claude"),
    ];
    npm_program(top, "claude-code", &places)
}

fn configure(stage: &Stage, servers: &[Server]) -> Result<()> {
    let header = header();
    add(
        stage,
        servers,
        |name| words(["mcp", "add", "--scope", "user", name, "--"]),
        |name, url| words(["mcp", "add", "--scope", "user", "--transport", "http", name, url, "--header", &header]),
    )
}

fn variables(stage: &Stage) -> Vec<(&'static str, String)> {
    vec![
        ("ANTHROPIC_BASE_URL", stage.model.clone()),
        ("ANTHROPIC_API_KEY", "none".to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
    ]
}
