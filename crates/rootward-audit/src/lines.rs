//! Decisions and changes as lines of JSON, to any writer.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use rootward_core::{Audit, AuditEvent, ChangeEvent};
use serde::Serialize;

/// Writes each decision and each change as a line of JSON.
pub struct AuditLines<W>(Mutex<W>);

impl<W: Write> AuditLines<W> {
    /// A log that writes each line to `writer`.
    pub fn new(writer: W) -> AuditLines<W> {
        AuditLines(Mutex::new(writer))
    }
}

impl<W: Write + Send> Audit for AuditLines<W> {
    fn record(&self, event: &AuditEvent) -> io::Result<()> {
        self.write(event)
    }

    fn record_change(&self, event: &ChangeEvent) -> io::Result<()> {
        self.write(event)
    }
}

impl<W: Write> AuditLines<W> {
    fn write(&self, event: &impl Serialize) -> io::Result<()> {
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
