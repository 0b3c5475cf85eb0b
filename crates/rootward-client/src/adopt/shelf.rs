//! Records and backups of adopted files, in Rootward's state directory; and the changes themselves, in an order that
//! loses nothing.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rootward_core::Shown;
use rootward_core::env::Directories;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use thiserror::Error;

use super::config_file::{ConfigFile, FileError};
use super::edit::EditError;
use super::hub_file::NewFiles;
use super::plan::Plan;
use super::record::{Record, RecordError, hash};
use super::undo::{Left, Undone};
use crate::import::Form;

/// The largest record or backup to read.
const LARGEST: u64 = 64 << 20;

/// Where records and backups are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shelf {
    directory: PathBuf,
    /// Where the configurations of hubs are.
    pub(super) hubs: Option<PathBuf>,
}

/// A record with its backup.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SavedRecord {
    /// What was changed.
    pub record: Record,
    /// The file's text without the changes, if there is a backup.
    pub backup: Option<String>,
}

/// Why nothing was changed.
#[derive(Debug, Error)]
pub enum ShelfError {
    /// The state directory cannot be used.
    #[error("`{}` cannot be used", Shown::new(path))]
    System {
        /// The path it is about.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A record cannot be used.
    #[error("the record `{}` cannot be used: {error}", Shown::new(path))]
    Record {
        /// Its path.
        path: PathBuf,
        /// Why.
        error: RecordError,
    },
    /// The path cannot be recorded.
    #[error("its path is not UTF-8")]
    Name,
    /// The config file cannot be replaced.
    #[error(transparent)]
    File(#[from] FileError),
    /// An earlier change can no longer be undone.
    #[error("an earlier change cannot be undone: {0}")]
    Edit(#[from] EditError),
}

impl Shelf {
    /// The shelf of one user; `None` if the environment names no state directory.
    pub fn of(directories: &Directories) -> Option<Shelf> {
        let hubs = directories.settings.as_ref().map(|settings| settings.join("hub"));
        Some(Shelf { directory: directories.state.as_ref()?.join("adopt"), hubs })
    }

    /// Every record, and those that cannot be used.
    #[expect(clippy::disallowed_methods, reason = "a directory of Rootward's own")]
    pub fn records_ambient(&self) -> Result<(Vec<SavedRecord>, Vec<ShelfError>), ShelfError> {
        let entries = match std::fs::read_dir(&self.directory) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok((Vec::new(), Vec::new())),
            entries => entries.map_err(|source| system(&self.directory, source))?,
        };
        let (mut saved, mut refused) = (Vec::new(), Vec::new());
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "json")) {
            match saved_ambient(path) {
                Ok(one) => saved.extend(one),
                Err(error) => refused.push(error),
            }
        }
        saved.sort_by(|one, other| one.record.file.cmp(&other.record.file));
        Ok((saved, refused))
    }

    /// The record of one file, by its place.
    pub fn record_ambient(&self, place: &Path) -> Result<Option<SavedRecord>, ShelfError> {
        saved_ambient(&self.path(place, "json"))
    }

    /// Where the backup of a file is.
    pub fn backup_path(&self, place: &Path) -> PathBuf {
        self.path(place, "backup")
    }

    fn path(&self, place: &Path, extension: &str) -> PathBuf {
        self.directory.join(Record::name_for(place)).with_extension(extension)
    }

    /// Writes the new text of a plan, with a record and a backup of the file without Rootward.
    pub fn adopt_ambient(&self, config: &ConfigFile, form: Form, plan: &Plan) -> Result<(), ShelfError> {
        let _lock = self.lock_ambient()?;
        config.is_unchanged()?;
        let before = self.record_ambient(&config.place)?;
        let after = merged(before.as_ref(), config, form, plan)?;
        // In this order: a record of words that are not in the file does no harm, but words without a record cannot
        // be removed.
        let written = self.write_saved_ambient(&after).and_then(|()| {
            let files = NewFiles::write_ambient(&plan.hubs)?;
            config.replace(&plan.text)?;
            files.keep();
            Ok(())
        });
        if written.is_err() {
            let _ = match &before {
                Some(before) => self.write_saved_ambient(before),
                None => self.remove_ambient(&config.place),
            };
        }
        written
    }

    /// Writes the result of undoing, and removes the record if nothing of it is left. Returns the hub configurations
    /// that stay, because somebody changed them or removed their entry.
    pub fn undo_ambient(
        &self,
        saved: &SavedRecord,
        config: &ConfigFile,
        undone: &Undone,
    ) -> Result<Vec<PathBuf>, ShelfError> {
        let _lock = self.lock_ambient()?;
        config.is_unchanged()?;
        if self.record_ambient(&saved.record.file)?.as_ref() != Some(saved) {
            return Err(FileError::Changed.into());
        }
        if undone.text != config.text() {
            config.replace(&undone.text)?;
        }
        let changed = undone.hubs.iter().filter(|hub| !self.remove_hub_ambient(hub));
        let gone = undone.hubs_left.iter().filter(|(_, left)| left.is_settled()).map(|(hub, _)| hub);
        let kept = changed.chain(gone).map(|hub| hub.file.clone()).collect();
        let (entries, hubs) = (unsettled(&undone.left), unsettled(&undone.hubs_left));
        if entries.is_empty() && hubs.is_empty() {
            self.remove_ambient(&saved.record.file)?;
        } else {
            let record = Record { entries, hubs, written: hash(undone.text.as_bytes()), ..saved.record.clone() };
            self.write_saved_ambient(&SavedRecord { record, backup: saved.backup.clone() })?;
        }
        Ok(kept)
    }

    fn write_saved_ambient(&self, saved: &SavedRecord) -> Result<(), ShelfError> {
        let text = saved.record.text().ok_or(ShelfError::Name)?;
        let write = |extension: &str, text: &str| {
            let path = self.path(&saved.record.file, extension);
            write_ambient(&path, text).map_err(|source| system(&path, source))
        };
        if let Some(backup) = &saved.backup {
            write("backup", backup)?;
        }
        write("json", &text)
    }

    fn remove_ambient(&self, place: &Path) -> Result<(), ShelfError> {
        for extension in ["json", "backup"] {
            let path = self.path(place, extension);
            remove_ambient(&path).map_err(|source| system(&path, source))?;
        }
        Ok(())
    }

    /// Waits for other processes that change adopted files, and keeps them out until the result is dropped.
    #[expect(clippy::disallowed_methods, reason = "a directory of Rootward's own")]
    fn lock_ambient(&self) -> Result<File, ShelfError> {
        let path = self.directory.join("lock");
        let flags = OFlags::NOFOLLOW.bits().cast_signed();
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.directory);
        let lock = made.and_then(|()| options.open(&path)).map_err(|source| system(&path, source))?;
        loop {
            match flock(&lock, FlockOperation::LockExclusive) {
                Err(Errno::INTR) => {}
                Err(error) => return Err(system(&path, error.into())),
                Ok(()) => return Ok(lock),
            }
        }
    }
}

/// The entries that the record still needs.
fn unsettled<E: Clone>(left: &[(E, Left)]) -> Vec<E> {
    left.iter().filter(|(_, left)| !left.is_settled()).map(|(entry, _)| entry.clone()).collect()
}

/// The record and the backup after this plan, merged with earlier ones.
fn merged(
    before: Option<&SavedRecord>,
    config: &ConfigFile,
    form: Form,
    plan: &Plan,
) -> Result<SavedRecord, ShelfError> {
    let (mut entries, mut hubs) = (Vec::new(), Vec::new());
    let mut backup = config.text().to_owned();
    if let Some(before) = before {
        let undone = before.record.undo(config.text(), before.backup.as_deref())?;
        entries.extend(unsettled(&undone.left));
        entries.extend(undone.entries);
        entries.retain(|entry| !plan.changes.iter().any(|change| change.place == entry.place));
        entries.retain(|entry| !plan.hubs.iter().any(|hub| hub.adopted.took(&entry.place)));
        hubs.extend(unsettled(&undone.hubs_left));
        hubs.extend(undone.hubs);
        backup = undone.text;
    }
    entries.extend(plan.changes.iter().cloned());
    hubs.extend(plan.hubs.iter().map(|hub| hub.adopted.clone()));
    let record = Record { file: config.place.clone(), form, entries, hubs, written: hash(plan.text.as_bytes()) };
    Ok(SavedRecord { record, backup: Some(backup) })
}

pub(super) fn system(path: &Path, source: io::Error) -> ShelfError {
    ShelfError::System { path: path.to_owned(), source }
}

/// A record with its backup; `None` if there is no record.
fn saved_ambient(path: &Path) -> Result<Option<SavedRecord>, ShelfError> {
    let read = |path: &Path| read_ambient(path).map_err(|source| system(path, source));
    let Some(text) = read(path)? else { return Ok(None) };
    let refused = |error| ShelfError::Record { path: path.to_owned(), error };
    let record = Record::read(&text).map_err(refused)?;
    // SECURITY: a record is only valid for the file whose hash is its name: a copy of it must not apply to another
    // (test: records_that_are_not_used)
    if path.file_stem() != Some(OsStr::new(&Record::name_for(&record.file))) {
        return Err(refused(RecordError::Foreign("its name belongs to another file")));
    }
    Ok(Some(SavedRecord { record, backup: read(&path.with_extension("backup"))? }))
}

#[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
pub(super) fn read_ambient(path: &Path) -> io::Result<Option<String>> {
    // Not through a link, and not from a FIFO, which would block.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut text = String::new();
    if file.take(LARGEST + 1).read_to_string(&mut text)? as u64 > LARGEST {
        return Err(io::Error::other("larger than 64 MiB"));
    }
    Ok(Some(text))
}

/// Writes a file that only the user can read, atomically. One temporary name is enough: only the holder of the lock
/// writes.
#[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
fn write_ambient(path: &Path, text: &str) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    remove_ambient(&new)?;
    let mut options = OpenOptions::new();
    let written = options.write(true).create_new(true).mode(0o600).open(&new).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        // A rename may reach the disk before the file's content does.
        file.sync_all()
    });
    let named = written.and_then(|()| std::fs::rename(&new, path));
    if named.is_err() {
        let _ = remove_ambient(&new);
    }
    named?;
    // The new name is on disk only once its directory is (fsync(2)).
    File::open(path.parent().unwrap_or(path))?.sync_all()
}

#[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
pub(super) fn remove_ambient(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
