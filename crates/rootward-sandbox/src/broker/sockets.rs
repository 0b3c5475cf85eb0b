//! `connect(2)` and `listen(2)`, carried out for the command because of unix sockets.
//!
//! Before ABI 9, Landlock does not check which path a unix socket connects to. A filter of system calls cannot check it either: it
//! sees a descriptor's number and a pointer, not the socket and not the address. So if a command may create unix sockets, the
//! filter sends every `connect` and `listen` to the supervisor, and the supervisor makes the call itself.
//!
//! # Why for every address family
//!
//! It would be cheaper to look at the socket and to let the kernel continue if it is a TCP socket. That is not sound. Between the
//! look and the call, another thread can replace the descriptor (`dup2(2)`) or the address, and the kernel would connect a unix
//! socket to any path. Nothing in the arguments separates the families: a `sockaddr_in` is as long as a short path, and a
//! descriptor's number says nothing, because sockets can be received over `SCM_RIGHTS` under any number. So no `connect` is ever
//! continued. The supervisor takes the socket (`pidfd_getfd(2)`), copies the address once, and connects this socket to this
//! address. The command can change its own descriptors and memory meanwhile; nobody looks at them again.
//!
//! For TCP and UDP this gives the command nothing new: with the network on it may connect anywhere, and with the network off the
//! supervisor refuses. The caller sees what it would see from the kernel, because its own socket is connected. `waiting.rs` handles
//! calls that block.
//!
//! # Which unix sockets are allowed
//!
//! The supervisor resolves the path as the caller would and pins the result (`O_PATH`). All of this must hold:
//!
//! - The socket lies in a place that the command may write, proved by handle as for the other calls; or it is the object at a path
//!   that the user named, opened without following a link.
//! - Its name is not on the list of sockets that act for the user (`SocketKind`): neither its current name, nor the name that its
//!   listener was bound to. The second does not change when the command renames the file (`listeners.rs`). This rule does not
//!   apply to the command's own listeners, which the supervisor knows because it made the `listen` call.
//! - The kernel knows the listener, or the user named the socket. A listener in another network namespace is unknown, and so its
//!   name cannot be checked.
//!
//! Then the supervisor connects through the pinned handle.
//!
//! Abstract names belong to no directory. The command can neither connect to one nor listen on one: it could pretend to be the
//! service that usually has the name. It can bind one, which has no effect without `listen`. Datagram sockets send to a path
//! without `connect`, so the filter does not let the command create them.
//!
//! One thing differs: a peer that asks for the process id of the other side (`SO_PEERCRED`) sees the supervisor's.

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

/// The limit on remembered listeners of the command.
const MOST_OWN: usize = 10_000;

/// The state of supervised sockets.
#[derive(Debug)]
pub(super) struct Sockets {
    network: Network,
    /// The sockets that the user named.
    named: Vec<PathBuf>,
    session: SessionSockets,
    /// The command's own listeners, by cookie (`SO_COOKIE`).
    own: BTreeSet<u64>,
    pub(super) waiting: Waiting,
}

/// The rules, and the trace that records refusals.
pub(super) struct Judge<'j> {
    pub(super) places: &'j Places,
    pub(super) trace: Option<&'j mut Seen>,
}

impl Sockets {
    /// `None` if the filter does not send these calls.
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

    /// Answers `connect` and `listen`; `None` for other calls.
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

    /// The connection that a call asks for, if it is allowed.
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
        // The filter lets the command create no datagram sockets; one that it received is not connected either.
        if !matches!(socket_type(&socket)?, SocketType::STREAM | SocketType::SEQPACKET) {
            return Err(Errno::ACCESS);
        }
        let UnixAddress::Path(path) = UnixAddress::read(&address)? else {
            // SECURITY: an abstract name belongs to no directory, so no rule can allow it
            // (test: abstract_names_are_closed)
            return Err(Errno::ACCESS);
        };
        let handle = caller.resolve(At::Working, &path, Links::Followed)?;
        // If the caller is gone, its number may belong to another process, with another working directory.
        waits(listener, notification)?;
        self.judge(&handle, judge)?;
        Ok(Attempt { socket, target: Target::Handle(handle) })
    }

    /// Whether sockets of another family may be used.
    fn allow_family(&self, family: AddressFamily) -> Result<(), Errno> {
        let is_known = [AddressFamily::INET, AddressFamily::INET6, AddressFamily::NETLINK].contains(&family);
        // SECURITY: with the network off the command cannot create such a socket, but it can receive one
        // (test: received_sockets_are_checked)
        if self.network == Network::On && is_known { Ok(()) } else { Err(Errno::ACCESS) }
    }

    /// Checks that the command may connect to a socket.
    fn judge(&self, handle: &OwnedFd, judge: Judge<'_>) -> Result<(), Errno> {
        let refused = |judge: Judge<'_>, place: PathBuf, kind| {
            if let Some(seen) = judge.trace {
                seen.refused_socket(place, kind);
            }
            Err(Errno::ACCESS)
        };
        let Some(place) = place::guess(handle.as_fd()) else { return Err(Errno::ACCESS) };
        let kind = self.session.kind(&place);
        // SECURITY: a link that was created after the start is not followed
        // (test: a_named_socket_is_not_reached_through_a_link)
        let is_named = self.named.iter().any(|named| place::lies_at_ambient(named, handle.as_fd()));
        // SECURITY: a listener outside acts with the rights of its user (test: a_listener_outside_is_out_of_reach)
        if !is_named && !judge.places.gives(handle.as_fd(), Needed::Connect) {
            return refused(judge, place, kind);
        }
        if FileType::from_raw_mode(fs::fstat(handle)?.st_mode) != FileType::Socket {
            return Err(Errno::CONNREFUSED);
        }
        let listeners = listeners_at(handle.as_fd());
        if !listeners.is_empty() && listeners.iter().all(|one| self.own.contains(&one.cookie)) {
            return Ok(());
        }
        // SECURITY: the command can rename files in a directory that it may write, but not what their listeners were bound to
        // (test: sockets_that_act_for_the_user_are_never_reached)
        let bound = listeners.iter().map(|Listener { name, .. }| (name.clone(), self.session.kind(name)));
        let (place, kind) = bound.fold((place, kind), |worst, one| if one.1 > worst.1 { one } else { worst });
        match kind {
            kind if kind.is_never() => refused(judge, place, kind),
            SocketKind::Session if !is_named => refused(judge, place, kind),
            // SECURITY: the original name of such a listener cannot be checked
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
        // SECURITY: programs outside would take the command for the service that usually has the name
        // (test: abstract_names_are_closed)
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

/// The listeners of a socket. Asks again if there are none: the kernel sends its list in parts and can skip a socket if others are
/// closed in between.
fn listeners_at(handle: BorrowedFd<'_>) -> Vec<Listener> {
    let ask = || listeners::of_ambient(handle).ok().filter(|listeners| !listeners.is_empty());
    ask().or_else(ask).unwrap_or_default()
}

/// The caller's socket. As in the kernel, an `O_PATH` descriptor is not one.
fn open_socket(caller: Caller, number: i32) -> Result<OwnedFd, Errno> {
    let socket = descriptor(caller, number)?;
    if fs::fcntl_getfl(&socket)?.contains(OFlags::PATH) { Err(Errno::BADF) } else { Ok(socket) }
}

/// Checks that the call still waits: only then, what was read belongs to its caller.
fn waits(listener: BorrowedFd<'_>, notification: &Notification) -> Result<(), Errno> {
    if sys::still_waits(listener, notification.id) { Ok(()) } else { Err(Errno::INTR) }
}
