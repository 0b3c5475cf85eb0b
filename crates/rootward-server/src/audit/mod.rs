//! The record of every decision, kept by whoever the author names.

mod chain;
mod files;
mod log;
mod verify;

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use rootward_core::{Access, Audit, AuditEvent, Denial, Grant, Occasion};

use crate::settings::Ground;

pub use chain::Broken;
pub use files::{Lines, LogFile, files_ambient};
pub use log::AuditLog;
pub use verify::{Break, Unread, Verdict, verify_ambient};

/// Writes each decision as a line of JSON.
pub struct AuditLines<W>(Mutex<W>);

impl<W: Write> AuditLines<W> {
    /// A log that goes to `writer`, line by line.
    pub fn new(writer: W) -> AuditLines<W> {
        AuditLines(Mutex::new(writer))
    }
}

impl<W: Write + Send> Audit for AuditLines<W> {
    fn record(&self, event: &AuditEvent) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        let mut writer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writer.write_all(&line)?;
        writer.flush()
    }
}

impl<W> fmt::Debug for AuditLines<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditLines").finish_non_exhaustive()
    }
}

/// Where a decision was made: what goes on record besides the decision itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decided<'a> {
    pub(crate) session: u64,
    pub(crate) requester: &'a str,
    pub(crate) generation: u64,
}

/// Puts a decision on record. `Err` where it cannot be.
pub(crate) fn record(
    ground: &Ground,
    decided: Decided<'_>,
    path: &OsStr,
    access: Access,
    decision: Result<&Grant, &Denial>,
) -> io::Result<()> {
    let Some(audit) = &ground.settings.audit else {
        return Ok(());
    };
    let Decided { session, requester, generation } = decided;
    let session = session.to_string();
    let occasion = Occasion { time: SystemTime::now(), session: &session, requester, generation };
    audit.record(&AuditEvent::new(occasion, path, access, decision))
}
