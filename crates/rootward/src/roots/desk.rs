//! What every verb about saved roots works at: the store, the record, and what the other verbs stand on.

use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use anyhow::Result;
use rootward_audit::AuditLog;
use rootward_client::store::{Document, Record, Store};
use rootward_core::{Audit, AuditEvent, ChangeEvent};

use crate::ground::Ground;
use crate::message::{self, Hinted};

/// The desk.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) ground: Ground,
    pub(super) store: Store,
}

impl Desk {
    pub(super) fn open_ambient() -> Result<Desk> {
        let ground = Ground::load_ambient()?;
        let store = Store::of(&ground.directories).ok_or_else(|| Hinted {
            says: "there is no place for saved roots".to_owned(),
            hint: "set `HOME` or `XDG_CONFIG_HOME` to an absolute path".to_owned(),
        })?;
        Ok(Desk { ground, store })
    }

    /// Changes the store, and puts what changed on record.
    pub(super) fn edit_ambient<T>(
        &self,
        requester: &str,
        edit: impl FnOnce(&mut Document, &Record<'_>) -> Result<T>,
    ) -> Result<T> {
        let log = LogWhenNeeded { ground: &self.ground, log: Mutex::default() };
        let record = Record { audit: &log, requester, time: SystemTime::now() };
        self.store.edit_ambient(&record, |document| edit(document, &record))
    }

    /// A path as a person writes it.
    pub(super) fn shown(&self, path: &Path) -> String {
        message::from_home(path, self.ground.home())
    }
}

/// The audit log, begun with the first line: what changes nothing leaves no file behind.
struct LogWhenNeeded<'g> {
    ground: &'g Ground,
    log: Mutex<Option<AuditLog>>,
}

impl LogWhenNeeded<'_> {
    fn with_ambient(&self, write: impl FnOnce(&AuditLog) -> io::Result<()>) -> io::Result<()> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(log) = &*log {
            return write(log);
        }
        let directory = self.ground.directories.audit_log();
        let directory = directory.ok_or_else(|| io::Error::other("neither `XDG_STATE_HOME` nor `HOME` says where"))?;
        write(log.insert(AuditLog::open_ambient(&directory)?))
    }
}

impl Audit for LogWhenNeeded<'_> {
    fn record(&self, event: &AuditEvent) -> io::Result<()> {
        self.with_ambient(|log| log.record(event))
    }

    fn record_change(&self, event: &ChangeEvent) -> io::Result<()> {
        self.with_ambient(|log| log.record_change(event))
    }
}
