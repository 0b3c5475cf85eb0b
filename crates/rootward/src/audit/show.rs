//! `rootward audit show`: the recorded decisions.

use std::collections::VecDeque;
use std::io::{self, BufWriter, Write};

use anyhow::Result;
use clap::Args;

use super::Place;
use super::chosen::Chosen;
use super::entry::Entry;
use super::in_order::{InOrder, Seen};
use crate::Outcome;
use crate::message;

/// Print the recorded decisions, oldest first
///
/// One line each: when (UTC), `allow` or `deny`, the requested access and path, the reason, and who asked whom in
/// which session, by short names. `--json` also has the full names, the server's process, where the path leads and
/// which root contains it.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Show {
    #[command(flatten)]
    chosen: Chosen,
    /// Print only the last N
    #[arg(long, value_name = "N")]
    last: Option<usize>,
}

const AFTER_HELP: &str =
    "Exit codes: 0 done, 1 no entry matches, 2 wrong use, a record that cannot be read, or failure";

impl Show {
    pub(super) fn run(&self, place: &Place) -> Result<Outcome> {
        let mut record = InOrder::new(&place.files_ambient()?);
        let mut out = BufWriter::new(io::stdout().lock());
        let mut printed = 0_usize;
        if let Some(count) = self.last {
            for entry in last_ambient(&mut record, &self.chosen, count)? {
                writeln!(out, "{}", self.chosen.line(&entry))?;
                printed += 1;
            }
        } else {
            while let Some(entry) = record.next_ambient()? {
                if self.chosen.has(&entry) {
                    writeln!(out, "{}", self.chosen.line(&entry))?;
                    printed += 1;
                }
            }
        }
        out.flush()?;
        if printed == 0 && self.last != Some(0) {
            message::line(&self.chosen.none(place));
            return Ok(outcome(&record.seen()).and(Outcome::Denied));
        }
        Ok(outcome(&record.seen()))
    }
}

/// The last of the requested decisions.
pub(super) fn last_ambient(record: &mut InOrder, chosen: &Chosen, count: usize) -> Result<VecDeque<Entry>> {
    let mut last = VecDeque::new();
    while let Some(entry) = record.next_ambient()? {
        if chosen.has(&entry) {
            last.push_back(entry);
            if last.len() > count {
                last.pop_front();
            }
        }
    }
    Ok(last)
}

/// Lines that could not be shown are reported, and the verb does not succeed.
fn outcome(seen: &Seen) -> Outcome {
    if seen.unreadable == 0 {
        return Outcome::Done;
    }
    message::hints(&["`rootward audit verify` says where".to_owned()]);
    Outcome::Failed
}
