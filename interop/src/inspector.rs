//! The MCP Inspector as the client of Rootward. Each run is a session, with the roots from the Inspector's settings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result, ensure};
use rootward_testkit::client::Listening;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::listening::{self, TOKEN};
use taskkit::install::{node_at_least, packages};

/// The oldest major version of Node that the Inspector runs on.
pub(crate) const NODE: u64 = 22;

/// The era that the Inspector tries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Era {
    Legacy,
    /// Modern first, then legacy.
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

/// The server that the Inspector talks to.
#[derive(Debug)]
pub(crate) struct Server<'s> {
    pub(crate) rootward: &'s Path,
    pub(crate) transport: Transport,
    /// The arguments of `rootward`, with the placeholders [`DIRECTORY`] and [`ABOVE`]. Over HTTP, `--http` is added.
    pub(crate) words: Vec<String>,
    /// The tool that reads a file.
    pub(crate) tool: &'static str,
    pub(crate) roots: Roots,
    pub(crate) schemas: Schemas,
}

/// A placeholder for the shared directory.
pub(crate) const DIRECTORY: &str = "DIRECTORY";

/// A placeholder for the parent of the two directories, one of which is shared.
pub(crate) const ABOVE: &str = "ABOVE";

/// How the Inspector reaches Rootward.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Transport {
    /// Each run starts a Rootward.
    Stdio,
    /// One Rootward listens during all runs.
    Http,
}

/// Who chooses the shared directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Roots {
    OfClient,
    OfOperator,
}

/// Whether the tools' schemas must be portable, so that every model can read them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Schemas {
    /// Not checked: the tools belong to a third-party server.
    Any,
    Portable,
}

/// The Inspector, and the Node that runs it.
#[derive(Debug)]
pub(crate) struct Inspector {
    node: PathBuf,
    program: PathBuf,
}

/// What the Inspector printed, and its exit status, which is a failure if the result is an error.
struct Run {
    said: Value,
    status: ExitStatus,
}

impl Inspector {
    /// Installs the Inspector, if it is not installed yet.
    pub(crate) fn install(top: &Path) -> Result<Inspector> {
        let program = packages(top, "inspector")?.join("node_modules/.bin/mcp-inspector");
        Ok(Inspector { node: node_at_least(top, NODE)?, program })
    }

    /// Lists the tools, then reads a file inside and one outside for each shared directory. Returns the number of runs.
    pub(crate) fn play(&self, era: Era, server: &Server<'_>) -> Result<usize> {
        let stage = Stage::new(server)?;
        self.list(era, server, &stage)?;
        let mut runs = 1;
        for [root, other] in [ROOTS, [ROOTS[1], ROOTS[0]], ROOTS] {
            let inside = self.read(era, server, &stage, root, &format!("{root}/file"))?;
            let result = &inside.said["result"];
            let is_well = result["content"][0]["text"] == root && result["isError"] != true && inside.status.success();
            ensure!(is_well, "inside, the result was {result}");
            let path = format!("{other}/file");
            let outside = self.read(era, server, &stage, root, &path)?;
            let result = &outside.said["result"];
            let refusal = result.pointer("/_meta/rootward.dev~1refusal").unwrap_or(&result["structuredContent"]);
            ensure!(
                result["isError"] == true && refusal["code"] == "outside_roots",
                "outside, the result was {result}"
            );
            let sentence = format!("`{}` is outside every root", stage.above().join(&path).display());
            let is_shown = result["content"][0]["text"].as_str().is_some_and(|text| text.contains(&sentence));
            ensure!(is_shown, "outside, the user does not see `{sentence}`, but {result}");
            runs += 2;
        }
        Ok(runs)
    }

    fn list(&self, era: Era, server: &Server<'_>, stage: &Stage) -> Result<()> {
        let Run { said, status } = self.run(era, server, stage, ROOTS[0], &["tools/list", "--strict"])?;
        let tools = said["result"]["tools"].as_array().context("no list of tools")?;
        ensure!(tools.iter().any(|listed| listed["name"] == server.tool), "`{}` is not listed: {said}", server.tool);
        if server.schemas == Schemas::Portable {
            // The findings include warnings. An error also makes the Inspector exit with a failure.
            let findings = &said["schemaFindings"];
            ensure!(findings.is_null() && status.success(), "the Inspector ended with {status} and found {findings}");
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
        let (said, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let said = serde_json::from_str(&said)
            .with_context(|| format!("the Inspector ended with {}: {said}{stderr}", output.status))?;
        Ok(Run { said, status: output.status })
    }
}

/// The two directories. Each is shared in turn.
const ROOTS: [&str; 2] = ["one", "other"];

/// The temporary directory that holds [`ROOTS`] and the Inspector's settings, and the listening servers, if any.
#[derive(Debug)]
struct Stage {
    directory: TempDir,
    /// A server for each of [`ROOTS`], or one for both.
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
            // If the clients choose the roots, one server is enough.
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

    /// The Inspector's arguments to reach Rootward with this directory shared.
    fn target(&self, root: &str, server: &Server<'_>) -> Result<Vec<String>> {
        let position = ROOTS.iter().position(|known| *known == root).unwrap_or_default();
        let listening = self.listening.get(position).or(self.listening.first());
        let entry = match listening {
            None => {
                let top = self.directory.path();
                let home = json!({"XDG_STATE_HOME": top.join("state"), "XDG_CONFIG_HOME": top.join("config")});
                json!({"type": "stdio", "command": server.rootward, "args": self.words(root, server), "env": home})
            }
            // Without a settings file, the Inspector has no roots.
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
        Ok(["--config", &settings, "--server", "rootward"].map(str::to_owned).to_vec())
    }

    /// Writes the Inspector's settings file, in which this directory is shared.
    fn settings(&self, root: &str, server: &Server<'_>, mut entry: Value) -> Result<PathBuf> {
        entry["roots"] = match server.roots {
            Roots::OfClient => json!([{"uri": format!("file://{}", self.above().join(root).display()), "name": root}]),
            Roots::OfOperator => json!([]),
        };
        let settings = self.directory.path().join("settings.json");
        fs::write(&settings, json!({"mcpServers": {"rootward": entry}}).to_string())?;
        Ok(settings)
    }
}
