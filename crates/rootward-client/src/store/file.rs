//! The file itself: reads, locks and replaces it. It is Rootward's own, so it is opened by name.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

/// The largest file to read.
const LARGEST_FILE: u64 = 1 << 20;

/// The file's text; `None` if there is no file.
#[expect(clippy::disallowed_methods, reason = "the store is Rootward's own")]
pub(super) fn read_ambient(path: &Path) -> io::Result<Option<String>> {
    // Opening a FIFO would block until it has a writer, so open without blocking, and then refuse it (open(2)).
    let without_waiting = OFlags::NONBLOCK.bits().cast_signed();
    match OpenOptions::new().read(true).custom_flags(without_waiting).open(path).and_then(text_of) {
        Ok(text) => Ok(Some(text)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

fn text_of(file: File) -> io::Result<String> {
    let refused = |says: &str| Err(io::Error::other(says));
    if !file.metadata()?.is_file() {
        return refused("not a regular file");
    }
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return refused("more than 1 MiB");
    }
    String::from_utf8(bytes).or_else(|_| refused("not UTF-8"))
}

/// The lock for changing a file, released on drop. It is on a file next to it, because the file itself is replaced.
#[derive(Debug)]
pub(super) struct Lock {
    /// The real file: some users link to settings that are elsewhere, and the link must not be replaced.
    file: PathBuf,
    _held: File,
}

impl Lock {
    /// Waits for other processes that change the file. Creates the directory if it does not exist.
    #[expect(clippy::disallowed_methods, reason = "the store is Rootward's own")]
    pub(super) fn take_ambient(file: &Path) -> io::Result<Lock> {
        let file = match file.canonicalize() {
            Err(error) if error.kind() == ErrorKind::NotFound => file.to_owned(),
            other => other?,
        };
        let directory = directory(&file)?;
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        let beside = file.with_extension("lock");
        let flags = OFlags::NOFOLLOW.bits().cast_signed();
        let held =
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(beside)?;
        loop {
            match flock(&held, FlockOperation::LockExclusive) {
                Err(Errno::INTR) => {}
                other => break other?,
            }
        }
        Ok(Lock { file, _held: held })
    }

    pub(super) fn read_ambient(&self) -> io::Result<Option<String>> {
        read_ambient(&self.file)
    }

    /// Replaces the file atomically: readers see the old text or the new one, whatever happens meanwhile.
    #[expect(clippy::disallowed_methods, reason = "the store is Rootward's own")]
    pub(super) fn replace_ambient(&self, text: &str) -> io::Result<()> {
        // One name is enough: only the holder of the lock writes. A process killed while writing may have left it.
        let new = self.file.with_extension("toml.new");
        remove_ambient(&new)?;
        let written = write_ambient(&new, text).and_then(|()| std::fs::rename(&new, &self.file));
        if let Err(error) = written {
            // It takes up space on a full disk; failing to remove it is the lesser problem.
            let _ = remove_ambient(&new);
            return Err(error);
        }
        // The new name is on disk only once its directory is (fsync(2)).
        File::open(directory(&self.file)?)?.sync_all()
    }
}

#[expect(clippy::disallowed_methods, reason = "the store is Rootward's own")]
fn write_ambient(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    // A rename may reach the disk before the file's content does.
    file.sync_all()
}

#[expect(clippy::disallowed_methods, reason = "the store is Rootward's own")]
fn remove_ambient(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn directory(file: &Path) -> io::Result<&Path> {
    file.parent().ok_or_else(|| ErrorKind::InvalidInput.into())
}
