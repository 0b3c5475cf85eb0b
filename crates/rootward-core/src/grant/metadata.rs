//! What is known about an object without opening it.

use std::time::{Duration, SystemTime};

use rustix::fs::{FileType, Statx, StatxFlags, StatxTimestamp};
use serde::Serialize;

use super::{Grant, GrantError};
use crate::access::Access;
use crate::os;

/// What kind of object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link; seen only where links are not followed.
    Link,
    /// A device, FIFO or socket: can be seen, never opened.
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

/// What is known about an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metadata {
    /// What kind of object.
    pub kind: FileKind,
    /// Its size in bytes.
    pub size: u64,
    /// Its permission bits.
    pub mode: u32,
    /// When it was last changed.
    pub modified: Option<SystemTime>,
    /// When it was last read, as far as the system keeps track.
    pub accessed: Option<SystemTime>,
    /// When it was made, where the file system knows.
    pub created: Option<SystemTime>,
}

impl Grant {
    /// What kind of object was pinned; none where there was none. Whatever the access: what cannot be opened can be told
    /// before it is tried.
    pub fn kind(&self) -> Option<FileKind> {
        let status = os::status(self.object().ok()?).ok()?;
        Some(os::type_of(&status).into())
    }

    /// Describes the object; needs read access.
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
