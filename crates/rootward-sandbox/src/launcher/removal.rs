//! Removes a directory that a command wrote, whatever it contains, at any depth and with any permissions.
//!
//! The command and all its descendants have ended, so nothing changes meanwhile. A tree can be deeper than the limit of
//! open files or the stack allows, so directories are moved to the top one by one and emptied there.

#![expect(clippy::disallowed_methods, reason = "Rootward's own directory, which only the ended command could write")]

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, chmodat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

/// Removes a directory and everything in it. What cannot be removed is left: there is nobody to report it to.
pub(crate) fn remove(directory: &Path) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(top) = openat(CWD, directory, flags, Mode::empty()) else { return };
    let mut moved = 0_u64;
    // Each round empties the directories at the top and moves up those inside, for the next round.
    while empty(top.as_fd(), &mut moved).is_ok_and(|left| left == Left::Some) {}
    let _ = unlinkat(CWD, directory, AtFlags::REMOVEDIR);
}

/// Whether there is more to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Left {
    Nothing,
    Some,
}

/// Removes the directories at the top, and moves those inside up to it.
fn empty(top: BorrowedFd<'_>, moved: &mut u64) -> Result<Left, Errno> {
    let mut left = Left::Nothing;
    for name in thin(top)? {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(inner) = openat(top, &name, flags, Mode::empty()) else { continue };
        for deeper in thin(inner.as_fd())? {
            *moved += 1;
            if renameat(&inner, &deeper, top, format!(".raised-{moved}")).is_ok() {
                left = Left::Some;
            }
        }
        let _ = unlinkat(top, &name, AtFlags::REMOVEDIR);
    }
    Ok(left)
}

/// Removes the files and the empty directories of a directory; returns the names of the remaining directories.
fn thin(directory: BorrowedFd<'_>) -> Result<Vec<CString>, Errno> {
    let mut full = Vec::new();
    for (name, kind) in entries(directory)? {
        if kind != FileType::Directory {
            let _ = unlinkat(directory, &name, AtFlags::empty());
            continue;
        }
        // A directory that is not writable cannot be moved, because its `..` would change.
        unlock(directory, &name);
        if unlinkat(directory, &name, AtFlags::REMOVEDIR).is_err() {
            full.push(name);
        }
    }
    Ok(full)
}

/// Gives the owner access to a directory. It uses a handle, which even an inaccessible directory provides, so no link
/// with that name is followed.
// SECURITY: for the superuser, this would otherwise change the permissions of a link's target
// (test: a_link_that_took_a_directorys_place_is_not_followed)
fn unlock(directory: BorrowedFd<'_>, name: &CStr) {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if let Ok(handle) = openat(directory, name, flags, Mode::empty()) {
        let _ = chmodat(CWD, format!("/proc/self/fd/{}", handle.as_raw_fd()), Mode::RWXU, AtFlags::empty());
    }
}

fn entries(directory: BorrowedFd<'_>) -> Result<Vec<(CString, FileType)>, Errno> {
    let mut found = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |status| FileType::from_raw_mode(status.st_mode)),
            kind => kind,
        };
        found.push((name.to_owned(), kind));
    }
    Ok(found)
}

/// For the test: a chain of directories, deeper than the limit of open files.
#[cfg(test)]
fn dig(top: &Path, depth: usize) -> Result<std::os::fd::OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut directory = openat(CWD, top, flags, Mode::empty())?;
    for _ in 0..depth {
        rustix::fs::mkdirat(&directory, c"d", Mode::RWXU)?;
        directory = openat(&directory, c"d", flags, Mode::empty())?;
    }
    Ok(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_took_a_directorys_place_is_not_followed() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("target");
        std::fs::create_dir(&target).unwrap();
        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink(&target, directory.path().join("link")).unwrap();
        let top = openat(CWD, directory.path(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        unlock(top.as_fd(), c"link");
        assert_eq!(target.metadata().unwrap().permissions().mode() & 0o777, 0o755);
        unlock(top.as_fd(), c"target");
        assert_eq!(target.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn deep_closed_and_linked_trees_are_removed() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("kept"), "x").unwrap();
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().join("private");
        std::fs::create_dir_all(top.join("home/a/b")).unwrap();
        std::fs::create_dir_all(top.join("tmp")).unwrap();
        std::fs::write(top.join("home/a/b/file"), "x").unwrap();
        std::os::unix::fs::symlink(outside.path(), top.join("home/a/link")).unwrap();
        chmodat(CWD, top.join("home/a"), Mode::empty(), AtFlags::empty()).unwrap();
        dig(&top, 2000).unwrap();
        remove(&top);
        assert!(!top.exists());
        assert!(outside.path().join("kept").exists());
    }
}
