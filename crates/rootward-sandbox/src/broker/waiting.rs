//! Connections that are not there at once: their callers wait, the supervisor does not.
//!
//! A caller whose socket blocks sleeps until the connection stands or has failed: until the other host answers, or until a listener
//! whose queue is full takes somebody from it. The supervisor must not sleep meanwhile: it answers all the others. So a connection is
//! always begun without blocking, and finished here.
//!
//! Whether a call blocks is a property of the open file that caller and supervisor share (`O_NONBLOCK`), not of the call. It is
//! switched for the moment of the attempt, on sockets which are neither connected nor listening: nothing can be read from them or
//! written to them, so another thread of the command that looks at that very moment sees a flag and no more.
//!
//! The kernel does not wake a caller for a signal while the supervisor has its call (`SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV`). The
//! signals that wait for it are looked at from time to time, and the call ends as a system call ends that is interrupted.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{SocketType, getpeername};

use super::address;
use super::place::Caller;
use crate::sys::{self, Reply};

/// How many callers may wait. Each takes two descriptors of the supervisor's.
const MOST: usize = 256;

/// How often those are looked at that nothing wakes; less often where there are many.
const LOOK: Duration = Duration::from_millis(20);
const AT_A_TIME: usize = 32;

/// What a socket is connected to.
#[derive(Debug)]
pub(super) enum Target {
    /// A unix socket, by its handle.
    Handle(OwnedFd),
    /// An address of any other family.
    Address(Vec<u8>),
}

/// A socket of a caller's, and what it is connected to.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) socket: OwnedFd,
    pub(super) target: Target,
}

/// How far an attempt has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    /// It has come to its end.
    Ended(Result<(), Errno>),
    /// Its caller has to wait: what the kernel tells a caller that does not wait.
    Waits(Errno),
}

impl Attempt {
    /// Connects, or goes on connecting. Never blocks.
    pub(super) fn go_on(&self) -> Progress {
        let tried = self.flags_if_it_blocks().and_then(|flags| match flags {
            None => Ok(Progress::Ended(self.connect())),
            Some(flags) => {
                fcntl_setfl(&self.socket, flags | OFlags::NONBLOCK)?;
                let connected = self.connect();
                fcntl_setfl(&self.socket, flags)?;
                Ok(match (connected, &self.target) {
                    (Err(error @ (Errno::INPROGRESS | Errno::ALREADY)), Target::Address(_))
                    | (Err(error @ Errno::AGAIN), Target::Handle(_)) => Progress::Waits(error),
                    (connected, _) => Progress::Ended(connected),
                })
            }
        });
        tried.unwrap_or_else(|error| Progress::Ended(Err(error)))
    }

    /// The flags of a socket whose caller would sleep until it is connected.
    fn flags_if_it_blocks(&self) -> Result<Option<OFlags>, Errno> {
        let flags = fcntl_getfl(&self.socket)?;
        let kind = sockopt::socket_type(&self.socket)?;
        let at_once = flags.contains(OFlags::NONBLOCK)
            || !matches!(kind, SocketType::STREAM | SocketType::SEQPACKET)
            || getpeername(&self.socket).is_ok()
            || sockopt::socket_acceptconn(&self.socket)?;
        Ok((!at_once).then_some(flags))
    }

    fn connect(&self) -> Result<(), Errno> {
        match &self.target {
            // SECURITY: the kernel follows the name of a handle to the very socket that was judged
            // (test: a_path_that_is_swapped_reaches_no_listener_outside)
            Target::Handle(handle) => {
                let name = format!("/proc/self/fd/{}", handle.as_raw_fd());
                sys::connect(self.socket.as_fd(), &address::of_path(&name))
            }
            Target::Address(bytes) => sys::connect(self.socket.as_fd(), bytes),
        }
    }
}

/// A caller that waits for its connection.
#[derive(Debug)]
struct Waiter {
    id: u64,
    caller: Caller,
    attempt: Attempt,
    /// When it stops waiting, by a limit of its socket's own (`SO_SNDTIMEO`).
    until: Option<Instant>,
    wakes: Wakes,
}

/// What tells that an attempt can go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wakes {
    /// The socket.
    Socket,
    /// Nothing: it is tried again and again.
    Time,
}

/// All that wait.
#[derive(Debug)]
pub(super) struct Waiting {
    waiters: Vec<Waiter>,
    next_look: Instant,
}

impl Waiting {
    pub(super) fn new() -> Waiting {
        Waiting { waiters: Vec::new(), next_look: Instant::now() }
    }

    /// Begins an attempt; the answer, or nothing where its caller waits from now on.
    pub(super) fn begin(&mut self, id: u64, caller: Caller, attempt: Attempt) -> Option<Reply> {
        let waits = match attempt.go_on() {
            Progress::Ended(result) => return Some(reply(result)),
            Progress::Waits(error) => error,
        };
        if self.waiters.len() >= MOST {
            return Some(Reply::Failed(Errno::AGAIN));
        }
        // Without a limit, a caller waits for ever.
        let limit = sockopt::socket_timeout(&attempt.socket, Timeout::Send).ok().flatten();
        let wakes = if waits == Errno::AGAIN { Wakes::Time } else { Wakes::Socket };
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        self.waiters.push(Waiter { id, caller, attempt, until, wakes });
        None
    }

    /// How long to sleep at most, if anybody waits.
    pub(super) fn sleep(&self) -> Option<Duration> {
        (!self.waiters.is_empty()).then(|| self.next_look.saturating_duration_since(Instant::now()))
    }

    /// The sockets that tell when they can go on.
    pub(super) fn sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let by_socket = self.waiters.iter().filter(|waiter| waiter.wakes == Wakes::Socket);
        by_socket.map(|waiter| waiter.attempt.socket.as_fd())
    }

    /// Goes on with all that can, and answers those that have come to an end. `ready` is what the sockets told, in their order.
    pub(super) fn go_on(&mut self, listener: BorrowedFd<'_>, ready: &[PollFlags]) {
        let now = Instant::now();
        let is_due = now >= self.next_look;
        if is_due {
            let rounds = 1 + self.waiters.len() / AT_A_TIME;
            self.next_look = now + LOOK * u32::try_from(rounds).unwrap_or(1);
        }
        let mut ready = ready.iter();
        self.waiters.retain_mut(|waiter| {
            let told = waiter.wakes == Wakes::Socket && ready.next().is_some_and(|told| !told.is_empty());
            let wanted = told || is_due && waiter.wakes == Wakes::Time;
            match wanted.then(|| waiter.attempt.go_on()) {
                Some(Progress::Ended(result)) => {
                    sys::reply(listener, waiter.id, reply(result));
                    return false;
                }
                // A socket that tells too soon would be asked without end.
                Some(Progress::Waits(_)) => waiter.wakes = Wakes::Time,
                None => {}
            }
            match is_due.then(|| waiter.ends(listener, now)).flatten() {
                Some(End::Replied(reply)) => {
                    sys::reply(listener, waiter.id, reply);
                    false
                }
                Some(End::Gone) => false,
                None => true,
            }
        });
    }
}

/// How a caller stops waiting before its connection stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Gone,
    Replied(Reply),
}

impl Waiter {
    fn ends(&self, listener: BorrowedFd<'_>, now: Instant) -> Option<End> {
        let signalled = self.caller.is_signalled_ambient();
        if !sys::still_waits(listener, self.id) {
            return Some(End::Gone);
        }
        if signalled {
            // As the kernel does (`sock_intr_errno`): with a limit, the call is not made again.
            let interrupted = if self.until.is_some() { Reply::Failed(Errno::INTR) } else { Reply::Interrupted };
            return Some(End::Replied(interrupted));
        }
        let error = match self.attempt.target {
            Target::Handle(_) => Errno::AGAIN,
            Target::Address(_) => Errno::INPROGRESS,
        };
        self.until.is_some_and(|until| now >= until).then_some(End::Replied(Reply::Failed(error)))
    }
}

fn reply(result: Result<(), Errno>) -> Reply {
    match result {
        Ok(()) => Reply::Done(0),
        Err(error) => Reply::Failed(error),
    }
}
