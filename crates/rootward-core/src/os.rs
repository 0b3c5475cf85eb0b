//! The system calls that the core makes, each with the flags that make it safe.
//!
//! Written for Linux. Another system needs its own version of this file: `O_PATH` handles, `openat2` and
//! `/proc/self/fd` have no portable counterpart. Everything above this file works on handles and names only.

#![expect(clippy::disallowed_methods, reason = "the only place that opens and changes files by name, below a handle")]

#[cfg(not(target_os = "linux"))]
compile_error!("rootward-core needs Linux to open files; see docs/rough-edges.md for what another system needs");

use std::ffi::OsString;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;

use rustix::fs::{self, AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, ResolveFlags, Stat, Statx, StatxFlags};
use rustix::io::Errno;

use crate::root::FileId;

/// Pins an object without opening it: no device is touched, and a FIFO does not block.
pub(crate) const PIN: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
/// For reading. `O_NONBLOCK` because a FIFO would block the process, `O_NOCTTY` because a terminal could become its
/// controlling terminal.
pub(crate) const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
/// For writing in place. Truncation happens after the checks, never on open.
pub(crate) const WRITE: OFlags = OFlags::WRONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);
/// For listing.
pub(crate) const LIST: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// For creating a file: fails if anything exists, links included.
const CREATE: OFlags = WRITE.union(OFlags::CREATE).union(OFlags::EXCL);

/// How often to retry a lookup that lost a race against a rename. `openat2(2)` returns `EAGAIN` only then; three in a
/// row is the most ever seen under heavy renaming.
const RETRIES: usize = 128;

/// Whether this kernel, in this process, has `openat2`.
pub(crate) fn has_openat2() -> bool {
    match fs::openat2(CWD, c"/", PIN, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // EAGAIN means that the call exists.
        Ok(_) | Err(Errno::AGAIN | Errno::INTR) => true,
        Err(_) => false,
    }
}

/// Opens `name` below `directory`, without following links and without reaching anything above `directory`.
pub(crate) fn open_beneath(directory: BorrowedFd<'_>, name: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    // SECURITY: with `NO_SYMLINKS`, success proves that the text is the resolved path; with `BENEATH`, no `..` climbs
    // out (test: guard_passes_the_escape_corpus)
    let resolve = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);
    retrying(|| fs::openat2(directory, name, flags, Mode::empty(), resolve))
}

/// Pins whatever `path` leads to, anywhere. The handle proves nothing; it only shows where to look.
pub(crate) fn pin_anywhere(path: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    retrying(|| fs::openat2(CWD, path, PIN.union(flags), Mode::empty(), ResolveFlags::NO_MAGICLINKS))
}

/// Pins the object at an absolute path, if there is no link on the way.
pub(crate) fn pin_without_links(path: &[u8]) -> Result<OwnedFd, Errno> {
    retrying(|| fs::openat2(CWD, path, PIN, Mode::empty(), ResolveFlags::NO_SYMLINKS))
}

fn retrying(mut open: impl FnMut() -> Result<OwnedFd, Errno>) -> Result<OwnedFd, Errno> {
    for _ in 0..RETRIES {
        match open() {
            Err(Errno::AGAIN | Errno::INTR) => {}
            answer => return answer,
        }
    }
    Err(Errno::AGAIN)
}

/// Opens a single name in `directory`, without following a link.
pub(crate) fn open_child(directory: BorrowedFd<'_>, name: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    debug_assert!(!name.contains(&b'/'), "a slash would defeat O_NOFOLLOW");
    // SECURITY: anyone who can write to the directory can put a link there at any moment
    // (test: nothing_outside_is_reached_while_directories_and_links_are_swapped)
    retrying(|| fs::openat(directory, name, flags.union(OFlags::NOFOLLOW), Mode::empty()))
}

/// Creates a single name in `directory`. It must not exist.
pub(crate) fn create_child(
    directory: BorrowedFd<'_>,
    name: &[u8],
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    debug_assert!(!name.contains(&b'/'), "a slash would defeat O_NOFOLLOW");
    retrying(|| fs::openat(directory, name, CREATE.union(flags), mode))
}

/// Pins `/`, where a walk over components starts.
pub(crate) fn pin_slash() -> Result<OwnedFd, Errno> {
    fs::openat(CWD, c"/", PIN.union(OFlags::DIRECTORY), Mode::empty())
}

/// Opens a pinned directory for listing.
pub(crate) fn list_pinned(directory: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    fs::openat(directory, c".", LIST, Mode::empty())
}

/// A buffer for reading a directory.
pub(crate) type DirectoryBuffer = Vec<MaybeUninit<u8>>;

/// A buffer of the size that `readdir(3)` uses.
pub(crate) fn directory_buffer() -> DirectoryBuffer {
    vec![MaybeUninit::uninit(); 32 * 1024]
}

/// Reads the entries of an open directory, without `.` and `..`.
pub(crate) fn read_directory(
    directory: BorrowedFd<'_>,
    buffer: &mut DirectoryBuffer,
    mut entry: impl FnMut(&[u8], FileType),
) -> Result<(), Errno> {
    let mut entries = fs::RawDir::new(directory, buffer);
    while let Some(next) = entries.next() {
        let next = next?;
        let name = next.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let kind = match next.file_type() {
            // Some file systems do not report the type.
            FileType::Unknown => status_of_child(directory, name).map_or(FileType::Unknown, |status| type_of(&status)),
            kind => kind,
        };
        entry(name, kind);
    }
    Ok(())
}

/// The entries of a pinned directory.
pub(crate) fn entries(directory: BorrowedFd<'_>) -> Result<Vec<(Vec<u8>, FileType)>, Errno> {
    let opened = list_pinned(directory)?;
    let mut entries = Vec::new();
    read_directory(opened.as_fd(), &mut directory_buffer(), |name, kind| entries.push((name.to_vec(), kind)))?;
    Ok(entries)
}

/// Creates a directory.
pub(crate) fn make_directory(parent: impl AsFd, name: &[u8]) -> Result<(), Errno> {
    fs::mkdirat(parent, name, Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO))
}

/// Creates a directory that only its owner can access.
pub(crate) fn make_private_directory(parent: impl AsFd, name: &[u8]) -> Result<(), Errno> {
    fs::mkdirat(parent, name, Mode::RWXU)
}

/// Removes an entry that is not a directory.
pub(crate) fn remove_file(parent: impl AsFd, name: &[u8]) -> Result<(), Errno> {
    fs::unlinkat(parent, name, AtFlags::empty())
}

/// Removes an empty directory.
pub(crate) fn remove_directory(parent: impl AsFd, name: &[u8]) -> Result<(), Errno> {
    fs::unlinkat(parent, name, AtFlags::REMOVEDIR)
}

/// Renames an entry. A link itself is renamed, not its target.
pub(crate) fn rename(
    from: impl AsFd,
    name: &[u8],
    to: impl AsFd,
    new_name: &[u8],
    flags: RenameFlags,
) -> Result<(), Errno> {
    match fs::renameat_with(&from, name, &to, new_name, flags) {
        // Some file systems do not support flags (renameat2(2)); without flags, the plain call does the same.
        Err(Errno::INVAL | Errno::NOSYS) if flags.is_empty() => fs::renameat(from, name, to, new_name),
        answer => answer,
    }
}

/// Gives a new file its name, unless the name is taken.
pub(crate) fn take_free_name(directory: BorrowedFd<'_>, temporary: &[u8], name: &[u8]) -> Result<(), Errno> {
    match fs::renameat_with(directory, temporary, directory, name, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS) => link_and_remove(directory, temporary, name),
        answer => answer,
    }
}

/// The same for file systems without flags (renameat2(2)), such as NFS: a hard link never replaces anything either.
fn link_and_remove(directory: BorrowedFd<'_>, temporary: &[u8], name: &[u8]) -> Result<(), Errno> {
    match fs::linkat(directory, temporary, directory, name, AtFlags::empty()) {
        Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS) => return claim_and_replace(directory, temporary, name),
        linked => linked?,
    }
    // The file has its name, so a leftover temporary name is not an error.
    let _ = remove_file(directory, temporary);
    Ok(())
}

/// The same for file systems that also lack hard links (link(2)), such as folders shared with a virtual machine: an
/// empty file takes the name first. Data that another process appends to it in between is lost.
fn claim_and_replace(directory: BorrowedFd<'_>, temporary: &[u8], name: &[u8]) -> Result<(), Errno> {
    drop(create_child(directory, name, OFlags::empty(), Mode::RUSR | Mode::WUSR)?);
    fs::renameat(directory, temporary, directory, name).inspect_err(|_| {
        let _ = remove_file(directory, name);
    })
}

/// All metadata of a pinned object.
pub(crate) fn details(handle: impl AsFd) -> Result<Statx, Errno> {
    fs::statx(handle, c"", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS | StatxFlags::BTIME)
}

/// All metadata of an entry; a link is not followed.
pub(crate) fn details_of_child(directory: BorrowedFd<'_>, name: &[u8]) -> Result<Statx, Errno> {
    // SECURITY: describe a link itself; its target may lie outside
    // (test: entries_met_on_a_walk_are_described_without_following_links)
    fs::statx(directory, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS | StatxFlags::BTIME)
}

/// The place of a handle according to the kernel.
pub(crate) fn place_of(handle: BorrowedFd<'_>) -> Result<OsString, Errno> {
    let link = format!("/proc/self/fd/{}", handle.as_raw_fd());
    fs::readlinkat(CWD, link, Vec::new()).map(|target| OsString::from_vec(target.into_bytes()))
}

/// The target of a pinned link.
pub(crate) fn target_of(link: BorrowedFd<'_>) -> Result<Vec<u8>, Errno> {
    fs::readlinkat(link, c"", Vec::new()).map(std::ffi::CString::into_bytes)
}

/// Whether a link may be a magic link. In procfs all may be, except the few plain ones (`/proc/self`) in its top
/// directory, which is always inode 1 (`PROC_ROOT_INO`).
pub(crate) fn may_be_magic(directory: BorrowedFd<'_>, link: BorrowedFd<'_>) -> Result<bool, Errno> {
    Ok(fs::fstatfs(link)?.f_type == fs::PROC_SUPER_MAGIC && fs::fstat(directory)?.st_ino != 1)
}

/// The status of an open or pinned object.
pub(crate) fn status(handle: impl AsFd) -> Result<Stat, Errno> {
    fs::fstat(handle)
}

/// The status of an entry; a link is not followed.
pub(crate) fn status_of_child(directory: BorrowedFd<'_>, name: &[u8]) -> Result<Stat, Errno> {
    fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// The identity of the object behind a handle.
pub(crate) fn identity(handle: impl AsFd) -> Result<FileId, Errno> {
    let seen = fs::statx(handle, c"", AtFlags::EMPTY_PATH, StatxFlags::INO | StatxFlags::BTIME)?;
    let born = seen.stx_mask & StatxFlags::BTIME.bits() != 0;
    Ok(FileId {
        device: u64::from(seen.stx_dev_major) << 32 | u64::from(seen.stx_dev_minor),
        inode: seen.stx_ino,
        born: born.then_some((seen.stx_btime.tv_sec, seen.stx_btime.tv_nsec)),
    })
}

/// The file type in a status.
pub(crate) fn type_of(status: &Stat) -> FileType {
    FileType::from_raw_mode(status.st_mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_takes_only_a_free_name() {
        for take in [take_free_name, link_and_remove, claim_and_replace] {
            let directory = tempfile::tempdir().unwrap();
            let at = |name: &str| directory.path().join(name);
            std::fs::write(at("temporary"), "new").unwrap();
            let handle = pin_anywhere(directory.path().as_os_str().as_encoded_bytes(), OFlags::DIRECTORY).unwrap();
            take(handle.as_fd(), b"temporary", b"name").unwrap();
            assert!(!at("temporary").exists());
            std::fs::write(at("temporary"), "newer").unwrap();
            assert_eq!(take(handle.as_fd(), b"temporary", b"name"), Err(Errno::EXIST));
            assert_eq!(std::fs::read_to_string(at("name")).unwrap(), "new");
            assert_eq!(take(handle.as_fd(), b"missing", b"free"), Err(Errno::NOENT));
            assert!(!at("free").exists(), "nothing is left behind");
        }
    }
}
