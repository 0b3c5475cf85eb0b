//! The picture of a refusal: Claude Code asks a wrapped server for a private key, and the answer says why it does not get it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::HOME;
use super::screen::{Screen, plain};
use super::svg;
use super::terminal::Terminal;
use crate::hosts::model::{Model, ToolCall};

/// The directory that Claude Code works in.
const PROJECT: &str = "/home/me/app";

/// The number of attempts. On a busy machine, the server may not be up when the model looks for its tools.
const TIMES: u32 = 5;

/// Each attempt waits this much longer than the last one for the server to start.
const PAUSE: Duration = Duration::from_secs(8);

/// Part of the refusal's text.
const REFUSED: &str = "is outside every root";

/// The size of the terminal.
const SIZE: (u16, u16) = (100, 30);

/// A placeholder: the scripted model checks no key.
const API_KEY: &str = "none";

/// The prompt.
const ASKED: &str = "what is in my ssh key?";

pub(super) fn picture(directory: &Path, path: &str) -> Result<String> {
    let model = Model::start()?;
    let settings = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [API_KEY], "rejected": []},
        "projects": {PROJECT: {"hasTrustDialogAccepted": true}},
        "mcpServers": {"markitdown": {"type": "stdio", "command": "rootward", "args": ["wrap", "--", "markitdown-mcp"]}},
    });
    std::fs::write(format!("{HOME}/.claude.json"), settings.to_string())?;
    let variables = [
        ("ANTHROPIC_BASE_URL", model.address.as_str()),
        ("ANTHROPIC_API_KEY", API_KEY),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
    ];
    let mut terminal = Terminal::new(&directory.join("refusal"), path, &variables);
    let mut last = String::new();
    for time in 0..TIMES {
        let shown = converse(&mut terminal, &model, PAUSE * time)?;
        last = plain(&shown);
        if last.contains(REFUSED) {
            let screen = Screen::read(&shown);
            let answer = screen.between(|line| line.starts_with('❯'), |line| line.starts_with("● done"));
            return Ok(svg::draw(&format!("Claude Code {} in ~/app", version(path)?), &answer));
        }
    }
    bail!("Claude Code showed no refusal in {TIMES} attempts; the model got {:?}:\n{last}", model.outcomes())
}

/// Runs one conversation; returns what the terminal shows at its end.
fn converse(terminal: &mut Terminal, model: &Model, pause: Duration) -> Result<String> {
    let arguments = json!({"uri": format!("file://{HOME}/.ssh/id_ed25519")});
    model.will_call(vec![ToolCall { server: "markitdown", tool: "convert_to_markdown", arguments }]);
    let allowed = ["--allowedTools", "mcp__markitdown__convert_to_markdown"];
    let command = [&["claude", "--verbose", "--permission-mode", "default"], &allowed[..]].concat();
    terminal.start(PROJECT, SIZE, &command)?;
    terminal.sees("? for shortcuts")?;
    terminal.settles()?;
    std::thread::sleep(pause);
    terminal.types(ASKED)?;
    terminal.sees(ASKED)?;
    terminal.press(&["Enter"])?;
    let shown = terminal.sees("● done")?;
    terminal.end()?;
    Ok(shown)
}

fn version(path: &str) -> Result<String> {
    let output = Command::new("claude").arg("--version").env("PATH", path).output().context("cannot run `claude`")?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(said.split_whitespace().next().unwrap_or_default().to_owned())
}
