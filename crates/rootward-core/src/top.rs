//! The names directly in `/`. An absolute path whose first name is not among them does not exist on this machine.
//!
//! A peer is never told what exists outside the roots. The names directly in `/` are the exception: they are the same
//! on almost every machine, and they tell a string such as `/facebook/react` from a path.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::io::Errno;

use crate::{os, pinned};

/// The names directly in `/` at the time they were read.
#[derive(Debug)]
pub struct TopNames {
    slash: OwnedFd,
    listed: Vec<OsString>,
}

impl TopNames {
    /// Reads the names. It only reads the directory itself, so that a hanging mount does not block.
    pub fn read_ambient() -> io::Result<TopNames> {
        let slash = os::pin_slash()?;
        let listed = pinned::names_in(slash.as_fd())?;
        Ok(TopNames { slash, listed })
    }

    /// The listed names, in no particular order.
    pub fn listed(&self) -> impl Iterator<Item = &OsStr> {
        self.listed.iter().map(OsString::as_os_str)
    }

    /// Whether this name, in this spelling, does not exist now. A directory may contain names that it does not list:
    /// some file systems ignore case, and some create a name on lookup. No link is followed. A name that cannot be
    /// looked up does not count as missing.
    pub fn lacks(&self, name: &OsStr) -> bool {
        let name = name.as_bytes();
        if name.contains(&b'/') || matches!(name, b"" | b"." | b"..") {
            return false;
        }
        // SECURITY: a name that cannot be looked up may exist (test: a_name_that_cannot_be_looked_up_is_not_missing)
        matches!(os::status_of_child(self.slash.as_fd(), name), Err(Errno::NOENT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_is_not_missing() {
        let top = TopNames::read_ambient().unwrap();
        let listed: Vec<&OsStr> = top.listed().collect();
        assert!(listed.contains(&OsStr::new("proc")), "{listed:?}");
        for name in &listed {
            assert!(!top.lacks(name), "{name:?}");
        }
        assert!(top.lacks(OsStr::new("no-such-name-in-slash")));
    }

    #[test]
    fn a_name_that_cannot_be_looked_up_is_not_missing() {
        let top = TopNames::read_ambient().unwrap();
        let long = "x".repeat(300);
        for name in ["", ".", "..", "a/b", "/", "nul\0", &long] {
            assert!(!top.lacks(OsStr::new(name)), "{name:?}");
        }
    }
}
