//! The decisions of many logs in the order of their times, read as they are needed: a record may be larger than memory.
//!
//! Each process keeps a log of its own, so that those that ran beside each other have to be put together again. A log is opened
//! when its turn comes and closed at its end; only those of one moment are open at once.

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
/// A clock that was set back between a log's first line and its decisions makes them come late; within one log, the order is
/// always that of the lines.
#[derive(Debug)]
pub(super) struct InOrder {
    /// Logs that were not opened yet.
    later: VecDeque<VecDeque<LogFile>>,
    open: Vec<Log>,
    seen: Seen,
}

/// What is known of the files that were read.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Where the last whole line of each ended.
    pub(super) ends: HashMap<PathBuf, u64>,
    /// How many held a line that is none.
    pub(super) unreadable: usize,
}

/// A log that is being read.
#[derive(Debug)]
struct Log {
    next: Entry,
    rest: Rest,
}

/// What comes after the next decision of a log.
#[derive(Debug)]
struct Rest {
    files: VecDeque<LogFile>,
    reading: Option<Reading>,
}

/// A file that is being read.
#[derive(Debug)]
pub(super) struct Reading {
    path: PathBuf,
    lines: Lines,
    /// Whether it held a line that is none.
    complaint: Complaint,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Complaint {
    None,
    Made,
}

impl InOrder {
    /// The decisions in these files, which stand in order.
    pub(super) fn new(files: &[LogFile]) -> InOrder {
        let logs = files.chunk_by(|one, next| one.log() == next.log());
        let later = logs.map(|log| log.iter().cloned().collect()).collect();
        InOrder { later, open: Vec::new(), seen: Seen::default() }
    }

    pub(super) fn next_ambient(&mut self) -> Result<Option<Entry>> {
        loop {
            let times = self.open.iter().enumerate().map(|(position, log)| (log.next.time(), position));
            let oldest = times.min();
            // A log that was begun by then may hold an older one.
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

    /// What is known of the files, when all were read.
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
    /// Reads a file from this byte on; none where it was removed meanwhile.
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

    /// The next decision; none at the end, which is kept.
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

/// Says that a file holds what Rootward did not write.
fn complain(path: &Path) {
    message::warning(&format!("`{}` has lines that are none of an audit log", Shown::new(path)));
}
