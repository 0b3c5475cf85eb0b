//! Opening below a handle without following links: the only step that gives access.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use crate::os;
use crate::tree::components;
use crate::uri::LONGEST_PATH;

/// How names below a root are opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resolver {
    /// With one system call: `openat2(2)`, Linux 5.6 and later.
    Kernel,
    /// Component by component with `O_NOFOLLOW`, if `openat2` is missing or forbidden.
    Walk,
}

impl Resolver {
    /// The best resolver that this process can use.
    pub fn detect() -> Resolver {
        if os::has_openat2() { Resolver::Kernel } else { Resolver::Walk }
    }
}

/// Opens `names` (a plain relative path, empty for the directory itself) below `directory`.
///
/// `ELOOP` means that there is a link on the way. `ENOENT` means that there is no link before the missing name, because
/// names are looked up from left to right. With `O_PATH | O_NOFOLLOW`, a link in the last component is itself opened.
pub(crate) fn open(
    resolver: Resolver,
    directory: BorrowedFd<'_>,
    names: &[u8],
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    let names = if names.is_empty() { b".".as_slice() } else { names };
    if names.len() > LONGEST_PATH {
        return Err(Errno::NAMETOOLONG);
    }
    match resolver {
        Resolver::Kernel => os::open_beneath(directory, names, flags),
        Resolver::Walk => walk(directory, names, flags),
    }
}

fn walk(directory: BorrowedFd<'_>, names: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut holder: Option<OwnedFd> = None;
    let mut names = components(names).map(|(name, _)| name).peekable();
    if names.peek().is_none() {
        return os::open_child(directory, b".", flags);
    }
    while let Some(name) = names.next() {
        let here = holder.as_ref().map_or(directory, AsFd::as_fd);
        if names.peek().is_none() {
            return open_last(here, name, flags);
        }
        holder = Some(step(here, name)?);
    }
    Err(Errno::NOENT)
}

/// Opens an intermediate directory.
fn step(directory: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    // SECURITY: `O_NOFOLLOW` on every component; the name has no slash, which would defeat it (Go CVE-2026-39822)
    // (test: guard_passes_the_escape_corpus_by_walking)
    let next = os::open_child(directory, name, os::PIN)?;
    match os::type_of(&os::status(&next)?) {
        FileType::Directory => Ok(next),
        FileType::Symlink => Err(Errno::LOOP),
        _ => Err(Errno::NOTDIR),
    }
}

fn open_last(directory: BorrowedFd<'_>, name: &[u8], flags: OFlags) -> Result<OwnedFd, Errno> {
    if !flags.contains(OFlags::PATH) {
        // For a link, the kernel returns `ELOOP`, or `ENOTDIR` if a directory was asked for. The caller must know that
        // it is a link.
        return match os::open_child(directory, name, flags) {
            Err(Errno::NOTDIR) if is_link(directory, name) => Err(Errno::LOOP),
            answer => answer,
        };
    }
    let keep_link = flags.contains(OFlags::NOFOLLOW);
    let opened = os::open_child(directory, name, os::PIN)?;
    match os::type_of(&os::status(&opened)?) {
        FileType::Symlink if !keep_link => Err(Errno::LOOP),
        FileType::Directory => Ok(opened),
        _ if flags.contains(OFlags::DIRECTORY) => Err(Errno::NOTDIR),
        _ => Ok(opened),
    }
}

fn is_link(directory: BorrowedFd<'_>, name: &[u8]) -> bool {
    os::status_of_child(directory, name).is_ok_and(|status| os::type_of(&status) == FileType::Symlink)
}
