//! The broker: makes the calls for the command that Landlock does not check.
//!
//! Under Landlock, a process can still change permissions, owners and times and watch for changes wherever its user
//! may. The filter sends these calls to the supervisor. It resolves the path as the caller would, proves by handle
//! where the object lies, and acts on that handle itself; nothing that the caller changes meanwhile makes a difference.
//!
//! It also gets `connect` and `listen`, because of unix sockets (`sockets.rs`), and `open`, if every process may read
//! its own files in `/proc` (`own.rs`).

mod address;
mod call;
mod listeners;
mod memory;
mod own;
mod place;
mod sockets;
mod trace;
mod waiting;

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::fs::{self, AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::launcher::{is_opening, is_traced};
use crate::options::{OwnProc, Trace};
use crate::orders::{LauncherReport, Orders};
use crate::sys::{self, Notification, Reply};
use call::{Act, Call, Object};
use own::OwnFiles;
use place::{Caller, Needed, Places};
use sockets::{Judge, Sockets};

/// What the supervisor knows about open places, and the refusals it saw.
#[derive(Debug)]
pub(crate) struct Broker {
    places: Places,
    given: Given,
    sockets: Option<Sockets>,
    /// Opens each process's own files in `/proc`.
    own: Option<OwnFiles>,
    trace: Option<trace::Seen>,
}

/// The answer to a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Now(Reply),
    /// The caller waits; [`Broker::go_on`] answers it.
    Later,
}

impl Broker {
    pub(crate) fn new(orders: &Orders, handles: Vec<OwnedFd>, given: &Given, command: Pid) -> Broker {
        let trace = match orders.trace {
            Trace::On => Some(trace::Seen::new(command, orders.own_proc)),
            Trace::Off => None,
        };
        let own = match (orders.own_proc, orders.trace) {
            (OwnProc::FirstProcess, Trace::Off) => None,
            // A server is also traced because the previous one died. This file access may be all it needs, and it costs
            // nothing extra.
            (OwnProc::EveryProcess, _) | (_, Trace::On) => OwnFiles::open_ambient(),
        };
        let (places, sockets) = (Places::new(orders, handles), Sockets::new(orders));
        Broker { places, given: given.clone(), sockets, own, trace }
    }

    /// Answers a call.
    pub(crate) fn answer(&mut self, listener: BorrowedFd<'_>, notification: &Notification) -> Answer {
        if let Some(sockets) = &mut self.sockets {
            let judge = Judge { places: &self.places, trace: self.trace.as_mut() };
            if let Some(answer) = sockets.answer(listener, notification, judge) {
                return answer;
            }
        }
        Answer::Now(self.reply(listener, notification))
    }

    /// The longest time to sleep, if a caller waits.
    pub(crate) fn sleep(&self) -> Option<Duration> {
        self.sockets.as_ref()?.waiting.sleep()
    }

    /// The sockets to poll for writing.
    pub(crate) fn waited_for(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.sockets.iter().flat_map(|sockets| sockets.waiting.sockets())
    }

    /// Answers the callers whose wait is over. `ready` is the result of polling the sockets.
    pub(crate) fn go_on(&mut self, listener: BorrowedFd<'_>, ready: &[PollFlags]) {
        if let Some(sockets) = &mut self.sockets {
            sockets.waiting.go_on(listener, ready);
        }
    }

    fn reply(&mut self, listener: BorrowedFd<'_>, notification: &Notification) -> Reply {
        let caller = Caller::new(notification.thread);
        let number = notification.number;
        if is_opening(number) || self.trace.is_some() && is_traced(number) {
            return self.look(listener, notification, caller);
        }
        let call = Call::read(notification, caller);
        // The thread id may have been reused: what was read counts only if the call still waits.
        if !sys::still_waits(listener, notification.id) {
            return Reply::Failed(Errno::INTR);
        }
        match call {
            Ok(Some(call)) => match self.carry_out(listener, notification.id, caller, &call) {
                Ok(value) => Reply::Done(value),
                Err(error) => Reply::Failed(error),
            },
            // The filter sent a call that is unknown here: do not make it.
            Ok(None) => Reply::Failed(Errno::PERM),
            Err(error) => Reply::Failed(error),
        }
    }

    /// Lets the kernel decide a call, unless it opens one of the caller's own files in `/proc`.
    fn look(&mut self, listener: BorrowedFd<'_>, notification: &Notification, caller: Caller) -> Reply {
        if let Some(own) = &self.own
            && let Some(asked) = own.asked(notification, caller)
            && let Some(reply) = own.open(listener, notification, caller, asked)
        {
            if let Some(seen) = &mut self.trace {
                seen.note_own(caller, asked.entry);
            }
            return reply;
        }
        if let Some(seen) = &mut self.trace {
            seen.note(listener, notification, caller, &self.places);
        }
        Reply::GoOn
    }

    /// The refusals since the last call.
    pub(crate) fn take_refused(&mut self) -> Vec<LauncherReport> {
        self.trace.as_mut().map(trace::Seen::take).unwrap_or_default()
    }

    fn carry_out(&mut self, listener: BorrowedFd<'_>, id: u64, caller: Caller, call: &Call) -> Result<i64, Errno> {
        let handle = match &call.object {
            Object::Named { at, path, links } => caller.resolve(*at, path, *links)?,
            Object::Descriptor(number) => descriptor(caller, *number)?,
        };
        let notifier = match call.act {
            Act::Watch { notifier, .. } => Some(descriptor(caller, notifier)?),
            _ => None,
        };
        // If the caller was killed meanwhile, its process id may have been reused, and these would be another process's
        // directories and files.
        if !sys::still_waits(listener, id) {
            return Err(Errno::INTR);
        }
        match (&call.object, call.act, notifier) {
            (_, Act::Watch { mask, .. }, Some(notifier)) => {
                self.judge(&handle, call.act)?;
                watch(&notifier, handle.as_fd(), mask)
            }
            (Object::Descriptor(_), act, _) => self.act_on_descriptor(&handle, act),
            (Object::Named { .. }, act, _) => {
                self.judge(&handle, act)?;
                act_on(handle.as_fd(), act)
            }
        }
    }

    /// Checks that the rules give what the act needs, at the place where the object lies.
    fn judge(&mut self, handle: &OwnedFd, act: Act) -> Result<(), Errno> {
        let needed = act.needs();
        // SECURITY: write access to a device, as to `/dev/null`, does not include its metadata
        // (test: metadata_outside_stays_as_it_is)
        if needed == Needed::Write && is_device(handle.as_fd())? {
            return Err(Errno::PERM);
        }
        // SECURITY: prove the place by opening it again below a rule's own handle
        // (test: metadata_outside_stays_as_it_is)
        if self.places.gives(handle.as_fd(), needed) {
            return Ok(());
        }
        if let Some(seen) = &mut self.trace {
            seen.refused(handle.as_fd(), needed);
        }
        Err(Errno::ACCESS)
    }

    fn act_on_descriptor(&mut self, handle: &OwnedFd, act: Act) -> Result<i64, Errno> {
        let flags = fs::fcntl_getfl(handle)?;
        if flags.contains(OFlags::PATH) {
            return Err(Errno::BADF);
        }
        if fs::fstat(handle)?.st_nlink == 0 {
            // SECURITY: a file without a name may have been inherited rather than opened under the rules; judge it by
            // where it was. Memory has no place: it belongs to the command unless it was inherited
            // (test: unnamed_objects_keep_their_metadata)
            let own = if place::is_memory(handle.as_fd()) {
                !self.given.has(handle.as_fd())?
            } else {
                !is_device(handle.as_fd())? && self.places.gave(handle.as_fd(), act.needs())
            };
            return if own { act_on(handle.as_fd(), act) } else { Err(Errno::PERM) };
        }
        // SECURITY: a pipe or a socket has no place that a rule could give (test: unnamed_objects_keep_their_metadata)
        if place::guess(handle.as_fd()).is_none() {
            return Err(Errno::PERM);
        }
        // SECURITY: a read-only descriptor must not change the file (test: a_read_only_root_keeps_its_metadata)
        // SECURITY: an inherited descriptor may belong to a file outside (test: metadata_outside_stays_as_it_is)
        self.judge(handle, act)?;
        act_on(handle.as_fd(), act)
    }
}

/// The files that the command inherited: its standard input, output and error at the start.
#[derive(Clone, Debug)]
pub(crate) struct Given(Vec<(u64, u64)>);

impl Given {
    /// Those of this process, which the command inherits.
    pub(crate) fn standard_three() -> Given {
        let three = [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()];
        Given(three.into_iter().filter_map(|one| identity(one).ok()).collect())
    }

    fn has(&self, handle: BorrowedFd<'_>) -> Result<bool, Errno> {
        Ok(self.0.contains(&identity(handle)?))
    }
}

fn identity(handle: BorrowedFd<'_>) -> Result<(u64, u64), Errno> {
    fs::fstat(handle).map(|seen| (seen.st_dev, seen.st_ino))
}

/// The caller's own open file.
fn descriptor(caller: Caller, number: i32) -> Result<OwnedFd, Errno> {
    if number < 0 {
        return Err(Errno::BADF);
    }
    let process = pidfd_open(caller.process()?, PidfdFlags::empty())?;
    pidfd_getfd(process, number, PidfdGetfdFlags::empty())
}

fn is_device(handle: BorrowedFd<'_>) -> Result<bool, Errno> {
    let kind = FileType::from_raw_mode(fs::fstat(handle)?.st_mode);
    Ok(matches!(kind, FileType::CharacterDevice | FileType::BlockDevice))
}

/// The link for a handle of this process.
fn link_to(handle: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", handle.as_raw_fd())
}

fn watch(notifier: &OwnedFd, handle: BorrowedFd<'_>, mask: u32) -> Result<i64, Errno> {
    let flags = fs::inotify::WatchFlags::from_bits_retain(mask);
    // The handle is the object itself, link or not.
    let flags = flags.difference(fs::inotify::WatchFlags::DONT_FOLLOW);
    fs::inotify::add_watch(notifier, link_to(handle), flags).map(i64::from)
}

/// Acts on an object through the link for its handle: the kernel follows it to exactly that object.
#[expect(clippy::disallowed_methods, reason = "the name of a handle that was proved to lie in an open place")]
fn act_on(handle: BorrowedFd<'_>, act: Act) -> Result<i64, Errno> {
    let name = link_to(handle);
    match act {
        Act::Permissions(mode) => {
            let directory = FileType::from_raw_mode(fs::fstat(handle)?.st_mode) == FileType::Directory;
            // SECURITY: same rule as in the filter: no file may set the user id when it is run
            // (test: no_file_is_made_that_sets_the_user_id)
            if !directory && mode & (libc::S_ISUID | libc::S_ISGID) != 0 {
                return Err(Errno::PERM);
            }
            fs::chmod(name, Mode::from_raw_mode(mode))?;
        }
        Act::Owner { user, group } => {
            let (user, group) = (user.map(fs::Uid::from_raw), group.map(fs::Gid::from_raw));
            fs::chownat(CWD, name, user, group, AtFlags::empty())?;
        }
        Act::Times(times) => fs::utimensat(CWD, name, &times.stamps(), AtFlags::empty())?,
        Act::Watch { .. } => return Err(Errno::BADF),
    }
    Ok(0)
}
