//! Replacing a file's contents at once: the old file or the new one, never half of either.

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

/// Tells this process's temporary files apart.
static COUNTER: AtomicU64 = AtomicU64::new(0);

impl Grant {
    /// Writes the file anew, or creates it.
    ///
    /// The contents go to a new file beside the old one, which then takes its name: a reader sees all or nothing, and a
    /// failure leaves the old file as it was. Mode and, where the system allows, owner are kept; other names of the old
    /// file (hard links) keep the old contents. A root that is a single file is written in place, because the directory
    /// beside it is not shared.
    pub fn replace(&self, contents: &[u8]) -> Result<(), GrantError> {
        self.replace_with(|file| file.write_all(contents))
    }

    /// The same, with contents that `write` produces. If it fails, the old file stays.
    pub fn replace_with(&self, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), GrantError> {
        self.rewrite(NEW_FILE, Existing::Replaced, write)
    }

    /// Writes the file anew if it is still the one that was read: what somebody else wrote meanwhile is not lost.
    ///
    /// No other verb in this process comes between the check and the new file. Another process still can, within microseconds.
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
        // Not readable for more people than the old file, not even for a moment.
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
        // SECURITY: the directory may have been moved while the file was written, and the name be closed where it is now
        // (test: a_parent_moved_by_a_grant_takes_no_file_into_a_closed_place, a_grant_older_than_a_move_creates_nothing_in_a_closed_place)
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

    /// The contents are produced elsewhere first: whatever goes wrong there leaves the file alone.
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
        // A full disk is found out before the old contents are touched.
        make_room(&handle, 0, length).map_err(|error| self.failed(error))?;
        let mut file = File::from(handle);
        let written = io::copy(&mut aside, &mut file).and_then(|_| file.set_len(length));
        written.map_err(|source| self.failed_with(source))
    }

    /// Creates the file under its own name and fills it. Another process that finds it empty may add to it: nothing is written
    /// over and nothing cut off.
    fn create_in_place(&self, contents: &mut File, length: u64) -> Result<(), GrantError> {
        let (parent, name) = self.parent()?;
        let handle = os::create_child(parent.as_fd(), name, OFlags::APPEND, NEW_FILE);
        let handle = handle.map_err(|error| self.failed(error))?;
        between::reached(Moment::CreatedInPlace);
        make_room(&handle, 0, length).map_err(|error| self.failed(error))?;
        io::copy(contents, &mut File::from(handle)).map(drop).map_err(|source| self.failed_with(source))
    }

    /// The file that was not there, made now, or as somebody else has made it meanwhile.
    fn make_or_open(&self) -> Result<OwnedFd, GrantError> {
        let (parent, name) = self.parent()?;
        match os::create_child(parent.as_fd(), name, OFlags::empty(), NEW_FILE) {
            Err(Errno::EXIST) => {
                // Looked at before it is opened: opening a device may already do something.
                self.regular(&self.reopen(os::PIN)?)?;
                self.reopen(os::WRITE)
            }
            made => made.map_err(|error| self.failed(error)),
        }
    }
}

/// Sets space aside for so many bytes from `start` on, where the file system can.
pub(super) fn make_room(file: &OwnedFd, start: u64, length: u64) -> Result<(), Errno> {
    if length == 0 {
        return Ok(());
    }
    match fallocate(file, FallocateFlags::KEEP_SIZE, start, length) {
        Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(error),
        _ => Ok(()),
    }
}

/// What becomes of a file that has the name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Existing {
    /// It is replaced.
    Replaced,
    /// It is replaced if it is this one.
    Expected(Version),
    /// It stays, and the answer is "exists already".
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

/// Gives the new file the owner and the permission bits of the old one.
fn keep(file: &File, old: &Stat) -> Result<(), Errno> {
    let new = os::status(file)?;
    let mut mode = old.st_mode & 0o777;
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid) {
        // Only a privileged process may give files away; for others the file becomes the writer's, as in a shell.
        let group = Some(Gid::from_raw(old.st_gid));
        match fchown(file, Some(Uid::from_raw(old.st_uid)), group).or_else(|_| fchown(file, None, group)) {
            Ok(()) => {}
            // What one group was allowed is not for another.
            Err(Errno::PERM) => mode &= !0o070,
            Err(error) => return Err(error),
        }
    }
    fchmod(file, Mode::from_raw_mode(mode))
}
