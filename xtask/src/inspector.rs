//! The MCP Inspector as the client of Rootward: each of its runs is a session, with the roots that its settings name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::install::{node_at_least, packages};

/// The oldest Node that it runs on.
pub(crate) const NODE: u64 = 22;

/// Which era it looks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Era {
    Legacy,
    /// The modern one, then the legacy one.
    Auto,
    Modern,
}

pub(crate) const ERAS: [Era; 3] = [Era::Legacy, Era::Auto, Era::Modern];

impl Era {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Era::Legacy => "legacy",
            Era::Auto => "auto",
            Era::Modern => "modern",
        }
    }
}

/// What it is the client of.
#[derive(Debug)]
pub(crate) struct Server<'s> {
    pub(crate) rootward: &'s Path,
    /// What `rootward` is told; [`DIRECTORY`] stands for the one that is shared.
    pub(crate) words: Vec<String>,
    /// The tool that reads a file.
    pub(crate) tool: &'static str,
    pub(crate) roots: Roots,
    pub(crate) schemas: Schemas,
}

/// Stands for the directory that is shared.
pub(crate) const DIRECTORY: &str = "DIRECTORY";

/// Who says what is shared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Roots {
    OfClient,
    OfOperator,
}

/// Whether the schemas of all tools must be such that every model reads them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Schemas {
    /// Somebody else's.
    Any,
    Portable,
}

/// The Inspector, and where it runs.
#[derive(Debug)]
pub(crate) struct Inspector {
    node: PathBuf,
    program: PathBuf,
}

/// What it printed, and how it ended: not well where the result is an error.
struct Run {
    said: Value,
    status: ExitStatus,
}

impl Inspector {
    /// Installs it, if it is not there yet.
    pub(crate) fn install(top: &Path) -> Result<Inspector> {
        let program = packages(top, "inspector")?.join("node_modules/.bin/mcp-inspector");
        Ok(Inspector { node: node_at_least(top, NODE)?, program })
    }

    /// Goes through all of it in an era; how many runs there were.
    pub(crate) fn play(&self, era: Era, server: &Server<'_>) -> Result<usize> {
        let stage = Stage::new()?;
        self.list(era, server, &stage)?;
        let mut runs = 1;
        for (root, other) in [("one", "other"), ("other", "one"), ("one", "other")] {
            let inside = self.read(era, server, &stage, root, &format!("{root}/file"))?;
            let result = &inside.said["result"];
            let is_well = result["content"][0]["text"] == root && result["isError"] != true && inside.status.success();
            ensure!(is_well, "inside, it said {result}");
            let outside = self.read(era, server, &stage, root, &format!("{other}/file"))?;
            let result = &outside.said["result"];
            let refusal = result.pointer("/_meta/rootward.dev~1refusal").unwrap_or(&result["structuredContent"]);
            ensure!(result["isError"] == true && refusal["code"] == "outside_roots", "outside, it said {result}");
            runs += 2;
        }
        Ok(runs)
    }

    fn list(&self, era: Era, server: &Server<'_>, stage: &Stage) -> Result<()> {
        let Run { said, status } = self.run(era, server, stage, "one", &["tools/list", "--strict"])?;
        let tools = said["result"]["tools"].as_array().context("no list of tools")?;
        ensure!(tools.iter().any(|listed| listed["name"] == server.tool), "`{}` is not listed: {said}", server.tool);
        if server.schemas == Schemas::Portable {
            // Warnings are among them, errors also end it.
            let findings = &said["schemaFindings"];
            ensure!(findings.is_null() && status.success(), "it ended with {status} and found {findings}");
        }
        Ok(())
    }

    fn read(&self, era: Era, server: &Server<'_>, stage: &Stage, root: &str, file: &str) -> Result<Run> {
        let path = format!("path={}", stage.0.path().join(file).display());
        self.run(era, server, stage, root, &["tools/call", "--tool-name", server.tool, "--tool-arg", &path])
    }

    fn run(&self, era: Era, server: &Server<'_>, stage: &Stage, root: &str, words: &[&str]) -> Result<Run> {
        let settings = stage.settings(root, server)?;
        let mut command = Command::new(&self.node);
        command.arg(&self.program).args(["--cli", "--config"]).arg(settings).args(["--server", "held", "-q"]);
        command.args(["--format", "json", "--protocol-era", era.name(), "--method"]).args(words);
        let output = command.env("HOME", stage.0.path()).output().context("cannot run the Inspector")?;
        let (said, beside) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let said =
            serde_json::from_str(&said).with_context(|| format!("it ended with {}: {said}{beside}", output.status))?;
        Ok(Run { said, status: output.status })
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

    /// A file of settings where this directory is shared.
    fn settings(&self, root: &str, server: &Server<'_>) -> Result<PathBuf> {
        let top = self.0.path();
        let directory = top.join(root).display().to_string();
        let words: Vec<String> = server.words.iter().map(|word| word.replace(DIRECTORY, &directory)).collect();
        let roots = match server.roots {
            Roots::OfClient => json!([{"uri": format!("file://{directory}"), "name": root}]),
            Roots::OfOperator => json!([]),
        };
        let entry = json!({
            "type": "stdio",
            "command": server.rootward,
            "args": words,
            "env": {"XDG_STATE_HOME": top.join("state"), "XDG_CONFIG_HOME": top.join("config")},
            "roots": roots,
        });
        let settings = top.join("settings.json");
        fs::write(&settings, json!({"mcpServers": {"held": entry}}).to_string())?;
        Ok(settings)
    }
}
