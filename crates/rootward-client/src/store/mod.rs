//! What the user chose to share, saved in a file that people can read and edit.
//!
//! `roots.toml` has one `[[root]]` for each root: where it is, its access, what stays closed below it, who it is
//! shared with, and who consented. Several processes may change it at once without losing anything. A file that
//! cannot be parsed is an error with its position, and is never overwritten.
//!
//! - [`Store`]: the file. [`Store::load_ambient`] reads it, [`Store::edit_ambient`] changes it: locked, recorded,
//!   replaced atomically.
//! - [`Document`]: the file while it is edited; comments and order stay.
//! - [`Kept`], [`SavedRoot`]: what the file says, as plain values. [`Kept::set_ambient`] finds the roots on disk.
//! - [`Current`]: for running processes: the last good state, and what changed since.
//!
//! ```
//! use rootward_audit::AuditLines;
//! use rootward_client::store::{Record, SavedRoot, Store, StoreError};
//! use rootward_core::Access;
//!
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path().canonicalize()?;
//! let store = Store::new(directory.join("roots.toml"), None);
//! let log = AuditLines::new(Vec::new());
//! let record = Record { audit: &log, requester: "my host", time: std::time::SystemTime::now() };
//! let root = SavedRoot::new(&directory, Access::READ).given(&record);
//! store.edit_ambient(&record, |document| {
//!     document.add(&root);
//!     Ok::<_, StoreError>(())
//! })?;
//!
//! let roots = store.load_ambient()?.set_ambient(None, None);
//! assert_eq!(roots.roots()[0].place, directory);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod changes;
mod current;
mod document;
mod file;
mod mistake;
#[cfg(test)]
mod model;
mod more;
mod placing;
mod reach;
mod reading;
mod saved;

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rootward_core::env::Directories;
use rootward_core::{Audit, Shown, WritableRecord};
use thiserror::Error;

pub(crate) use changes::event as change_event;
pub use changes::{Changes, SavedChange};
pub use current::Current;
pub use document::{Document, access_text};
pub use mistake::Mistake;
pub use more::More;
pub use placing::FoundRoots;
pub use reading::{access, usable_name, usable_pattern};
pub use saved::{Audience, Insistence, Kept, Restrict, SavedRoot, YesOnRecord};

use file::Lock;
use reading::Unread;

/// The file with the user's choice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Store {
    file: PathBuf,
    home: Option<PathBuf>,
    record: Option<WritableRecord>,
}

/// Who changes the store, and the audit log for it.
#[derive(Clone, Copy)]
pub struct Record<'r> {
    /// The log.
    pub audit: &'r dyn Audit,
    /// Who asked for the change.
    pub requester: &'r str,
    /// When.
    pub time: SystemTime,
}

/// Why the store cannot be read or changed.
#[derive(Error, Debug)]
pub enum StoreError {
    /// Its content is not valid.
    #[error("saved roots `{}`, {mistake}", Shown::new(.file))]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong, and where.
        mistake: Mistake,
    },
    /// It was written by a newer version.
    #[error("saved roots `{}` have version {version}; this program supports only version 1", Shown::new(.file))]
    Newer {
        /// The file.
        file: PathBuf,
        /// The version stated in it.
        version: u64,
    },
    /// It exists but cannot be read.
    #[error("saved roots `{}` cannot be read", Shown::new(.file))]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It cannot be changed; it is unchanged.
    #[error("saved roots `{}` cannot be changed", Shown::new(.file))]
    Save {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The new content would not be valid; the file is unchanged.
    #[error("not saved: {}", .0.says)]
    Unreadable(Mistake),
    /// The change cannot be recorded, so it was not made.
    #[error("saved roots were not changed: the change could not be recorded")]
    Record(#[source] io::Error),
}

impl Store {
    /// The store in this file; `home` is the meaning of `~` in it.
    pub fn new(file: PathBuf, home: Option<PathBuf>) -> Store {
        Store { file, home, record: None }
    }

    /// The user's own store; `None` if the environment does not say where it is.
    pub fn of(directories: &Directories) -> Option<Store> {
        let store = Store::new(directories.saved_roots()?, directories.home.clone());
        Some(Store { record: directories.writable_record(), ..store })
    }

    /// Where it is.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The meaning of `~` in it.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Reads it; empty if there is no file.
    pub fn load_ambient(&self) -> Result<Kept, StoreError> {
        let Some(text) = file::read_ambient(&self.file).map_err(|source| self.unread(source))? else {
            return Ok(Kept::default());
        };
        let kept = reading::read(&text, self.home.as_deref()).map_err(|unread| self.damaged(unread))?;
        Ok(Kept { record: self.record.clone(), ..kept })
    }

    /// Changes it: waits for other processes, reads it, lets `edit` change it, records the changes, and replaces the
    /// file atomically. If anything fails, including `edit`, the file is unchanged.
    pub fn edit_ambient<T, E: From<StoreError>>(
        &self,
        record: &Record<'_>,
        edit: impl FnOnce(&mut Document) -> Result<T, E>,
    ) -> Result<T, E> {
        let lock = Lock::take_ambient(&self.file).map_err(|source| self.unsaved(source))?;
        let text = lock.read_ambient().map_err(|source| self.unread(source))?;
        let text = text.unwrap_or_default();
        let home = self.home.as_deref();
        let mut document = Document::read(&text, home).map_err(|unread| self.damaged(unread))?;
        let before = reading::read(&text, home).map_err(|unread| self.damaged(unread))?;
        let result = edit(&mut document)?;
        let new = document.text();
        // A file that can no longer be parsed would stop sharing with everybody.
        let after = reading::read(&new, home).map_err(|unread| self.unreadable(unread))?;
        let changes = Changes::between(&before, &after);
        if changes.is_empty() {
            return Ok(result);
        }
        for event in changes.events(record) {
            // SECURITY: a change that is not recorded must not happen
            // (test: a_change_that_cannot_be_recorded_is_not_saved)
            record.audit.record_change(&event).map_err(StoreError::Record)?;
        }
        lock.replace_ambient(&new).map_err(|source| self.unsaved(source))?;
        Ok(result)
    }

    fn damaged(&self, unread: Unread) -> StoreError {
        let file = self.file.clone();
        match unread {
            Unread::Mistake(mistake) => StoreError::Damaged { file, mistake },
            Unread::Newer(version) => StoreError::Newer { file, version },
        }
    }

    fn unreadable(&self, unread: Unread) -> StoreError {
        match unread {
            Unread::Mistake(mistake) => StoreError::Unreadable(mistake),
            newer @ Unread::Newer(_) => self.damaged(newer),
        }
    }

    fn unread(&self, source: io::Error) -> StoreError {
        StoreError::Read { file: self.file.clone(), source }
    }

    fn unsaved(&self, source: io::Error) -> StoreError {
        StoreError::Save { file: self.file.clone(), source }
    }
}

impl std::fmt::Debug for Record<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Record").field("requester", &self.requester).field("time", &self.time).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
