//! The decisions of many logs, sorted by time and read on demand: all logs together may be larger than memory.
//!
//! Each process keeps its own log, so logs of processes that ran at the same time have to be merged. A log is opened
//! when its turn comes and closed at its end; only logs that overlap are open at the same time.

use std::collections::{HashMap, VecDeque};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rootward_audit::{Lines, LogFile};
use rootward_core::Shown;

use super::entry::{Entry, Line};
use super::unread;
use crate::message;

/// All decisions, oldest first.
///
/// If the clock was set back between a log's first line and its decisions, they come late; within one log, the order
/// is always that of the lines.
#[derive(Debug)]
pub(super) struct InOrder {
    /// Logs that are not open yet.
    later: VecDeque<VecDeque<LogFile>>,
    open: Vec<Log>,
    seen: Seen,
}

/// What was learned about the files while reading them.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Where the last complete line of each ended.
    pub(super) ends: HashMap<PathBuf, u64>,
    /// How many contained an invalid line.
    pub(super) unreadable: usize,
}

/// A log being read.
#[derive(Debug)]
struct Log {
    next: Entry,
    rest: Rest,
}

/// What follows the next decision of a log.
#[derive(Debug)]
struct Rest {
    files: VecDeque<LogFile>,
    reading: Option<Reading>,
}

/// A file being read.
#[derive(Debug)]
pub(super) struct Reading {
    path: PathBuf,
    lines: Lines,
    /// Whether an invalid line was reported.
    complaint: Complaint,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Complaint {
    None,
    Made,
}

impl InOrder {
    /// The decisions in these files, which are sorted.
    pub(super) fn new(files: &[LogFile]) -> InOrder {
        let logs = files.chunk_by(|one, next| one.log() == next.log());
        let later = logs.map(|log| log.iter().cloned().collect()).collect();
        InOrder { later, open: Vec::new(), seen: Seen::default() }
    }

    pub(super) fn next_ambient(&mut self) -> Result<Option<Entry>> {
        loop {
            let times = self.open.iter().enumerate().map(|(position, log)| (log.next.time(), position));
            let oldest = times.min();
            // A log that began before then may contain an older decision.
            let is_due = |log: &VecDeque<LogFile>| {
                oldest.is_none_or(|(time, _)| log.front().is_none_or(|file| file.begun() <= time))
            };
            if let Some(files) = self.later.pop_front_if(|log| is_due(log)) {
                let mut rest = Rest { files, reading: None };
                if let Some(next) = rest.next_ambient(&mut self.seen)? {
                    self.open.push(Log { next, rest });
                }
                continue;
            }
            let Some((_, position)) = oldest else {
                return Ok(None);
            };
            let log = &mut self.open[position];
            return Ok(Some(match log.rest.next_ambient(&mut self.seen)? {
                Some(next) => std::mem::replace(&mut log.next, next),
                None => self.open.remove(position).next,
            }));
        }
    }

    /// What was learned about the files, after reading all of them.
    pub(super) fn seen(self) -> Seen {
        self.seen
    }
}

impl Rest {
    fn next_ambient(&mut self, seen: &mut Seen) -> Result<Option<Entry>> {
        loop {
            if let Some(reading) = &mut self.reading {
                if let Some(entry) = reading.next(seen)? {
                    return Ok(Some(entry));
                }
                self.reading = None;
            }
            let Some(file) = self.files.pop_front() else {
                return Ok(None);
            };
            self.reading = Reading::open_ambient(&file, 0)?;
        }
    }
}

impl Reading {
    /// Reads a file from this byte on; `None` if it was removed in the meantime.
    pub(super) fn open_ambient(file: &LogFile, start: u64) -> Result<Option<Reading>> {
        let path = file.path().to_owned();
        match file.lines_ambient(start) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            lines => {
                let lines = lines.with_context(|| unread(&path))?;
                Ok(Some(Reading { path, lines, complaint: Complaint::None }))
            }
        }
    }

    /// The next decision; `None` at the end, whose position is kept.
    pub(super) fn next(&mut self, seen: &mut Seen) -> Result<Option<Entry>> {
        while let Some(line) = self.lines.next_line().with_context(|| unread(&self.path))? {
            match Line::read(line) {
                Line::Entry(entry) => return Ok(Some(entry)),
                Line::First => {}
                Line::Unreadable if self.complaint == Complaint::Made => {}
                Line::Unreadable => {
                    self.complaint = Complaint::Made;
                    seen.unreadable += 1;
                    complain(&self.path);
                }
            }
        }
        seen.ends.insert(self.path.clone(), self.lines.end());
        Ok(None)
    }
}

/// Warns that a file contains something that Rootward did not write.
fn complain(path: &Path) {
    message::warning(&format!("`{}` has lines that are not audit entries", Shown::new(path)));
}
