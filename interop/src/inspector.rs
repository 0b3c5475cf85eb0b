//! The MCP Inspector as the client of Rootward: each of its runs is a session, with the roots that its settings name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result, ensure};
use rootward_testkit::client::Listening;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::listening::{self, TOKEN};
use taskkit::install::{node_at_least, packages};

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
    pub(crate) transport: Transport,
    /// What `rootward` is told, with [`DIRECTORY`] and [`ABOVE`] in place of directories. Over HTTP, `--http` is added.
    pub(crate) words: Vec<String>,
    /// The tool that reads a file.
    pub(crate) tool: &'static str,
    pub(crate) roots: Roots,
    pub(crate) schemas: Schemas,
}

/// Replaced by the directory that is shared.
pub(crate) const DIRECTORY: &str = "DIRECTORY";

/// Replaced by the parent of the two directories, of which one is shared.
pub(crate) const ABOVE: &str = "ABOVE";

/// How the Inspector reaches Rootward.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Transport {
    /// Each run starts it.
    Stdio,
    /// It listens before the first run and until the last one has ended.
    Http,
}

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
        let stage = Stage::new(server)?;
        self.list(era, server, &stage)?;
        let mut runs = 1;
        for [root, other] in [ROOTS, [ROOTS[1], ROOTS[0]], ROOTS] {
            let inside = self.read(era, server, &stage, root, &format!("{root}/file"))?;
            let result = &inside.said["result"];
            let is_well = result["content"][0]["text"] == root && result["isError"] != true && inside.status.success();
            ensure!(is_well, "inside, it said {result}");
            let path = format!("{other}/file");
            let outside = self.read(era, server, &stage, root, &path)?;
            let result = &outside.said["result"];
            let refusal = result.pointer("/_meta/rootward.dev~1refusal").unwrap_or(&result["structuredContent"]);
            ensure!(result["isError"] == true && refusal["code"] == "outside_roots", "outside, it said {result}");
            let sentence = format!("`{}` is outside every root", stage.above().join(&path).display());
            let is_told = result["content"][0]["text"].as_str().is_some_and(|text| text.contains(&sentence));
            ensure!(is_told, "outside, the user does not see `{sentence}`, but {result}");
            runs += 2;
        }
        Ok(runs)
    }

    fn list(&self, era: Era, server: &Server<'_>, stage: &Stage) -> Result<()> {
        let Run { said, status } = self.run(era, server, stage, ROOTS[0], &["tools/list", "--strict"])?;
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
        let path = format!("path={}", stage.above().join(file).display());
        self.run(era, server, stage, root, &["tools/call", "--tool-name", server.tool, "--tool-arg", &path])
    }

    fn run(&self, era: Era, server: &Server<'_>, stage: &Stage, root: &str, words: &[&str]) -> Result<Run> {
        let mut command = Command::new(&self.node);
        command.arg(&self.program).args(["--cli", "-q"]).args(stage.target(root, server)?);
        command.args(["--format", "json", "--protocol-era", era.name(), "--method"]).args(words);
        let output = command.env("HOME", stage.directory.path()).output().context("cannot run the Inspector")?;
        let (said, beside) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let said =
            serde_json::from_str(&said).with_context(|| format!("it ended with {}: {said}{beside}", output.status))?;
        Ok(Run { said, status: output.status })
    }
}

/// The directories. Each is shared in turn.
const ROOTS: [&str; 2] = ["one", "other"];

/// Two directories, the Inspector's own, and what listens, if anything does.
#[derive(Debug)]
struct Stage {
    directory: TempDir,
    /// One for each of [`ROOTS`], or one for both.
    listening: Vec<Listening>,
}

impl Stage {
    fn new(server: &Server<'_>) -> Result<Stage> {
        let directory = tempfile::Builder::new().prefix("inspector-").tempdir()?;
        let mut stage = Stage { directory, listening: Vec::new() };
        for name in ROOTS {
            fs::create_dir_all(stage.above().join(name))?;
            fs::write(stage.above().join(name).join("file"), name)?;
        }
        if server.transport == Transport::Http {
            // One that the clients tell their roots serves all of them.
            let needed = if server.roots == Roots::OfClient { 1 } else { ROOTS.len() };
            for root in &ROOTS[..needed] {
                let home = stage.directory.path().join(format!("home-for-{root}"));
                fs::create_dir(&home)?;
                let words = stage.words(root, server);
                stage.listening.push(listening::start(server.rootward, &words, &home, &[])?);
            }
        }
        Ok(stage)
    }

    /// The parent of the two directories.
    fn above(&self) -> PathBuf {
        self.directory.path().join("shared")
    }

    fn words(&self, root: &str, server: &Server<'_>) -> Vec<String> {
        let (above, directory) = (self.above().display().to_string(), self.above().join(root).display().to_string());
        server.words.iter().map(|word| word.replace(DIRECTORY, &directory).replace(ABOVE, &above)).collect()
    }

    /// What the Inspector is told to reach Rootward with this directory shared.
    fn target(&self, root: &str, server: &Server<'_>) -> Result<Vec<String>> {
        let position = ROOTS.iter().position(|known| *known == root).unwrap_or_default();
        let listening = self.listening.get(position).or(self.listening.first());
        let entry = match listening {
            None => {
                let top = self.directory.path();
                let home = json!({"XDG_STATE_HOME": top.join("state"), "XDG_CONFIG_HOME": top.join("config")});
                json!({"type": "stdio", "command": server.rootward, "args": self.words(root, server), "env": home})
            }
            // Without settings it has no roots.
            Some(Listening { url, .. }) if server.roots == Roots::OfOperator => {
                let header = format!("Authorization: Bearer {TOKEN}");
                let words = ["--transport", "http", "--server-url", url, "--header", &header];
                return Ok(words.map(str::to_owned).to_vec());
            }
            Some(Listening { url, .. }) => {
                let headers = json!({"Authorization": format!("Bearer {TOKEN}")});
                json!({"type": "streamable-http", "url": url, "headers": headers})
            }
        };
        let settings = self.settings(root, server, entry)?.display().to_string();
        Ok(["--config", &settings, "--server", "held"].map(str::to_owned).to_vec())
    }

    /// A file of settings where this directory is shared.
    fn settings(&self, root: &str, server: &Server<'_>, mut entry: Value) -> Result<PathBuf> {
        entry["roots"] = match server.roots {
            Roots::OfClient => json!([{"uri": format!("file://{}", self.above().join(root).display()), "name": root}]),
            Roots::OfOperator => json!([]),
        };
        let settings = self.directory.path().join("settings.json");
        fs::write(&settings, json!({"mcpServers": {"held": entry}}).to_string())?;
        Ok(settings)
    }
}
