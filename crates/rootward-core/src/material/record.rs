//! The record of every place that a confined command was ever allowed to write: a file in Rootward's state directory.
//!
//! The file contains paths, each between two NULs. A place is appended in one write before the command starts, so
//! several processes can append at once. A truncated write damages only its own entry, and the start that made it is
//! refused.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, FlockOperation, OFlags, flock};
use thiserror::Error;

use super::Material;
use crate::os;
use crate::shown::Shown;

/// The file's name in the state directory.
const NAME: &str = "given-for-writing";

/// The maximum size of the file: a hundred thousand places.
const LARGEST: u64 = 16 << 20;

/// The number of places from which on obsolete ones are removed.
const COMPACTED_FROM: usize = 512;

/// Directories for temporary files: a missing place there will not come back.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// Do not follow links and do not block.
const SAFELY: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// The location of the record.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct WritableRecord {
    file: PathBuf,
}

/// Why the record cannot be used.
#[derive(Debug, Error)]
pub enum WritableRecordError {
    /// The environment names no directory for it.
    #[error("no directory for the record of writable places: neither `HOME` nor `XDG_STATE_HOME` is set")]
    NoDirectory,
    /// It cannot be read or written.
    #[error("the record of writable places `{}` cannot be used", Shown::new(file))]
    System {
        /// Its path.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It does not have the format that Rootward writes.
    #[error("the record of writable places `{}` is damaged: {what}", Shown::new(file))]
    Damaged {
        /// Its path.
        file: PathBuf,
        /// The problem.
        what: &'static str,
    },
}

impl WritableRecord {
    /// The record in a state directory; it may not exist yet.
    pub fn in_state_directory(state: &Path) -> WritableRecord {
        WritableRecord { file: state.join(NAME) }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// Creates the directory of the record.
    #[expect(clippy::disallowed_methods, reason = "a directory of Rootward's own")]
    pub fn make_directory_ambient(&self) -> Result<(), WritableRecordError> {
        let Some(directory) = self.file.parent() else { return Ok(()) };
        DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(|source| self.system(source))
    }

    /// Everything on record. If there is no file, the record is empty.
    pub fn read_ambient(&self) -> Result<Material, WritableRecordError> {
        let damaged = |what| WritableRecordError::Damaged { file: self.file.clone(), what };
        let Some(file) = open_ambient(&self.file).map_err(|source| self.system(source))? else {
            return Ok(Material::default());
        };
        let status = os::status(&file).map_err(|error| self.system(error.into()))?;
        if os::type_of(&status) != FileType::RegularFile {
            return Err(damaged("not a regular file"));
        }
        let mut bytes = Vec::new();
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|source| self.system(source))?;
        if bytes.len() as u64 > LARGEST {
            return Err(damaged("too large"));
        }
        if bytes.first().is_some_and(|byte| *byte != 0) {
            return Err(damaged("it does not start with an entry"));
        }
        let places: Vec<PathBuf> = entries(&bytes).map(|entry| PathBuf::from(OsStr::from_bytes(entry))).collect();
        if places.iter().any(|place| !place.is_absolute()) {
            return Err(damaged("an entry is not an absolute path"));
        }
        Ok(Material::new(places))
    }

    /// Adds places that are not on record yet. When this returns, every process sees them.
    pub fn add_ambient(&self, places: impl IntoIterator<Item = PathBuf>) -> Result<(), WritableRecordError> {
        let known = self.read_ambient()?;
        let mut new = Material::default();
        new.extend(places.into_iter().filter(|place| !known.holds(place)));
        if new.places().len() == 0 {
            return Ok(());
        }
        self.make_directory_ambient()?;
        let system = |source| self.system(source);
        let mut file = lock_ambient(&self.file).map_err(system)?;
        if known.places().len() < COMPACTED_FROM {
            // Not flushed: a power failure that loses the entry also loses what the command wrote after it.
            // SECURITY: recorded before the command can write there (test: writable_places_are_on_record)
            return file.write_all(&written(&new)).map_err(system);
        }
        // Read again: nobody else can append now.
        let mut all = Material::new(self.read_ambient()?.places().filter(|place| is_kept_ambient(place)).cloned());
        all.extend(new.places().cloned());
        replace_ambient(&self.file, &written(&all)).map_err(system)
    }

    fn system(&self, source: io::Error) -> WritableRecordError {
        WritableRecordError::System { file: self.file.clone(), source }
    }
}

fn written(material: &Material) -> Vec<u8> {
    material.places().flat_map(|place| [b"\0", place.as_os_str().as_bytes(), b"\0"].concat()).collect()
}

/// The complete entries. Each has a NUL on both sides; an entry that is directly followed by the next text or by the
/// end of the file was truncated.
fn entries(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut texts = bytes.split(|byte| *byte == 0).peekable();
    std::iter::from_fn(move || {
        loop {
            let text = texts.next()?;
            if !text.is_empty() && texts.peek().is_some_and(|next| next.is_empty()) {
                return Some(text);
            }
        }
    })
}

#[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
fn open_ambient(path: &Path) -> io::Result<Option<File>> {
    match OpenOptions::new().read(true).custom_flags(SAFELY.bits().cast_signed()).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens the current file for appending and locks it until it is closed.
#[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
fn lock_ambient(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600).custom_flags(SAFELY.bits().cast_signed());
    loop {
        let file = options.open(path)?;
        flock(&file, FlockOperation::LockExclusive)?;
        // The previous holder of the lock may have replaced the file.
        let (locked, now) = (file.metadata()?, std::fs::symlink_metadata(path));
        if now.is_ok_and(|now| (now.dev(), now.ino()) == (locked.dev(), locked.ino())) {
            return Ok(file);
        }
    }
}

/// Replaces the record by a shorter one, atomically.
#[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
fn replace_ambient(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let shorter = path.with_extension("new");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600).custom_flags(SAFELY.bits().cast_signed());
    let mut file = options.open(&shorter)?;
    file.write_all(bytes)?;
    // Without this, a crash after the rename could leave an empty record.
    file.sync_data()?;
    std::fs::rename(&shorter, path)
}

/// Whether a place stays on record. A missing place may come back with its disk, unless it was temporary.
#[expect(clippy::disallowed_methods, reason = "whether a place on record still exists")]
fn is_kept_ambient(place: &Path) -> bool {
    let is_temporary = TEMPORARY.iter().any(|temporary| place.starts_with(temporary));
    !is_temporary || std::fs::symlink_metadata(place).is_ok()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the file and damage it")]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn places(record: &WritableRecord) -> Vec<PathBuf> {
        record.read_ambient().unwrap().places().cloned().collect()
    }

    #[test]
    fn writable_places_are_on_record() {
        let directory = tempfile::tempdir().unwrap();
        let record = WritableRecord::in_state_directory(&directory.path().join("state"));
        assert_eq!(record.read_ambient().unwrap(), Material::default(), "no file, nothing on record");
        record.add_ambient(["/p/a", "/p/a/b", "/q\nr"].map(PathBuf::from)).unwrap();
        record.add_ambient(["/p/a/c"].map(PathBuf::from)).unwrap();
        let size = std::fs::metadata(record.path()).unwrap().len();
        assert_eq!(size, "\0/p/a\0\0/q\nr\0".len() as u64, "known places are not written again");
        assert_eq!(places(&record), ["/p/a", "/q\nr"].map(PathBuf::from));
        record.add_ambient(["/p"].map(PathBuf::from)).unwrap();
        assert_eq!(places(&record), ["/p", "/q\nr"].map(PathBuf::from));
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(record.path()), mode(record.path().parent().unwrap())), (0o600, 0o700));
    }

    #[test]
    fn temporary_places_that_are_gone_are_taken_off() {
        let directory = tempfile::tempdir_in("/tmp").unwrap();
        let record = WritableRecord::in_state_directory(directory.path());
        let gone = (0..COMPACTED_FROM).map(|number| directory.path().join(format!("gone-{number}")));
        record.add_ambient(gone.chain([PathBuf::from("/mnt/disk/gone"), directory.path().join("there")])).unwrap();
        std::fs::create_dir(directory.path().join("there")).unwrap();
        record.add_ambient([PathBuf::from("/p")]).unwrap();
        assert_eq!(places(&record), ["/mnt/disk/gone".into(), "/p".into(), directory.path().join("there")]);
    }

    #[test]
    fn places_added_at_the_same_time_are_all_on_record() {
        let directory = tempfile::tempdir().unwrap();
        let record = WritableRecord::in_state_directory(directory.path());
        // While the threads add places, the record passes the size at which it is replaced.
        let before = (0..COMPACTED_FROM - 8).map(|number| PathBuf::from(format!("/before/{number}")));
        record.add_ambient(before).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let record = &record;
                scope.spawn(move || {
                    for number in 0..8 {
                        record.add_ambient([PathBuf::from(format!("/p/{thread}-{number}"))]).unwrap();
                    }
                });
            }
        });
        assert_eq!(record.read_ambient().unwrap().places().len(), COMPACTED_FROM - 8 + 4 * 8);
    }

    #[test]
    fn a_write_that_was_cut_off_costs_no_other_entry() {
        let directory = tempfile::tempdir().unwrap();
        let record = WritableRecord::in_state_directory(directory.path());
        std::fs::write(record.path(), b"\0/p/a\0\0/ho").unwrap();
        record.add_ambient(["/home/me/x"].map(PathBuf::from)).unwrap();
        assert_eq!(places(&record), ["/home/me/x", "/p/a"].map(PathBuf::from), "a truncated path names another place");
        std::fs::write(record.path(), b"\0/p/a\0\0/").unwrap();
        assert_eq!(places(&record), [PathBuf::from("/p/a")]);
    }

    #[test]
    fn a_damaged_record_is_not_an_empty_one() {
        let directory = tempfile::tempdir().unwrap();
        let record = WritableRecord::in_state_directory(directory.path());
        for text in ["not a record", "\0not a place\0"] {
            std::fs::write(record.path(), text).unwrap();
            assert!(matches!(record.read_ambient(), Err(WritableRecordError::Damaged { .. })), "{text}");
        }
        assert!(record.add_ambient([PathBuf::from("/p")]).is_err());
        std::fs::remove_file(record.path()).unwrap();
        symlink("/dev/zero", record.path()).unwrap();
        assert!(record.read_ambient().is_err(), "a link is not followed");
        std::fs::remove_file(record.path()).unwrap();
        std::fs::create_dir(record.path()).unwrap();
        assert!(matches!(
            record.read_ambient(),
            Err(WritableRecordError::Damaged { .. } | WritableRecordError::System { .. })
        ));
    }
}
