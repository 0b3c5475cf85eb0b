//! The door: another process hands clients over, each as a socket.
//!
//! That process reads from the network and cannot open files; this one can open files and does not read from the
//! network. For each client, the door passes who it is and one end of a socket pair that carries its messages, one
//! per line. A client that cannot be accepted finds its socket closed, after a word that says so.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rootward_sandbox::SealedProcess;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

use super::connections::Connection;
use super::middle::Middle;
use super::pipe::do_not_block;
use super::serving::{Serving, State};

/// Written to a client's socket before it is closed if there is no room for the client. The line is not a valid
/// message.
pub const NO_ROOM_LINE: &[u8] = b"full\n";
/// Length of the data that accompanies a socket: a letter and a number.
const LENGTH: usize = 5;
/// How many clients are accepted before other sources get a turn.
const AT_A_TIME: usize = 64;

/// Who is at the door.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Caller {
    /// The principal, as an index into the configuration.
    pub principal: usize,
    /// What the socket is for.
    pub purpose: CallerPurpose,
}

/// What a socket is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallerPurpose {
    /// A legacy session.
    Session,
    /// One modern request.
    Request,
    /// This process writes its metrics into the socket.
    Figures,
}

impl Caller {
    fn to_bytes(self) -> Option<[u8; LENGTH]> {
        let letter = match self.purpose {
            CallerPurpose::Session => b'S',
            CallerPurpose::Request => b'R',
            CallerPurpose::Figures => b'F',
        };
        let [a, b, c, d] = u32::try_from(self.principal).ok()?.to_le_bytes();
        Some([letter, a, b, c, d])
    }

    fn from_bytes(bytes: [u8; LENGTH]) -> Option<Caller> {
        let [letter, number @ ..] = bytes;
        let purpose = match letter {
            b'S' => CallerPurpose::Session,
            b'R' => CallerPurpose::Request,
            b'F' => CallerPurpose::Figures,
            _ => return None,
        };
        Some(Caller { principal: usize::try_from(u32::from_le_bytes(number)).ok()?, purpose })
    }
}

/// The outer side, where clients are handed over.
#[derive(Debug)]
pub struct OuterDoor(OwnedFd);

/// The inner side, and the process at the outer side.
#[derive(Debug)]
pub(crate) struct Door {
    inner: OwnedFd,
    process: SealedProcess,
    is_closing: bool,
}

/// Creates both sides of a door.
pub(crate) fn new() -> io::Result<(OwnedFd, OuterDoor)> {
    // Each message stays whole and carries the caller together with the socket.
    let (inner, outer) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    do_not_block(&inner)?;
    Ok((inner, OuterDoor(outer)))
}

impl From<OwnedFd> for OuterDoor {
    fn from(descriptor: OwnedFd) -> OuterDoor {
        OuterDoor(descriptor)
    }
}

impl From<OuterDoor> for OwnedFd {
    fn from(door: OuterDoor) -> OwnedFd {
        door.0
    }
}

impl OuterDoor {
    /// Hands a client over. Its socket is closed if it cannot be accepted. Fails if the door has no room at the
    /// moment.
    pub fn hand_over(&self, caller: Caller, socket: BorrowedFd<'_>) -> io::Result<()> {
        let bytes = caller.to_bytes().ok_or(io::ErrorKind::InvalidInput)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let passed = [socket];
        if !control.push(SendAncillaryMessage::ScmRights(&passed)) {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        sendmsg(&self.0, &[IoSlice::new(&bytes)], &mut control, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)?;
        Ok(())
    }
}

/// What was received through the door.
#[derive(Debug)]
enum Came {
    Somebody(Caller, OwnedFd),
    /// An invalid message.
    Nobody,
    NotYet,
    /// The other process has ended.
    End,
}

impl Door {
    pub(crate) fn new(inner: OwnedFd, process: SealedProcess) -> Door {
        Door { inner, process, is_closing: false }
    }

    fn next(&self) -> Came {
        let mut bytes = [0; LENGTH];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        let length = match recvmsg(&self.inner, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags) {
            Ok(received) => received.bytes,
            Err(Errno::AGAIN | Errno::INTR) => return Came::NotYet,
            Err(_) => return Came::End,
        };
        let mut sockets = control.drain().flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(rights) => rights.collect::<Vec<_>>(),
            _ => Vec::new(),
        });
        match (length, sockets.next(), Caller::from_bytes(bytes)) {
            (0, ..) => Came::End,
            (LENGTH, Some(socket), Some(caller)) => Came::Somebody(caller, socket),
            _ => Came::Nobody,
        }
    }

    /// Asks the other process to end after it has finished its open requests. Returns false if it was already asked.
    pub(super) fn close(&mut self) -> bool {
        let is_first = !std::mem::replace(&mut self.is_closing, true);
        is_first && self.process.ask_to_end().is_ok()
    }
}

impl AsFd for Door {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }
}

impl<M: Middle> Serving<'_, M> {
    /// Accepts waiting clients. If the process at the other side is gone, this one leaves.
    pub(super) fn answer_the_door(&mut self, now: Duration) {
        for _ in 0..AT_A_TIME {
            let Some(door) = &self.door else { return };
            match door.next() {
                Came::Somebody(caller, socket) => self.let_in(caller, socket),
                Came::Nobody => self.operator.says("the network process sent an invalid message"),
                Came::NotYet => return,
                Came::End => return self.door_is_gone(now),
            }
        }
    }

    /// The other process has ended. That is a failure, unless it was asked to.
    fn door_is_gone(&mut self, now: Duration) {
        if self.door.as_ref().is_some_and(|door| !door.is_closing) {
            self.operator.says("the process that reads from the network has ended");
            self.code.1 = 2;
        }
        self.leave(now);
    }

    fn let_in(&mut self, caller: Caller, socket: OwnedFd) {
        if self.state != State::Serving {
            return;
        }
        if caller.purpose == CallerPurpose::Figures {
            return self.tell_figures(&socket);
        }
        let Ok(connection) = Connection::socket(socket, self.limit) else { return };
        match self.middle.open(caller) {
            Some(id) => {
                self.connections.insert(id, connection);
            }
            None => connection.say(NO_ROOM_LINE),
        }
    }

    /// Writes this process's metrics into a socket. If they do not fit, they are dropped.
    fn tell_figures(&self, socket: &OwnedFd) {
        let running = self.processes.keys().filter_map(|child| self.middle.name_of(*child));
        let figures = self.figures.told(self.connections.len(), running);
        if do_not_block(socket).is_ok() {
            let _ = rustix::io::write(socket, figures.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_is_the_same_on_both_sides() {
        for purpose in [CallerPurpose::Session, CallerPurpose::Request, CallerPurpose::Figures] {
            for principal in [0, 1, 70_000] {
                let caller = Caller { principal, purpose };
                assert_eq!(caller.to_bytes().and_then(Caller::from_bytes), Some(caller));
            }
        }
        assert_eq!(Caller::from_bytes(*b"X\0\0\0\0"), None);
    }
}
