//! `cargo xtask host`: connects a host on `rootward-client` to servers of other projects, all at once. Two of the servers hang.
//!
//! The test changes the user's roots with `rootward roots`. Every healthy server must then know the new roots, and must have been notified
//! once of each change. The servers that hang must not delay the others.

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

/// The script of the reference file server.
const FILE_SERVER: &str = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";

/// More bytes than a pipe holds, so that writes to a server that does not read block.
const LONG: usize = 1 << 20;

/// The number of roots that are saved first for the servers that follow pages: more than a page, so all other roots are on the next one.
const MANY: usize = 60;

/// The servers that do not hang, and how to find out which roots each knows.
const HEALTHY: [(&str, Report); 5] = [
    ("filesystem", Report::Allowed),
    ("python", Report::Known),
    ("typescript", Report::Known),
    ("rootward", Report::Reads),
    ("rootward-modern", Report::Reads),
];

/// The user's directories, and the program that changes the roots.
struct Stage {
    directory: TempDir,
    rootward: std::path::PathBuf,
}

impl Stage {
    fn path(&self, name: &str) -> Result<String> {
        let path = self.directory.path().join(name);
        Ok(path.to_str().context("the temporary directory is not UTF-8")?.to_owned())
    }

    /// The environment variables that name the user's directories.
    fn variables(&self) -> Result<[(&'static str, String); 3]> {
        Ok([
            ("HOME", self.path("home")?),
            ("XDG_CONFIG_HOME", self.path("config")?),
            ("XDG_STATE_HOME", self.path("state")?),
        ])
    }

    /// Changes the user's roots.
    fn change(&self, change: &Change) -> Result<()> {
        self.roots(change.verb, &[self.path(change.root)?], change.more)
    }

    fn roots(&self, verb: &str, roots: &[String], more: &[&str]) -> Result<()> {
        let mut command = std::process::Command::new(&self.rootward);
        command.args(["roots", verb]).args(roots).args(more).arg("--yes");
        let output = command.envs(self.variables()?).output().context("cannot run `rootward roots`")?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`rootward roots {verb}` failed: {stderr}");
        Ok(())
    }
}

/// Runs the whole test; returns a note for the table of steps.
pub(crate) fn run(top: &Path) -> Result<String> {
    let installed = install::run(top)?;
    let files = install::packages(top, "servers")?.join(FILE_SERVER);
    // `cargo xtask peers` builds these together too, so cargo can reuse most of that build.
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
        // It does not start without a directory in its arguments. It drops that directory when it learns the roots.
        "filesystem": entry(&installed.node, &[&files, Path::new(&stage.path("home")?)]),
        "python": entry(&installed.python, &[&python]),
        "typescript": entry(&installed.node, &[&typescript]),
        // `tee` records what the server receives.
        "rootward": json!({"command": "sh", "args": ["-c", "tee \"$0\" | \"$1\"", heard, server]}),
        "rootward-modern": modern,
        "stuck": entry(&installed.python, &[&stuck]),
        "silent": json!({"command": "sleep", "args": ["3600"]}),
    }});
    let file = stage.path("servers.json")?;
    std::fs::write(&file, servers.to_string())?;

    let mut host = Host::start(&host, &file, stage.variables()?)?;
    let names = HEALTHY.map(|(name, _)| name).into_iter().chain(["stuck"]);
    host.wait_until_connected(names.map(str::to_owned).collect())?;
    // From here on, the pipe to this server is full.
    host.start_call("stuck", "anything", &json!({"text": "x".repeat(LONG)}))?;
    for (turn, change) in CHANGES.iter().enumerate() {
        if turn > 0 {
            stage.change(change)?;
        }
        for (name, report) in HEALTHY {
            let expect = change.seen_by(name).map(|root| stage.path(root)).collect::<Result<Vec<_>>>()?;
            host.wait_until_known(name, report, &expect, |path| stage.path(path))
                .with_context(|| format!("server `{name}`, after `roots {} {}`", change.verb, change.root))?;
        }
    }
    // These two servers count the notifications.
    for name in ["python", "typescript"] {
        let told = CHANGES.windows(2).filter(|pair| !pair[0].seen_by(name).eq(pair[1].seen_by(name))).count();
        let known: Value = serde_json::from_str(&host.call(name, "known_roots", &json!({}))?)?;
        ensure!(known["told"] == told, "server `{name}` got {} notifications of {told} changes", known["told"]);
    }
    let heard = std::fs::read_to_string(&heard).context("cannot read what the server received")?;
    ensure!(heard.contains("nextCursor"), "a server that follows pages got only one page: {heard}");
    ensure!(!host.has_answered("stuck"), "the server that should hang has answered");
    host.end()?;
    Ok(format!("{} servers, {} changes, two that hang", HEALTHY.len(), CHANGES.len() - 1))
}
