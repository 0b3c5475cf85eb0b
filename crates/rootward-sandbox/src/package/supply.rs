//! Provides a package: finds it, fetches it, or waits while another process fetches it. Nothing here blocks; a
//! single-threaded host continues its other work meanwhile.

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

/// How often to check whether another process is done.
const LOOKS_EVERY: Duration = Duration::from_millis(200);

/// A package that is being provided.
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

/// Something the operator should know.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Note {
    /// A fetch was started.
    Fetching {
        /// The package as requested.
        package: String,
    },
    /// Another process fetches it.
    Waiting {
        /// The package as requested.
        package: String,
    },
    /// A newer one could not be fetched, so the old one is used.
    Old {
        /// The reason.
        reason: String,
        /// The version that is used, if known.
        version: Option<String>,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Fetching { package } => write!(f, "fetching package `{package}`"),
            Note::Waiting { package } => write!(f, "another process is fetching package `{package}`; waiting for it"),
            Note::Old { reason, version } => {
                let version = version.as_ref().map(|version| format!(" {}", rootward_core::Shown::new(version)));
                write!(f, "{reason}; the installed version{} is used", version.unwrap_or_default())
            }
        }
    }
}

impl Supply {
    /// Creates it; nothing happens until [`Supply::go_on_ambient`] is called.
    pub fn new(package: Package) -> Supply {
        Supply { package, stage: Stage::New, old: None, notes: Vec::new() }
    }

    /// The notes since the last call.
    pub fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    /// The descriptor to poll before continuing, besides time.
    pub fn output(&self) -> Option<BorrowedFd<'_>> {
        match &self.stage {
            Stage::Fetching(fetching) => fetching.output(),
            Stage::New | Stage::Waiting => None,
        }
    }

    /// The maximum time to wait before continuing.
    pub fn wakes_within(&self) -> Duration {
        match &self.stage {
            Stage::New => Duration::ZERO,
            Stage::Waiting => LOOKS_EVERY,
            Stage::Fetching(fetching) => fetching.wakes_within(),
        }
    }

    /// Continues as far as possible without waiting; returns the package once it is installed.
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

    /// The same, but waits until it is installed. Calls `note` for every note.
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
                // Another process fetches the newer one.
                return Ok(Some(old));
            }
            if matches!(stage, Stage::New) {
                self.notes.push(Note::Waiting { package: self.package.spec() });
            }
            return Ok(None);
        };
        // Another process may have finished in between.
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
                    // Dropped before the sweep, which may remove it.
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
                    format!("no installed Python is suitable, and one could not be downloaded: {}", reason(said));
                PackageError::NotFetched { package, reason }
            }
            Ended::Bad(said) => PackageError::NotFetched { package, reason: reason(said) },
            Ended::TooLong => PackageError::TooLong { package, minutes: minutes(attempt) },
        };
        self.failed(Some(&turn), error)
    }

    /// Makes the fetched install the good one.
    fn publish_ambient(&self, turn: &Turn, number: u32, install: &Path) -> Result<Installed, PackageError> {
        let start = self.package.start_ambient(install)?;
        turn.publish_ambient(number, self.package.version_ambient(install))?;
        let held = turn.entry().hold_ambient()?;
        let held = held.ok_or_else(|| std::io::Error::other("another process removed the install"))?;
        Ok(self.package.installed(held, start))
    }

    /// No newer one is available: uses the old one, if there is one.
    fn failed(&mut self, turn: Option<&Turn>, error: PackageError) -> Result<Option<Installed>, PackageError> {
        if let Some(turn) = turn {
            // Leftovers do no harm; the next fetch tries again to remove them.
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
