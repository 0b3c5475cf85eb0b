//! Opens the caller's own files in `/proc` for it.
//!
//! Landlock identifies a file by its inode and cannot express "the caller's own". A rule for `/proc/self/maps` applies
//! to the process that made it, not to its children. So if every process may read about itself, the filter sends each
//! `open` to the supervisor. If the path names one of the caller's own files on the lists of `own_proc.rs`, the
//! supervisor opens that file for reading and puts the descriptor into the caller's table. It lets every other call
//! continue, and the kernel decides.
//!
//! # Why this opens nothing else
//!
//! - The path is copied once. Overwriting it afterwards makes no difference: the supervisor opens a name that it built
//!   itself, below `/proc` and the caller's process id, and follows no link.
//! - The process id belongs to the caller. The kernel adds a descriptor only to a call that still waits, so the
//!   caller's thread was alive while the file was opened, and nobody else had its id.
//! - Letting a call continue does not permit it. A caller that changes the path at that moment still faces Landlock.
//! - Listing the open files (`fd`) opens nothing: opening an entry is a separate call, and Landlock judges the file
//!   behind it.
//!
//! `/proc` itself can also be listed, because programs (Chromium) open it and continue from there. The existing
//! processes are no secret: under Landlock, every process can check whether a path exists.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use rustix::fs::{self, CWD, Mode, OFlags, ResolveFlags};
use rustix::process::{Pid, getpid};

use super::call::{At, at_of, int};
use super::memory::Memory;
use super::place::{Caller, field, is_same};
use crate::own_proc::{OwnEntry, components};
use crate::sys::{self, Notification, OnExec, Reply};

/// Longer paths name nothing that is opened here.
const LONGEST: usize = 128;

/// The kernel's `O_LARGEFILE`: the `libc` crate defines it as 0 where it has no effect.
const LARGE_FILE: i32 = if cfg!(target_arch = "x86_64") { 0o100_000 } else { 0o400_000 };

/// The flags of a call that only reads.
const READING: i32 =
    libc::O_CLOEXEC | libc::O_DIRECTORY | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY | LARGE_FILE;

/// Opens the files.
#[derive(Debug)]
pub(super) struct OwnFiles {
    /// `/proc`.
    top: OwnedFd,
}

/// A call that opens a file of a process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) entry: OwnEntry,
    flags: i32,
}

impl OwnFiles {
    /// `None` if `/proc` is missing or belongs to another namespace, where its process ids would mean other processes.
    #[expect(clippy::disallowed_methods, reason = "a fixed name")]
    pub(super) fn open_ambient() -> Option<OwnFiles> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let top = fs::openat(CWD, c"/proc", flags, Mode::empty()).ok()?;
        if fs::fstatfs(&top).ok()?.f_type != fs::PROC_SUPER_MAGIC {
            return None;
        }
        let status = fs::openat(&top, c"self/status", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let mut text = vec![0; 4096];
        let length = File::from(status).read_at(&mut text, 0).ok()?;
        let status = String::from_utf8_lossy(&text[..length]);
        numbers_match(&status, getpid()).then_some(OwnFiles { top })
    }

    /// The file that a call opens, if its path may name one of the caller's own files.
    pub(super) fn asked(&self, notification: &Notification, caller: Caller) -> Option<Asked> {
        let (at, address, flags) = opening(notification)?;
        // SECURITY: the kernel decides calls that change or create a file
        // (test: a_process_changes_nothing_of_its_own_in_proc)
        if flags & !READING != 0 {
            return None;
        }
        let path = Memory::of_ambient(caller.thread()).ok()?.short_text(address, LONGEST)?;
        let parts = components(&path);
        let entry = match (path.first()?, parts.as_slice()) {
            (b'/', [b"proc", rest @ ..]) => OwnEntry::read(rest)?,
            (b'/', _) => return None,
            (_, rest) => {
                let entry = OwnEntry::read(rest)?;
                let start = caller.start(at).ok()?;
                is_same(start.as_fd(), self.top.as_fd()).ok()?.then_some(entry)?
            }
        };
        let flags = if path.ends_with(b"/") { flags | libc::O_DIRECTORY } else { flags };
        Some(Asked { entry, flags })
    }

    /// Opens it for the caller. `None` if it does not exist or is not the caller's own: then the kernel decides.
    #[expect(clippy::disallowed_methods, reason = "below the caller's own directory of `/proc`, following no link")]
    pub(super) fn open(
        &self,
        listener: BorrowedFd<'_>,
        notification: &Notification,
        caller: Caller,
        asked: Asked,
    ) -> Option<Reply> {
        let path = asked.entry.below_proc(caller.process().ok()?, caller.thread())?;
        let kept = asked.flags & (libc::O_DIRECTORY | libc::O_NONBLOCK);
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::from_bits_retain(kept.cast_unsigned());
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
        let file = fs::openat2(&self.top, path, flags, Mode::empty(), resolve).ok()?;
        let on_exec = if asked.flags & libc::O_CLOEXEC == 0 { OnExec::Keep } else { OnExec::Close };
        // This fails if the caller was killed meanwhile, so that its process id may have been reused.
        Some(match sys::add_descriptor(listener, notification.id, file.as_fd(), on_exec) {
            Ok(number) => Reply::Done(number.into()),
            Err(error) => Reply::Failed(error),
        })
    }
}

/// The start directory of a call that opens a file, the address of its path, and its flags.
fn opening(notification: &Notification) -> Option<(At, u64, i32)> {
    let [a, b, c, ..] = notification.arguments;
    match notification.number {
        libc::SYS_openat => Some((at_of(a), b, int(c))),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open => Some((At::Working, a, int(b))),
        _ => None,
    }
}

/// Whether the process ids in `/proc` are those of this process's own namespace: it has only one id there, which is its
/// own (`NSpid`, `proc_pid_status(5)`).
fn numbers_match(status: &str, own: Pid) -> bool {
    field(status, "NSpid:") == Some(own.as_raw_pid().to_string().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_namespaces_numbers_do_not_count() {
        let check = |line: &str, expect: bool| {
            let status = format!("Name:\tx\n{line}\nNSpgid:\t7\n");
            assert_eq!(numbers_match(&status, Pid::from_raw(7).unwrap()), expect, "{line}");
        };
        check("NSpid:\t7", true);
        check("NSpid:\t1207\t7", false);
        check("NSpid:\t7\t7", false);
        check("NSpid:\t8", false);
        check("Pid:\t7", false);
        assert!(OwnFiles::open_ambient().is_some(), "this test needs the `/proc` of its own namespace");
    }
}
