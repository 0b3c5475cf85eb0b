//! `check --stdin`: many questions in one process, one JSON object a line in, one out, in order.
//!
//! A line that cannot be parsed gets an answer, too, a denial: a caller that pairs answers with questions by
//! counting must not get out of step. Answers are flushed when no further question waits, so a caller that sends one
//! line gets its answer, and a pipe of a hundred thousand lines costs few writes.

use std::ffi::OsStr;
use std::io::{BufReader, Read, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use rootward_core::env::NamedRoot;
use rootward_core::{Access, Guard, Origin, Root, RootSet, Shown};
use serde_json::value::RawValue;

use super::lines::{LONGEST_LINE, Line, Lines};
use super::outcome_of;
use super::question::{self, Asked, AskedRoot};
use crate::Outcome;
use crate::answer::Answer;
use crate::decision::Decision;
use crate::ground::{Ground, LeftOut, PlacedRoots};
use crate::settings::Source;

/// How many bytes to read or write at a time.
const CHUNK: usize = 1 << 16;

/// A guard for lines that bring their own roots or base; the next line often brings the same ones.
struct Own {
    roots: Option<String>,
    base: Option<String>,
    guard: Guard,
    /// The line's roots that cannot be used, and why.
    left_out: Vec<String>,
}

/// The state of a run.
pub(super) struct Batch<'g> {
    ground: &'g Ground,
    /// The roots for lines that bring none.
    set: RootSet,
    base: PathBuf,
    access: Access,
    guard: Guard,
    own: Option<Own>,
}

impl<'g> Batch<'g> {
    pub(super) fn new(ground: &'g Ground, set: RootSet, base: PathBuf, access: Access) -> Batch<'g> {
        let guard = ground.guard(set.clone(), base.clone());
        Batch { ground, set, base, access, guard, own: None }
    }

    /// Answers every line of `input`.
    pub(super) fn run(mut self, input: impl Read, output: &mut impl Write) -> Result<Outcome> {
        let mut input = BufReader::with_capacity(CHUNK, input);
        let mut lines = Lines::default();
        let mut answers = Vec::with_capacity(2 * CHUNK);
        let mut outcome = Outcome::Done;
        loop {
            // The next line has not arrived, so reading may block: send the answers first.
            let waits = !input.buffer().contains(&b'\n');
            if waits || answers.len() >= CHUNK {
                output.write_all(&answers)?;
                output.flush()?;
                answers.clear();
            }
            let Some(line) = lines.next(&mut input).context("standard input cannot be read")? else { break };
            outcome = outcome.and(self.answer(&line, &mut answers)?);
            answers.push(b'\n');
        }
        output.write_all(&answers)?;
        output.flush()?;
        Ok(outcome)
    }

    fn answer(&mut self, line: &Line<'_>, answers: &mut Vec<u8>) -> Result<Outcome> {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong => return unreadable(None, format!("a line of more than {LONGEST_LINE} bytes"), answers),
        };
        let asked = match Asked::read(line) {
            Ok(asked) => asked,
            Err(line) => return unreadable(line.path.as_deref(), line.says, answers),
        };
        let access = asked.access.map_or(self.access, |words| words.0);
        let (guard, left_out) = match self.guard_for(asked.roots, asked.base) {
            Ok(found) => found,
            Err(error) => return unreadable(Some(&asked.path), error.to_string(), answers),
        };
        let path = OsStr::new(&*asked.path);
        let decision = Decision::of(guard, path, access);
        serde_json::to_writer(answers, &Answer { left_out, ..Answer::new(path, &decision) })?;
        Ok(outcome_of(&decision))
    }

    fn guard_for(&mut self, roots: Option<&RawValue>, base: Option<String>) -> Result<(&Guard, &[String])> {
        if roots.is_none() && base.is_none() {
            return Ok((&self.guard, &[]));
        }
        let roots = roots.map(RawValue::get);
        let same = |own: &Own| own.roots.as_deref() == roots && own.base == base;
        let own = match self.own.take().filter(same) {
            Some(own) => own,
            None => {
                let place = self.ground.base(base.as_deref().map(OsStr::new), Some(&self.base))?;
                let (set, left_out) = match roots {
                    None => (self.set.clone(), Vec::new()),
                    Some(roots) => {
                        let PlacedRoots { set, left_out, .. } = self.place(roots)?;
                        (set, left_out.iter().map(LeftOut::to_string).collect())
                    }
                };
                let guard = self.ground.guard(set, place);
                Own { roots: roots.map(str::to_owned), base, guard, left_out }
            }
        };
        let own = self.own.insert(own);
        Ok((&own.guard, &own.left_out))
    }

    fn place(&self, roots: &str) -> Result<PlacedRoots> {
        let roots = question::roots(roots).map_err(|says| anyhow!(says))?;
        let named = roots.into_iter().map(|root| self.named(root)).collect::<Result<Vec<_>>>()?;
        Ok(self.ground.place(&named, Source::Flag))
    }

    fn named(&self, asked: AskedRoot) -> Result<NamedRoot> {
        let parts = match asked {
            AskedRoot::Typed(text) => return self.ground.typed_root(text.as_ref()),
            AskedRoot::Parts(parts) => parts,
        };
        let root = Root::from_path(parts.path().map_err(|says| anyhow!(says))?, Origin::Flag)?;
        let access = parts.access.map_or(root.access, |words| words.0);
        Ok(NamedRoot { text: Shown::new(&root.path).to_string(), root: root.with_access(access) })
    }
}

fn unreadable(path: Option<&str>, error: String, answers: &mut Vec<u8>) -> Result<Outcome> {
    serde_json::to_writer(answers, &Answer::unreadable(path, error))?;
    Ok(Outcome::Failed)
}
