//! A door: anything that acts on paths within roots, as the corpus and the races see it.
//!
//! The guard, a file tool, the hub and a confined child are each wrapped as one, so that all are held to the same
//! table.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

use crate::escape::Act;

/// A root as a door gets it: an absolute path as the user would write it, not yet resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Root {
    /// Its path.
    pub path: PathBuf,
    /// `ro`, `rw`, `rw-nodelete` or `rwx`.
    pub access: &'static str,
}

/// What a door is asked to do. Everything is expanded; nothing is resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The current roots, in order.
    pub roots: Vec<Root>,
    /// Where relative paths start, if not at the first root.
    pub base: Option<PathBuf>,
    /// What `~` stands for.
    pub home: Option<PathBuf>,
    /// What to do.
    pub act: Act,
    /// The path's text.
    pub path: Vec<u8>,
    /// The second path's text, for [`Act::Rename`] and [`Act::Copy`].
    pub to: Option<Vec<u8>>,
    /// What to write, for [`Act::Put`], [`Act::Append`] and [`Act::CreateNew`].
    pub data: Vec<u8>,
}

/// What came of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was done, or for [`Act::Check`] would be.
    Done {
        /// What was read, for [`Act::Read`].
        content: Option<Vec<u8>>,
        /// The names found, for [`Act::List`], in any order and without `.` and `..`.
        entries: Option<Vec<OsString>>,
        /// Where the door says the object lies (for [`Act::Rename`] and [`Act::Copy`] the new one), if it says so.
        place: Option<PathBuf>,
    },
    /// The door refused.
    Denied {
        /// The stable code.
        code: String,
        /// What the peer would be told.
        message: String,
    },
    /// The path was granted and the system refused.
    Failed {
        /// Why.
        kind: Failure,
        /// What the peer would be told.
        message: String,
    },
    /// This door has no such act.
    Unsupported,
}

impl Outcome {
    /// Done, with nothing to show.
    pub fn done() -> Outcome {
        Outcome::Done { content: None, entries: None, place: None }
    }

    /// Denied with this code.
    pub fn denied(code: &str, message: impl Into<String>) -> Outcome {
        Outcome::Denied { code: code.to_owned(), message: message.into() }
    }

    /// Failed with the system's error.
    pub fn failed(error: &io::Error) -> Outcome {
        Outcome::Failed { kind: Failure::of(error), message: error.to_string() }
    }
}

/// Why the system refused; the kinds that the corpus tells apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// `ENOENT`
    NotFound,
    /// `ENOTDIR`
    NotADirectory,
    /// `EEXIST`
    AlreadyExists,
    /// `EISDIR`
    IsADirectory,
    /// `ENOTEMPTY`
    NotEmpty,
    /// `ELOOP`
    Loop,
    /// `ENAMETOOLONG`
    NameTooLong,
    /// `EACCES`, `EPERM`
    PermissionDenied,
    /// `EINVAL`
    InvalidInput,
    /// Anything else.
    Other,
}

impl Failure {
    /// The kind of a system error.
    pub fn of(error: &io::Error) -> Failure {
        match Errno::from_io_error(error) {
            Some(Errno::NOENT) => Failure::NotFound,
            Some(Errno::NOTDIR) => Failure::NotADirectory,
            Some(Errno::EXIST) => Failure::AlreadyExists,
            Some(Errno::ISDIR) => Failure::IsADirectory,
            Some(Errno::NOTEMPTY) => Failure::NotEmpty,
            Some(Errno::LOOP) => Failure::Loop,
            Some(Errno::NAMETOOLONG) => Failure::NameTooLong,
            Some(Errno::ACCESS | Errno::PERM) => Failure::PermissionDenied,
            Some(Errno::INVAL) => Failure::InvalidInput,
            Some(_) => Failure::Other,
            // Errors that a library made up carry a kind and no number.
            None => Failure::of_kind(error.kind()),
        }
    }

    fn of_kind(kind: io::ErrorKind) -> Failure {
        match kind {
            io::ErrorKind::NotFound => Failure::NotFound,
            io::ErrorKind::NotADirectory => Failure::NotADirectory,
            io::ErrorKind::AlreadyExists => Failure::AlreadyExists,
            io::ErrorKind::IsADirectory => Failure::IsADirectory,
            io::ErrorKind::DirectoryNotEmpty => Failure::NotEmpty,
            io::ErrorKind::InvalidFilename => Failure::NameTooLong,
            io::ErrorKind::PermissionDenied => Failure::PermissionDenied,
            io::ErrorKind::InvalidInput => Failure::InvalidInput,
            _ => Failure::Other,
        }
    }
}

/// Something that acts on paths within roots.
///
/// `Sync`, because the corpus watches it from another thread and the races act through it while others swap.
pub trait Door: Sync {
    /// Does what is asked, or says why not.
    fn act(&self, request: &Request) -> Outcome;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_apart() {
        let check = |error: io::Error, kind: Failure| assert_eq!(Failure::of(&error), kind);
        check(Errno::LOOP.into(), Failure::Loop);
        check(Errno::NAMETOOLONG.into(), Failure::NameTooLong);
        check(Errno::XDEV.into(), Failure::Other);
        check(io::ErrorKind::NotADirectory.into(), Failure::NotADirectory);
    }
}
