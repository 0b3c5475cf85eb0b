//! Seeing to it that a package is there: it is looked for, fetched, or waited for while another process fetches it. Nothing here waits;
//! a host with one thread goes on with its other work meanwhile.

use std::fmt;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::entry::{Entry, Turn};
use super::error::PackageError;
use super::fetch::{Ended, Fetched, Fetching, minutes, reason};
use super::install::Attempt;
use super::installed::Installed;
use super::pypi::lacks_python;
use super::wanted::{Found, Package};

/// How often is looked whether another process is done.
const LOOKS_EVERY: Duration = Duration::from_millis(200);

/// A package on its way.
#[derive(Debug)]
pub struct Supply {
    package: Package,
    stage: Stage,
    /// An old install, which is used if no newer one can be fetched.
    old: Option<Installed>,
    notes: Vec<Note>,
}

#[derive(Debug)]
enum Stage {
    New,
    /// Another process fetches it.
    Waiting,
    Fetching(Box<Fetching>),
}

/// Something that the operator should know.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Note {
    /// A fetch was started.
    Fetching {
        /// As it is asked for.
        package: String,
    },
    /// Another process fetches it.
    Waiting {
        /// As it is asked for.
        package: String,
    },
    /// A newer one could not be fetched, and the old one is used.
    Old {
        /// Why.
        reason: String,
        /// The version that is used, if it is known.
        version: Option<String>,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Fetching { package } => write!(f, "fetching package `{package}`"),
            Note::Waiting { package } => write!(f, "another process fetches package `{package}`; waiting for it"),
            Note::Old { reason, version } => {
                let version = version.as_ref().map(|version| format!(" {}", rootward_core::Shown::new(version)));
                write!(f, "{reason}; the installed version{} is used", version.unwrap_or_default())
            }
        }
    }
}

impl Supply {
    /// Begins; nothing happens before it is asked to go on.
    pub fn new(package: Package) -> Supply {
        Supply { package, stage: Stage::New, old: None, notes: Vec::new() }
    }

    /// What has been worth telling since the last call.
    pub fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    /// What to wait for, besides time, before going on.
    pub fn output(&self) -> Option<BorrowedFd<'_>> {
        match &self.stage {
            Stage::Fetching(fetching) => fetching.output(),
            Stage::New | Stage::Waiting => None,
        }
    }

    /// How long to wait at the most before going on.
    pub fn wakes_within(&self) -> Duration {
        match &self.stage {
            Stage::New => Duration::ZERO,
            Stage::Waiting => LOOKS_EVERY,
            Stage::Fetching(fetching) => fetching.wakes_within(),
        }
    }

    /// Goes on as far as it goes without waiting; the package, once it is there.
    pub fn go_on_ambient(&mut self) -> Result<Option<Installed>, PackageError> {
        match std::mem::replace(&mut self.stage, Stage::Waiting) {
            Stage::Fetching(mut fetching) => match fetching.go_on()? {
                None => {
                    self.stage = Stage::Fetching(fetching);
                    Ok(None)
                }
                Some(ended) => self.ended_ambient(&ended, fetching.finish()),
            },
            stage @ (Stage::New | Stage::Waiting) => self.begin_ambient(&stage),
        }
    }

    /// The same, and waits until it is there. `note` is told of everything on the way.
    pub fn wait_ambient(mut self, mut note: impl FnMut(&Note)) -> Result<Installed, PackageError> {
        loop {
            let progress = self.go_on_ambient();
            self.take_notes().iter().for_each(&mut note);
            if let Some(installed) = progress? {
                return Ok(installed);
            }
            let timeout = Timespec::try_from(self.wakes_within()).ok();
            let mut polled: Vec<PollFd<'_>> =
                self.output().map(|output| PollFd::from_borrowed_fd(output, PollFlags::IN)).into_iter().collect();
            let _ = poll(&mut polled, timeout.as_ref());
        }
    }

    fn begin_ambient(&mut self, stage: &Stage) -> Result<Option<Installed>, PackageError> {
        let entry = self.package.entry_ambient()?;
        if let Some(ready) = self.look_ambient(&entry)? {
            return Ok(Some(ready));
        }
        if !self.package.may_fetch() {
            return self.failed(None, PackageError::NetworkOff { package: self.package.spec() });
        }
        let Some(turn) = entry.turn_ambient()? else {
            if let Some(old) = self.old.take() {
                // Another process sees to the newer one.
                return Ok(Some(old));
            }
            if matches!(stage, Stage::New) {
                self.notes.push(Note::Waiting { package: self.package.spec() });
            }
            return Ok(None);
        };
        // Another process may have been done in between.
        if let Some(ready) = self.look_ambient(&entry)? {
            return Ok(Some(ready));
        }
        self.notes.push(Note::Fetching { package: self.package.spec() });
        let attempt = if self.old.is_some() { Attempt::Refresh } else { Attempt::First };
        self.fetch_ambient(turn, attempt)
    }

    fn look_ambient(&mut self, entry: &Entry) -> Result<Option<Installed>, PackageError> {
        match self.package.look_ambient(entry)? {
            Found::Ready(installed) => return Ok(Some(installed)),
            Found::Stale(installed) => self.old = Some(installed),
            Found::Missing => {}
        }
        Ok(None)
    }

    fn fetch_ambient(&mut self, turn: Turn, attempt: Attempt) -> Result<Option<Installed>, PackageError> {
        match Fetching::start_ambient(&self.package, turn, attempt) {
            Ok(fetching) => {
                self.stage = Stage::Fetching(Box::new(fetching));
                Ok(None)
            }
            Err(error) => self.failed(None, error),
        }
    }

    fn ended_ambient(&mut self, ended: &Ended, fetched: Fetched) -> Result<Option<Installed>, PackageError> {
        let package = self.package.spec();
        let Fetched { turn, number, install, attempt } = fetched;
        let error = match ended {
            Ended::Good => match self.publish_ambient(&turn, number, &install) {
                Ok(installed) => {
                    // Before the rest is swept away: it is part of it.
                    self.old = None;
                    let _ = turn.sweep_ambient();
                    return Ok(Some(installed));
                }
                Err(error) => error,
            },
            Ended::Bad(said) if attempt != Attempt::WithPython && lacks_python(self.package.command(), said) => {
                return self.fetch_ambient(turn, Attempt::WithPython);
            }
            Ended::Bad(said) if attempt == Attempt::WithPython => {
                let reason =
                    format!("no installed Python is fit for it, and one could not be downloaded: {}", reason(said));
                PackageError::NotFetched { package, reason }
            }
            Ended::Bad(said) => PackageError::NotFetched { package, reason: reason(said) },
            Ended::TooLong => PackageError::TooLong { package, minutes: minutes(attempt) },
        };
        self.failed(Some(&turn), error)
    }

    /// Makes what was fetched the good install.
    fn publish_ambient(&self, turn: &Turn, number: u32, install: &Path) -> Result<Installed, PackageError> {
        let start = self.package.start_ambient(install)?;
        turn.publish_ambient(number, self.package.version_ambient(install))?;
        let held = turn.entry().hold_ambient()?;
        let held = held.ok_or_else(|| std::io::Error::other("the install was removed meanwhile"))?;
        Ok(self.package.installed(held, start))
    }

    /// No newer one can be had: the old one is used, if there is one.
    fn failed(&mut self, turn: Option<&Turn>, error: PackageError) -> Result<Option<Installed>, PackageError> {
        if let Some(turn) = turn {
            // What is left is in nobody's way; the next fetch tries again to remove it.
            let _ = turn.sweep_ambient();
            let _ = turn.note_failure_ambient();
        }
        match self.old.take() {
            Some(old) => {
                let version = old.version().map(str::to_owned);
                self.notes.push(Note::Old { reason: error.to_string(), version });
                Ok(Some(old))
            }
            None => Err(error),
        }
    }
}
