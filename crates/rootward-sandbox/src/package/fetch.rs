//! A fetch: a confined process without roots that may only write to the directory of a new install, and to its own home
//! and temporary directory.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rootward_core::Shown;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use super::command::Registry;
use super::entry::{Turn, WORK};
use super::error::PackageError;
use super::install::{Attempt, Install, Place, install};
use super::npm;
use super::wanted::Package;
use crate::confinement::CommandLine;
use crate::error::StartError;
use crate::launch::Confined;
use crate::plan::Kept;
use crate::profile::{KnownCommand, Private};

/// The time limit of a fetch.
const LONGEST: Duration = Duration::from_mins(10);

/// The time limit if there is an old install.
const LONGEST_REFRESH: Duration = Duration::from_mins(1);

/// How much of its output is kept.
const KEPT: usize = 16 << 10;

/// How many chunks of output to read at a time.
const MOST_PARTS: usize = 32;

/// How often to check whether it has ended, after its output has ended.
const ENDS_WITHIN: Duration = Duration::from_millis(20);

/// A fetch in progress. If it is dropped, or this process ends, the fetch and everything it started are killed.
#[derive(Debug)]
pub(super) struct Fetching {
    turn: Turn,
    number: u32,
    install: PathBuf,
    attempt: Attempt,
    confined: Confined,
    /// Its output; `None` after the output has ended.
    output: Option<OwnedFd>,
    said: Vec<u8>,
    until: Instant,
}

/// How a fetch ended.
#[derive(Debug)]
pub(super) enum Ended {
    Good,
    /// It failed with this output.
    Bad(String),
    /// It was killed.
    TooLong,
}

/// What remains of a fetch that has ended.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) turn: Turn,
    pub(super) number: u32,
    pub(super) install: PathBuf,
    pub(super) attempt: Attempt,
}

impl Fetching {
    /// Starts a fetch.
    pub(super) fn start_ambient(package: &Package, turn: Turn, attempt: Attempt) -> Result<Fetching, PackageError> {
        let (number, directory) = turn.begin_ambient(package.key())?;
        let private = Private::make_in_ambient(turn.entry().directory(), WORK)?;
        if package.command().registry == Registry::Npm {
            write_manifest_ambient(&directory)?;
        }
        let home = private.home();
        let Install { arguments, variables } =
            install(package.command(), Place { install: &directory, home: &home }, attempt);
        let line = CommandLine { program: package.tool().into(), arguments, variables, directory: None, typed: None };
        let not_started =
            |error: StartError| PackageError::NotFetched { package: package.spec(), reason: error.to_string() };
        let (output, said) = pipe_with(PipeFlags::CLOEXEC).map_err(std::io::Error::from)?;
        let confined = package.confinement().and_then(|confinement| {
            // SECURITY: Rootward builds this command line, and it names no script; a file of the project with such a
            // name is not opened (test: a_fetch_is_not_decided_by_the_project)
            let known = KnownCommand::without_script_ambient(&line)?;
            let kept = Kept::Fetch { install: directory.clone(), private };
            let mut prepared = confinement.prepare_kept_ambient(&line, &known, kept)?;
            let errors = said.try_clone().map_err(StartError::Prepare)?;
            prepared.command().stdin(Stdio::null()).stdout(said).stderr(errors);
            prepared.spawn()
        });
        let confined = confined.map_err(not_started)?;
        let flags = fcntl_getfl(&output).map_err(std::io::Error::from)?;
        fcntl_setfl(&output, flags | OFlags::NONBLOCK).map_err(std::io::Error::from)?;
        let longest = if attempt == Attempt::Refresh { LONGEST_REFRESH } else { LONGEST };
        Ok(Fetching {
            turn,
            number,
            install: directory,
            attempt,
            confined,
            output: Some(output),
            said: Vec::new(),
            until: Instant::now() + longest,
        })
    }

    /// Its output, to poll.
    pub(super) fn output(&self) -> Option<BorrowedFd<'_>> {
        self.output.as_ref().map(AsFd::as_fd)
    }

    /// The maximum time to wait.
    pub(super) fn wakes_within(&self) -> Duration {
        let left = self.until.saturating_duration_since(Instant::now());
        if self.output.is_some() { left } else { left.min(ENDS_WITHIN) }
    }

    /// Whether it has ended, and how. Does not wait.
    pub(super) fn go_on(&mut self) -> Result<Option<Ended>, PackageError> {
        self.listen();
        if let Some(status) = self.confined.child.try_wait()? {
            self.listen();
            return Ok(Some(if status.success() { Ended::Good } else { Ended::Bad(self.said()) }));
        }
        if Instant::now() >= self.until {
            return Ok(Some(Ended::TooLong));
        }
        Ok(None)
    }

    /// Ends it if it still runs; returns what remains.
    pub(super) fn finish(self) -> Fetched {
        let Fetching { turn, number, install, attempt, confined, .. } = self;
        let Confined { mut child, line } = confined;
        drop(line);
        // It has ended or is being killed: when this returns, nothing writes to the install anymore.
        let _ = child.wait();
        Fetched { turn, number, install, attempt }
    }

    fn listen(&mut self) {
        let mut part = [0; 4096];
        for _ in 0..MOST_PARTS {
            let Some(output) = &self.output else { return };
            match rustix::io::read(output, &mut part) {
                Ok(0) => self.output = None,
                Ok(length) => {
                    self.said.extend_from_slice(&part[..length]);
                    if self.said.len() > 2 * KEPT {
                        self.said.drain(..self.said.len() - KEPT);
                    }
                }
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => {}
                Err(_) => self.output = None,
            }
        }
    }

    fn said(&self) -> String {
        String::from_utf8_lossy(&self.said).into_owned()
    }
}

/// The time limit for `TooLong`, in minutes.
pub(super) fn minutes(attempt: Attempt) -> u64 {
    let longest = if attempt == Attempt::Refresh { LONGEST_REFRESH } else { LONGEST };
    longest.as_secs() / 60
}

#[expect(clippy::disallowed_methods, reason = "a directory that Rootward has just made")]
fn write_manifest_ambient(directory: &Path) -> std::io::Result<()> {
    let (name, text) = npm::MANIFEST;
    std::fs::write(directory.join(name), text)
}

/// Prefixes that fetching programs put before their messages.
const PREFIXES: [&str; 6] = ["npm error", "npm ERR!", "error:", "ERROR:", "×", "╰─▶"];

/// Messages that say nothing useful.
const EMPTY_WORDS: [&str; 4] = ["A complete log of this run", "code E", "errno", "syscall"];

/// How much of a reason is shown, in characters.
const LONGEST_REASON: usize = 300;

/// The reason in a fetching program's output, on one line.
pub(super) fn reason(said: &str) -> String {
    let clean = |line: &str| {
        let mut line = line.trim();
        while let Some(rest) = PREFIXES.iter().find_map(|prefix| line.strip_prefix(prefix)) {
            line = rest.trim_start();
        }
        line.to_owned()
    };
    let is_npm = |line: &&str| line.starts_with("npm error") || line.starts_with("npm ERR!");
    let says = |line: &String| !line.is_empty() && !EMPTY_WORDS.iter().any(|empty| line.starts_with(empty));
    let first = said.lines().filter(is_npm).map(clean).find(says);
    let text = first.unwrap_or_else(|| {
        let lines: Vec<String> = said.lines().map(clean).filter(says).collect();
        lines[lines.len().saturating_sub(3)..].join(" ")
    });
    let text: String = text.chars().take(LONGEST_REASON).collect();
    if text.is_empty() { "it printed nothing".to_owned() } else { Shown::new(&text).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_found_in_what_was_said() {
        let check = |said: &str, expect: &str| assert_eq!(reason(said), expect, "{said}");
        check(
            "npm error code E404\nnpm error 404 Not Found - GET http://x/y - no such package\nnpm error 404\n\
             npm error A complete log of this run can be found in: /tmp/x\n",
            "404 Not Found - GET http://x/y - no such package",
        );
        check(
            "npm error code ENOTFOUND\nnpm error syscall getaddrinfo\nnpm error errno ENOTFOUND\n\
             npm error network request to http://x failed\n",
            "network request to http://x failed",
        );
        check(
            "  × No solution found when resolving tool dependencies:\n  ╰─▶ Because x was not found in the\n      \
             package registry, it is unsatisfiable.\n",
            "No solution found when resolving tool dependencies: Because x was not found in the package registry, it is unsatisfiable.",
        );
        check("error: one\nfatal: two\n\n", "one fatal: two");
        check("", "it printed nothing");
        check("\x1b[2J\n", "\\u{1b}[2J");
        assert!(reason(&"x".repeat(9999)).len() <= LONGEST_REASON);
    }
}
