//! The MCP Inspector as the client of wrapped servers: each of its runs is a session, with the roots that its settings name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::peers::install::{node_at_least, packages};
use crate::servers::install::Installed;

/// The oldest Node that it runs on.
const NODE: u64 = 22;

/// Which era it looks for, and before which server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Era {
    Legacy,
    /// The modern one, then the legacy one, before a server that knows only that.
    Auto,
    Modern,
}

pub(super) const ERAS: [Era; 3] = [Era::Legacy, Era::Auto, Era::Modern];

impl Era {
    pub(super) fn name(self) -> &'static str {
        match self {
            Era::Legacy => "legacy",
            Era::Auto => "auto",
            Era::Modern => "modern",
        }
    }
}

/// The Inspector, and where it runs.
#[derive(Debug)]
pub(super) struct Inspector {
    node: PathBuf,
    program: PathBuf,
}

impl Inspector {
    /// Installs it, if it is not there yet.
    pub(super) fn install(top: &Path) -> Result<Inspector> {
        let program = packages(top, "inspector")?.join("node_modules/.bin/mcp-inspector");
        Ok(Inspector { node: node_at_least(top, NODE)?, program })
    }

    /// Goes through all of it in an era; how many runs there were.
    pub(super) fn play(&self, era: Era, installed: &Installed) -> Result<usize> {
        let stage = Stage::new()?;
        let (tool, server): (_, Vec<PathBuf>) = match era {
            Era::Modern => ("read_file", vec![installed.fixed.clone()]),
            Era::Legacy | Era::Auto => {
                let script = "@modelcontextprotocol/server-filesystem/dist/index.js";
                ("read_text_file", vec![installed.node.clone(), installed.modules.join(script)])
            }
        };
        let run = |root: &str, words: &[String]| {
            let settings = stage.settings(root, installed, &server)?;
            let mut command = Command::new(&self.node);
            command.arg(&self.program).args(["--cli", "--config"]).arg(settings).args(["--server", "wrapped", "-q"]);
            command.args(["--format", "json", "--protocol-era", era.name(), "--method"]).args(words);
            let output = command.env("HOME", stage.0.path()).output().context("cannot run the Inspector")?;
            let (said, beside) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            serde_json::from_str::<Value>(&said)
                .with_context(|| format!("it ended with {}: {said}{beside}", output.status))
        };
        let read = |root: &str, file: &str| {
            let path = format!("path={}", stage.0.path().join(file).display());
            let words = ["tools/call", "--tool-name", tool, "--tool-arg", &path].map(str::to_owned);
            Ok::<Value, anyhow::Error>(run(root, &words)?["result"].clone())
        };
        let listed = run("one", &["tools/list".to_owned()])?;
        let tools = listed["result"]["tools"].as_array().context("no list of tools")?;
        ensure!(tools.iter().any(|listed| listed["name"] == tool), "`{tool}` is not listed: {listed}");
        let mut runs = 1;
        for (root, other) in [("one", "other"), ("other", "one"), ("one", "other")] {
            let inside = read(root, &format!("{root}/file"))?;
            ensure!(inside["content"][0]["text"] == root && inside["isError"] != true, "inside, it said {inside}");
            let outside = read(root, &format!("{other}/file"))?;
            let refusal = outside.pointer("/_meta/rootward.dev~1refusal").unwrap_or(&outside["structuredContent"]);
            ensure!(outside["isError"] == true && refusal["code"] == "outside_roots", "outside, it said {outside}");
            runs += 2;
        }
        Ok(runs)
    }
}

/// Two directories, and the Inspector's own.
#[derive(Debug)]
struct Stage(TempDir);

impl Stage {
    fn new() -> Result<Stage> {
        let stage = Stage(tempfile::Builder::new().prefix("inspector-").tempdir()?);
        for name in ["one", "other"] {
            fs::create_dir(stage.0.path().join(name))?;
            fs::write(stage.0.path().join(name).join("file"), name)?;
        }
        Ok(stage)
    }

    /// A file of settings with this root.
    fn settings(&self, root: &str, installed: &Installed, server: &[PathBuf]) -> Result<PathBuf> {
        let top = self.0.path();
        let words =
            ["wrap".into(), "--".into()].into_iter().chain(server.iter().map(|word| word.display().to_string()));
        let entry = json!({
            "type": "stdio",
            "command": installed.rootward,
            "args": words.collect::<Vec<String>>(),
            "env": {"XDG_STATE_HOME": top.join("state"), "XDG_CONFIG_HOME": top.join("config")},
            "roots": [{"uri": format!("file://{}", top.join(root).display()), "name": root}],
        });
        let settings = top.join("settings.json");
        fs::write(&settings, json!({"mcpServers": {"wrapped": entry}}).to_string())?;
        Ok(settings)
    }
}
