//! A grant: permission to act on one path, and the only way to open anything.
//!
//! One file per verb. Each verb acts relative to handles, on a bare last name; none takes a path. A grant gives exactly
//! the access that was asked for: a grant to read cannot write.

mod append;
mod between;
mod copy;
mod create;
mod directory;
mod error;
mod execute;
#[cfg(test)]
mod interleaved;
mod list;
mod metadata;
mod moves;
#[cfg(rootward_oracle)]
pub(crate) mod oracle;
mod read;
mod remove;
mod rename;
mod replace;
mod turns;
mod version;
mod walk;

use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use crate::access::Access;
use crate::denial::{Cause, Code, Denial};
use crate::guard::{Guard, Handle};
use crate::os;
use crate::resolve::{Rest, open};
use crate::root::{FileId, PlacedRoot, RootKind};
use crate::tree::RootIndex;

pub use error::GrantError;
pub use list::Entry;
pub use metadata::{FileKind, Metadata};
pub use read::OpenFile;
pub use rename::Replace;
pub use version::Version;
pub use walk::{Ignore, Visit, WalkEntry, WalkOptions, WalkSummary};

/// Permission to act on one path.
pub struct Grant {
    guard: Guard,
    root: RootIndex,
    rest: Rest,
    access: Access,
    target: Target,
}

/// What the path names.
#[derive(Debug)]
pub(crate) enum Target {
    /// An existing object, pinned.
    Object(OwnedFd),
    /// Nothing yet, but its place is known.
    Absent(Absence),
}

/// Why there is no object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Absence {
    /// A component is missing, and no link comes before it.
    NotFound,
    /// A component is not a directory.
    NotADirectory,
}

impl Target {
    /// Whether this is the object with that id, or absent if `id` is `None`.
    pub(crate) fn is(&self, id: Option<FileId>) -> bool {
        match self {
            Target::Object(handle) => os::identity(handle).is_ok_and(|found| Some(found) == id),
            Target::Absent(Absence::NotFound) => id.is_none(),
            // Nothing can be done with it, whatever it is.
            Target::Absent(Absence::NotADirectory) => true,
        }
    }
}

impl Grant {
    #[inline]
    pub(crate) fn new(guard: Guard, root: RootIndex, rest: Rest, access: Access, target: Target) -> Grant {
        Grant { guard, root, rest, access, target }
    }

    /// The resolved, absolute path.
    pub fn path(&self) -> PathBuf {
        self.rest.below(&self.root().place)
    }

    /// The path to show to a peer: below the root as it was named, not where the root really lies.
    pub fn named_path(&self) -> PathBuf {
        self.rest.below(&self.root().root.path)
    }

    /// The path below the root; empty for the root itself.
    pub fn relative(&self) -> &Path {
        self.rest.as_path()
    }

    /// The root that contains the path.
    pub fn root(&self) -> &PlacedRoot {
        self.guard.placed(self.root)
    }

    /// The access that was asked for, which is the access it gives.
    pub fn access(&self) -> Access {
        self.access
    }

    /// The guard that decided.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Whether the object existed when the path was decided.
    pub fn exists(&self) -> bool {
        matches!(self.target, Target::Object(_))
    }

    /// Whether a component was not a directory when the path was decided, so that nothing can exist here.
    pub fn is_blocked(&self) -> bool {
        matches!(self.target, Target::Absent(Absence::NotADirectory))
    }

    /// The pinned object, or an error if there is none.
    fn object(&self) -> Result<&OwnedFd, GrantError> {
        match &self.target {
            Target::Object(handle) => Ok(handle),
            Target::Absent(absence) => Err(self.absent(*absence)),
        }
    }

    fn absent(&self, absence: Absence) -> GrantError {
        self.failed(match absence {
            Absence::NotFound => Errno::NOENT,
            Absence::NotADirectory => Errno::NOTDIR,
        })
    }

    fn need(&self, access: Access) -> Result<(), GrantError> {
        // SECURITY: a grant gives only what was asked for (test: a_grant_gives_only_what_was_asked_for)
        if self.access.contains(access) {
            return Ok(());
        }
        Err(Denial::new(Code::AccessDenied, self.named_path(), access).into())
    }

    fn refused(&self, code: Code, cause: Cause) -> GrantError {
        let denial = Denial::new(code, self.named_path(), self.access).because(cause);
        denial.at(&self.root().root, self.path()).into()
    }

    fn failed(&self, error: Errno) -> GrantError {
        self.failed_with(error.into())
    }

    fn failed_with(&self, source: std::io::Error) -> GrantError {
        GrantError::Io { path: self.named_path(), source }
    }

    /// Opens the directory that contains the entry, and returns it with the entry's bare name.
    fn parent(&self) -> Result<(OwnedFd, &[u8]), GrantError> {
        let placed = self.guard.placed(self.root);
        let flags = os::PIN.union(OFlags::DIRECTORY);
        let (above, name) = match (self.rest.split_last(), placed.kind, placed.place.file_name()) {
            (Some((above, name)), ..) => (above, name),
            (None, RootKind::File, Some(name)) => (b"".as_slice(), name.as_bytes()),
            (None, ..) => return Err(self.refused(Code::AccessDenied, Cause::RootItself)),
        };
        let parent = open(self.guard.0.resolver, self.root_handle()?.as_fd(), above, flags);
        Ok((parent.map_err(|error| self.reopening(error))?, name))
    }

    /// Opens the object again with these flags: below its root and without following links, so at the same place.
    fn reopen(&self, flags: OFlags) -> Result<OwnedFd, GrantError> {
        let placed = self.guard.placed(self.root);
        let names = match (placed.kind, placed.place.file_name()) {
            (RootKind::File, Some(name)) => name.as_bytes(),
            _ => self.rest.as_bytes(),
        };
        open(self.guard.0.resolver, self.root_handle()?.as_fd(), names, flags).map_err(|error| self.reopening(error))
    }

    fn root_handle(&self) -> Result<Handle<'_>, GrantError> {
        self.guard.handle(self.root).map_err(|_| self.refused(Code::OutsideRoots, Cause::RootChanged))
    }

    fn reopening(&self, error: Errno) -> GrantError {
        match error {
            // There is now a link where there was none when the path was decided.
            Errno::LOOP | Errno::XDEV | Errno::AGAIN => self.refused(Code::OutsideRoots, Cause::Unsettled),
            Errno::NXIO | Errno::NODEV => self.refused(Code::SpecialFile, Cause::Plain),
            error => self.failed(error),
        }
    }

    /// Refuses everything but a regular file.
    fn regular(&self, handle: &OwnedFd) -> Result<rustix::fs::Stat, GrantError> {
        let status = os::status(handle).map_err(|error| self.failed(error))?;
        // SECURITY: a device, FIFO or socket is never read, written or run (test: guard_passes_the_escape_corpus)
        match os::type_of(&status) {
            FileType::RegularFile => Ok(status),
            FileType::Directory => Err(self.failed(Errno::ISDIR)),
            FileType::Symlink => Err(self.failed(Errno::LOOP)),
            _ => Err(self.refused(Code::SpecialFile, Cause::Plain)),
        }
    }
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant")
            .field("path", &self.path())
            .field("access", &self.access)
            .field("exists", &self.exists())
            .finish_non_exhaustive()
    }
}
