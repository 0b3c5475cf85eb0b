//! Where a call's object lies: resolved as the caller would, then proved by handle.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use landlock::{AccessFs, BitFlags};
use rustix::fs::{self, AtFlags, CWD, Mode, OFlags, ResolveFlags, StatxFlags};
use rustix::io::Errno;
use rustix::process::Pid;

use super::call::At;
use crate::orders::{Orders, text};

/// Whether to follow a link in the last component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Links {
    Followed,
    Kept,
    /// There is no path: the descriptor itself is meant.
    Itself,
}

/// The right that a place must give.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Needed {
    Read,
    Write,
    Execute,
    /// Connecting to a unix socket needs the right to write at its place.
    Connect,
}

impl Needed {
    pub(super) fn word(self) -> &'static str {
        match self {
            Needed::Read => "read",
            Needed::Write => "write",
            Needed::Execute => "execute",
            Needed::Connect => "connect",
        }
    }

    fn right(self) -> BitFlags<AccessFs> {
        match self {
            Needed::Read => AccessFs::ReadFile.into(),
            Needed::Write | Needed::Connect => AccessFs::WriteFile.into(),
            Needed::Execute => AccessFs::Execute.into(),
        }
    }
}

/// The thread that makes a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller(Pid);

impl Caller {
    pub(super) fn new(thread: Pid) -> Caller {
        Caller(thread)
    }

    pub(super) fn thread(self) -> Pid {
        self.0
    }

    /// The process that the thread belongs to.
    pub(super) fn process(self) -> Result<Pid, Errno> {
        let status = self.status_ambient()?;
        field(&status, "Tgid:").and_then(|group| Pid::from_raw(group.parse().ok()?)).ok_or(Errno::SRCH)
    }

    /// Whether an unblocked signal is pending for the thread. A signal for the whole process counts only for its first thread, because
    /// the kernel prefers that one.
    pub(super) fn is_signalled_ambient(self) -> bool {
        let Ok(status) = self.status_ambient() else { return false };
        let set = |name| field(&status, name).and_then(|set| u64::from_str_radix(set, 16).ok()).unwrap_or(0);
        let is_first = field(&status, "Tgid:").and_then(|group| group.parse().ok()) == Some(self.0.as_raw_pid());
        let of_process = if is_first { set("ShdPnd:") } else { 0 };
        (set("SigPnd:") | of_process) & !set("SigBlk:") != 0
    }

    /// `/proc/TID/status`, read in one call; it is shorter than a page.
    #[expect(clippy::disallowed_methods, reason = "the status of a process that waits for this one")]
    fn status_ambient(self) -> Result<String, Errno> {
        let file = File::open(format!("/proc/{}/status", self.0.as_raw_pid())).map_err(|_| Errno::SRCH)?;
        let mut text = vec![0; 4096];
        let length = file.read_at(&mut text, 0).map_err(|_| Errno::SRCH)?;
        text.truncate(length);
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The object that a path leads to for this caller. It may lie anywhere; its place is proved afterwards.
    #[expect(clippy::disallowed_methods, reason = "pins an object anywhere; nothing is opened")]
    pub(super) fn resolve(self, at: At, path: &[u8], links: Links) -> Result<OwnedFd, Errno> {
        let start = self.start(at)?;
        let flags = match links {
            Links::Itself => return Ok(start),
            Links::Followed => OFlags::PATH | OFlags::CLOEXEC,
            Links::Kept => OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW,
        };
        if path.is_empty() {
            return Err(Errno::NOENT);
        }
        // `/proc/self` is a different directory here than for the caller; its magic links lead to objects that have
        // their own calls.
        fs::openat2(start, path, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS).map_err(|error| match error {
            Errno::LOOP => Errno::ACCESS,
            error => error,
        })
    }

    /// The directory that a relative path starts at.
    #[expect(clippy::disallowed_methods, reason = "the caller's own directory, by its process id")]
    pub(super) fn start(self, at: At) -> Result<OwnedFd, Errno> {
        let link = match at {
            At::Working => format!("/proc/{}/cwd", self.0.as_raw_pid()),
            At::Open(number) if number < 0 => return Err(Errno::BADF),
            At::Open(number) => format!("/proc/{}/fd/{number}", self.0.as_raw_pid()),
        };
        let opened = fs::openat(CWD, link, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        opened.map_err(|error| if error == Errno::NOENT { Errno::BADF } else { error })
    }
}

/// A field of a status.
pub(super) fn field<'s>(status: &'s str, name: &str) -> Option<&'s str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// The open places.
#[derive(Debug)]
pub(super) struct Places(Vec<(PathBuf, OwnedFd, BitFlags<AccessFs>)>);

impl Places {
    pub(super) fn new(orders: &Orders, handles: Vec<OwnedFd>) -> Places {
        let places = orders
            .open
            .iter()
            .zip(handles)
            .map(|(open, handle)| (text(&open.place).into(), handle, BitFlags::from_bits_truncate(open.rights)));
        Places(places.collect())
    }

    /// Whether the object of a handle lies in a place that gives this right.
    ///
    /// The kernel's name for the handle is only a guess. The proof is that the same object is found below the place's
    /// own handle, following no link.
    pub(super) fn gives(&self, handle: BorrowedFd<'_>, needed: Needed) -> bool {
        let Some(guess) = guess(handle) else { return false };
        let mut candidates = self.0.iter().filter(|(_, _, rights)| rights.contains(needed.right()));
        candidates.any(|(place, top, _)| {
            guess.strip_prefix(place).is_ok_and(|rest| is_below(top.as_fd(), rest, handle).unwrap_or(false))
        })
    }

    /// The same for a file without a name: whether it was created or removed in a directory that gives this right.
    ///
    /// The kernel still names that directory (`/place/name (deleted)`, `proc_pid_fd(5)`). The proof is that the
    /// directory is found below the place's own handle, following no link, and on the file's mount: a file from another
    /// mount namespace may have the same name.
    pub(super) fn gave(&self, handle: BorrowedFd<'_>, needed: Needed) -> bool {
        let Some(guess) = guess(handle) else { return false };
        let name = guess.as_os_str().as_bytes().strip_suffix(b" (deleted)");
        let Some(directory) = name.and_then(|name| Path::new(OsStr::from_bytes(name)).parent()) else { return false };
        let mut candidates = self.0.iter().filter(|(_, _, rights)| rights.contains(needed.right()));
        candidates.any(|(place, top, _)| {
            let rest = directory.strip_prefix(place);
            rest.is_ok_and(|rest| is_mounted_with(top.as_fd(), rest, handle).unwrap_or(false))
        })
    }

    /// The same judged by the text of a path alone, to report what would be refused. It decides nothing.
    pub(super) fn seem_to_give(&self, path: &Path, needed: Needed) -> bool {
        self.0.iter().any(|(place, _, rights)| rights.contains(needed.right()) && path.starts_with(place))
    }
}

/// Whether a handle is a memory file (`memfd_create(2)`).
pub(super) fn is_memory(handle: BorrowedFd<'_>) -> bool {
    guess(handle).is_some_and(|guess| guess.as_os_str().as_bytes().starts_with(b"/memfd:"))
}

/// The kernel's name for a handle.
#[expect(clippy::disallowed_methods, reason = "this process's own handle")]
pub(super) fn guess(handle: BorrowedFd<'_>) -> Option<PathBuf> {
    let link = format!("/proc/self/fd/{}", handle.as_raw_fd());
    let target = fs::readlinkat(CWD, link, Vec::new()).ok()?;
    Some(PathBuf::from(OsStr::from_bytes(target.to_bytes()))).filter(|path| path.is_absolute())
}

/// Whether a directory exists below `top`, on the same mount as the handle.
#[expect(clippy::disallowed_methods, reason = "below a handle, following no link: the proof itself")]
fn is_mounted_with(top: BorrowedFd<'_>, directory: &Path, handle: BorrowedFd<'_>) -> Result<bool, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY;
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let found = fs::openat2(top, directory, flags, Mode::empty(), resolve)?;
    Ok(mount(found.as_fd())? == mount(handle)?)
}

/// The id of the mount on which an object was reached (statx(2)).
#[expect(clippy::disallowed_methods, reason = "this process's own handle, without a name")]
pub(super) fn mount(handle: BorrowedFd<'_>) -> Result<u64, Errno> {
    let seen = fs::statx(handle, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?;
    if seen.stx_mask & StatxFlags::MNT_ID.bits() == 0 { Err(Errno::NOSYS) } else { Ok(seen.stx_mnt_id) }
}

/// Whether a handle is the object at this path. Follows no link.
#[expect(clippy::disallowed_methods, reason = "a place that the user named; pinned, not opened")]
pub(super) fn lies_at_ambient(place: &Path, handle: BorrowedFd<'_>) -> bool {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let found = fs::openat2(CWD, place, flags, Mode::empty(), resolve);
    found.is_ok_and(|found| is_same(found.as_fd(), handle).unwrap_or(false))
}

pub(super) fn is_same(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> Result<bool, Errno> {
    let (one, other) = (fs::fstat(one)?, fs::fstat(other)?);
    Ok((one.st_dev, one.st_ino) == (other.st_dev, other.st_ino))
}

#[expect(clippy::disallowed_methods, reason = "below a handle, following no link: the proof itself")]
fn is_below(top: BorrowedFd<'_>, rest: &Path, handle: BorrowedFd<'_>) -> Result<bool, Errno> {
    if rest.as_os_str().is_empty() {
        return is_same(top, handle);
    }
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let found = match fs::openat2(top, rest, flags, Mode::empty(), resolve) {
        // The object is itself a link in the last component.
        Err(Errno::LOOP) => {
            let (Some(parent), Some(name)) = (rest.parent(), rest.file_name()) else { return Ok(false) };
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            let directory = fs::openat2(top, parent, flags | OFlags::DIRECTORY, Mode::empty(), resolve)?;
            fs::openat(directory, name, flags, Mode::empty())?
        }
        found => found?,
    };
    is_same(found.as_fd(), handle)
}
