//! A server's process: its pipes and its orderly shutdown. First its input is closed, then it gets a signal, then it
//! is killed with everything it started.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::time::Duration;

use rootward_core::{Guard, Shown};
use rootward_sandbox::{Lifeline, MoreReports, Refused, Strength, Trace};
use rustix::process::{Pid, Signal, kill_process};

use super::last_words::{Ended, Heard, LastWords};
use super::launch::Started;
use super::pipe::{Read, read, write};
use super::translated::Translated;
use crate::engine::{Failure, Outlet, Purpose};
use crate::status::{RunningRoot, RunningServer, is_open};
use rootward_protocol::frame::FrameReader;

/// How long a server has to exit after its input is closed, and again after the signal.
const GRACE: Duration = Duration::from_secs(2);

/// How long a server that has closed its output may take to exit before it counts as ended.
const ENDS_WITHIN: Duration = Duration::from_millis(250);

/// A server that exits within this time after its start probably lacks something.
const EARLY: Duration = Duration::from_secs(20);

/// How many refused paths are kept.
const MOST_REFUSED: usize = 1000;

#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// `None` once it is closed.
    input: Option<OwnedFd>,
    /// `None` once it is closed.
    pub(super) output: Option<OwnedFd>,
    pub(super) reader: FrameReader,
    /// What is translated for it, if it speaks only the modern era.
    pub(super) translated: Translated,
    /// Its standard error; `None` once closed, or if nobody reads it.
    pub(super) errors: Option<OwnedFd>,
    words: LastWords,
    /// The roots that it runs with.
    guard: Guard,
    purpose: Purpose,
    trace: Trace,
    /// The accesses that it was refused.
    refused: Vec<Refused>,
    /// When it was started.
    since: Duration,
    /// `None` once it was killed.
    line: Option<Lifeline>,
    /// The server's own process id, below the supervisor process.
    server: u32,
    ending: Ending,
    /// Whether its input closes once everything is written.
    is_closing: bool,
    /// Deadline for the remaining output of a process that has stopped reading.
    deaf_until: Option<Duration>,
    _empty: Option<tempfile::TempDir>,
}

/// The current step of the shutdown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    NotAsked,
    /// Its input is closed; the next step is due at this time.
    Closed(Duration),
    /// It got a signal; the next step is due at this time.
    Asked(Duration),
    Killed,
}

impl Process {
    pub(super) fn new(
        started: Started,
        (purpose, trace): (Purpose, Trace),
        guard: Guard,
        since: Duration,
        limit: usize,
    ) -> Process {
        let Started { child, input, output, errors, line, empty } = started;
        Process {
            server: line.process().unwrap_or_else(|| child.id()),
            child,
            input: Some(input),
            output: Some(output),
            reader: FrameReader::new(limit),
            translated: Translated::default(),
            errors,
            words: LastWords::default(),
            guard,
            purpose,
            trace,
            refused: Vec::new(),
            since,
            line: Some(line),
            ending: Ending::NotAsked,
            is_closing: false,
            deaf_until: None,
            _empty: empty,
        }
    }

    /// The id of the server's process, for the audit log.
    pub(super) fn id(&self) -> u32 {
        self.server
    }

    /// Its entry in the status file.
    pub(super) fn told(&self, name: &str) -> RunningServer {
        let roots = self.guard.roots().iter().map(|placed| RunningRoot {
            path: Shown::new(&placed.place).to_string(),
            access: placed.root.access.words().map(str::to_owned).collect(),
            pattern: placed.root.pattern().map(|pattern| Shown::new(pattern).to_string()),
        });
        let enforcement = self.line.as_ref().map(Lifeline::enforcement);
        RunningServer {
            name: name.to_owned(),
            process: self.server,
            roots: roots.collect(),
            strength: enforcement.map_or(Strength::Off, |enforcement| enforcement.strength),
            network: enforcement.is_none_or(|enforcement| is_open(enforcement.network)),
        }
    }

    /// Its input, if open.
    pub(super) fn input(&self) -> Option<&OwnedFd> {
        self.input.as_ref()
    }

    /// Writes pending bytes without blocking.
    pub(super) fn write(&mut self, now: Duration, outlet: &mut Outlet) {
        let Some(input) = &self.input else { return outlet.clear() };
        let outlet = self.translated.outlet(outlet);
        if write(input, outlet).is_err() {
            // It has usually ended, and its output will tell.
            (self.input, self.deaf_until) = (None, Some(now + GRACE));
            outlet.clear();
        }
        if self.is_closing && self.translated.is_written() {
            self.input = None;
        }
    }

    /// Its output is closed. It has usually ended, and its exit code will be known in a moment.
    pub(super) fn hush(&mut self, now: Duration) {
        self.output = None;
        let soon = now + ENDS_WITHIN;
        self.deaf_until = Some(self.deaf_until.map_or(soon, |until| until.min(soon)));
    }

    /// Reads some of its standard error into `part` and keeps the end of it.
    pub(super) fn read_errors(&mut self, part: &mut Vec<u8>) -> Read {
        let Some(errors) = &self.errors else { return Read::End };
        let read = read(errors, part);
        match read {
            Read::Some(_) => self.words.add(part),
            Read::Later => {}
            Read::End => self.errors = None,
        }
        read
    }

    /// The descriptor that reports refused accesses, while tracing.
    pub(super) fn report(&self) -> Option<BorrowedFd<'_>> {
        self.line.as_ref().filter(|_| self.trace == Trace::On)?.report().ok()
    }

    /// Reads the reports of refused accesses.
    pub(super) fn read_report(&mut self) {
        // Only if the descriptor could be made nonblocking.
        if self.report().is_some() {
            let Some((found, more)) = self.line.as_mut().map(Lifeline::refused_so_far) else { return };
            if more == MoreReports::Never {
                self.trace = Trace::Off;
            }
            // Each path is reported once.
            let room = MOST_REFUSED.saturating_sub(self.refused.len());
            self.refused.extend(found.into_iter().take(room));
        }
    }

    /// The accesses that it was refused; empty if not traced.
    pub(super) fn refused(&mut self) -> &[Refused] {
        self.refused.sort();
        &self.refused
    }

    /// The error for its client after it has ended.
    pub(super) fn failure(&self, now: Duration, code: Option<i32>, secrets: &[String], withheld: &[String]) -> Failure {
        let (words, refused, guard) = (&self.words, self.refused.as_slice(), &self.guard);
        // A server that has run for a while does not lack a variable.
        let withheld = if now.saturating_sub(self.since) < EARLY { withheld } else { &[] };
        let heard = if self.errors.is_none() { Heard::ToTheEnd } else { Heard::InPart };
        Ended { code, words, heard, refused, secrets, withheld, guard }.failure()
    }

    pub(super) fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Whether it has stopped reading and its time to exit is up.
    pub(super) fn is_deaf(&self, now: Duration) -> bool {
        self.deaf_until.is_some_and(|until| until <= now)
    }

    /// Closes its input.
    pub(super) fn close(&mut self) {
        self.is_closing = true;
        if self.translated.is_written() {
            self.input = None;
        }
    }

    /// Begins the shutdown.
    pub(super) fn end(&mut self, now: Duration) {
        if self.ending == Ending::NotAsked {
            self.input = None;
            self.ending = Ending::Closed(now + GRACE);
        }
    }

    /// Kills it without waiting.
    pub(super) fn end_at_once(&mut self) {
        self.input = None;
        self.kill();
        self.ending = Ending::Killed;
    }

    /// Passes on the signal that this process got. Its input stays open: closing stdin as well would hide why it
    /// exited.
    pub(super) fn ask(&mut self, now: Duration, signal: i32) {
        self.signal(signal);
        if matches!(self.ending, Ending::NotAsked | Ending::Closed(_)) {
            self.ending = Ending::Asked(now + GRACE);
        }
    }

    /// Passes a signal on.
    pub(super) fn signal(&self, number: i32) {
        if let (Some(process), Some(signal)) = (self.pid(), Signal::from_named_raw(number)) {
            let _ = kill_process(process, signal);
        }
    }

    /// When the next step of the shutdown is due.
    pub(super) fn wakes_at(&self) -> Option<Duration> {
        match self.ending {
            Ending::Closed(due) | Ending::Asked(due) => Some(due),
            Ending::NotAsked => [self.deaf_until, self.translated.wakes_at()].into_iter().flatten().min(),
            Ending::Killed => None,
        }
    }

    /// Continues the shutdown. Returns the exit code once the process has ended.
    pub(super) fn go_on(&mut self, now: Duration) -> io::Result<Option<i32>> {
        if let Some(status) = self.child.try_wait()? {
            self.read_report();
            self.kill();
            return Ok(Some(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))));
        }
        match self.ending {
            Ending::Closed(due) if due <= now => {
                self.signal(Signal::TERM.as_raw());
                self.ending = Ending::Asked(now + GRACE);
            }
            Ending::Asked(due) if due <= now => {
                self.kill();
                self.ending = Ending::Killed;
            }
            _ => {}
        }
        Ok(None)
    }

    /// Kills it and everything it started: its supervisor does that when the lifeline is closed.
    fn kill(&mut self) {
        self.line = None;
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }
}
