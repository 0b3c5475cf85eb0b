//! `cargo xtask host`: a host on `rootward-client` before servers of other projects, all connected at once, some of which hang.
//!
//! The user's roots change by `rootward roots`, as a user changes them. Every server that is well must then know the new ones, and must have
//! been told once of each change; those that hang must not keep the others from it.

mod changes;
mod talk;

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;

use taskkit::built;
use taskkit::call::Call;
use taskkit::install;

use changes::{CHANGES, Change};
use talk::{Host, Report};

/// The script of a file server that nobody here wrote.
const FILE_SERVER: &str = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";

/// More than a pipe holds: a server that does not read is then one that cannot be written to.
const LONG: usize = 1 << 20;

/// Roots for the servers that follow pages: more than a page, and before all others, which are then on another one.
const MANY: usize = 60;

/// A server that is well: its name, and how it tells what it knows.
const WELL: [(&str, Report); 5] = [
    ("filesystem", Report::Allowed),
    ("python", Report::Known),
    ("typescript", Report::Known),
    ("rootward", Report::Reads),
    ("rootward-modern", Report::Reads),
];

/// Where everything is.
struct Stage {
    directory: TempDir,
    rootward: std::path::PathBuf,
}

impl Stage {
    fn path(&self, name: &str) -> Result<String> {
        let path = self.directory.path().join(name);
        Ok(path.to_str().context("a temporary directory that is not UTF-8")?.to_owned())
    }

    /// The variables that say where the user's files are.
    fn variables(&self) -> Result<[(&'static str, String); 3]> {
        Ok([
            ("HOME", self.path("home")?),
            ("XDG_CONFIG_HOME", self.path("config")?),
            ("XDG_STATE_HOME", self.path("state")?),
        ])
    }

    /// The user changes something.
    fn change(&self, change: &Change) -> Result<()> {
        self.roots(change.verb, &[self.path(change.root)?], change.more)
    }

    fn roots(&self, verb: &str, roots: &[String], more: &[&str]) -> Result<()> {
        let mut command = std::process::Command::new(&self.rootward);
        command.args(["roots", verb]).args(roots).args(more).arg("--yes");
        let output = command.envs(self.variables()?).output().context("cannot run `rootward roots`")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`rootward roots {verb}` failed: {said}");
        Ok(())
    }
}

/// Runs all of it; gives back a note for the table of steps.
pub(crate) fn run(top: &Path) -> Result<String> {
    let installed = install::run(top)?;
    let files = install::packages(top, "servers")?.join(FILE_SERVER);
    // The servers as `cargo xtask peers` builds them, to share that.
    let build = Call::cargo("build -p minimal-server -p http-server -p rootward --bins");
    let [server, rootward] = built::programs(top, build, ["minimal-server", "rootward"])?;
    let [host] = built::programs(top, Call::cargo("build -p minimal-host --bins"), ["minimal-host"])?;
    let directory = tempfile::Builder::new().prefix("host-").tempdir()?;
    let stage = Stage { directory, rootward };
    for name in ["home", "one", "two", "three"] {
        std::fs::create_dir_all(stage.path(name)?)?;
        std::fs::write(stage.path(&format!("{name}/file"))?, name)?;
    }
    let mut many = Vec::new();
    for number in 0..MANY {
        many.push(stage.path(&format!("many/{number}"))?);
        std::fs::create_dir_all(&many[number])?;
    }
    stage.roots("add", &many, &["--for", "rootward", "--for", "rootward-modern"])?;
    stage.change(&CHANGES[0])?;

    let stuck = top.join("peers/python/stuck.py");
    let python = top.join("peers/python/server.py");
    let typescript = installed.typescript.join("server.mjs");
    let entry = |command: &Path, arguments: &[&Path]| json!({"command": command, "args": arguments});
    let heard = stage.path("heard")?;
    let mut modern = entry(&server, &[]);
    modern["era"] = "either".into();
    let servers = json!({"mcpServers": {
        // It does not start without a directory of its own, and leaves it when it is told of roots.
        "filesystem": entry(&installed.node, &[&files, Path::new(&stage.path("home")?)]),
        "python": entry(&installed.python, &[&python]),
        "typescript": entry(&installed.node, &[&typescript]),
        // What it hears is kept.
        "rootward": json!({"command": "sh", "args": ["-c", "tee \"$0\" | \"$1\"", heard, server]}),
        "rootward-modern": modern,
        "stuck": entry(&installed.python, &[&stuck]),
        "silent": json!({"command": "sleep", "args": ["3600"]}),
    }});
    let file = stage.path("servers.json")?;
    std::fs::write(&file, servers.to_string())?;

    let mut host = Host::start(&host, &file, stage.variables()?)?;
    let names = WELL.map(|(name, _)| name).into_iter().chain(["stuck"]);
    host.connected(names.map(str::to_owned).collect())?;
    // From here on its pipe is full.
    host.ask("stuck", "anything", &json!({"text": "x".repeat(LONG)}))?;
    for (turn, change) in CHANGES.iter().enumerate() {
        if turn > 0 {
            stage.change(change)?;
        }
        for (name, report) in WELL {
            let expect = change.seen_by(name).map(|root| stage.path(root)).collect::<Result<Vec<_>>>()?;
            host.knows(name, report, &expect, |path| stage.path(path))
                .with_context(|| format!("server `{name}`, after `roots {} {}`", change.verb, change.root))?;
        }
    }
    // The servers that count say that each change was told once.
    for name in ["python", "typescript"] {
        let told = CHANGES.windows(2).filter(|pair| !pair[0].seen_by(name).eq(pair[1].seen_by(name))).count();
        let known: Value = serde_json::from_str(&host.call(name, "known_roots", &json!({}))?)?;
        ensure!(known["told"] == told, "server `{name}` was told {} times of {told} changes", known["told"]);
    }
    let heard = std::fs::read_to_string(&heard).context("cannot read what a server heard")?;
    ensure!(heard.contains("nextCursor"), "a server that follows pages got none: {heard}");
    ensure!(!host.has_answered("stuck"), "the server that hangs has answered");
    host.end()?;
    Ok(format!("{} servers, {} changes, two that hang", WELL.len(), CHANGES.len() - 1))
}
