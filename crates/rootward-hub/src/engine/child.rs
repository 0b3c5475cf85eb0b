//! A server's process as the engine sees it: its pending input and the answers it owes.

use std::collections::HashMap;
use std::time::Duration;

use rootward_core::Guard;
use rootward_protocol::frame::key;

use super::SessionId;
use super::outlet::Outlet;
use super::rounds::Sent;

/// How long calls wait for a server to ask for its roots after a start or a change.
pub(super) const SETTLES_WITHIN: Duration = Duration::from_millis(200);

/// The same for a server that is known to ask. Also how soon after the start a question during a call may still be
/// unrelated to it.
pub(super) const ASKS_WITHIN: Duration = Duration::from_secs(2);

/// Identifies a child by session, link and number. Later children have greater numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ChildId {
    pub(super) session: SessionId,
    pub(super) link: usize,
    pub(super) number: u64,
}

impl ChildId {
    pub(crate) fn session(self) -> SessionId {
        self.session
    }
}

/// What a child owes an answer to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Owed {
    /// A client request.
    Plain,
    /// The client's request for this list. Its answer shows what the server offers.
    List(&'static str),
    /// The client's request for a later page of this list.
    Page(&'static str),
    /// The client's own `initialize`.
    Handshake,
    /// The client's own `server/discover`.
    Discovery,
    /// Rootward's `initialize`, on the client's behalf.
    OwnHandshake,
    /// Rootward's question for this list.
    OwnList(&'static str),
}

impl Owed {
    /// Whether the client is waiting for it.
    pub(super) fn is_clients(self) -> bool {
        match self {
            Owed::Plain | Owed::List(_) | Owed::Page(_) | Owed::Handshake | Owed::Discovery => true,
            Owed::OwnHandshake | Owed::OwnList(_) => false,
        }
    }

    /// The list that the answer contains.
    pub(super) fn list(self) -> Option<&'static str> {
        match self {
            Owed::List(list) | Owed::OwnList(list) => Some(list),
            Owed::Plain | Owed::Page(_) | Owed::Handshake | Owed::Discovery | Owed::OwnHandshake => None,
        }
    }
}

/// The lifecycle of a child.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// It says what the server offers, in an empty directory, and gets no calls.
    Learning,
    /// It has not answered `initialize` yet.
    Greeting,
    /// It takes calls.
    Running,
    /// Another child has taken over; it finishes its open requests.
    Retired,
}

#[derive(Debug)]
pub(super) struct Child {
    pub(super) phase: Phase,
    /// The roots that it was given.
    pub(super) guard: Guard,
    /// Pending input.
    pub(super) input: Outlet,
    /// Requests it has not answered, by id.
    pub(super) owes: HashMap<Box<str>, Owed>,
    /// The roots that its own were last compared with.
    pub(super) compared: Option<Guard>,
    /// Requests that it is processing in a removed root, each with its deadline.
    pub(super) revoked: HashMap<Box<str>, Duration>,
    /// Modern requests that it may answer with a question, by id.
    pub(super) sent: HashMap<Box<str>, Sent>,
    /// Whether it got `initialized`.
    pub(super) greeted: bool,
    /// When it began to run.
    pub(super) since: Duration,
    /// When calls no longer wait for it to ask for its roots.
    pub(super) settles_at: Duration,
    /// Whether it asked for its roots on its own, not during a call.
    pub(super) asks_for_roots: bool,
    /// Whether it asked for its roots at all.
    pub(super) asked: bool,
}

impl Child {
    pub(super) fn new(guard: Guard, phase: Phase, now: Duration) -> Child {
        Child {
            phase,
            guard,
            input: Outlet::default(),
            owes: HashMap::new(),
            compared: None,
            revoked: HashMap::new(),
            sent: HashMap::new(),
            greeted: false,
            since: now,
            settles_at: now,
            asks_for_roots: false,
            asked: false,
        }
    }

    /// Queues a message.
    pub(super) fn send(&mut self, message: &str) {
        self.input.push(message);
    }

    /// Queues a request, which it then owes an answer to.
    pub(super) fn ask(&mut self, id: &str, owed: Owed, message: &str) {
        self.owes.insert(key(id), owed);
        self.send(message);
    }
}
