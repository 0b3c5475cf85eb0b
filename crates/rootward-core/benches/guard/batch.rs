//! `rootward check --stdin`: the cost of a hundred thousand lines beyond the checks themselves, including the start of
//! the process.

use std::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use rootward_core::Access;

use crate::Outcome;
use crate::places::guard;
use crate::walking::Tree;
use rootward_testkit::bench::measure::{in_turns, one_turn};
use rootward_testkit::bench::peers::rootward;
use rootward_testkit::bench::table::{Bar, Table};

const ROUNDS: usize = 11;

pub(crate) fn measure(tree: &Tree, top: &Path, table: &mut Table) -> Outcome {
    let what = "`rootward check --stdin`, 100,000 lines";
    let against = "the checks alone";
    let questions = top.join("questions");
    let mut lines = Vec::new();
    for file in &tree.files {
        writeln!(lines, "{}", serde_json::json!({ "path": file }))?;
    }
    fs::write(&questions, lines)?;
    let program = match rootward() {
        Ok(binary) => Program { binary, root: &tree.root, questions: &questions, answers: top.join("answers") },
        Err(why) => {
            table.add_missing(what, against, &why.to_string());
            return Ok(());
        }
    };
    if let Err(why) = program.run().and_then(|()| program.judge(tree.files.len())) {
        table.add_missing(what, against, &why.to_string());
        return Ok(());
    }
    let guard = guard([tree.root.clone()]);
    let row = in_turns(
        ROUNDS,
        || one_turn(1, &mut || program.run().expect("it answered before")),
        || {
            one_turn(1, &mut || {
                for file in &tree.files {
                    guard.check(file, Access::READ).expect("inside the root");
                }
            })
        },
    );
    table.add(what, against, &row, Bar::AtMost(2.5));
    Ok(())
}

/// The binary and its questions.
struct Program<'b> {
    binary: PathBuf,
    root: &'b Path,
    questions: &'b Path,
    answers: PathBuf,
}

impl Program<'_> {
    /// Starts it, lets it answer every line, waits for its end.
    fn run(&self) -> Result<(), Box<dyn Error>> {
        let status = Command::new(&self.binary)
            .args(["check", "--stdin", "--root"])
            .arg(self.root)
            .stdin(File::open(self.questions)?)
            .stdout(File::create(&self.answers)?)
            .status()?;
        if status.success() { Ok(()) } else { Err("`check --stdin` failed".into()) }
    }

    /// Whether every line was answered, and allowed.
    fn judge(&self, expected: usize) -> Result<(), Box<dyn Error>> {
        let answers = fs::read_to_string(&self.answers)?;
        let allowed = |line: &str| {
            let answer: Option<serde_json::Value> = serde_json::from_str(line).ok();
            answer.is_some_and(|answer| answer["decision"] == "allow")
        };
        let allowed = answers.lines().filter(|line| allowed(line)).count();
        if allowed == expected { Ok(()) } else { Err("`check --stdin` does not answer yet".into()) }
    }
}
