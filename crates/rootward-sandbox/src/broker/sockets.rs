//! Connecting and listening for the command.
//!
//! Landlock does not hold unix sockets by their path (before ABI 9), and a filter of system calls sees the number of a descriptor
//! and the place of an address in memory, neither the socket nor the address. So where a command may make unix sockets, the filter
//! puts each `connect(2)` and `listen(2)` to the supervisor, and the supervisor carries it out itself, for every family.
//!
//! # Why for every family
//!
//! It would be cheaper to look at the socket and let the kernel go on with those of the internet. That is not sound: between the look
//! and the call another thread can put a unix socket under the same number (`dup2(2)`), or another address into the same memory,
//! and the kernel would connect it to any path. No property of the call tells the families apart either: an address of the internet
//! is as long as a short path. Nothing tells whether such a socket exists: it can be passed on by `SCM_RIGHTS`. So no call is let go
//! on. The supervisor takes the socket itself (`pidfd_getfd(2)`), copies the address once, and connects this socket to that
//! address. Whatever the command changes meanwhile is not looked at again.
//!
//! For internet sockets that gives nothing away: with the network open, they may be connected to anything, and with the network
//! closed they are refused here as well. What the caller sees is the same: the same socket is connected, with the same errors.
//! `waiting.rs` has what blocks.
//!
//! # Where a unix socket may lead
//!
//! The path is resolved as the caller would, and what it leads to is pinned. It must be a socket
//! - that lies in a place which the command may write, proved as for every other call, or is the very object at a place that the user
//!   named, reached from the top over no link;
//! - whose listener is none that acts for the user (`SocketKind`), by the name it has now and by the name it was bound by, which no
//!   renaming changes (`listeners.rs`). Only what the command itself listens at may be called anything;
//! - and then it is connected through the pinned handle.
//!
//! A listener in another network namespace is not known by name. It is reached only if the user named it.
//!
//! Names without a path (abstract) belong to no place. The command connects to none, and listens at none: it would answer for
//! whoever usually has that name. It may bind one, and nothing comes of it. Datagrams name their receiver without a connection;
//! the filter lets no socket for them be made.
//!
//! The peer of a connection sees the supervisor's process id where it asks for one (`SO_PEERCRED`).

use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{self, FileType, OFlags};
use rustix::io::Errno;
use rustix::net::sockopt::{socket_cookie, socket_domain, socket_type};
use rustix::net::{AddressFamily, SocketType, listen};

use super::address::{self, UnixAddress};
use super::call::{At, int};
use super::listeners::{self, Listener};
use super::memory::Memory;
use super::place::{self, Caller, Links, Needed, Places};
use super::trace::Seen;
use super::waiting::{Attempt, Target, Waiting};
use super::{Answer, descriptor};
use crate::options::Network;
use crate::orders::{Orders, UnixOrders, text};
use crate::sockets::{SessionSockets, SocketKind};
use crate::sys::{self, Notification, Reply};

/// How many of the command's own listeners are remembered.
const MOST_OWN: usize = 10_000;

/// What the supervisor knows of sockets.
#[derive(Debug)]
pub(super) struct Sockets {
    network: Network,
    /// The sockets that the user named.
    named: Vec<PathBuf>,
    session: SessionSockets,
    /// What the command itself listens at.
    own: BTreeSet<u64>,
    pub(super) waiting: Waiting,
}

/// What the rules are asked by, and where a refusal is noted.
pub(super) struct Judge<'j> {
    pub(super) places: &'j Places,
    pub(super) trace: Option<&'j mut Seen>,
}

impl Sockets {
    /// Nothing where no call on a socket is put to the supervisor.
    pub(super) fn new(orders: &Orders) -> Option<Sockets> {
        let UnixOrders::Supervised { named, session } = &orders.unix_sockets else { return None };
        let session = session.iter().map(|(place, kind)| (text(place).into(), *kind)).collect();
        Some(Sockets {
            network: orders.network,
            named: named.iter().map(|place| text(place).into()).collect(),
            session: SessionSockets::new(session),
            own: BTreeSet::new(),
            waiting: Waiting::new(),
        })
    }

    /// Answers a call on a socket; nothing for other calls.
    pub(super) fn answer(
        &mut self,
        listener: BorrowedFd<'_>,
        notification: &Notification,
        judge: Judge<'_>,
    ) -> Option<Answer> {
        let caller = Caller::new(notification.thread);
        let answered = match notification.number {
            libc::SYS_connect => {
                let attempt = self.attempt(listener, notification, caller, judge);
                attempt.map(|attempt| self.waiting.begin(notification.id, caller, attempt))
            }
            libc::SYS_listen => self.listen(listener, notification, caller).map(|()| Some(Reply::Done(0))),
            _ => return None,
        };
        Some(match answered {
            Ok(Some(reply)) => Answer::Now(reply),
            Ok(None) => Answer::Later,
            Err(error) => Answer::Now(Reply::Failed(error)),
        })
    }

    /// What a call connects, if it may.
    fn attempt(
        &self,
        listener: BorrowedFd<'_>,
        notification: &Notification,
        caller: Caller,
        judge: Judge<'_>,
    ) -> Result<Attempt, Errno> {
        let [number, address, length, ..] = notification.arguments;
        let socket = open_socket(caller, int(number))?;
        let address = Memory::of_ambient(caller.thread())?.address(address, int(length))?;
        waits(listener, notification)?;
        let family = socket_domain(&socket)?;
        if family != AddressFamily::UNIX {
            self.allow_family(family)?;
            return Ok(Attempt { socket, target: Target::Address(address) });
        }
        // SECURITY: a socket for datagrams, given by somebody outside, is not for this one to connect
        // (test: what_is_passed_on_is_held_as_well)
        if !matches!(socket_type(&socket)?, SocketType::STREAM | SocketType::SEQPACKET) {
            return Err(Errno::ACCESS);
        }
        let UnixAddress::Path(path) = UnixAddress::read(&address)? else {
            // SECURITY: a name that belongs to no place may be anybody's (test: names_without_a_path_are_closed)
            return Err(Errno::ACCESS);
        };
        let handle = caller.resolve(At::Working, &path, Links::Followed)?;
        // The directory that the path starts from is another's if the caller is gone.
        waits(listener, notification)?;
        self.judge(&handle, judge)?;
        Ok(Attempt { socket, target: Target::Handle(handle) })
    }

    /// Whether a socket of another family may be used.
    fn allow_family(&self, family: AddressFamily) -> Result<(), Errno> {
        let is_known = [AddressFamily::INET, AddressFamily::INET6, AddressFamily::NETLINK].contains(&family);
        // SECURITY: with the network closed the command cannot make such a socket, but it may be given one
        // (test: what_is_passed_on_is_held_as_well)
        if self.network == Network::On && is_known { Ok(()) } else { Err(Errno::ACCESS) }
    }

    /// That the command may connect to a socket.
    fn judge(&self, handle: &OwnedFd, judge: Judge<'_>) -> Result<(), Errno> {
        let refused = |judge: Judge<'_>, place: PathBuf, kind| {
            if let Some(seen) = judge.trace {
                seen.refused_socket(place, kind);
            }
            Err(Errno::ACCESS)
        };
        let Some(place) = place::guess(handle.as_fd()) else { return Err(Errno::ACCESS) };
        let kind = self.session.kind(&place);
        // SECURITY: a name that became a link since the start leads nowhere (test: a_named_socket_is_reached_over_no_link)
        let is_named = self.named.iter().any(|named| place::lies_at_ambient(named, handle.as_fd()));
        // SECURITY: a listener outside acts for its user, with rights of its own (test: a_listener_outside_is_out_of_reach)
        if !is_named && !judge.places.gives(handle.as_fd(), Needed::Connect) {
            return refused(judge, place, kind);
        }
        if FileType::from_raw_mode(fs::fstat(handle)?.st_mode) != FileType::Socket {
            return Err(Errno::CONNREFUSED);
        }
        let listeners = listeners::of_ambient(handle.as_fd()).unwrap_or_default();
        if !listeners.is_empty() && listeners.iter().all(|one| self.own.contains(&one.cookie)) {
            return Ok(());
        }
        // SECURITY: the command may rename what lies in a directory that it may write
        // (test: sockets_that_act_for_the_user_are_never_reached)
        let bound = listeners.iter().map(|Listener { name, .. }| (name.clone(), self.session.kind(name)));
        let (place, kind) = bound.fold((place, kind), |worst, one| if one.1 > worst.1 { one } else { worst });
        match kind {
            kind if kind.is_never() => refused(judge, place, kind),
            SocketKind::Session if !is_named => refused(judge, place, kind),
            // SECURITY: of a listener that the kernel does not tell nobody knows what it does
            // (test: a_file_without_a_known_listener_is_refused)
            _ if listeners.is_empty() && !is_named => Err(Errno::CONNREFUSED),
            _ => Ok(()),
        }
    }

    fn listen(&mut self, listener: BorrowedFd<'_>, notification: &Notification, caller: Caller) -> Result<(), Errno> {
        let [number, backlog, ..] = notification.arguments;
        let socket = open_socket(caller, int(number))?;
        waits(listener, notification)?;
        let family = socket_domain(&socket)?;
        if family != AddressFamily::UNIX {
            self.allow_family(family)?;
            return listen(&socket, int(backlog));
        }
        // SECURITY: whoever listens at a name without a path answers for whoever usually does
        // (test: names_without_a_path_are_closed)
        if address::is_abstract(&sys::bound_address(socket.as_fd())?) {
            return Err(Errno::ACCESS);
        }
        listen(&socket, int(backlog))?;
        if self.own.len() < MOST_OWN {
            self.own.extend(socket_cookie(&socket));
        }
        Ok(())
    }
}

/// A socket of the caller's. What opens nothing is no descriptor to the calls of sockets (open(2), `O_PATH`).
fn open_socket(caller: Caller, number: i32) -> Result<OwnedFd, Errno> {
    let socket = descriptor(caller, number)?;
    if fs::fcntl_getfl(&socket)?.contains(OFlags::PATH) { Err(Errno::BADF) } else { Ok(socket) }
}

/// That the call still waits: only then what was taken from its caller is the caller's.
fn waits(listener: BorrowedFd<'_>, notification: &Notification) -> Result<(), Errno> {
    if sys::still_waits(listener, notification.id) { Ok(()) } else { Err(Errno::INTR) }
}
