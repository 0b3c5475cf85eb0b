//! Blocking `connect` calls: the caller waits, the supervisor does not.
//!
//! A blocking `connect` returns when the other host has answered, or when a listener with a full queue has accepted somebody. The
//! supervisor serves all threads of the command, so it must not block meanwhile. It always starts a connection without blocking,
//! keeps the caller in a list, and answers it later.
//!
//! `O_NONBLOCK` belongs to the open file, which the caller and the supervisor share, and not to the call. The supervisor sets it for
//! the moment of the attempt and then restores the flags. Another thread of the command can see the flag meanwhile. That does no
//! harm, because nobody can read from a socket that is not connected yet, write to it, or accept from it.
//!
//! While the supervisor has a call, the kernel wakes its caller for fatal signals only (`SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV`). So
//! the supervisor looks for pending signals itself, from time to time, and ends the call as the kernel would.

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

/// The limit on callers that wait. Each takes up to two descriptors of the supervisor.
const MOST: usize = 256;

/// The time between two checks of the waiting callers, for each `AT_A_TIME` of them.
const LOOK: Duration = Duration::from_millis(20);
const AT_A_TIME: usize = 32;

/// What to connect to.
#[derive(Debug)]
pub(super) enum Target {
    /// A unix socket, by its handle.
    Handle(OwnedFd),
    /// An address of any other family.
    Address(Vec<u8>),
}

/// A caller's socket, and what to connect it to.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) socket: OwnedFd,
    pub(super) target: Target,
}

/// The state of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    /// Finished.
    Ended(Result<(), Errno>),
    /// The caller has to wait; the error is what a non-blocking caller would get.
    Waits(Errno),
}

impl Attempt {
    /// Starts the connection, or continues it. Never blocks.
    pub(super) fn go_on(&self) -> Progress {
        self.tried().unwrap_or_else(|error| Progress::Ended(Err(error)))
    }

    fn tried(&self) -> Result<Progress, Errno> {
        match self.target {
            // Do not touch the flag of a socket in use: these calls fail anyway.
            Target::Handle(_) if getpeername(&self.socket).is_ok() => return Err(Errno::ISCONN),
            Target::Handle(_) if sockopt::socket_acceptconn(&self.socket)? => return Err(Errno::INVAL),
            Target::Handle(_) | Target::Address(_) => {}
        }
        let flags = fcntl_getfl(&self.socket)?;
        // Datagram sockets connect at once.
        let at_once = matches!(sockopt::socket_type(&self.socket)?, SocketType::DGRAM | SocketType::RAW);
        if at_once || flags.contains(OFlags::NONBLOCK) {
            return Ok(Progress::Ended(self.connect()));
        }
        // SECURITY: a supervisor that blocks does not notice that its host ended
        // (test: a_caller_that_waits_ends_with_its_host, a_full_queue_blocks_its_caller_only)
        fcntl_setfl(&self.socket, flags | OFlags::NONBLOCK)?;
        let connected = self.connect();
        fcntl_setfl(&self.socket, flags)?;
        Ok(match (connected, &self.target) {
            (Err(error @ (Errno::INPROGRESS | Errno::ALREADY)), Target::Address(_))
            | (Err(error @ Errno::AGAIN), Target::Handle(_)) => Progress::Waits(error),
            (connected, _) => Progress::Ended(connected),
        })
    }

    fn connect(&self) -> Result<(), Errno> {
        match &self.target {
            // SECURITY: through the handle, the kernel finds the socket that was checked, whatever is at its path by now
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
    /// When the timeout of its socket ends (`SO_SNDTIMEO`).
    until: Option<Instant>,
    wakes: Wakes,
}

/// How to learn that an attempt can continue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wakes {
    /// The socket becomes writable.
    Socket,
    /// Only by trying again.
    Time,
}

/// All callers that wait.
#[derive(Debug)]
pub(super) struct Waiting {
    waiters: Vec<Waiter>,
    next_look: Instant,
}

impl Waiting {
    pub(super) fn new() -> Waiting {
        Waiting { waiters: Vec::new(), next_look: Instant::now() }
    }

    /// Starts an attempt. Returns the answer, or `None` if the caller waits now.
    pub(super) fn begin(&mut self, id: u64, caller: Caller, attempt: Attempt) -> Option<Reply> {
        let waits = match attempt.go_on() {
            Progress::Ended(result) => return Some(reply(result)),
            Progress::Waits(error) => error,
        };
        if self.waiters.len() >= MOST {
            return Some(Reply::Failed(Errno::AGAIN));
        }
        // Without a timeout the caller waits until the connection succeeds or fails.
        let limit = sockopt::socket_timeout(&attempt.socket, Timeout::Send).ok().flatten();
        let wakes = if waits == Errno::AGAIN { Wakes::Time } else { Wakes::Socket };
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        self.waiters.push(Waiter { id, caller, attempt, until, wakes });
        None
    }

    /// The time until the next check, if anybody waits.
    pub(super) fn sleep(&self) -> Option<Duration> {
        (!self.waiters.is_empty()).then(|| self.next_look.saturating_duration_since(Instant::now()))
    }

    /// The sockets to poll for writing.
    pub(super) fn sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let by_socket = self.waiters.iter().filter(|waiter| waiter.wakes == Wakes::Socket);
        by_socket.map(|waiter| waiter.attempt.socket.as_fd())
    }

    /// Continues the attempts and answers the callers that are done. `ready` is the result of polling the sockets, in their order.
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
                // Polling it again would return at once.
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

/// Why a caller stops waiting without a connection.
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
            // As the kernel does (`sock_intr_errno`): a call with a timeout is not restarted.
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
