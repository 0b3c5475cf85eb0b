//! Metadata of an object that is not opened.

use std::time::{Duration, SystemTime};

use rustix::fs::{FileType, Statx, StatxFlags, StatxTimestamp};
use serde::Serialize;

use super::{Grant, GrantError};
use crate::access::Access;
use crate::os;

/// The kind of an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link; only seen where links are not followed.
    Link,
    /// A device, FIFO or socket. It is listed but never opened.
    Special,
}

impl From<FileType> for FileKind {
    fn from(kind: FileType) -> FileKind {
        match kind {
            FileType::RegularFile => FileKind::File,
            FileType::Directory => FileKind::Directory,
            FileType::Symlink => FileKind::Link,
            _ => FileKind::Special,
        }
    }
}

/// Metadata of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metadata {
    /// Its kind.
    pub kind: FileKind,
    /// Its size in bytes.
    pub size: u64,
    /// Its permission bits.
    pub mode: u32,
    /// When it was last changed.
    pub modified: Option<SystemTime>,
    /// When it was last read, if the system tracks that.
    pub accessed: Option<SystemTime>,
    /// When it was created, if the file system knows.
    pub created: Option<SystemTime>,
}

impl Grant {
    /// The kind of the pinned object; `None` if there is none. Needs no access, so that callers can tell beforehand
    /// what cannot be opened.
    pub fn kind(&self) -> Option<FileKind> {
        let status = os::status(self.object().ok()?).ok()?;
        Some(os::type_of(&status).into())
    }

    /// The object's metadata; needs read access.
    pub fn metadata(&self) -> Result<Metadata, GrantError> {
        self.need(Access::READ)?;
        let seen = os::details(self.object()?).map_err(|error| self.failed(error))?;
        Ok(Metadata::of(&seen))
    }
}

impl Metadata {
    pub(super) fn of(seen: &Statx) -> Metadata {
        let known = |flag: StatxFlags, time| (seen.stx_mask & flag.bits() != 0).then(|| to_time(time)).flatten();
        Metadata {
            kind: FileType::from_raw_mode(seen.stx_mode.into()).into(),
            size: seen.stx_size,
            mode: u32::from(seen.stx_mode) & 0o7777,
            modified: known(StatxFlags::MTIME, seen.stx_mtime),
            accessed: known(StatxFlags::ATIME, seen.stx_atime),
            created: known(StatxFlags::BTIME, seen.stx_btime),
        }
    }
}

fn to_time(time: StatxTimestamp) -> Option<SystemTime> {
    let nanos = Duration::from_nanos(time.tv_nsec.into());
    let seconds = Duration::from_secs(time.tv_sec.unsigned_abs());
    let whole = if time.tv_sec < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(seconds)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(seconds)
    };
    whole?.checked_add(nanos)
}
