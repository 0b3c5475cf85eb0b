//! A server's process: its pipes, and its end in order: its input closed, then asked to end, then killed with all it started.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::time::Duration;

use rootward_core::{Guard, Shown};
use rootward_sandbox::{Lifeline, More, Refused, Strength, Trace};
use rustix::process::{Pid, Signal, kill_process};

use super::last_words::{Ended, Heard, LastWords};
use super::launch::Started;
use super::pipe::{Read, read, write};
use super::translated::Translated;
use crate::engine::{Failure, Outlet, Purpose};
use crate::status::{RunningRoot, RunningServer, is_open};
use rootward_protocol::frame::FrameReader;

/// How long a server has to end by itself once its input is closed, and again once it was asked to.
const GRACE: Duration = Duration::from_secs(2);

/// How long a server that has closed its output may take to end, before it counts as ended.
const ENDS_WITHIN: Duration = Duration::from_millis(250);

/// A server that ends within this time after its start most likely could not do without something.
const EARLY: Duration = Duration::from_secs(20);

/// How many refused places are kept.
const MOST_REFUSED: usize = 1000;

/// A process.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// None once it is closed.
    input: Option<OwnedFd>,
    /// None once it is closed.
    pub(super) output: Option<OwnedFd>,
    pub(super) reader: FrameReader,
    /// What is translated for it, if it speaks only the modern era.
    pub(super) translated: Translated,
    /// Its standard error; none once it is closed, or where nobody listens.
    pub(super) errors: Option<OwnedFd>,
    words: LastWords,
    /// The roots it runs in.
    guard: Guard,
    purpose: Purpose,
    trace: Trace,
    /// What it tried and was refused.
    refused: Vec<Refused>,
    /// When it was started.
    since: Duration,
    /// None once it was killed.
    line: Option<Lifeline>,
    /// The server's own process, behind the one that supervises it.
    server: u32,
    ending: Ending,
    /// Whether its input closes once everything is written.
    is_closing: bool,
    /// Until when one that reads no more may say its last words.
    deaf_until: Option<Duration>,
    _empty: Option<tempfile::TempDir>,
}

/// How far the end has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    NotAsked,
    /// Its input is closed.
    Closed(Duration),
    /// It was asked to end.
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

    /// The id of the server's process, for the record.
    pub(super) fn id(&self) -> u32 {
        self.server
    }

    /// What is told of it while it runs.
    pub(super) fn told(&self, name: &str) -> RunningServer {
        let roots = self.guard.roots().iter().map(|placed| RunningRoot {
            place: Shown::new(&placed.place).to_string(),
            access: placed.root.access.to_string(),
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

    /// Its input, where it is open.
    pub(super) fn input(&self) -> Option<&OwnedFd> {
        self.input.as_ref()
    }

    /// Writes what waits, as far as it goes.
    pub(super) fn write(&mut self, now: Duration, outlet: &mut Outlet) {
        let Some(input) = &self.input else { return outlet.clear() };
        let outlet = self.translated.outlet(outlet);
        if write(input, outlet).is_err() {
            // Most often it has ended, and its output tells.
            (self.input, self.deaf_until) = (None, Some(now + GRACE));
            outlet.clear();
        }
        if self.is_closing && self.translated.is_written() {
            self.input = None;
        }
    }

    /// It says no more: most often it has ended, and its exit code is known in a moment.
    pub(super) fn hush(&mut self, now: Duration) {
        self.output = None;
        let soon = now + ENDS_WITHIN;
        self.deaf_until = Some(self.deaf_until.map_or(soon, |until| until.min(soon)));
    }

    /// Reads a part of what it says on standard error, to `part`, and keeps its last words.
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

    /// What tells of places that it was refused, while that is traced.
    pub(super) fn report(&self) -> Option<BorrowedFd<'_>> {
        self.line.as_ref().filter(|_| self.trace == Trace::On)?.report().ok()
    }

    /// Takes note of places that it was refused.
    pub(super) fn read_report(&mut self) {
        // Only where it was told that reading must not block.
        if self.report().is_some() {
            let Some((found, more)) = self.line.as_mut().map(Lifeline::refused_so_far) else { return };
            if more == More::Never {
                self.trace = Trace::Off;
            }
            // Each place comes once.
            let room = MOST_REFUSED.saturating_sub(self.refused.len());
            self.refused.extend(found.into_iter().take(room));
        }
    }

    /// What it tried and was refused; nothing where that was not traced.
    pub(super) fn refused(&mut self) -> &[Refused] {
        self.refused.sort();
        &self.refused
    }

    /// What its client is told of its end.
    pub(super) fn failure(&self, now: Duration, code: Option<i32>, secrets: &[String], withheld: &[String]) -> Failure {
        let (words, refused, guard) = (&self.words, self.refused.as_slice(), &self.guard);
        // One that has lived for a while does not lack a variable.
        let withheld = if now.saturating_sub(self.since) < EARLY { withheld } else { &[] };
        let heard = if self.errors.is_none() { Heard::ToTheEnd } else { Heard::InPart };
        Ended { code, words, heard, refused, secrets, withheld, guard }.failure()
    }

    /// What it was started for.
    pub(super) fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Whether it reads no more and has had its time to end.
    pub(super) fn is_deaf(&self, now: Duration) -> bool {
        self.deaf_until.is_some_and(|until| until <= now)
    }

    /// Lets it see that no more comes.
    pub(super) fn close(&mut self) {
        self.is_closing = true;
        if self.translated.is_written() {
            self.input = None;
        }
    }

    /// Begins its end.
    pub(super) fn end(&mut self, now: Duration) {
        if self.ending == Ending::NotAsked {
            self.input = None;
            self.ending = Ending::Closed(now + GRACE);
        }
    }

    /// Ends it without waiting for it.
    pub(super) fn end_at_once(&mut self) {
        self.input = None;
        self.kill();
        self.ending = Ending::Killed;
    }

    /// Asks it to end by the signal that this process got. Its input stays open: it would not know which of the two it ends by.
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

    /// When the next step of its end is due.
    pub(super) fn wakes_at(&self) -> Option<Duration> {
        match self.ending {
            Ending::Closed(due) | Ending::Asked(due) => Some(due),
            Ending::NotAsked => [self.deaf_until, self.translated.wakes_at()].into_iter().flatten().min(),
            Ending::Killed => None,
        }
    }

    /// Goes on with its end; its exit code once it has ended.
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

    /// Kills it and all that it started: whoever stands for it sees to that, once its line is cut.
    fn kill(&mut self) {
        self.line = None;
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }
}
