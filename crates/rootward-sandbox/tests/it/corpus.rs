//! The escape corpus through a confined child that goes straight to each path.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use rootward_testkit::door::{Door, Failure, Outcome, Request};
use rootward_testkit::escape::{Expect, Row, table};
use rootward_testkit::report;
use serde_json::{Value, json};

use crate::scene::{feed, host, stage};

/// Whether the child is confined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wall {
    Up,
    Down,
}

/// A child that does what it is asked, confined to the request's roots or not.
struct Child(Wall);

impl Door for Child {
    fn act(&self, request: &Request) -> Outcome {
        let first = request.roots.first().map(|root| root.path.clone());
        let Some(start) = request.base.clone().or(first) else { return Outcome::denied("no_roots", "no roots") };
        let roots: Vec<String> =
            request.roots.iter().map(|root| format!("{}:{}", root.path.display(), root.access)).collect();
        let spec = json!({"roots": roots});
        let act = json!({
            "act": format!("{:?}", request.act), "path": request.path, "to": request.to, "data": request.data,
        });
        let mut command = match self.0 {
            Wall::Up => {
                let mut command = host(&spec);
                command.arg(stage());
                command
            }
            Wall::Down => std::process::Command::new(stage()),
        };
        if start.is_dir() {
            command.current_dir(&start);
        }
        let run = feed(command.arg("act"), act.to_string().as_bytes());
        if run.code == Some(77) {
            return Outcome::denied("not_started", "the command was not started");
        }
        let last = run.out.lines().last().unwrap_or_default();
        let answer: Value = serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {run:?}"));
        outcome(&answer)
    }
}

fn outcome(answer: &Value) -> Outcome {
    if answer.get("kind").is_some() {
        let error = answer["error"].as_i64().and_then(|error| i32::try_from(error).ok());
        let kind = error.map_or(Failure::InvalidInput, |error| Failure::of(&std::io::Error::from_raw_os_error(error)));
        return Outcome::Failed { kind, message: String::new() };
    }
    let bytes = |value: &Value| serde_json::from_value::<Vec<u8>>(value.clone()).ok();
    let entries =
        answer["entries"].as_array().map(|names| names.iter().filter_map(bytes).map(OsString::from_vec).collect());
    Outcome::Done { content: bytes(&answer["content"]), entries, place: None }
}

/// What the sandbox must guarantee: nothing outside is shown or changed, and access that a root does not give is
/// refused. Codes, and the meaning of a path's text, are up to the guard.
fn owed(row: &Row) -> Row {
    let expect = match row.expect {
        // Only the guard protects a root itself; to the kernel it is an entry of the root around it.
        Expect::Deny { .. } if row.name == "nested-root-removed" => Expect::Harmless,
        Expect::Deny { code: "access_denied" } => Expect::Refused,
        _ => Expect::Harmless,
    };
    Row { expect, ..*row }
}

/// A file with a name inside is inside, whatever other names it has: the kernel cannot tell. The guard replaces files,
/// so that other names keep the old contents; a process that writes in place does not. Listed in `SECURITY.md`.
const SHARED_FILE: &str = "put-hard-link";

#[test]
fn a_confined_child_passes_the_escape_corpus() {
    let rows: Vec<Row> = table().filter(|row| row.name != SHARED_FILE).map(owed).collect();
    assert_eq!(rows.len() + 1, table().count());
    let report = report::run(&Child(Wall::Up), rows.iter());
    report.assert_clean();
    assert!(report.unsupported.is_empty());
}

/// The control: the corpus catches the same child without a sandbox.
#[test]
fn an_unconfined_child_is_caught_by_the_corpus() {
    let rows: Vec<Row> = table().map(owed).collect();
    let report = report::run(&Child(Wall::Down), rows.iter());
    let failed = report.failed_names();
    for name in ["cve-2025-53110-read", "prefix-sibling-put", "link-absolute-out", "ro-put"] {
        assert!(failed.contains(&name), "`{name}` did not catch it: {failed:?}");
    }
}
