//! `cargo xtask conformance`: the MCP conformance suite against `examples/conformance-server`, for both eras of the protocol: behind
//! rmcp's own HTTP server, behind Rootward's front, and on standard input and output behind `rootward hub --http`.
//!
//! The suite comes from npm, pinned in `peers/conformance` together with the Node it needs, and is installed below `target`.
//! It writes what it found to files, one per scenario; those are read, rather than what it prints.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::built;
use crate::call::Call;
use crate::install::{major, packages};
use crate::listening::{Listening, TOKEN};
use crate::wait::ended_within;

/// What a revision of the protocol requires, and what the suite knows beyond that.
#[derive(Clone, Copy, Debug)]
struct Revision {
    name: &'static str,
    /// How many there are in the pinned suite: fewer means that something was left out in silence.
    scenarios: usize,
    /// How many pass, with each way.
    checks: [usize; 3],
}

/// An answer that comes soon is a plain document behind the front, and the suite leaves its checks of streams out: all others pass.
const REVISIONS: [Revision; 2] = [
    Revision { name: "2025-11-25", scenarios: 33, checks: [83, 83, 80] },
    Revision { name: "2026-07-28", scenarios: 50, checks: [197, 197, 0] },
];

/// What stands between the suite and the handlers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// rmcp's own HTTP server.
    Direct,
    /// Rootward's front, every answer a stream.
    Front,
    /// The hub, with the server behind it on standard input and output.
    Hub,
}

const WAYS: [Way; 3] = [Way::Direct, Way::Front, Way::Hub];

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Direct => "direct",
            Way::Front => "front",
            Way::Hub => "hub",
        }
    }
}

/// Checks that may end without success, each with the reason.
const EXCUSED: [(&str, Status); 2] = [
    // A tool of rmcp 3.8 cannot tell which stream its call is on, so it cannot close it for the client to come back.
    ("server-sse-disconnect-resume", Status::Warning),
    // The suite skips it itself, for every server.
    ("tasks-status-notifications", Status::Skipped),
];

/// What a run of the suite may take; it takes about ten seconds.
const LIMIT: Duration = Duration::from_mins(3);

/// One check of a scenario, as the suite writes it.
#[derive(Debug)]
struct Check {
    id: String,
    status: Status,
    message: Option<String>,
}

impl Check {
    fn read(value: &Value) -> Option<Check> {
        let status = match value["status"].as_str()? {
            "SUCCESS" => Status::Success,
            "FAILURE" => Status::Failure,
            "WARNING" => Status::Warning,
            "SKIPPED" => Status::Skipped,
            "INFO" => Status::Info,
            _ => return None,
        };
        let message = value["errorMessage"].as_str().map(str::to_owned);
        Some(Check { id: value["id"].as_str()?.to_owned(), status, message })
    }

    /// All checks of a scenario; an error if there is one that cannot be read.
    fn read_all(text: &str) -> Result<Vec<Check>> {
        let values: Vec<Value> = serde_json::from_str(text)?;
        values.iter().map(|value| Check::read(value).with_context(|| format!("not a check: {value}"))).collect()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Status {
    Success,
    Failure,
    Warning,
    Skipped,
    Info,
}

/// Installs the suite, starts the server, runs both revisions; gives back a note for the table of steps.
pub(crate) fn run(top: &Path) -> Result<String> {
    let suite = packages(top, "conformance")?;
    let node = node(top, &suite)?;
    let build = Call::cargo("build -p conformance-server -p rootward --bins");
    let [program, rootward] = built::programs(top, build, ["conformance-server", "rootward"])?;
    let mut notes = Vec::new();
    for (position, way) in WAYS.into_iter().enumerate() {
        let home = tempfile::tempdir()?;
        let started = match way {
            Way::Direct => Started::Alone(Server::start(&program, &[])?),
            Way::Front => Started::Alone(Server::start(&program, &["--front", "--streams"])?),
            Way::Hub => Started::Behind(behind_hub(&rootward, &program, home.path())?),
        };
        for revision in REVISIONS.into_iter().filter(|revision| revision.checks[position] > 0) {
            let results = top.join("target/conformance").join(format!("{}-{}", way.name(), revision.name));
            let status = run_suite((&suite, &top.join(TOKEN_SCRIPT)), &node, started.address(), revision, &results)?;
            let passed = judge(revision, revision.checks[position], &read(&results)?)?;
            ensure!(status.success(), "the suite ended with {status}, see `{}`", results.join("log").display());
            notes.push(format!("{}: {passed} checks of {}", way.name(), revision.name));
        }
    }
    Ok(notes.join(", "))
}

/// Adds the token to the suite's requests.
const TOKEN_SCRIPT: &str = "peers/conformance/token.mjs";

/// What is under test.
enum Started {
    Alone(Server),
    Behind(Listening),
}

impl Started {
    fn address(&self) -> &str {
        match self {
            Started::Alone(server) => &server.address,
            Started::Behind(listening) => &listening.url,
        }
    }
}

/// The hub before the server, whose tools keep their names. What the client says about roots is not asked: the suite knows no roots.
fn behind_hub(rootward: &Path, program: &Path, home: &Path) -> Result<Listening> {
    let (file, root) = (home.join("servers.json"), home.join("root"));
    fs::create_dir(&root)?;
    let servers = json!({"server": {"command": program, "args": ["--stdio"]}});
    fs::write(&file, json!({"mcpServers": servers, "rootward": {"prefix": "never"}}).to_string())?;
    let words =
        ["hub".into(), "--config".into(), file.display().to_string(), "--root".into(), root.display().to_string()];
    Listening::start(rootward, &words, home, &[("ROOTWARD_IGNORE_CLIENT", "on")])
}

/// The Node that came with the suite, or the machine's own on a platform for which none is pinned.
fn node(top: &Path, suite: &Path) -> Result<PathBuf> {
    let pinned = suite.join("node_modules/.bin/node");
    let node = if pinned.exists() { pinned } else { PathBuf::from("node") };
    let version = Call::program(&node.to_string_lossy()).arguments(["--version"]).stdout(top)?;
    ensure!(major(&version) >= Some(22), "the conformance suite needs Node 22, not `{}`", version.trim());
    Ok(node)
}

/// The server under test, which goes when this does.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(program: &Path, words: &[&str]) -> Result<Server> {
        let mut child = Command::new(program)
            .args(words)
            // It ends with its standard input, should this program be killed.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run the server")?;
        let stdout = child.stdout.take();
        let mut server = Server { child, address: String::new() };
        let (sender, receiver) = mpsc::channel();
        let mut stdout = BufReader::new(stdout.context("no stdout")?);
        thread::spawn(move || {
            let mut line = String::new();
            sender.send(stdout.read_line(&mut line).map(|_| line))
        });
        let line =
            receiver.recv_timeout(Duration::from_secs(30)).context("the server does not say where it listens")??;
        line.trim().clone_into(&mut server.address);
        ensure!(server.address.starts_with("http://127.0.0.1:"), "the server listens at `{}`", server.address);
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error means that it has ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs what a revision requires; results and log go to a folder of their own.
fn run_suite(
    (suite, token): (&Path, &Path),
    node: &Path,
    address: &str,
    revision: Revision,
    results: &Path,
) -> Result<ExitStatus> {
    if results.exists() {
        fs::remove_dir_all(results).context("cannot clear old results")?;
    }
    fs::create_dir_all(results).context("cannot make a folder for results")?;
    let log = File::create(results.join("log"))?;
    let mut child = Command::new(node)
        .arg("--import")
        .arg(token)
        .env("ROOTWARD_TOKEN", TOKEN)
        .arg("node_modules/.bin/conformance")
        .args(["server", "--url", address, "--requirements", revision.name, "--output-dir"])
        .arg(results)
        .current_dir(suite)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .context("cannot run the conformance suite")?;
    ended_within(&mut child, LIMIT)?.with_context(|| format!("the conformance suite took more than {LIMIT:?}"))
}

/// The checks of each scenario, by the name of its folder.
fn read(results: &Path) -> Result<Vec<(String, Vec<Check>)>> {
    let mut scenarios = Vec::new();
    for entry in fs::read_dir(results)? {
        let folder = entry?.path();
        if folder.is_dir() {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let text =
                fs::read_to_string(folder.join("checks.json")).with_context(|| format!("no checks of `{name}`"))?;
            let checks = Check::read_all(&text).with_context(|| format!("unreadable checks of `{name}`"))?;
            scenarios.push((name, checks));
        }
    }
    Ok(scenarios)
}

/// How many checks passed, if all did and none is missing.
fn judge(revision: Revision, checks: usize, scenarios: &[(String, Vec<Check>)]) -> Result<usize> {
    let (mut passed, mut complaints) = (0, Vec::new());
    for (scenario, found) in scenarios {
        for check in found {
            match check.status {
                Status::Success => passed += 1,
                Status::Info => {}
                status if EXCUSED.contains(&(check.id.as_str(), status)) => {}
                status => {
                    let message = check.message.as_deref().unwrap_or("no reason given");
                    complaints.push(format!("{scenario}: {} ended with {status:?} ({message})", check.id));
                }
            }
        }
    }
    if scenarios.len() < revision.scenarios {
        complaints.push(format!("{} scenarios were run, not {}", scenarios.len(), revision.scenarios));
    }
    if passed < checks {
        complaints.push(format!("{passed} checks passed, not {checks}"));
    }
    ensure!(complaints.is_empty(), "{}:\n{}", revision.name, complaints.join("\n"));
    Ok(passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenarios(text: &str) -> Result<Vec<(String, Vec<Check>)>> {
        Ok(vec![("server-one".to_owned(), Check::read_all(text)?), ("server-two".to_owned(), Vec::new())])
    }

    #[test]
    fn a_run_counts_only_if_nothing_fails_and_nothing_is_missing() {
        let revision = Revision { name: "some day", scenarios: 2, checks: [2; 3] };
        let check = |revision: Revision, text: &str, passed: Option<usize>| {
            let judged = scenarios(text).and_then(|scenarios| judge(revision, revision.checks[0], &scenarios));
            assert_eq!(judged.as_ref().ok(), passed.as_ref(), "{text}: {judged:?}");
        };
        let two = r#"{"id": "a", "status": "SUCCESS"}, {"id": "a", "status": "SUCCESS", "details": {}}"#;
        check(revision, &format!("[{two}]"), Some(2));
        check(revision, &format!(r#"[{two}, {{"id": "b", "status": "INFO"}}]"#), Some(2));
        check(revision, &format!(r#"[{two}, {{"id": "tasks-status-notifications", "status": "SKIPPED"}}]"#), Some(2));
        check(revision, &format!(r#"[{two}, {{"id": "tasks-status-notifications", "status": "FAILURE"}}]"#), None);
        check(revision, &format!(r#"[{two}, {{"id": "b", "status": "SKIPPED"}}]"#), None);
        check(revision, &format!(r#"[{two}, {{"id": "b", "status": "WARNING"}}]"#), None);
        check(revision, &format!(r#"[{two}, {{"id": "b", "status": "FAILURE", "errorMessage": "why"}}]"#), None);
        check(revision, &format!(r#"[{two}, {{"id": "b", "status": "UNHEARD"}}]"#), None);
        check(revision, &format!(r#"[{two}, {{"id": "b"}}]"#), None);
        check(revision, "[]", None);
        check(Revision { checks: [3; 3], ..revision }, &format!("[{two}]"), None);
        check(Revision { scenarios: 3, ..revision }, &format!("[{two}]"), None);
    }
}
