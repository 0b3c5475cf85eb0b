//! The broker: carries out, for the command, the calls that Landlock does not look at.
//!
//! Changing permissions, owners and times, and watching for changes, are open to a process under Landlock wherever its user may
//! do them. The filter puts these calls to the supervisor. It resolves the path as the caller would, proves by handle where the
//! object lies, and acts on that handle itself; nothing that the caller changes meanwhile makes a difference.

mod call;
mod memory;
mod place;
mod trace;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{self, AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::launcher::is_traced;
use crate::options::Trace;
use crate::orders::{Bytes, Orders};
use crate::sys::{self, Notification, Reply};
use call::{Act, Call, Object};
use place::{Caller, Places};

/// The supervisor's knowledge of what is open, and what it saw refused.
#[derive(Debug)]
pub(crate) struct Broker {
    places: Places,
    trace: Option<trace::Seen>,
}

impl Broker {
    pub(crate) fn new(orders: &Orders, handles: Vec<OwnedFd>) -> Broker {
        let trace = match orders.trace {
            Trace::On => Some(trace::Seen::default()),
            Trace::Off => None,
        };
        Broker { places: Places::new(orders, handles), trace }
    }

    /// Answers a call.
    pub(crate) fn answer(&mut self, listener: BorrowedFd<'_>, notification: &Notification) -> Reply {
        let caller = Caller::new(notification.thread);
        let call = Call::read(notification, caller);
        // The thread's number may be another's by now: what was read of it counts only if the call still waits.
        if !sys::still_waits(listener, notification.id) {
            return Reply::Failed(Errno::INTR);
        }
        match call {
            Ok(Some(call)) => match self.carry_out(caller, &call) {
                Ok(value) => Reply::Done(value),
                Err(error) => Reply::Failed(error),
            },
            Ok(None) => match &mut self.trace {
                // The kernel decides; this one only looks.
                Some(seen) if is_traced(notification.number) => {
                    seen.note(notification, caller, &self.places);
                    Reply::GoOn
                }
                // The filter asks about a call that nobody here knows: it is not made.
                _ => Reply::Failed(Errno::PERM),
            },
            Err(error) => Reply::Failed(error),
        }
    }

    /// What was refused since the last time.
    pub(crate) fn take_refused(&mut self) -> Vec<(Bytes, String)> {
        self.trace.as_mut().map(trace::Seen::take).unwrap_or_default()
    }

    fn carry_out(&mut self, caller: Caller, call: &Call) -> Result<i64, Errno> {
        let handle = match &call.object {
            Object::Named { at, path, links } => caller.resolve(*at, path, *links)?,
            Object::Descriptor(number) => {
                let handle = self.descriptor(caller, *number)?;
                return self.act_on_descriptor(&handle, call.act);
            }
        };
        self.judge(&handle, call.act)?;
        self.act(caller, &handle, call.act)
    }

    /// That the rules give what the act needs, at the place where the object lies.
    fn judge(&mut self, handle: &OwnedFd, act: Act) -> Result<(), Errno> {
        let needed = act.needs();
        // SECURITY: the place is proved by opening it anew below a rule's own handle
        // (test: metadata_outside_stays_as_it_is)
        if self.places.gives(handle.as_fd(), needed) {
            return Ok(());
        }
        if let Some(seen) = &mut self.trace {
            seen.refused(handle.as_fd(), needed);
        }
        Err(Errno::ACCESS)
    }

    /// The caller's own open file, not another that has its number by now.
    #[expect(clippy::unused_self, reason = "reads as the other steps do")]
    fn descriptor(&self, caller: Caller, number: i32) -> Result<OwnedFd, Errno> {
        let process = pidfd_open(caller.process()?, PidfdFlags::empty())?;
        pidfd_getfd(process, number, PidfdGetfdFlags::empty())
    }

    fn act_on_descriptor(&mut self, handle: &OwnedFd, act: Act) -> Result<i64, Errno> {
        let flags = fs::fcntl_getfl(handle)?;
        if flags.contains(OFlags::PATH) {
            return Err(Errno::BADF);
        }
        // What is open for writing was opened for writing under the rules; what is open for reading was not.
        // SECURITY: a descriptor for reading does not change what it reads
        // (test: a_read_only_root_keeps_its_metadata)
        if matches!(flags & OFlags::RWMODE, OFlags::RDONLY) {
            self.judge(handle, act)?;
        }
        act_on(&format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(handle)), handle.as_fd(), act)
    }

    fn act(&self, caller: Caller, handle: &OwnedFd, act: Act) -> Result<i64, Errno> {
        let name = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(handle));
        match act {
            Act::Watch { notifier, mask } => {
                let notifier = self.descriptor(caller, notifier)?;
                let flags = fs::inotify::WatchFlags::from_bits_retain(mask);
                // The handle is the object itself, link or not.
                let flags = flags.difference(fs::inotify::WatchFlags::DONT_FOLLOW);
                fs::inotify::add_watch(notifier, name, flags).map(i64::from)
            }
            act => act_on(&name, handle.as_fd(), act),
        }
    }
}

/// Acts on an object through the link that stands for its handle: the kernel follows it to that very object.
#[expect(clippy::disallowed_methods, reason = "the name is that of a handle, which was proved to lie in an open place")]
fn act_on(name: &str, handle: BorrowedFd<'_>, act: Act) -> Result<i64, Errno> {
    match act {
        Act::Permissions(mode) => {
            let directory = FileType::from_raw_mode(fs::fstat(handle)?.st_mode) == FileType::Directory;
            // SECURITY: as in the filter: no file sets the user's ID when it is run
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
