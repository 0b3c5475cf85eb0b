//! `rootward check`: decides paths.

mod batch;
mod lines;
mod question;

use std::ffi::OsString;
use std::io::{self, Write};

use anyhow::Result;
use clap::Args;
use rootward_core::{Guard, Shown};

use crate::Outcome;
use crate::answer::Answer;
use crate::decision::Decision;
use crate::ground::{Ground, PlacedRoots, Question};
use crate::hint::hint;
use crate::message;

/// Decide whether paths may be used
///
/// Prints a line for each allowed path; standard error says why a path was denied. Links are followed: the decision
/// is about the place that a path leads to. `allow` means that the roots give the access; the file's own permissions
/// may still deny it.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Check {
    #[command(flatten)]
    question: Question,
    /// Print one JSON object per line: `path`, `decision` (`allow` or `deny`), `code`, `root`, `resolved`. JSON
    /// holds only text: a byte that is not UTF-8 becomes `\xNN`, and a name that really holds these four characters
    /// looks the same
    #[arg(long)]
    json: bool,
    /// Read JSON lines `{"path": …, "access"?: …, "roots"?: […], "base"?: …}` and answer each in order, as `--json` does;
    /// a line's own roots replace all others, and are strings as for `--root` or objects `{"uri" or "path": …, "access"?: …}`;
    /// `error` says why a line could not be decided, `left_out` which of its roots could not be used
    #[arg(long, conflicts_with = "paths")]
    stdin: bool,
    /// A path or `file:` URI
    #[arg(value_name = "PATH", required_unless_present = "stdin")]
    paths: Vec<OsString>,
}

const AFTER_HELP: &str = "Exit codes: 0 all allowed, 1 one or more denied, 2 wrong use or failure";

impl Check {
    pub(crate) fn run(self) -> Result<Outcome> {
        let ground = Ground::load_ambient()?;
        let roots = ground.roots(&self.question.roots, self.question.asking.name())?;
        roots.warn();
        let base = ground.base(self.question.base.as_deref(), None)?;
        if self.stdin {
            let batch = batch::Batch::new(&ground, roots.set, base, self.question.access);
            return batch.run(io::stdin().lock(), &mut io::stdout().lock());
        }
        let guard = ground.guard(roots.set.clone(), base);
        let mut out = io::stdout().lock();
        if self.json { self.as_json(&guard, &mut out) } else { self.as_text(&ground, &roots, &guard, &mut out) }
    }

    fn as_json(&self, guard: &Guard, out: &mut impl Write) -> Result<Outcome> {
        let mut outcome = Outcome::Done;
        for path in &self.paths {
            let decision = Decision::of(guard, path, self.question.access);
            outcome = outcome.and(outcome_of(&decision));
            serde_json::to_writer(&mut *out, &Answer::new(path, &decision))?;
            out.write_all(b"\n")?;
        }
        out.flush()?;
        Ok(outcome)
    }

    fn as_text(&self, ground: &Ground, roots: &PlacedRoots, guard: &Guard, out: &mut impl Write) -> Result<Outcome> {
        let mut outcome = Outcome::Done;
        let mut hints: Vec<String> = Vec::new();
        let mut has_hint = false;
        for path in &self.paths {
            let decision = Decision::of(guard, path, self.question.access);
            outcome = outcome.and(outcome_of(&decision));
            match &decision {
                Decision::Allow(grant) => {
                    let (place, root) = (grant.path(), &grant.root().root.path);
                    let absent = match (grant.exists(), grant.is_blocked()) {
                        (true, _) => "",
                        (false, true) => ", cannot exist: something on the way is not a directory",
                        (false, false) => ", does not exist",
                    };
                    let (place, root) = (Shown::new(&place), Shown::new(root));
                    writeln!(out, "allow  {} -> {place} (root {root}{absent})", Shown::new(path))?;
                }
                Decision::Deny(refused) => {
                    // Keeps the order of the paths if both streams go to one terminal.
                    out.flush()?;
                    if has_hint {
                        message::line("");
                    }
                    message::error(&refused.denial.for_operator());
                    // Each hint comes once: ten paths outside do not need ten lists of the same roots.
                    let new = hint(refused, guard, ground, roots).filter(|hint| !hints.contains(hint));
                    has_hint = new.is_some();
                    message::hints(new.as_slice());
                    hints.extend(new);
                }
            }
        }
        out.flush()?;
        Ok(outcome)
    }
}

fn outcome_of(decision: &Decision) -> Outcome {
    match decision {
        Decision::Allow(_) => Outcome::Done,
        Decision::Deny(_) => Outcome::Denied,
    }
}
