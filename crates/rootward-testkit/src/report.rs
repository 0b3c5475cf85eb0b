//! Runs rows of the corpus through a door and reports the failures.
//!
//! A row passes only if the door gave the expected answer, acted on the expected object, changed nothing else in the
//! tree, and revealed nothing outside. A refusal that changed anything, inside or outside, fails.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, open};

use crate::door::{Door, Outcome, Request, Root};
use crate::escape::{Needs, Row, YARD};
use crate::snapshot::Snapshot;
use crate::tree::{Tree, is_superuser};

mod verdict;

/// How long a door may take for one row.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// The value of [`Request::data`].
pub const DATA: &[u8] = b"written through the door\n";

/// A row that failed, with all its problems.
#[derive(Clone, Debug)]
pub struct RowFailure {
    /// The row's name.
    pub name: &'static str,
    /// The problems, one sentence each.
    pub problems: Vec<String>,
    /// Row, request and answer, for the reader.
    pub detail: String,
}

/// The result of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How many rows passed.
    pub passed: usize,
    /// The rows that failed.
    pub failures: Vec<RowFailure>,
    /// Rows whose act the door does not support.
    pub unsupported: Vec<&'static str>,
    /// Rows that were skipped because they need root.
    pub needing_root: Vec<&'static str>,
}

impl Report {
    /// The names of the rows that failed.
    pub fn failed_names(&self) -> Vec<&'static str> {
        self.failures.iter().map(|failure| failure.name).collect()
    }

    /// Asserts that no row failed and some passed.
    ///
    /// # Panics
    ///
    /// If not, with every failure in full.
    pub fn assert_clean(&self) {
        assert!(self.failures.is_empty(), "{self}");
        assert!(self.passed > 0, "no row was run");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} rows passed, {} failed", self.passed, self.failures.len())?;
        writeln!(f, "not supported by this door: {}", self.unsupported.join(" "))?;
        writeln!(f, "skipped without root: {}", self.needing_root.join(" "))?;
        for failure in &self.failures {
            writeln!(f, "\n{}", failure.name)?;
            for problem in &failure.problems {
                writeln!(f, "  - {problem}")?;
            }
            writeln!(f, "{}", failure.detail)?;
        }
        Ok(())
    }
}

/// Runs rows through a door, each in a new tree.
pub fn run<'a>(door: &dyn Door, rows: impl Iterator<Item = &'a Row>) -> Report {
    run_with_patience(door, rows, PATIENCE)
}

/// [`run`], with every tree in the same place, for a door that is slow to start.
pub fn run_in<'a>(place: &Path, door: &dyn Door, rows: impl Iterator<Item = &'a Row>) -> Report {
    run_each(door, rows, PATIENCE, Some(place))
}

/// [`run`], with another timeout for each row.
pub fn run_with_patience<'a>(door: &dyn Door, rows: impl Iterator<Item = &'a Row>, patience: Duration) -> Report {
    run_each(door, rows, patience, None)
}

fn run_each<'a>(
    door: &dyn Door,
    rows: impl Iterator<Item = &'a Row>,
    patience: Duration,
    place: Option<&Path>,
) -> Report {
    let mut report = Report::default();
    for row in rows {
        if row.needs == Needs::Root && !is_superuser() {
            report.needing_root.push(row.name);
            continue;
        }
        match run_row(door, row, patience, place) {
            Ok(Verdict::Passed) => report.passed += 1,
            Ok(Verdict::Unsupported) => report.unsupported.push(row.name),
            Ok(Verdict::Failed { problems, detail }) => {
                report.failures.push(RowFailure { name: row.name, problems, detail });
            }
            Err(error) => report.failures.push(RowFailure {
                name: row.name,
                problems: vec![format!("the tree could not be built or read: {error}")],
                detail: format!("{row:#?}"),
            }),
        }
    }
    report
}

enum Verdict {
    Passed,
    Unsupported,
    Failed { problems: Vec<String>, detail: String },
}

/// A row ready to run: its tree, the request, and a snapshot from before.
pub(crate) struct Stage {
    pub(crate) tree: Tree,
    pub(crate) request: Request,
    pub(crate) before: Snapshot,
}

impl Stage {
    pub(crate) fn set(row: &Row, place: Option<&Path>) -> io::Result<Stage> {
        let lists = [YARD, row.tree];
        let tree = place.map_or_else(|| Tree::build(&lists), |place| Tree::build_in(place, &lists))?;
        let root =
            |spec: &crate::escape::RootSpec| Ok(Root { path: tree.expand_path(spec.path)?, access: spec.access });
        let request = Request {
            roots: row.roots.iter().map(root).collect::<io::Result<_>>()?,
            base: row.base.map(|base| tree.expand_path(base)).transpose()?,
            home: row.home.map(|home| tree.expand_path(home)).transpose()?,
            act: row.act,
            path: tree.expand(row.path)?,
            to: row.to.map(|to| tree.expand(to)).transpose()?,
            data: DATA.to_vec(),
        };
        let before = tree.snapshot()?;
        Ok(Stage { tree, request, before })
    }

    pub(crate) fn root_paths(&self) -> Vec<PathBuf> {
        self.request.roots.iter().map(|root| root.path.clone()).collect()
    }
}

fn run_row(door: &dyn Door, row: &Row, patience: Duration, place: Option<&Path>) -> io::Result<Verdict> {
    let stage = Stage::set(row, place)?;
    let (outcome, mut problems) = match watch(door, &stage, patience) {
        Watched::Answered(Outcome::Unsupported) => return Ok(Verdict::Unsupported),
        Watched::Answered(outcome) => (outcome, Vec::new()),
        Watched::Hung => (Outcome::Unsupported, vec![format!("no answer after {patience:?}")]),
        Watched::Panicked => (Outcome::Unsupported, vec!["the door panicked".to_owned()]),
    };
    let after = stage.tree.snapshot()?;
    if problems.is_empty() {
        problems = verdict::problems(row, &stage, &after, &outcome)?;
    }
    if problems.is_empty() {
        return Ok(Verdict::Passed);
    }
    let asked = String::from_utf8_lossy(&stage.request.path);
    let shown: String = asked.chars().take(300).collect();
    let detail = format!(
        "  source: {}\n  expected: {:?}\n  asked: {:?} `{}`\n  answer: {outcome:?}\n  request: {:?}",
        row.source,
        row.expect,
        row.act,
        shown.escape_debug(),
        stage.request.roots,
    );
    Ok(Verdict::Failed { problems, detail })
}

enum Watched {
    Answered(Outcome),
    Hung,
    Panicked,
}

/// Acts in another thread, so that a door that blocks on a FIFO cannot stop the run.
fn watch(door: &dyn Door, stage: &Stage, patience: Duration) -> Watched {
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        let acting = scope.spawn(move || drop(sender.send(door.act(&stage.request))));
        let answer = receiver.recv_timeout(patience);
        if matches!(answer, Err(RecvTimeoutError::Timeout)) {
            release(stage, || acting.is_finished());
        }
        match (acting.join(), answer) {
            (Err(_), _) => Watched::Panicked,
            (Ok(()), Ok(outcome)) => Watched::Answered(outcome),
            (Ok(()), Err(_)) => Watched::Hung,
        }
    })
}

/// Opens the other end of every FIFO until the door is no longer blocked.
///
/// Opening a FIFO for both directions never blocks (fifo(7)) and wakes a waiting opener; closing it gives a reader EOF.
fn release(stage: &Stage, finished: impl Fn() -> bool) {
    for _ in 0..500 {
        if finished() {
            return;
        }
        let ends = stage
            .tree
            .fifos()
            .iter()
            .filter_map(|fifo| open(fifo, OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).ok());
        let ends: Vec<_> = ends.collect();
        thread::sleep(Duration::from_millis(10));
        drop(ends);
    }
    // A scoped thread cannot be abandoned, and aborting is better than a test run that never ends.
    let _ = writeln!(io::stderr(), "a door hangs on {:?}", stage.request);
    std::process::abort();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::escape::{Expect, table};
    use crate::naive::Naive;

    const SHORT: Duration = Duration::from_millis(200);

    /// One row for each kind of bug in the naive door.
    const CAUGHT: [&str; 16] = [
        "cve-2025-53110-read",
        "cve-2025-53110-list",
        "prefix-sibling-put",
        "put-dangling-out",
        "remove-by-link-outside",
        "remove-empty-root",
        "put-hard-link",
        "fifo-read",
        "fifo-put",
        "magic-root-to-inside",
        "nul-in-middle",
        "empty-list",
        "ro-put",
        "rw-execute",
        "nested-ro-in-rw-by-link",
        "cve-2026-25724-read",
    ];

    #[test]
    fn the_naive_door_is_caught() {
        let report = run_with_patience(&Naive, table(), SHORT);
        let failed = report.failed_names();
        for name in CAUGHT {
            assert!(failed.contains(&name), "`{name}` did not catch the naive door");
        }
        assert_eq!(report.passed + failed.len() + report.needing_root.len(), table().count());
        // It passes most rows: the table does not fail everything.
        assert!(report.passed > table().count() / 2, "{report}");
    }

    #[test]
    fn an_escape_is_reported_as_one() {
        let row = table().filter(|row| row.name == "cve-2025-53110-read");
        let report = run_with_patience(&Naive, row, SHORT);
        assert!(report.to_string().contains("read the content of a file outside"), "{report}");
    }

    /// Gives every request the same answer.
    struct Always(fn() -> Outcome);

    impl Door for Always {
        fn act(&self, _request: &Request) -> Outcome {
            self.0()
        }
    }

    #[test]
    fn a_constant_answer_passes_only_matching_rows() {
        let done = run(&Always(Outcome::done), table());
        let refusing = run(&Always(|| Outcome::denied("outside_roots", "no")), table());
        for row in table().filter(|row| !done.needing_root.contains(&row.name)) {
            let passes = |report: &Report| !report.failed_names().contains(&row.name);
            match row.expect {
                Expect::Allow { .. } => assert!(!passes(&refusing), "{}", row.name),
                Expect::Harmless => {}
                Expect::Deny { code: "outside_roots" } | Expect::Refused => assert!(!passes(&done), "{}", row.name),
                _ => assert!(!passes(&done) && !passes(&refusing), "{}", row.name),
            }
        }
    }

    #[test]
    fn a_message_that_describes_the_outside_fails() {
        struct Leaks;
        impl Door for Leaks {
            fn act(&self, request: &Request) -> Outcome {
                let outside = request.roots[0].path.with_file_name("outside").join("secret.txt");
                Outcome::denied("outside_roots", format!("leads to {}", outside.display()))
            }
        }
        let row = || table().filter(|row| row.name == "link-absolute-out");
        assert_eq!(run(&Leaks, row()).failed_names(), ["link-absolute-out"]);
        run(&Always(|| Outcome::denied("outside_roots", "path `l` is outside every root")), row()).assert_clean();
    }

    #[test]
    fn panics_and_missing_acts_are_reported() {
        let row = || table().filter(|row| row.name == "plain-file");
        let panicked = run(&Always(|| panic!("on purpose")), row());
        assert_eq!(panicked.failures[0].problems, ["the door panicked"]);
        assert_eq!(run(&Always(|| Outcome::Unsupported), row()).unsupported, ["plain-file"]);
    }
}
