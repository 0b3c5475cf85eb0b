//! `rootward audit tail`: the last decisions, and new ones as they are made.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use rootward_audit::LogFile;
use rootward_core::Shown;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::chosen::Chosen;
use super::entry::Entry;
use super::in_order::{InOrder, Reading, Seen};
use super::show::last_ambient;
use super::{Place, unread};
use crate::Outcome;
use crate::message;

/// How long to wait before looking for more.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// Print the last decisions, then new ones as they are made
///
/// Covers all servers, including those started later, in the format of `show`. Exits when it is interrupted or its
/// output is closed.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Tail {
    #[command(flatten)]
    chosen: Chosen,
    /// How many recorded decisions to print first
    #[arg(long, visible_alias = "lines", value_name = "N", default_value_t = 10)]
    last: usize,
}

const AFTER_HELP: &str = "Exit codes: 0 the output was closed, 2 wrong use or failure";

impl Tail {
    pub(super) fn run(&self, place: &Place) -> Result<Outcome> {
        match self.follow_ambient(place) {
            Err(failure) if message::reader_left(&failure) => Ok(Outcome::Done),
            other => other,
        }
    }

    fn follow_ambient(&self, place: &Place) -> Result<Outcome> {
        let mut record = InOrder::new(&place.files_ambient()?);
        let last = last_ambient(&mut record, &self.chosen, self.last)?;
        let mut ends = record.seen().ends;
        if last.is_empty() && self.last > 0 {
            message::line(&(self.chosen.none(place) + " yet"));
        }
        self.print(&Vec::from(last))?;
        while wait()? == Reader::Listens {
            let mut seen = Seen::default();
            let mut news = Vec::new();
            for file in place.files_ambient()? {
                read_on_ambient(&file, &ends, &mut seen, &mut news)?;
            }
            ends = seen.ends;
            news.retain(|entry| self.chosen.has(entry));
            // Merges several logs; the sort is stable, so equal times within one log keep their order.
            news.sort_by_key(Entry::time);
            self.print(&news)?;
        }
        Ok(Outcome::Done)
    }

    fn print(&self, entries: &[Entry]) -> Result<()> {
        let mut out = io::stdout().lock();
        for entry in entries {
            writeln!(out, "{}", self.chosen.line(entry))?;
        }
        Ok(out.flush()?)
    }
}

/// The reader of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reader {
    Listens,
    Left,
}

/// Waits a little, or until the output is closed: poll(2) reports that for a pipe without a write (`POLLERR`).
fn wait() -> Result<Reader> {
    let out = io::stdout();
    let mut descriptors = [PollFd::new(&out, PollFlags::empty())];
    match poll(&mut descriptors, Some(&PAUSE)) {
        Ok(0) | Err(Errno::INTR) => Ok(Reader::Listens),
        Ok(_) => Ok(Reader::Left),
        Err(error) => Err(error).context("cannot wait for more"),
    }
}

/// What was appended to a file since it ended at the position in `ends`.
fn read_on_ambient(file: &LogFile, ends: &HashMap<PathBuf, u64>, seen: &mut Seen, news: &mut Vec<Entry>) -> Result<()> {
    let end = ends.get(file.path()).copied().unwrap_or_default();
    let size = match file.size_ambient() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        size => size.with_context(|| unread(file.path()))?,
    };
    if size < end {
        // A log only grows, and the chain does not show that its end was cut off, so warn the person who watches.
        message::warning(&format!("`{}` is shorter than it was", Shown::new(file.path())));
    }
    seen.ends.insert(file.path().to_owned(), end.min(size));
    if size > end
        && let Some(mut reading) = Reading::open_ambient(file, end)?
    {
        while let Some(entry) = reading.next(seen)? {
            news.push(entry);
        }
    }
    Ok(())
}
