//! `rootward audit verify`: whether the log is unchanged.

use std::io::{self, Write};

use anyhow::Result;
use clap::Args;
use rootward_audit::{Break, Verification, verify_ambient};
use rootward_core::Shown;
use serde::Serialize;

use super::Place;
use crate::Outcome;
use crate::message;

/// Check that no line of the log was changed, added or removed
///
/// Each line contains a hash of itself and the line before it, from file to file. The chain cannot show that the end
/// of a log was cut off, that a whole log was deleted, or that somebody rewrote one from the beginning.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Verify {
    /// Print one JSON object: `verdict` (`intact` or `broken`), `entries` that are valid, `files`, `cut` (logs without
    /// their first files) and `breaks`, each with `file`, `line` and `reason`
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "Exit codes: 0 intact, 1 broken, 2 wrong use or failure";

impl Verify {
    pub(super) fn run(&self, place: &Place) -> Result<Outcome> {
        let files = place.files_ambient()?;
        let verdict = verify_ambient(&files)?;
        let mut out = io::stdout().lock();
        if self.json {
            serde_json::to_writer(&mut out, &Answer::new(&verdict, files.len()))?;
            out.write_all(b"\n")?;
        } else if files.is_empty() {
            message::line(&format!("nothing is on record in `{}`", place.shown()));
        } else {
            tell(&verdict, files.len(), &mut out)?;
        }
        out.flush()?;
        if verdict.breaks.is_empty() {
            return Ok(Outcome::Done);
        }
        if !self.json {
            message::hints(&["entries after this point cannot be trusted".to_owned()]);
        }
        Ok(Outcome::Denied)
    }
}

fn tell(verdict: &Verification, files: usize, out: &mut impl Write) -> io::Result<()> {
    let Verification { entries, cut, breaks } = verdict;
    for Break { file, line, why } in breaks {
        writeln!(out, "broken: `{}`, line {line}: {why}", Shown::new(file))?;
    }
    if breaks.is_empty() {
        writeln!(out, "intact: {} in {}", counted(*entries, "entry", "entries"), counted(files, "file", "files"))?;
    }
    match cut {
        0 => Ok(()),
        1 => writeln!(out, "1 log lacks its first files: they expired, or somebody removed them"),
        _ => writeln!(out, "{cut} logs lack their first files: they expired, or somebody removed them"),
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The answer for programs.
#[derive(Serialize)]
struct Answer<'a> {
    verdict: &'static str,
    entries: usize,
    files: usize,
    cut: usize,
    breaks: Vec<BreakAnswer<'a>>,
}

#[derive(Serialize)]
struct BreakAnswer<'a> {
    file: Shown<'a>,
    line: usize,
    reason: String,
}

impl<'a> Answer<'a> {
    fn new(verdict: &'a Verification, files: usize) -> Answer<'a> {
        let Verification { entries, cut, breaks } = verdict;
        let told = |broken: &'a Break| BreakAnswer {
            file: Shown::new(&broken.file),
            line: broken.line,
            reason: broken.why.to_string(),
        };
        Answer {
            verdict: if breaks.is_empty() { "intact" } else { "broken" },
            entries: *entries,
            files,
            cut: *cut,
            breaks: breaks.iter().map(told).collect(),
        }
    }
}
