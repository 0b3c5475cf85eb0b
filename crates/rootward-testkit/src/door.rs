//! A door: the trait for anything that acts on paths within roots.
//!
//! The guard, a file tool, the hub and a confined child each implement it, so that the same table and the same races test
//! them all.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

use crate::escape::Act;

/// A root of a request: an absolute path as the user would write it, not resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Root {
    /// Its path.
    pub path: PathBuf,
    /// `ro`, `rw`, `rw-nodelete` or `rwx`.
    pub access: &'static str,
}

/// A request to a door. Templates are expanded; paths are not resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The current roots, in order.
    pub roots: Vec<Root>,
    /// Where relative paths start. By default, at the first root.
    pub base: Option<PathBuf>,
    /// The directory that `~` means.
    pub home: Option<PathBuf>,
    /// What to do.
    pub act: Act,
    /// The path, as bytes.
    pub path: Vec<u8>,
    /// The second path, for [`Act::Rename`] and [`Act::Copy`].
    pub to: Option<Vec<u8>>,
    /// What to write, for [`Act::Put`], [`Act::Append`] and [`Act::CreateNew`].
    pub data: Vec<u8>,
}

/// The outcome of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The door did it; for [`Act::Check`], it would.
    Done {
        /// The content, for [`Act::Read`].
        content: Option<Vec<u8>>,
        /// The names found, for [`Act::List`], in any order and without `.` and `..`.
        entries: Option<Vec<OsString>>,
        /// The path of the object according to the door, if it says so. For [`Act::Rename`] and [`Act::Copy`], of the new one.
        place: Option<PathBuf>,
    },
    /// The door refused.
    Denied {
        /// The stable code.
        code: String,
        /// The message for the peer.
        message: String,
    },
    /// The door granted the path, and the system call failed.
    Failed {
        /// The kind of error.
        kind: Failure,
        /// The message for the peer.
        message: String,
    },
    /// The door does not support this act.
    Unsupported,
}

impl Outcome {
    /// Done, without further data.
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

/// Why a system call failed: the kinds that the corpus distinguishes.
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
            // Errors that a library creates itself have a kind and no number.
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

/// Anything that acts on paths within roots.
///
/// `Sync`, because the corpus runs it in another thread.
pub trait Door: Sync {
    /// Does what the request asks, or says why not.
    fn act(&self, request: &Request) -> Outcome;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_distinguished() {
        let check = |error: io::Error, kind: Failure| assert_eq!(Failure::of(&error), kind);
        check(Errno::LOOP.into(), Failure::Loop);
        check(Errno::NAMETOOLONG.into(), Failure::NameTooLong);
        check(Errno::XDEV.into(), Failure::Other);
        check(io::ErrorKind::NotADirectory.into(), Failure::NotADirectory);
    }
}
