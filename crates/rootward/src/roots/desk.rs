//! What every verb about saved roots works with: the store, the audit log, and the ground that all verbs share.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use anyhow::Result;
use rootward_audit::AuditLog;
use rootward_client::store::{Audience, Document, Kept, More, Record, Store};
use rootward_core::{Access, Audit, AuditEvent, ChangeEvent, Shown};

use super::asking::{Answer, Scripted};
use super::shown::{listed, patterns};
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
        Desk::on(Ground::load_ambient()?)
    }

    /// For a caller that waits until the store can be read.
    pub(super) fn open_to_watch_ambient() -> Result<Desk> {
        Desk::on(Ground::load_without_saved_ambient()?)
    }

    fn on(ground: Ground) -> Result<Desk> {
        let store = Store::of(&ground.directories).ok_or_else(|| Hinted {
            says: "there is no place for saved roots".to_owned(),
            hint: "set `HOME` or `XDG_CONFIG_HOME` to an absolute path".to_owned(),
        })?;
        Ok(Desk { ground, store })
    }

    /// Changes the store, and records the change.
    pub(super) fn edit_ambient<T>(
        &self,
        requester: &str,
        edit: impl FnOnce(&mut Document, &Record<'_>) -> Result<T>,
    ) -> Result<T> {
        let log = LogWhenNeeded { ground: &self.ground, log: Mutex::default() };
        let record = Record { audit: &log, requester, time: SystemTime::now() };
        self.store.edit_ambient(&record, |document| edit(document, &record))
    }

    /// Changes the store; asks first if that shares more than before. `None` if the answer was no.
    pub(super) fn change_ambient<T>(
        &self,
        scripted: &Scripted,
        verb: &str,
        edit: impl Fn(&mut Document, &Record<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut agreed = Vec::new();
        loop {
            let tried = self.edit_ambient(&scripted.requester(verb), |document, record| {
                let before = Kept::from(document.roots().to_vec());
                let done = edit(document, record)?;
                let after = Kept::from(document.roots().to_vec());
                let more = after.more_than(&before);
                // SECURITY: do only what the user agreed to: another process may have changed the store since it was
                // shown
                // (test: more_access_needs_a_yes_and_less_does_not)
                if more.iter().all(|one| agreed.contains(one)) { Ok(done) } else { Err(NeedsYes(more, after).into()) }
            });
            let (more, after) = match tried.map_err(anyhow::Error::downcast::<NeedsYes>) {
                Ok(done) => return Ok(Some(done)),
                Err(Ok(NeedsYes(more, after))) => (more, after),
                Err(Err(error)) => return Err(error),
            };
            let about: Vec<String> = more.iter().map(|one| self.told(one, &after)).collect();
            if scripted.ask(&about, "allow it?")? == Answer::No {
                message::line("nothing was changed");
                return Ok(None);
            }
            agreed = more;
        }
    }

    /// What would be shared, in one line. `after` has the roots after the change.
    pub(super) fn told(&self, more: &More, after: &Kept) -> String {
        match more {
            More::Access { path, peer, access } => {
                let who = match peer {
                    Some(peer) => format!("`{}`", Shown::new(peer)),
                    None if after.roots.iter().any(|root| root.audience != Audience::All) => {
                        "every client without an entry of its own".to_owned()
                    }
                    None => "every client".to_owned(),
                };
                format!("this lets {who} {} in `{}`", deeds(*access), self.shown(path))
            }
            More::Opened { path, restrict } => {
                let pattern = patterns(std::slice::from_ref(restrict));
                format!("this opens what {pattern} closes in `{}`", self.shown(path))
            }
        }
    }

    /// A path as shown to people.
    pub(super) fn shown(&self, path: &Path) -> String {
        message::from_home(path, self.ground.home())
    }
}

/// `write and delete files and run programs`
fn deeds(access: Access) -> String {
    let to_files: Vec<&str> = access.without(Access::EXECUTE).words().collect();
    let to_files = (!to_files.is_empty()).then(|| format!("{} files", listed(&to_files)));
    let run = access.contains(Access::EXECUTE).then(|| "run programs".to_owned());
    to_files.into_iter().chain(run).collect::<Vec<_>>().join(" and ")
}

/// A change that shares more than was agreed to: what, and the roots after it.
#[derive(Debug)]
struct NeedsYes(Vec<More>, Kept);

impl fmt::Display for NeedsYes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this change needs your consent")
    }
}

impl std::error::Error for NeedsYes {}

/// The audit log, opened when the first line is written: a verb that changes nothing leaves no file behind.
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
