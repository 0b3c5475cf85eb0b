//! The escape corpus through `rootward wrap`.
//!
//! The first run is not confined, with a file server that has access to everything: only the check of the calls protects the disk.
//! The second run is confined, with a server that opens any path, in calls whose paths Rootward cannot read: only the kernel protects
//! the disk.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use rootward_testkit::client::message;
use rootward_testkit::door::{Door, Failure, Outcome, Request};
use rootward_testkit::escape::{Act, Expect, Row, table};
use rootward_testkit::report::{self, Report};
use rootward_testkit::tree::{Item, SECRET};
use serde_json::{Value, json};

use crate::servers::install::Installed;
use taskkit::conversation::{Conversation, Roots};

/// The file server's script below `node_modules`.
const FILE_SERVER: &str = "@modelcontextprotocol/server-filesystem/dist/index.js";

/// Rows that must escape without Rootward, or the corpus would prove nothing.
const CAUGHT: [&str; 4] = ["cve-2025-53110-read", "prefix-sibling-put", "link-absolute-out", "dotdot-list"];

/// The row of a file that also has a name outside: a hard link inside is inside. `SECURITY.md` says so.
const SHARED_FILE: &str = "put-hard-link";

/// The corpus, with a file server that has access to everything.
pub(super) fn through_the_gate(installed: &Installed) -> Result<String> {
    let rows = rows(|row| !waits(row));
    let tally = Tally::default();
    let report = run_files(installed, &rows, Wrapped::Yes, &tally)?;
    let note = tally.judge(&report)?;
    let control: Vec<Row> = rows.into_iter().filter(|row| CAUGHT.contains(&row.name)).collect();
    let unguarded = run_files(installed, &control, Wrapped::No, &Tally::default())?;
    ensure!(
        unguarded.failures.len() == CAUGHT.len(),
        "without `rootward wrap`, some control rows do not escape: {unguarded}"
    );
    Ok(note)
}

/// The corpus, with a hostile server.
pub(super) fn through_the_wall(rootward: &Path, program: &Path) -> Result<String> {
    let rows = rows(|row| row.name != SHARED_FILE);
    let tally = Tally::default();
    let report = report::run(&Hostile { rootward, program, wrapped: Wrapped::Yes, tally: &tally }, rows.iter());
    let note = tally.judge(&report)?;
    let control = rows.iter().filter(|row| CAUGHT.contains(&row.name));
    let loose = Hostile { rootward, program, wrapped: Wrapped::No, tally: &Tally::default() };
    let unguarded = report::run(&loose, control);
    ensure!(
        unguarded.failures.len() == CAUGHT.len(),
        "without `rootward wrap`, some control rows do not escape: {unguarded}"
    );
    Ok(note)
}

/// Counts the outcomes, because a server that does nothing at all would be harmless, too.
#[derive(Debug, Default)]
struct Tally {
    /// The server carried out the act.
    done: AtomicUsize,
    /// `rootward wrap` or the kernel refused it.
    refused: AtomicUsize,
    /// Rootward did not start the server in these roots.
    not_started: AtomicUsize,
}

impl Tally {
    /// Counts an outcome and returns it.
    fn note(&self, outcome: Outcome) -> Outcome {
        let count = match &outcome {
            Outcome::Done { .. } => &self.done,
            Outcome::Denied { code, .. } if code == NOT_STARTED => &self.not_started,
            Outcome::Denied { .. } | Outcome::Failed { .. } => &self.refused,
            Outcome::Unsupported => return outcome,
        };
        count.fetch_add(1, Ordering::Relaxed);
        outcome
    }

    fn judge(&self, report: &Report) -> Result<String> {
        ensure!(report.failures.is_empty(), "{report}");
        let [done, refused, not_started] =
            [&self.done, &self.refused, &self.not_started].map(|count| count.load(Ordering::Relaxed));
        let impossible = report.unsupported.len();
        let note = format!(
            "{} rows harmless: {done} done inside, {refused} refused, {not_started} not started; {impossible} not possible",
            report.passed
        );
        ensure!(done > 150 && refused > 300 && not_started < 100, "this proves too little: {note}");
        Ok(note)
    }
}

/// The code of a server that was not started.
const NOT_STARTED: &str = "not_started";

/// A conversation that broke proves nothing, so it counts as an escape.
fn broken(error: &anyhow::Error) -> Outcome {
    Outcome::Done { content: Some(format!("{SECRET} {error:#}").into()), entries: None, place: None }
}

/// Whether the server runs behind `rootward wrap`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wrapped {
    Yes,
    /// The control.
    No,
}

/// The rows of the corpus. Each passes if nothing outside is shown or changed. Rows with the same roots are adjacent.
fn rows(wanted: impl Fn(&Row) -> bool) -> Vec<Row> {
    let harmless = |row: &Row| Row { expect: Expect::Harmless, ..*row };
    let mut rows: Vec<Row> = table().filter(|row| wanted(row)).map(harmless).collect();
    rows.sort_by_key(|row| format!("{:?} {:?}", row.roots, row.home));
    rows
}

/// Whether the row's tree has a FIFO, socket or device. A server that opens one may hang.
fn waits(row: &Row) -> bool {
    row.tree.iter().any(|item| matches!(item, Item::Fifo(_) | Item::Socket(_) | Item::CharacterDevice(..)))
}

fn run_files(installed: &Installed, rows: &[Row], wrapped: Wrapped, tally: &Tally) -> Result<Report> {
    let place = tempfile::Builder::new().prefix("rootward-").tempdir()?;
    let state = tempfile::tempdir()?;
    let door = Files { installed, wrapped, tally, state: state.path(), session: Mutex::new(None) };
    Ok(report::run_in(place.path(), &door, rows.iter()))
}

/// A file server, kept while the roots stay the same.
struct Files<'i> {
    installed: &'i Installed,
    wrapped: Wrapped,
    tally: &'i Tally,
    state: &'i Path,
    session: Mutex<Option<(String, Conversation)>>,
}

/// The command `rootward wrap`, with the roots of a request.
fn wrap(rootward: &Path, request: &Request, state: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(rootward);
    command.arg("wrap").args(words).env("XDG_STATE_HOME", state).env("XDG_CONFIG_HOME", state).current_dir(state);
    command.env_remove("ROOTWARD_ROOTS").env("HOME", request.home.as_deref().unwrap_or(state));
    for root in &request.roots {
        let mut word = root.path.clone().into_os_string();
        word.push(":");
        word.push(root.access);
        command.arg(word);
    }
    command.arg("--");
    command
}

impl Files<'_> {
    /// The server, with access to everything; relative paths start at its working directory. `sed` hides the client's `roots`
    /// capability, or the server would limit itself to the roots.
    fn command(&self, request: &Request) -> Command {
        let server = "exec sed -u 's/\"roots\":{\"listChanged\":true}/\"other\":{}/' | exec \"$0\" \"$1\" . /";
        let mut command = match self.wrapped {
            Wrapped::Yes => {
                wrap(&self.installed.rootward, request, self.state, &["--sandbox", "off", "--inject", "none"])
            }
            Wrapped::No => {
                let mut command = Command::new("env");
                let first = request.roots.first().map_or_else(|| PathBuf::from("/"), |root| root.path.clone());
                command.current_dir(first);
                command
            }
        };
        command.args(["sh", "-c", server]).arg(&self.installed.node).arg(self.installed.modules.join(FILE_SERVER));
        command
    }

    fn answer(&self, request: &Request, tool: &str, arguments: Value) -> Result<Value> {
        let mut session = self.session.lock().map_err(|_| anyhow::anyhow!("a row before this one panicked"))?;
        let roots = identity(request);
        if session.as_ref().is_none_or(|(known, _)| *known != roots) {
            *session = None;
            let mut begun = Conversation::start(self.command(request), Roots::Unknown)?;
            begun.tools()?;
            *session = Some((roots, begun));
        }
        let (_, session) = session.as_mut().context("no session")?;
        session.ask("tools/call", message::call(tool, arguments))
    }
}

/// The identity of the roots on disk. A root that was deleted and created again is different, even if it got the same inode number.
fn identity(request: &Request) -> String {
    let place = |path: &Path| {
        let found = std::fs::metadata(path).map(|found| (found.dev(), found.ino(), found.created().ok())).ok();
        format!("{:?} {found:?}", path.canonicalize().ok())
    };
    let roots =
        request.roots.iter().map(|root| format!("{} {} {}", root.path.display(), root.access, place(&root.path)));
    format!("{:?} {:?}", roots.collect::<Vec<_>>(), request.home)
}

impl Door for Files<'_> {
    fn act(&self, request: &Request) -> Outcome {
        let (tool, key) = match request.act {
            Act::Check | Act::Stat => ("get_file_info", "path"),
            Act::Read => ("read_text_file", "path"),
            Act::List => ("list_directory", "path"),
            Act::Put | Act::Append | Act::CreateNew => ("write_file", "path"),
            Act::MakeDirectory => ("create_directory", "path"),
            Act::Rename => ("move_file", "source"),
            Act::Execute | Act::Remove | Act::Copy => return Outcome::Unsupported,
        };
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        // JSON cannot express a path that is not UTF-8.
        let Some(path) = text(&request.path) else { return Outcome::Unsupported };
        let mut arguments = json!({key: path});
        if let Some(to) = &request.to {
            let Some(to) = text(to) else { return Outcome::Unsupported };
            arguments["destination"] = to.into();
        }
        if tool == "write_file" {
            arguments["content"] = String::from_utf8_lossy(&request.data).into();
        }
        let answer = self.answer(request, tool, arguments);
        self.tally.note(answer.map_or_else(|error| broken(&error), |answer| outcome(request.act, &answer)))
    }
}

/// The outcome of an answer of the file server, or of a refusal by `rootward wrap`.
fn outcome(act: Act, answer: &Value) -> Outcome {
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    let refusal = result.pointer("/_meta/rootward.dev~1refusal").or(result.get("structuredContent"));
    if let Some(error) = answer.get("error") {
        return Outcome::denied("refused", error["message"].as_str().unwrap_or_default());
    }
    if result["isError"] == true {
        return match refusal.and_then(|refusal| refusal["code"].as_str()) {
            Some(code) => Outcome::denied(code, text),
            None => Outcome::Failed { kind: Failure::Other, message: text },
        };
    }
    let name = |line: &str| line.split_once("] ").map(|(_, name)| OsString::from(name));
    Outcome::Done {
        entries: (act == Act::List).then(|| text.lines().filter_map(name).collect()),
        content: Some(text.into_bytes()),
        place: None,
    }
}

/// A server that does whatever a call asks, restarted for each row.
struct Hostile<'p> {
    rootward: &'p Path,
    program: &'p Path,
    wrapped: Wrapped,
    tally: &'p Tally,
}

impl Hostile<'_> {
    fn answer(&self, request: &Request) -> Result<Value> {
        let state = tempfile::tempdir()?;
        let mut command = match self.wrapped {
            Wrapped::Yes => {
                let mut command = wrap(self.rootward, request, state.path(), &[]);
                command.arg(self.program);
                command
            }
            Wrapped::No => {
                let mut command = Command::new(self.program);
                command.current_dir(request.roots.first().map_or(Path::new("/"), |root| &root.path));
                command
            }
        };
        command.arg("serve");
        let mut session = Conversation::start(command, Roots::Unknown)?;
        let act = format!("{:?}", request.act);
        let arguments = json!({"act": act, "path": request.path, "to": request.to, "data": request.data});
        let said = session.ask("tools/call", message::call("act", arguments))?;
        let text = said["result"]["content"][0]["text"].as_str().with_context(|| format!("the server said {said}"))?;
        serde_json::from_str(text).with_context(|| format!("the server said `{text}`"))
    }
}

impl Door for Hostile<'_> {
    fn act(&self, request: &Request) -> Outcome {
        self.tally.note(match self.answer(request) {
            Ok(answer) => done(&answer),
            // Rootward does not start a server if the kernel cannot confine it to its roots.
            Err(error) if format!("{error:#}").contains("was not started") => {
                Outcome::denied(NOT_STARTED, "the server was not started")
            }
            Err(error) => broken(&error),
        })
    }
}

/// The outcome that the hostile server reports.
fn done(answer: &Value) -> Outcome {
    if answer.get("kind").is_some() {
        return Outcome::Failed { kind: Failure::Other, message: String::new() };
    }
    let bytes = |value: &Value| serde_json::from_value::<Vec<u8>>(value.clone()).ok();
    let entries =
        answer["entries"].as_array().map(|names| names.iter().filter_map(bytes).map(OsString::from_vec).collect());
    Outcome::Done { content: bytes(&answer["content"]), entries, place: None }
}
