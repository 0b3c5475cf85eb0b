//! Replacing a file's contents atomically: readers see the old file or the new one, never a mix.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FallocateFlags, Gid, MemfdFlags, Mode, OFlags, Stat, Uid, fallocate, fchmod, fchown, memfd_create};
use rustix::io::Errno;

use super::between::{self, Moment};
use super::create::NEW_FILE;
use super::moves::nothing_moves;
use super::{Grant, GrantError, Replace, Target, Version};
use crate::access::Access;
use crate::denial::{Cause, Code};
use crate::os;
use crate::root::RootKind;

/// Makes the names of this process's temporary files unique.
static COUNTER: AtomicU64 = AtomicU64::new(0);

impl Grant {
    /// Replaces the contents of the file, or creates it.
    ///
    /// The contents go to a new file in the same directory, which then takes the name: a reader sees all or nothing,
    /// and a failure leaves the old file unchanged. The mode is kept, and the owner if the system allows it. Hard links
    /// to the old file keep the old contents. A root that is a single file is written in place, because its directory
    /// is not shared.
    pub fn replace(&self, contents: &[u8]) -> Result<(), GrantError> {
        self.replace_with(|file| file.write_all(contents))
    }

    /// The same, with contents that `write` produces. If `write` fails, the old file stays.
    pub fn replace_with(&self, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), GrantError> {
        self.rewrite(NEW_FILE, Existing::Replaced, write)
    }

    /// Replaces the contents if the file is still the version that was read, so that other writes are not lost.
    ///
    /// No other verb in this process runs between the check and the replacement. Another process still can, within
    /// microseconds.
    pub fn replace_version(&self, version: Version, contents: &[u8]) -> Result<(), GrantError> {
        self.rewrite(NEW_FILE, Existing::Expected(version), |file| file.write_all(contents))
    }

    pub(super) fn rewrite(
        &self,
        mode: Mode,
        existing: Existing,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<(), GrantError> {
        self.need(Access::WRITE)?;
        let old = match &self.target {
            Target::Object(handle) => Some(self.regular(handle)?),
            Target::Absent(_) => {
                self.creatable()?;
                None
            }
        };
        if self.root().kind == RootKind::File {
            return self.write_in_place(old.is_some(), existing, write);
        }
        let (parent, name) = self.parent()?;
        // Never readable by more users than the old file, not even briefly.
        let mode = if old.is_some() { Mode::RUSR | Mode::WUSR } else { mode };
        let (mut file, temporary) = self.temporary(parent.as_fd(), mode)?;
        let written = write(&mut file)
            .and_then(|()| old.as_ref().map_or(Ok(()), |old| keep(&file, old).map_err(Into::into)))
            .map_err(|source| self.failed_with(source))
            .inspect(|()| between::reached(Moment::Written))
            .and_then(|()| self.take_name(&parent, temporary.as_bytes(), name, existing));
        if written.is_err() {
            let _ = os::remove_file(&parent, temporary.as_bytes());
        }
        written
    }

    /// Gives the new file its name.
    fn take_name(&self, parent: &OwnedFd, temporary: &[u8], name: &[u8], existing: Existing) -> Result<(), GrantError> {
        let _turn = self.turn();
        // SECURITY: the directory may have moved while the file was written, to a place where the name is closed
        // (test: a_parent_moved_by_a_grant_takes_no_file_into_a_closed_place,
        // a_grant_older_than_a_move_creates_nothing_in_a_closed_place)
        let _still = nothing_moves();
        let (now, _) = self.parent()?;
        let id = |handle| os::identity(handle).map_err(|error| self.failed(error));
        if id(&now)? != id(parent)? {
            return Err(self.refused(Code::OutsideRoots, Cause::Unsettled));
        }
        if let Existing::Expected(version) = existing {
            let found = os::status_of_child(parent.as_fd(), name).map_err(|error| self.failed(error))?;
            self.expect(version, &found)?;
            between::reached(Moment::VersionChecked);
        }
        let named = match existing {
            Existing::Kept => os::take_free_name(parent.as_fd(), temporary, name),
            Existing::Replaced | Existing::Expected(_) => {
                os::rename(parent, temporary, parent, name, Replace::Yes.flags())
            }
        };
        named.map_err(|error| self.failed(error))
    }

    pub(super) fn expect(&self, version: Version, found: &Stat) -> Result<(), GrantError> {
        if Version::of(found) == version { Ok(()) } else { Err(GrantError::Changed { path: self.named_path() }) }
    }

    fn temporary(&self, parent: BorrowedFd<'_>, mode: Mode) -> Result<(File, String), GrantError> {
        loop {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let name = format!(".rootward-{}-{number}.tmp", process::id());
            match os::create_child(parent, name.as_bytes(), OFlags::empty(), mode) {
                Ok(handle) => return Ok((handle.into(), name)),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    /// Writes the contents elsewhere first, so that a failure of `write` leaves the file unchanged.
    fn write_in_place(
        &self,
        exists: bool,
        existing: Existing,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<(), GrantError> {
        let aside = memfd_create(c"rootward", MemfdFlags::CLOEXEC).map_err(|error| self.failed(error))?;
        let mut aside = File::from(aside);
        let length = write(&mut aside).and_then(|()| {
            aside.rewind()?;
            Ok(aside.metadata()?.len())
        });
        let length = length.map_err(|source| self.failed_with(source))?;
        let _turn = self.turn();
        let handle = match existing {
            Existing::Kept => return self.create_in_place(&mut aside, length),
            Existing::Replaced if !exists => self.make_or_open()?,
            Existing::Replaced | Existing::Expected(_) => self.reopen(os::WRITE)?,
        };
        let found = self.regular(&handle)?;
        if let Existing::Expected(version) = existing {
            self.expect(version, &found)?;
        }
        // Detect a full disk before touching the old contents.
        make_room(&handle, 0, length).map_err(|error| self.failed(error))?;
        let mut file = File::from(handle);
        let written = io::copy(&mut aside, &mut file).and_then(|_| file.set_len(length));
        written.map_err(|source| self.failed_with(source))
    }

    /// Creates the file under its own name and fills it. Another process may append to the file before that, so this
    /// only appends and never truncates.
    fn create_in_place(&self, contents: &mut File, length: u64) -> Result<(), GrantError> {
        let (parent, name) = self.parent()?;
        let handle = os::create_child(parent.as_fd(), name, OFlags::APPEND, NEW_FILE);
        let handle = handle.map_err(|error| self.failed(error))?;
        between::reached(Moment::CreatedInPlace);
        make_room(&handle, 0, length).map_err(|error| self.failed(error))?;
        io::copy(contents, &mut File::from(handle)).map(drop).map_err(|source| self.failed_with(source))
    }

    /// Creates the missing file, or opens it if somebody else created it meanwhile.
    fn make_or_open(&self) -> Result<OwnedFd, GrantError> {
        let (parent, name) = self.parent()?;
        match os::create_child(parent.as_fd(), name, OFlags::empty(), NEW_FILE) {
            Err(Errno::EXIST) => {
                // Check before opening: opening a device may already have an effect.
                self.regular(&self.reopen(os::PIN)?)?;
                self.reopen(os::WRITE)
            }
            made => made.map_err(|error| self.failed(error)),
        }
    }
}

/// Reserves `length` bytes from `start`, if the file system can.
pub(super) fn make_room(file: &OwnedFd, start: u64, length: u64) -> Result<(), Errno> {
    if length == 0 {
        return Ok(());
    }
    match fallocate(file, FallocateFlags::KEEP_SIZE, start, length) {
        Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(error),
        _ => Ok(()),
    }
}

/// What to do with a file that has the name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Existing {
    /// Replace it.
    Replaced,
    /// Replace it if it is this version.
    Expected(Version),
    /// Keep it and fail with "already exists".
    Kept,
}

impl From<Replace> for Existing {
    fn from(replace: Replace) -> Existing {
        match replace {
            Replace::Yes => Existing::Replaced,
            Replace::No => Existing::Kept,
        }
    }
}

/// Gives the new file the owner and permission bits of the old one.
fn keep(file: &File, old: &Stat) -> Result<(), Errno> {
    let new = os::status(file)?;
    let mut mode = old.st_mode & 0o777;
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid) {
        // Only a privileged process may give files away. Otherwise the writer owns the file, as in a shell.
        let group = Some(Gid::from_raw(old.st_gid));
        match fchown(file, Some(Uid::from_raw(old.st_uid)), group).or_else(|_| fchown(file, None, group)) {
            Ok(()) => {}
            // Do not give one group's permissions to another group.
            Err(Errno::PERM) => mode &= !0o070,
            Err(error) => return Err(error),
        }
    }
    fchmod(file, Mode::from_raw_mode(mode))
}
