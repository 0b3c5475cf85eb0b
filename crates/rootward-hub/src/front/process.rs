//! A server's process: its pipes, and its end in order: its input closed, then asked to end, then killed with all it started.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::time::Duration;

use rootward_sandbox::Lifeline;
use rustix::process::{Pid, Signal, kill_process};

use super::launch::Started;
use super::pipe::write;
use crate::engine::Outlet;
use rootward_protocol::frame::FrameReader;

/// How long a server has to end by itself once its input is closed, and again once it was asked to.
const GRACE: Duration = Duration::from_secs(2);

/// A process.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// None once it is closed.
    input: Option<OwnedFd>,
    /// None once it is closed.
    pub(super) output: Option<OwnedFd>,
    pub(super) reader: FrameReader,
    /// None once it was killed.
    line: Option<Lifeline>,
    /// The server's own process, behind the one that stands for it.
    server: u32,
    ending: Ending,
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
    pub(super) fn new(started: Started, limit: usize) -> Process {
        let Started { child, input, output, line, empty, .. } = started;
        Process {
            server: line.process().unwrap_or_else(|| child.id()),
            child,
            input: Some(input),
            output: Some(output),
            reader: FrameReader::new(limit),
            line: Some(line),
            ending: Ending::NotAsked,
            deaf_until: None,
            _empty: empty,
        }
    }

    /// The id of the server's process, for the record.
    pub(super) fn id(&self) -> u32 {
        self.server
    }

    /// Its input, where it is open.
    pub(super) fn input(&self) -> Option<&OwnedFd> {
        self.input.as_ref()
    }

    /// Writes what waits, as far as it goes.
    pub(super) fn write(&mut self, now: Duration, outlet: &mut Outlet) {
        let Some(input) = &self.input else { return outlet.clear() };
        if write(input, outlet).is_err() {
            // Most often it has ended, and its output tells.
            (self.input, self.deaf_until) = (None, Some(now + GRACE));
            outlet.clear();
        }
    }

    /// Whether it reads no more and has had its time to end.
    pub(super) fn is_deaf(&self, now: Duration) -> bool {
        self.deaf_until.is_some_and(|until| until <= now)
    }

    /// Lets it see that no more comes.
    pub(super) fn close(&mut self) {
        self.input = None;
    }

    /// Begins its end.
    pub(super) fn end(&mut self, now: Duration) {
        if self.ending == Ending::NotAsked {
            self.close();
            self.ending = Ending::Closed(now + GRACE);
        }
    }

    /// Ends it without waiting for it.
    pub(super) fn end_at_once(&mut self) {
        self.close();
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
            Ending::NotAsked => self.deaf_until,
            Ending::Killed => None,
        }
    }

    /// Goes on with its end; its exit code once it has ended.
    pub(super) fn go_on(&mut self, now: Duration) -> io::Result<Option<i32>> {
        if let Some(status) = self.child.try_wait()? {
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
