//! The flag that turns the audit log on or off, and the log itself.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use rootward_audit::AuditLog;
use rootward_core::{Audit, AuditEvent, ChangeEvent, Shown};

use crate::ground::Ground;
use crate::message::{self, Hinted};

/// The flag.
#[derive(Args, Debug)]
pub(crate) struct Recording {
    /// Whether to record decisions. If they cannot be recorded, calls with paths are refused
    #[arg(long, value_name = "STATE", value_enum, default_value_t = State::On)]
    audit: State,
}

/// `--audit`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum State {
    On,
    Off,
}

impl Recording {
    /// The log, unless it is off. If `ROOTWARD_LOG` requests it, decisions also go to standard error from now on.
    #[cfg(feature = "http")]
    pub(crate) fn open_ambient(&self, ground: &Ground) -> Result<Option<Arc<dyn Audit>>> {
        let log = crate::http::Log::read(ground)?;
        let kept = self.open_kept_ambient(ground)?;
        log.begin();
        Ok(if log.is_on() { Some(Arc::new(crate::http::Logged(kept))) } else { kept })
    }

    /// The log, unless it is off.
    #[cfg(not(feature = "http"))]
    pub(crate) fn open_ambient(&self, ground: &Ground) -> Result<Option<Arc<dyn Audit>>> {
        self.open_kept_ambient(ground)
    }

    fn open_kept_ambient(&self, ground: &Ground) -> Result<Option<Arc<dyn Audit>>> {
        if self.audit == State::Off {
            return Ok(None);
        }
        let hint = "set `XDG_STATE_HOME` or `HOME`, or pass `--audit off`";
        let hinted = |says: String| anyhow!(Hinted { says, hint: hint.to_owned() });
        let Some(directory) = ground.directories.audit_log() else {
            return Err(hinted("no place for the audit log".to_owned()));
        };
        let log = AuditLog::open_ambient(&directory).map_err(|error| {
            hinted(format!("the audit log `{}` cannot be written: {error}", Shown::new(&directory)))
        })?;
        Ok(Some(Arc::new(Announced { log, directory, is_failing: AtomicBool::new(false) })))
    }
}

/// A log that says on standard error why it cannot be written: a peer only learns that its call is refused.
#[derive(Debug)]
struct Announced {
    log: AuditLog,
    directory: PathBuf,
    /// Whether the last line could not be written: a full disk is reported once.
    is_failing: AtomicBool,
}

impl Announced {
    fn announce(&self, written: io::Result<()>) -> io::Result<()> {
        let was_failing = self.is_failing.swap(written.is_err(), Ordering::Relaxed);
        if let (Err(error), false) = (&written, was_failing) {
            let (directory, says) = (Shown::new(&self.directory), message::system_text(&error.to_string()));
            message::line_in_passing(&format!(
                "warning: the audit log `{directory}` cannot be written: {says}; calls with paths are refused until it can"
            ));
        }
        written
    }
}

impl Audit for Announced {
    fn record(&self, event: &AuditEvent) -> io::Result<()> {
        self.announce(self.log.record(event))
    }

    fn record_change(&self, event: &ChangeEvent) -> io::Result<()> {
        self.announce(self.log.record_change(event))
    }
}
