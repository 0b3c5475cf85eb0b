//! The entries of a pinned directory, for a kernel sandbox that is built entry by entry.
//!
//! Nothing is opened and no link is followed: an entry becomes a handle on the object with that name in the directory.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use rustix::fs::FileType;
use rustix::io::Errno;

use crate::os;
use crate::root::RootKind;

/// The names of a pinned directory's entries, in no particular order.
pub fn names_in(directory: BorrowedFd<'_>) -> io::Result<Vec<OsString>> {
    let entries = os::entries(directory)?;
    Ok(entries.into_iter().map(|(name, _)| OsString::from_vec(name)).collect())
}

/// A handle on an entry of a pinned directory. `None` if it is a link, does not exist, or is not a single name.
pub fn pin_entry(directory: BorrowedFd<'_>, name: &OsStr) -> io::Result<Option<(OwnedFd, RootKind)>> {
    let name = name.as_bytes();
    if name.contains(&b'/') || matches!(name, b"" | b"." | b"..") {
        return Ok(None);
    }
    let handle = match os::open_child(directory, name, os::PIN) {
        Err(Errno::NOENT) => return Ok(None),
        handle => handle?,
    };
    // SECURITY: the target of a link may lie anywhere (test: an_entry_is_pinned_without_following_links)
    Ok(match os::type_of(&os::status(&handle)?) {
        FileType::Symlink => None,
        FileType::Directory => Some((handle, RootKind::Directory)),
        _ => Some((handle, RootKind::File)),
    })
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "builds a tree")]
    fn an_entry_is_pinned_without_following_links() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("directory")).unwrap();
        std::fs::write(directory.path().join("file"), "text").unwrap();
        symlink("directory", directory.path().join("link")).unwrap();
        let top = std::fs::File::open(directory.path()).unwrap();
        let mut names = names_in(top.as_fd()).unwrap();
        names.sort();
        assert_eq!(names, ["directory", "file", "link"]);
        let kind = |name: &str| pin_entry(top.as_fd(), OsStr::new(name)).unwrap().map(|(_, kind)| kind);
        assert_eq!(kind("directory"), Some(RootKind::Directory));
        assert_eq!(kind("file"), Some(RootKind::File));
        for name in ["link", "gone", "link/x", "..", ".", ""] {
            assert_eq!(kind(name), None, "{name}");
        }
    }
}
