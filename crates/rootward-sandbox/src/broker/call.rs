//! The calls that are sent to the supervisor, parsed.

use rustix::fs::{Timespec, Timestamps, UTIME_NOW};
use rustix::io::Errno;

use super::memory::Memory;
use super::place::{Caller, Links, Needed};
use crate::sys::Notification;

/// Not yet named by the `libc` crate.
const FCHMODAT2: i64 = 452;

/// The object of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Object {
    /// The target of a path, starting at a directory.
    Named { at: At, path: Vec<u8>, links: Links },
    /// An open file.
    Descriptor(i32),
}

/// Where a relative path starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum At {
    /// The caller's working directory.
    Working,
    /// A directory the caller has open.
    Open(i32),
}

/// What the call does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Act {
    Permissions(u32),
    Owner { user: Option<u32>, group: Option<u32> },
    Times(Times),
    Watch { notifier: i32, mask: u32 },
}

impl Act {
    /// The right that the object's place must give.
    pub(super) fn needs(self) -> Needed {
        match self {
            Act::Permissions(_) | Act::Owner { .. } | Act::Times(_) => Needed::Write,
            Act::Watch { .. } => Needed::Read,
        }
    }
}

/// Access and modification time: seconds and nanoseconds of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Times([(i64, i64); 2]);

impl Times {
    const NOW: Times = Times([(0, UTIME_NOW), (0, UTIME_NOW)]);

    pub(super) fn stamps(self) -> Timestamps {
        let [access, modification] = self.0.map(|(tv_sec, tv_nsec)| Timespec { tv_sec, tv_nsec });
        Timestamps { last_access: access, last_modification: modification }
    }
}

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Call {
    pub(super) object: Object,
    pub(super) act: Act,
}

impl Call {
    /// Parses a call; `None` for calls that are only traced.
    #[expect(clippy::many_single_char_names, reason = "the arguments, in their order")]
    pub(super) fn read(notification: &Notification, caller: Caller) -> Result<Option<Call>, Errno> {
        let memory = Memory::of_ambient(caller.thread())?;
        let [a, b, c, d, e, _] = notification.arguments;
        let named = |at: u64, path: u64, links| {
            let (at, path) = (at_of(at), memory.path(path)?);
            Ok::<_, Errno>(Object::Named { at, path, links })
        };
        let here = at_working();
        Ok(Some(match notification.number {
            libc::SYS_fchmod => Call { object: Object::Descriptor(int(a)), act: Act::Permissions(mode(b)) },
            libc::SYS_fchmodat => Call { object: named(a, b, Links::Followed)?, act: Act::Permissions(mode(c)) },
            FCHMODAT2 => Call { object: flagged(&memory, a, b, d)?, act: Act::Permissions(mode(c)) },
            libc::SYS_fchown => Call { object: Object::Descriptor(int(a)), act: owner(b, c) },
            libc::SYS_fchownat => Call { object: flagged(&memory, a, b, e)?, act: owner(c, d) },
            // Without a path, the descriptor itself is meant (utimensat(2)).
            libc::SYS_utimensat if b == 0 => {
                Call { object: Object::Descriptor(int(a)), act: times(&memory, c, Unit::Nanoseconds)? }
            }
            libc::SYS_utimensat => {
                Call { object: flagged(&memory, a, b, d)?, act: times(&memory, c, Unit::Nanoseconds)? }
            }
            libc::SYS_inotify_add_watch => {
                let links = if c & u64::from(libc::IN_DONT_FOLLOW) == 0 { Links::Followed } else { Links::Kept };
                let act = Act::Watch { notifier: int(a), mask: word(c) };
                Call { object: named(here, b, links)?, act }
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_chmod => Call { object: named(here, a, Links::Followed)?, act: Act::Permissions(mode(b)) },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_chown => Call { object: named(here, a, Links::Followed)?, act: owner(b, c) },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_lchown => Call { object: named(here, a, Links::Kept)?, act: owner(b, c) },
            #[cfg(target_arch = "x86_64")]
            libc::SYS_utime => {
                Call { object: named(here, a, Links::Followed)?, act: times(&memory, b, Unit::Seconds)? }
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_utimes => {
                Call { object: named(here, a, Links::Followed)?, act: times(&memory, b, Unit::Microseconds)? }
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_futimesat if b == 0 => {
                Call { object: Object::Descriptor(int(a)), act: times(&memory, c, Unit::Microseconds)? }
            }
            #[cfg(target_arch = "x86_64")]
            libc::SYS_futimesat => {
                Call { object: named(a, b, Links::Followed)?, act: times(&memory, c, Unit::Microseconds)? }
            }
            _ => return Ok(None),
        }))
    }
}

/// The object of a call that takes flags: whether to follow a link, and the directory itself for an empty path.
fn flagged(memory: &Memory, at: u64, path: u64, flags: u64) -> Result<Object, Errno> {
    let flags = int(flags);
    if flags & !(libc::AT_SYMLINK_NOFOLLOW | libc::AT_EMPTY_PATH) != 0 {
        return Err(Errno::INVAL);
    }
    let path = memory.path(path)?;
    if path.is_empty() && flags & libc::AT_EMPTY_PATH == 0 {
        return Err(Errno::NOENT);
    }
    let links = match path.is_empty() {
        true => Links::Itself,
        false if flags & libc::AT_SYMLINK_NOFOLLOW == 0 => Links::Followed,
        false => Links::Kept,
    };
    Ok(Object::Named { at: at_of(at), path, links })
}

/// The unit of the second number of a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unit {
    Nanoseconds,
    Microseconds,
    /// There is no second number.
    Seconds,
}

fn times(memory: &Memory, address: u64, unit: Unit) -> Result<Act, Errno> {
    if address == 0 {
        return Ok(Act::Times(Times::NOW));
    }
    let times = match unit {
        Unit::Nanoseconds => {
            let [a, b, c, d] = memory.numbers(address)?;
            [(a, b), (c, d)]
        }
        Unit::Microseconds => {
            let [a, b, c, d] = memory.numbers(address)?;
            let nanoseconds =
                |micro: i64| if (0..1_000_000).contains(&micro) { Ok(micro * 1000) } else { Err(Errno::INVAL) };
            [(a, nanoseconds(b)?), (c, nanoseconds(d)?)]
        }
        Unit::Seconds => {
            let [a, b] = memory.numbers(address)?;
            [(a, 0), (b, 0)]
        }
    };
    Ok(Act::Times(Times(times)))
}

fn owner(user: u64, group: u64) -> Act {
    let id = |raw: u64| Some(word(raw)).filter(|id| *id != u32::MAX);
    Act::Owner { user: id(user), group: id(group) }
}

fn mode(raw: u64) -> u32 {
    word(raw) & 0o7777
}

/// The lower half of a register, which is all the kernel uses of an `int`.
#[expect(clippy::cast_possible_truncation, reason = "the kernel only uses the lower half")]
fn word(raw: u64) -> u32 {
    raw as u32
}

/// The same as a signed number.
pub(super) fn int(raw: u64) -> i32 {
    word(raw).cast_signed()
}

pub(super) fn at_of(raw: u64) -> At {
    match int(raw) {
        libc::AT_FDCWD => At::Working,
        number => At::Open(number),
    }
}

fn at_working() -> u64 {
    u64::from(libc::AT_FDCWD.cast_unsigned())
}
