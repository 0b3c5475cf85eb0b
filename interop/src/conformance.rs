//! `cargo xtask conformance`: runs the MCP conformance suite against `examples/conformance-server`, in both eras of the protocol, over
//! rmcp's own HTTP server, over Rootward's front, and over `rootward hub --http` with the server on stdio behind it.
//!
//! All three must give the same results, except in two scenarios: there the server asks for roots, and the hub answers instead of the
//! client. See [`HUB_FAILURES`].
//!
//! The suite comes from npm, pinned in `peers/conformance` together with the Node it needs, and is installed below `target`.
//! It writes its results to files, one per scenario. This module reads those files and ignores the suite's output.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rootward_testkit::client::Listening;
use serde_json::{Value, json};

use crate::listening::{self, TOKEN};
use taskkit::built;
use taskkit::call::Call;
use taskkit::install::{major, packages};
use taskkit::wait::ended_within;

/// A revision of the protocol, and how much of the suite must pass for it.
#[derive(Clone, Copy, Debug)]
struct Revision {
    name: &'static str,
    /// The number of scenarios in the pinned suite. If fewer run, the suite left some out silently.
    scenarios: usize,
    /// The number of checks that pass, for each of [`WAYS`].
    checks: [usize; 3],
}

/// These counts include the checks of streams, which the suite skips for a plain JSON response. The front sends quick responses as plain
/// JSON by default, so here it is configured to stream every response.
const REVISIONS: [Revision; 2] = [
    Revision { name: "2025-11-25", scenarios: 33, checks: [83, 83, 83] },
    Revision { name: MODERN, scenarios: 50, checks: [197, 197, 193] },
];

const MODERN: &str = "2026-07-28";

/// The checks that fail through a hub that does not ask its clients for roots, in the scenarios of `peers/conformance/hub.yml`. The hub
/// owns the roots, and no server gets a call before they are known. A hub that asks its clients does so before each call: its first
/// response to every call requests the roots. The suite expects that only in these two scenarios, so the hub does not ask here.
///
/// - `input-required-result-basic-list-roots` passes through a hub that asks its clients, and runs that way too: see [`WITH_ROOTS`].
/// - `input-required-result-multiple-input-requests` expects three input requests in one response: to the user, to the model and for the
///   roots. The hub passes on the first two and answers the third itself. So one check fails, and the suite skips the next one.
const HUB_FAILURES: [(&str, Status); 2] =
    [("sep-2322-list-roots-incomplete", Status::Failure), ("sep-2322-multiple-inputs-incomplete", Status::Failure)];

/// The scenario that is run through a hub that asks its clients for roots.
const ROOTS_SCENARIO: &str = "input-required-result-basic-list-roots";

/// What must pass in it: its own two checks, and the check in every scenario that all messages are valid.
const WITH_ROOTS: Revision = Revision { name: MODERN, scenarios: 1, checks: [3; 3] };

/// What is between the suite and the server's handlers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// rmcp's own HTTP server.
    Direct,
    /// Rootward's front, which streams every response.
    Front,
    /// The hub, which streams every response, with the server on stdio behind it.
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

/// Checks that need not succeed, each with the reason.
const EXCUSED: [(&str, Status); 2] = [
    // The server would have to close the stream of a call so that the client resumes it. A tool of rmcp 3.8 does not know that stream.
    ("server-sse-disconnect-resume", Status::Warning),
    // The suite skips this check for every server.
    ("tasks-status-notifications", Status::Skipped),
];

/// Time limit for a run of the suite, which takes about ten seconds.
const LIMIT: Duration = Duration::from_mins(3);

/// The result of one check of a scenario.
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

    /// Parses all checks of a scenario. Fails if any of them is malformed.
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

/// Installs the suite, and runs both revisions in each of [`WAYS`]; returns a note for the table of steps.
pub(crate) fn run(top: &Path) -> Result<String> {
    let folder = packages(top, "conformance")?;
    let suite = Suite { top, node: node(top, &folder)?, folder };
    let build = Call::cargo("build -p conformance-server -p rootward --bins");
    let [program, rootward] = built::programs(top, build, ["conformance-server", "rootward"])?;
    let mut notes = Vec::new();
    for (position, way) in WAYS.into_iter().enumerate() {
        let home = tempfile::tempdir()?;
        let started = match way {
            Way::Direct => Started::Server(Server::start(&program, &[])?),
            Way::Front => Started::Server(Server::start(&program, &["--front", "--streams"])?),
            Way::Hub => Started::Hub(start_hub(&rootward, &program, home.path(), WITHOUT_CLIENT_ROOTS)?),
        };
        for revision in REVISIONS {
            let name = format!("{}-{}", way.name(), revision.name);
            let baseline = top.join(HUB_BASELINE).display().to_string();
            let words = ["--requirements", revision.name, "--expected-failures", &baseline];
            let (words, excused) = match (way, revision.name) {
                (Way::Hub, MODERN) => (&words[..], [&EXCUSED[..], &HUB_FAILURES].concat()),
                _ => (&words[..2], EXCUSED.to_vec()),
            };
            let results = suite.run(started.address(), words, &name)?;
            let passed = judge(revision, revision.checks[position], &excused, &results)?;
            notes.push(format!("{}: {passed} checks of {}", way.name(), revision.name));
        }
    }
    let home = tempfile::tempdir()?;
    let hub = start_hub(&rootward, &program, home.path(), &[])?;
    let words = ["--scenario", ROOTS_SCENARIO, "--spec-version", MODERN];
    let passed = judge(WITH_ROOTS, WITH_ROOTS.checks[0], &EXCUSED, &suite.run(&hub.url, &words, "hub-roots")?)?;
    notes.push(format!("hub with roots: {passed}"));
    Ok(notes.join(", "))
}

/// The script that adds the token to the suite's requests.
const TOKEN_SCRIPT: &str = "peers/conformance/token.mjs";

/// The suite's own list of expected failures: the scenarios of [`HUB_FAILURES`].
const HUB_BASELINE: &str = "peers/conformance/hub.yml";

/// Makes the hub not ask its clients for roots: the suite shares roots only in the scenarios that test that.
const WITHOUT_CLIENT_ROOTS: &[(&str, &str)] = &[("ROOTWARD_IGNORE_CLIENT", "on")];

/// The hub's settings: stream every response.
const SETTINGS: &str = "[http.limits]\nanswer_ms = 0\n";

/// The running process that the suite connects to.
enum Started {
    Server(Server),
    Hub(Listening),
}

impl Started {
    fn address(&self) -> &str {
        match self {
            Started::Server(server) => &server.address,
            Started::Hub(listening) => &listening.url,
        }
    }
}

/// Starts a hub with the server behind it. The server's tools keep their names.
fn start_hub(rootward: &Path, program: &Path, home: &Path, variables: &[(&str, &str)]) -> Result<Listening> {
    let (file, root, settings) = (home.join("servers.json"), home.join("root"), home.join("rootward"));
    fs::create_dir(&root)?;
    fs::create_dir(&settings)?;
    fs::write(settings.join("config.toml"), SETTINGS)?;
    let servers = json!({"server": {"command": program, "args": ["--stdio"]}});
    fs::write(&file, json!({"mcpServers": servers, "rootward": {"prefix": "never"}}).to_string())?;
    let words =
        ["hub".into(), "--config".into(), file.display().to_string(), "--root".into(), root.display().to_string()];
    listening::start(rootward, &words, home, variables)
}

/// The Node that was installed with the suite, or the system's Node on platforms for which none is pinned.
fn node(top: &Path, suite: &Path) -> Result<PathBuf> {
    let pinned = suite.join("node_modules/.bin/node");
    let node = if pinned.exists() { pinned } else { PathBuf::from("node") };
    let version = Call::program(&node.to_string_lossy()).arguments(["--version"]).stdout(top)?;
    ensure!(major(&version) >= Some(22), "the conformance suite needs Node 22 or later, not `{}`", version.trim());
    Ok(node)
}

/// The server under test. Dropping this value kills it.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(program: &Path, words: &[&str]) -> Result<Server> {
        let mut child = Command::new(program)
            .args(words)
            // If this program is killed, the pipe closes and the server exits.
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
        let line = receiver.recv_timeout(Duration::from_secs(30)).context("the server did not print its address")??;
        line.trim().clone_into(&mut server.address);
        ensure!(server.address.starts_with("http://127.0.0.1:"), "the server listens at `{}`", server.address);
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error means that it has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The installed suite.
struct Suite<'s> {
    top: &'s Path,
    folder: PathBuf,
    node: PathBuf,
}

/// The name of a scenario, and its checks.
type Scenario = (String, Vec<Check>);

impl Suite<'_> {
    /// Runs the suite with these arguments. Results and log go to `target/conformance/NAME`.
    fn run(&self, address: &str, words: &[&str], name: &str) -> Result<Vec<Scenario>> {
        let results = self.top.join("target/conformance").join(name);
        if results.exists() {
            fs::remove_dir_all(&results).context("cannot clear old results")?;
        }
        fs::create_dir_all(&results).context("cannot create a folder for results")?;
        let log = File::create(results.join("log"))?;
        let mut child = Command::new(&self.node)
            .arg("--import")
            .arg(self.top.join(TOKEN_SCRIPT))
            .env("ROOTWARD_TOKEN", TOKEN)
            .arg("node_modules/.bin/conformance")
            .args(["server", "--url", address])
            .args(words)
            .arg("--output-dir")
            .arg(&results)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("cannot run the conformance suite")?;
        let status = ended_within(&mut child, LIMIT)?
            .with_context(|| format!("the conformance suite took more than {LIMIT:?}"))?;
        let found = read(&results)?;
        // If a check failed, its message says more than the exit status.
        let has_failed = |(_, checks): &Scenario| checks.iter().any(|check| check.status == Status::Failure);
        let explains = found.iter().any(has_failed) || status.success();
        ensure!(explains, "the suite ended with {status}, see `{}`", results.join("log").display());
        Ok(found)
    }
}

/// Reads the checks of all scenarios. Each has a folder with its name.
fn read(results: &Path) -> Result<Vec<Scenario>> {
    let mut scenarios = Vec::new();
    for entry in fs::read_dir(results)? {
        let folder = entry?.path();
        if folder.is_dir() {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let text = fs::read_to_string(folder.join("checks.json"))
                .with_context(|| format!("cannot read the checks of `{name}`"))?;
            let checks = Check::read_all(&text).with_context(|| format!("cannot parse the checks of `{name}`"))?;
            scenarios.push((name, checks));
        }
    }
    Ok(scenarios)
}

/// Returns the number of checks that passed. Fails if a check that is not excused did not pass, or if fewer scenarios ran or fewer checks
/// passed than expected.
fn judge(revision: Revision, checks: usize, excused: &[(&str, Status)], scenarios: &[Scenario]) -> Result<usize> {
    let (mut passed, mut complaints) = (0, Vec::new());
    for (scenario, found) in scenarios {
        for check in found {
            match check.status {
                Status::Success => passed += 1,
                Status::Info => {}
                status if excused.contains(&(check.id.as_str(), status)) => {}
                status => {
                    let message = check.message.as_deref().unwrap_or("no reason given");
                    complaints.push(format!("{scenario}: {} ended with {status:?} ({message})", check.id));
                }
            }
        }
    }
    if scenarios.len() < revision.scenarios {
        complaints.push(format!("{} scenarios ran, expected {}", scenarios.len(), revision.scenarios));
    }
    if passed < checks {
        complaints.push(format!("{passed} checks passed, expected {checks}"));
    }
    ensure!(complaints.is_empty(), "{}:\n{}", revision.name, complaints.join("\n"));
    Ok(passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenarios(text: &str) -> Result<Vec<Scenario>> {
        Ok(vec![("server-one".to_owned(), Check::read_all(text)?), ("server-two".to_owned(), Vec::new())])
    }

    #[test]
    fn a_run_counts_only_if_nothing_fails_and_nothing_is_missing() {
        let revision = Revision { name: "a revision", scenarios: 2, checks: [2; 3] };
        let check = |revision: Revision, text: &str, passed: Option<usize>| {
            let judged =
                scenarios(text).and_then(|scenarios| judge(revision, revision.checks[0], &EXCUSED, &scenarios));
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
