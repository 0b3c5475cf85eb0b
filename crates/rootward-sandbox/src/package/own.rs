//! Rootward's own files and directories in the package store: never reached through a link, never another user's.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rootward_core::{Material, Shown, follow_ambient};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

/// The largest file to read.
const LARGEST: u64 = 64 << 10;

/// Do not follow links and do not block.
const SAFELY: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// How often to lock again a file that was replaced meanwhile.
const MOST_TRIES: usize = 100;

/// How a file is locked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hold {
    /// Others may hold it, too.
    Shared,
    /// Nobody else holds it. The file is created if needed.
    Alone,
}

/// A lock, held until it is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Lock {
    /// Takes a lock without waiting; `None` if somebody else has it.
    #[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
    pub(crate) fn take_ambient(path: &Path, hold: Hold) -> io::Result<Option<Lock>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(hold == Hold::Alone).mode(0o600);
        options.custom_flags(SAFELY.bits().cast_signed());
        let operation = match hold {
            Hold::Shared => FlockOperation::NonBlockingLockShared,
            Hold::Alone => FlockOperation::NonBlockingLockExclusive,
        };
        for _ in 0..MOST_TRIES {
            let file = options.open(path)?;
            match flock(&file, operation) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
            // Somebody may have removed the file between the two calls, and created another.
            let (locked, now) = (file.metadata()?, path.symlink_metadata());
            if now.is_ok_and(|now| (now.dev(), now.ino()) == (locked.dev(), locked.ino())) {
                return Ok(Some(Lock(file)));
            }
        }
        Ok(None)
    }

    /// Creates the file of a lock.
    #[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
    pub(crate) fn make_ambient(path: &Path) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600).custom_flags(SAFELY.bits().cast_signed());
        options.open(path).map(drop)
    }

    /// Updates the file's time.
    pub(crate) fn touch(&self) {
        let _ = self.0.set_modified(std::time::SystemTime::now());
    }
}

/// A directory of Rootward's own below `base`, created if needed; returns its resolved path.
pub(crate) fn make_at_ambient(directory: &Path, base: &Path, material: &Material) -> io::Result<PathBuf> {
    // Check before creating, so that nothing is created behind a link; and after, when everything exists.
    find_ambient(directory, base, material)?;
    make_directories_ambient(directory)?;
    find_ambient(directory, base, material)
}

/// The resolved path of a place in the store.
// SECURITY: a process that redirects a place of the store chooses what is run and what is written
// (test: a_link_in_the_package_store_is_refused, a_cache_is_not_moved_by_a_link, a_kept_home_is_not_moved_by_a_link)
pub(crate) fn find_ambient(place: &Path, base: &Path, material: &Material) -> io::Result<PathBuf> {
    let followed = follow_ambient(place).ok_or(io::ErrorKind::NotFound)?;
    let is_planted = |link: &PathBuf| material.holds(link) || link.starts_with(base);
    if let Some(link) = followed.links.iter().find(|link| is_planted(link)) {
        let planted = Shown::new(link);
        return Err(io::Error::other(format!(
            "`{planted}` is a link that a confined server could have made; remove it"
        )));
    }
    Ok(followed.place)
}

/// Creates a directory that only this user can enter, and its missing parents.
#[expect(clippy::disallowed_methods, reason = "a directory of Rootward's own, below the user's cache")]
pub(crate) fn make_directories_ambient(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates a directory, or checks the existing one.
#[expect(clippy::disallowed_methods, reason = "a directory of Rootward's own")]
pub(crate) fn make_own_ambient(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_ambient(path),
        Err(error) => Err(error),
    }
}

/// Refuses a path unless it is a directory that this user owns and others cannot write.
// SECURITY: never run what another user created (test: an_entry_of_another_user_is_refused)
#[expect(clippy::disallowed_methods, reason = "a directory of Rootward's own")]
fn check_ambient(path: &Path) -> io::Result<()> {
    let seen = path.symlink_metadata()?;
    let what = match () {
        () if !seen.is_dir() => "is not a directory",
        () if seen.uid() != rustix::process::geteuid().as_raw() => "belongs to another user",
        () if seen.mode() & 0o022 != 0 => "can be written by other users",
        () => return Ok(()),
    };
    Err(io::Error::other(format!("`{}` {what}; remove it", Shown::new(path))))
}

/// Whether this is a directory of this user, and not a link.
#[expect(clippy::disallowed_methods, reason = "a directory of Rootward's own")]
pub(crate) fn is_directory_ambient(path: &Path) -> bool {
    let owner = rustix::process::geteuid().as_raw();
    path.symlink_metadata().is_ok_and(|seen| seen.is_dir() && seen.uid() == owner)
}

/// Reads a small file; `None` if it does not exist.
// SECURITY: ignore what another user wrote or a link leads to (test: a_planted_current_is_refused)
#[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
pub(crate) fn read_ambient(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let planted = |what: &str| io::Error::other(format!("`{}` {what}; remove it", Shown::new(path)));
    let file = match OpenOptions::new().read(true).custom_flags(SAFELY.bits().cast_signed()).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => return Err(planted("is a link")),
        Err(error) => return Err(error),
    };
    let seen = file.metadata()?;
    if !seen.is_file() {
        return Err(planted("is not a file"));
    }
    if seen.uid() != rustix::process::geteuid().as_raw() {
        return Err(planted("belongs to another user"));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Replaces a file atomically: nobody reads a part of it, and a full disk leaves the old one.
pub(crate) fn replace_ambient(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().ok_or(io::ErrorKind::NotFound)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(bytes)?;
    file.as_file().sync_data()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// The names in a directory of Rootward's own.
#[expect(clippy::disallowed_methods, reason = "a directory of Rootward's own")]
pub(crate) fn names_ambient(directory: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    std::fs::read_dir(directory)?.map(|entry| Ok(entry?.file_name())).collect()
}

/// Removes a file or a whole directory. What cannot be removed stays until the next time.
#[expect(clippy::disallowed_methods, reason = "a file or directory of Rootward's own")]
pub(crate) fn remove_ambient(path: &Path) {
    if std::fs::remove_file(path).is_err() {
        crate::launcher::remove_tree(path);
    }
}

/// The prefix of directories that are being removed.
pub(crate) const REMOVED: &str = ".removed-";

/// Renames a directory and then removes it, so that nobody finds a part of it, and it can be created again meanwhile.
#[expect(clippy::disallowed_methods, reason = "a directory of Rootward's own")]
pub(crate) fn remove_aside_ambient(path: &Path) -> io::Result<()> {
    let parent = path.parent().ok_or(io::ErrorKind::NotFound)?;
    let aside = tempfile::Builder::new().prefix(REMOVED).tempdir_in(parent)?.keep();
    // This replaces an empty directory atomically (rename(2)).
    std::fs::rename(path, &aside)?;
    crate::launcher::remove_tree(&aside);
    Ok(())
}

/// The size of a file, or of all files in a directory. Links are not followed.
#[expect(clippy::disallowed_methods, reason = "a directory of Rootward's own")]
pub(crate) fn size_ambient(path: &Path) -> u64 {
    let (mut size, mut left) = (0, vec![path.to_owned()]);
    while let Some(path) = left.pop() {
        let Ok(seen) = path.symlink_metadata() else { continue };
        if seen.is_dir() {
            left.extend(names_ambient(&path).unwrap_or_default().into_iter().map(|name| path.join(name)));
        } else {
            size += seen.len();
        }
    }
    size
}
