//! Records what the command tried and was refused, each place once, while the kernel decides.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::process::Pid;

use super::call::At;
use super::memory::Memory;
use super::place::{Caller, Links, Needed, Places, guess};
use crate::launcher::is_own;
use crate::options::OwnProc;
use crate::orders::{LauncherReport, bytes};
use crate::own_proc::{OwnEntry, is_by_self};
use crate::sockets::SocketKind;
use crate::sys::{self, Notification};

/// The maximum number of places to report.
const MOST_REPORTED: usize = 10_000;

/// What was seen so far.
#[derive(Debug)]
pub(super) struct Seen {
    /// The command itself, which may read about itself.
    command: Pid,
    /// Whether other processes may also do so when not traced.
    own_proc: OwnProc,
    reported: BTreeSet<Tried>,
    fresh: Vec<Tried>,
}

/// A place, the access that was refused, and the kind of a socket.
type Tried = (PathBuf, Needed, Option<SocketKind>);

/// A path of a call and the access it needs.
struct Wanted {
    at: At,
    address: u64,
    needed: Needed,
    /// Whether the parent directory must give it, because names are created and removed there.
    object: Meant,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Meant {
    Itself,
    Above,
}

impl Seen {
    pub(super) fn new(command: Pid, own_proc: OwnProc) -> Seen {
        Seen { command, own_proc, reported: BTreeSet::new(), fresh: Vec::new() }
    }

    /// Records a call that continues and will be refused, as far as the paths show.
    pub(super) fn note(
        &mut self,
        listener: BorrowedFd<'_>,
        notification: &Notification,
        caller: Caller,
        places: &Places,
    ) {
        let Ok(memory) = Memory::of_ambient(caller.thread()) else { return };
        let mut found = Vec::new();
        for wanted in wanted(notification) {
            let Ok(path) = memory.path(wanted.address) else { continue };
            if is_own(&path) && caller.process() == Ok(self.command) {
                continue;
            }
            let Some(place) = place(caller, &wanted, &path) else { continue };
            if !places.seem_to_give(&place, wanted.needed) {
                found.push((place, wanted.needed, None));
            }
        }
        // The thread id may have been reused: what was read counts only if the call still waits.
        if sys::still_waits(listener, notification.id) {
            for tried in found {
                self.add(tried);
            }
        }
    }

    /// Records that a process read about itself, which it could not do without tracing.
    pub(super) fn note_own(&mut self, caller: Caller, entry: OwnEntry) {
        let place = entry.reported();
        let is_given = is_own(place.as_os_str().as_bytes()) && caller.process() == Ok(self.command);
        if self.own_proc == OwnProc::FirstProcess && !is_given {
            self.add((place, Needed::Read, None));
        }
    }

    /// Records a refusal by the broker itself.
    pub(super) fn refused(&mut self, handle: BorrowedFd<'_>, needed: Needed) {
        if let Some(place) = guess(handle) {
            self.add((place, needed, None));
        }
    }

    /// Records a refused connection.
    pub(super) fn refused_socket(&mut self, place: PathBuf, kind: SocketKind) {
        self.add((place, Needed::Connect, Some(kind)));
    }

    fn add(&mut self, tried: Tried) {
        // A hostile command must not exhaust the memory.
        if self.reported.len() < MOST_REPORTED && self.reported.insert(tried.clone()) {
            self.fresh.push(tried);
        }
    }

    pub(super) fn take(&mut self) -> Vec<LauncherReport> {
        let report = |(place, needed, socket): Tried| LauncherReport::Refused {
            path: bytes(place),
            access: needed.word().to_owned(),
            socket,
        };
        self.fresh.drain(..).map(report).collect()
    }
}

/// Where a wanted path leads; `None` if it does not exist, because then nothing was refused.
fn place(caller: Caller, wanted: &Wanted, path: &[u8]) -> Option<PathBuf> {
    let found = caller.resolve(wanted.at, path, Links::Followed).ok().and_then(|handle| guess(handle.as_fd()));
    // Resolved here, it is this process's own file; the caller's has the same name.
    let found = found.map(|found| if is_by_self(path) { PathBuf::from(OsStr::from_bytes(path)) } else { found });
    match (found, wanted.object) {
        (Some(place), Meant::Itself) => Some(place),
        (Some(place), Meant::Above) => place.parent().map(Into::into),
        // Creating a file is refused for the directory it would lie in.
        (None, _) if wanted.needed == Needed::Write => {
            let path = path.strip_suffix(b"/").unwrap_or(path);
            let above = match path.iter().rposition(|byte| *byte == b'/') {
                Some(0) => b"/".as_slice(),
                Some(slash) => &path[..slash],
                None => b".",
            };
            let above = caller.resolve(wanted.at, above, Links::Followed).ok()?;
            guess(above.as_fd())
        }
        (None, _) => None,
    }
}

fn wanted(notification: &Notification) -> Vec<Wanted> {
    let [a, b, c, d, ..] = notification.arguments;
    let at = |raw: u64| match i32::try_from(raw.cast_signed() << 32 >> 32) {
        Ok(number) if number != libc::AT_FDCWD => At::Open(number),
        _ => At::Working,
    };
    let one = |at, address, needed, object| vec![Wanted { at, address, needed, object }];
    let opening = |flags: u64| {
        let flags = i32::try_from(flags & 0x7fff_ffff).unwrap_or(0);
        let changes = libc::O_CREAT | libc::O_TRUNC;
        // A handle that opens nothing is always allowed.
        if flags & libc::O_PATH != 0 {
            None
        } else if flags & libc::O_ACCMODE != libc::O_RDONLY || flags & changes != 0 {
            Some(Needed::Write)
        } else {
            Some(Needed::Read)
        }
    };
    let opened = |start, address, flags| match opening(flags) {
        Some(needed) => one(start, address, needed, Meant::Itself),
        None => Vec::new(),
    };
    match notification.number {
        libc::SYS_openat => opened(at(a), b, c),
        libc::SYS_execve => one(At::Working, a, Needed::Execute, Meant::Itself),
        libc::SYS_mkdirat | libc::SYS_unlinkat => one(at(a), b, Needed::Write, Meant::Above),
        libc::SYS_renameat2 => {
            let mut both = one(at(a), b, Needed::Write, Meant::Above);
            both.extend(one(at(c), d, Needed::Write, Meant::Above));
            both
        }
        libc::SYS_truncate => one(At::Working, a, Needed::Write, Meant::Itself),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open => opened(At::Working, a, b),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_creat => one(At::Working, a, Needed::Write, Meant::Itself),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_mkdir | libc::SYS_rmdir | libc::SYS_unlink => one(At::Working, a, Needed::Write, Meant::Above),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_rename => {
            let mut both = one(At::Working, a, Needed::Write, Meant::Above);
            both.extend(one(At::Working, b, Needed::Write, Meant::Above));
            both
        }
        _ => Vec::new(),
    }
}
