//! The engine: clients on one side, server processes on the other, roots in between. It has no pipes, processes or
//! timers: events and times go in, bytes and effects come out. It touches the disk only to find roots and to check
//! paths through guards, and reads the time of day only for audit entries.
//!
//! ```text
//!   client ──▶ Session ─────────▶ Link ──▶ Child (current)
//!              era, roots,        one      Child (coming: started for other roots, takes over once it has answered `initialize`)
//!              questions, out     server   Child (retired: finishes what it began)
//! ```
//!
//! A [`Session`] is one client; sessions are independent. A link connects a session to one server: the children that
//! run for this client, by their roots, and what they are known to offer. A [`Server`] is what all sessions share:
//! the rules, and the memory of earlier runs.
//!
//! [`Session::step`] handles every event the same way: it records the event, does what is due, adjusts the children
//! to the roots, and releases waiting messages. A message is checked against the roots that are current when it is
//! forwarded.

mod arranging;
mod backoff;
mod child;
mod closing;
mod failure;
mod from_child;
mod from_client;
mod gate;
mod given;
mod host_limits;
#[cfg(test)]
mod interleaving;
mod learning;
mod link;
mod lists;
mod memory;
mod modern;
mod outlet;
mod revoking;
mod roots;
mod rounds;
mod router;
mod rules;
#[cfg(test)]
mod scripts;
mod session;
mod tools;
#[cfg(test)]
mod transcripts;
mod unmatched;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rootward_core::{AuditEvent, Guard, RootSet};
use rootward_protocol::frame::{Found, Line};
use rootward_protocol::session::{Given, Placed, Placing, Terms};

pub(crate) use child::ChildId;
pub(crate) use failure::{Failure, Hope};
pub(crate) use from_client::read_list;
pub use given::SourceWatcher;
pub(crate) use link::{Begin, Change, Learners};
pub(crate) use memory::Memory;
pub(crate) use outlet::Outlet;
pub(crate) use rounds::{CallIdentity, Kept, LIFETIME as ROUND_LIFETIME, Rounds};
pub use rules::{About, Enforce, Rules, Tells, TreatedBy, Treatments};
pub(crate) use session::Session;

use crate::principal::Party;
use session::SessionEvent;

/// Identifies a session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct SessionId(u64);

impl SessionId {
    /// No session: for an audit entry that nobody waits for.
    pub(crate) const NONE: SessionId = SessionId(0);
}

/// Identifies a client of the hub.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ClientId(pub(crate) u64);

/// Identifies a configured server.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ServerId(usize);

/// Identifies a message of a session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct MessageNumber(u64);

impl MessageNumber {
    /// No message: for an audit entry that nobody waits for.
    pub(crate) const NONE: MessageNumber = MessageNumber(0);
}

/// An event.
#[derive(Debug)]
pub(crate) enum Event<'e> {
    /// A client sent a line.
    ClientLine(SessionId, Line<'e>),
    /// A client has closed its end.
    ClientClosed(SessionId),
    /// A client is being dropped: its waiting messages get an error.
    Left(SessionId),
    /// A child sent a line.
    ChildLine(ChildId, Found<'e>),
    /// A child has ended, or closed its output.
    ChildEnded(ChildId, &'e Failure),
    /// A child could not be started.
    NotStarted(ChildId, &'e Failure, Hope),
    /// The process of a child has exited.
    Gone(ChildId),
    /// Roots were resolved.
    Placed(Place, Placed),
    /// The decision about a message is in the audit log, or could not be written.
    Recorded(SessionId, MessageNumber, OnRecord),
    /// The operator's or user's root sources for one server have changed.
    Given(ServerId, Given),
    /// Time passed.
    Tick,
}

impl Event<'_> {
    /// The session that it concerns, if any.
    pub(crate) fn session(&self) -> Option<SessionId> {
        match self {
            Event::ClientLine(session, _)
            | Event::ClientClosed(session)
            | Event::Left(session)
            | Event::Recorded(session, ..)
            | Event::Placed(Place::Session(session) | Place::Request(session, _), _) => Some(*session),
            Event::ChildLine(child, _)
            | Event::ChildEnded(child, _)
            | Event::NotStarted(child, ..)
            | Event::Gone(child) => Some(child.session),
            Event::Placed(Place::Client(_), _) | Event::Given(..) | Event::Tick => None,
        }
    }
}

/// An action for the front, to be carried out in order.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Start a child with these roots; report [`Event::NotStarted`] on failure.
    Start(ChildId, Guard, Purpose),
    /// Stop a child; report [`Event::Gone`] when it has exited.
    End(ChildId),
    /// Kill a child that is already being stopped.
    Kill(ChildId),
    /// Drop this client: its server does not run.
    Leave(SessionId),
    /// Tell the operator.
    Say(String),
    /// Resolve roots; report [`Event::Placed`].
    Place(Place, Placing),
    /// Audit the decision about a message; report [`Event::Recorded`].
    Record(SessionId, MessageNumber, Entries),
    /// Save [`Engine::memory`].
    Remember(ServerId),
}

/// The purpose of a child.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Learn what the server offers, in an empty directory.
    Learn,
    /// Take calls, with its roots.
    Serve,
    /// Take calls, and be traced, because the one before ended too early.
    ServeTraced,
}

/// Audit entries for one message.
#[derive(Debug)]
pub(crate) struct Entries {
    /// The child that gets the message. The front fills its process id into the events.
    pub(crate) child: Option<ChildId>,
    pub(crate) events: Vec<AuditEvent>,
}

/// Whose roots are resolved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// A legacy session's.
    Session(SessionId),
    /// A modern request's.
    Request(SessionId, MessageNumber),
    /// Those that a client of the hub shares with all of its servers.
    Client(ClientId),
}

/// Whether the audit entries were written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnRecord {
    Yes,
    No,
}

/// A configured server and its memory.
#[derive(Debug)]
pub(crate) struct Server {
    /// The name in the audit log.
    pub(crate) name: Arc<str>,
    pub(crate) rules: Arc<Rules>,
    /// How its sessions learn their roots.
    pub(crate) terms: Arc<Terms>,
    /// The root sources of the operator and the user.
    pub(crate) given: Arc<Given>,
    /// What a change of roots requires.
    pub(crate) change: Change,
    pub(crate) learners: Learners,
    pub(crate) begin: Begin,
    pub(crate) memory: Arc<Memory>,
    /// The memory for each principal, by name, while this process runs.
    pub(crate) of_principals: BTreeMap<Arc<str>, Arc<Memory>>,
}

impl Server {
    /// A server that starts at once and about which nothing is known.
    pub(crate) fn new_ambient(name: &str, rules: Rules, change: Change) -> Server {
        Server {
            name: name.into(),
            terms: Arc::new(rules.terms_ambient()),
            given: Arc::new(rules.given()),
            rules: Arc::new(rules),
            change,
            learners: Learners::default(),
            begin: Begin::default(),
            memory: Arc::default(),
            of_principals: BTreeMap::new(),
        }
    }

    /// What sessions of this party know about the server before it runs.
    // SECURITY: a server's lists may mention one principal's files, which no other principal may see
    // (test: what_a_server_told_one_principal_is_hidden_from_others)
    fn memory_of(&mut self, party: &Party) -> &mut Arc<Memory> {
        match &party.principal {
            Some(principal) => self.of_principals.entry(Arc::clone(&principal.name)).or_default(),
            None => &mut self.memory,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Engine {
    servers: Vec<Server>,
    sessions: BTreeMap<SessionId, Session>,
    last_session: u64,
    /// The longest message that is forwarded.
    longest: usize,
    /// Whether sessions tell the operator which of their client's roots are not used.
    tells_left_out: bool,
}

impl Engine {
    pub(crate) fn new(longest: usize) -> Engine {
        Engine { servers: Vec::new(), sessions: BTreeMap::new(), last_session: 0, longest, tells_left_out: true }
    }

    /// An engine behind a hub, where a client has one session per server. The hub reports the unused roots once.
    pub(crate) fn behind_hub(longest: usize) -> Engine {
        Engine { tells_left_out: false, ..Engine::new(longest) }
    }

    /// Adds a server.
    pub(crate) fn add(&mut self, server: Server) -> ServerId {
        self.servers.push(server);
        ServerId(self.servers.len() - 1)
    }

    /// A client connects to this server.
    pub(crate) fn open(&mut self, server: ServerId, party: impl Into<Party>) -> Option<SessionId> {
        let (known, party) = (self.servers.get_mut(server.0)?, party.into());
        let memory = Arc::clone(known.memory_of(&party));
        self.last_session += 1;
        let id = SessionId(self.last_session);
        let link = link::Link::new(server, known, memory);
        let (terms, given) = (Arc::clone(&known.terms), Arc::clone(&known.given));
        let mut session = Session::new(id, party, (terms, given), self.longest, vec![link]);
        if !self.tells_left_out {
            session.left_out = None;
        }
        self.sessions.insert(id, session);
        Some(id)
    }

    /// A client is gone: stops its children.
    pub(crate) fn close(&mut self, id: SessionId) -> Vec<Effect> {
        let session = self.sessions.remove(&id);
        session.iter().flat_map(Session::children).map(|(child, _)| Effect::End(child)).collect()
    }

    /// Handles an event and returns the effects.
    pub(crate) fn step(&mut self, now: Duration, event: Event<'_>) -> Vec<Effect> {
        let mut effects = Vec::new();
        let (servers, sessions) = (&mut self.servers, &mut self.sessions);
        match event {
            Event::Given(server, given) => {
                let given = Arc::new(given);
                if let Some(known) = servers.get_mut(server.0) {
                    known.given = Arc::clone(&given);
                }
                for session in sessions.values_mut().filter(|session| session.is_with(server)) {
                    advance(servers, session, now, SessionEvent::Given(&given), &mut effects);
                }
            }
            Event::Tick => {
                for session in sessions.values_mut().filter(|session| session.is_due(now)) {
                    advance(servers, session, now, SessionEvent::Nothing, &mut effects);
                }
            }
            event => {
                let (id, event) = SessionEvent::of(event);
                if let Some(session) = sessions.get_mut(&id) {
                    advance(servers, session, now, event, &mut effects);
                }
            }
        }
        effects
    }

    /// The server that a child belongs to.
    pub(crate) fn server_of(&self, child: ChildId) -> Option<ServerId> {
        self.sessions.get(&child.session)?.server_of(child)
    }

    /// The name of the server that a child belongs to.
    pub(crate) fn name_of(&self, child: ChildId) -> Option<&str> {
        self.servers.get(self.server_of(child)?.0).map(|server| &*server.name)
    }

    /// The ceiling of a server.
    pub(crate) fn ceiling(&self, server: ServerId) -> Option<RootSet> {
        self.servers.get(server.0).map(|server| server.given.sources.ceiling.clone())
    }

    /// The memory of a server.
    pub(crate) fn memory(&self, server: ServerId) -> Option<&Memory> {
        self.servers.get(server.0).map(|server| &*server.memory)
    }

    /// When time next matters.
    pub(crate) fn wakes_at(&self) -> Option<Duration> {
        self.sessions.values().filter_map(Session::due).min()
    }

    /// The sessions for which time matters now.
    pub(crate) fn due(&self, now: Duration) -> impl Iterator<Item = SessionId> {
        self.sessions.iter().filter(move |(_, session)| session.is_due(now)).map(|(id, _)| *id)
    }

    /// A session, for fronts that write to its client.
    pub(crate) fn session(&self, id: SessionId) -> Option<&Session> {
        self.sessions.get(&id)
    }

    /// Pending output to a client.
    pub(crate) fn client_outlet(&mut self, id: SessionId) -> Option<&mut Outlet> {
        self.sessions.get_mut(&id).map(Session::outlet)
    }

    /// Pending input for a child.
    pub(crate) fn child_outlet(&mut self, child: ChildId) -> Option<&mut Outlet> {
        self.sessions.get_mut(&child.session)?.child_mut(child).map(|child| &mut child.input)
    }
}

/// Advances a session by one step, and stores what it learned about its server.
fn advance(
    servers: &mut [Server],
    session: &mut Session,
    now: Duration,
    event: SessionEvent<'_>,
    effects: &mut Vec<Effect>,
) {
    session.step(now, event, effects);
    for (server, learned) in session.take_learned() {
        if let Some(known) = servers.get_mut(server.0)
            && Arc::make_mut(known.memory_of(&session.party)).keep(learned)
            && session.party.principal.is_none()
        {
            effects.push(Effect::Remember(server));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fronts_with_threads_can_have_an_engine() {
        fn is_send<T: Send>() {}
        is_send::<Engine>();
        is_send::<Effect>();
    }
}
