//! The engine: clients on one side, servers' processes on the other, roots in between. No pipes, no processes, no disk, no clock: events
//! and times go in, bytes and effects come out.
//!
//! ```text
//!   client ──▶ Session ─────────▶ Link ──▶ Child (current)
//!              era, roots,        one      Child (coming: started for other roots, takes over once it has answered `initialize`)
//!              questions, out     server   Child (retired: finishes what it began)
//! ```
//!
//! A [`Session`] is one client; it owes nothing to other sessions. A link is what a session has to do with one server: the children that
//! run for this client, by the roots they run in, and what they are known to offer. A [`Server`] is what all sessions have in common: the
//! rules, and the memory of earlier times.
//!
//! Every event takes the same way, [`Session::step`]: notice is taken of it, then what is due is settled, children are arranged to fit the
//! roots, and messages that wait are released. A message is decided by the roots in force when it leaves.

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
pub use given::Lookout;
pub(crate) use link::{Begin, Change, Learners};
pub(crate) use memory::Memory;
pub(crate) use outlet::Outlet;
pub(crate) use rounds::{CallIdentity, Kept, LIFETIME as ROUND_LIFETIME, Rounds};
pub use rules::{About, Enforce, Rules, Tells, TreatedBy, Treatments};
pub(crate) use session::Session;

use crate::principal::Party;
use session::Happened;

/// Which session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct SessionId(u64);

impl SessionId {
    /// No session: for a record that nobody waits for.
    pub(crate) const NOBODYS: SessionId = SessionId(0);
}

/// Which client of the hub.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ClientId(pub(crate) u64);

/// Which server, as they were configured.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ServerId(usize);

/// Which message of a session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct MessageNumber(u64);

impl MessageNumber {
    /// No message: for a record that nobody waits for.
    pub(crate) const NOBODYS: MessageNumber = MessageNumber(0);
}

/// Something happened.
#[derive(Debug)]
pub(crate) enum Event<'e> {
    /// A client sent a line.
    ClientLine(SessionId, Line<'e>),
    /// A client says no more.
    ClientClosed(SessionId),
    /// A client is being left: its messages that still wait get an error.
    Left(SessionId),
    /// A child sent a line.
    ChildLine(ChildId, Found<'e>),
    /// A child has ended, or closed its end: how.
    ChildEnded(ChildId, &'e Failure),
    /// A child could not be started: why.
    NotStarted(ChildId, &'e Failure, Hope),
    /// The process of a child that was let end, or ended, is no more.
    Gone(ChildId),
    /// Roots were looked up.
    Placed(Place, Placed),
    /// Decisions about a message are on record, or cannot be put there.
    Recorded(SessionId, MessageNumber, OnRecord),
    /// The operator or the user gives something else, to one server.
    Given(ServerId, Given),
    /// Time passed.
    Tick,
}

impl Event<'_> {
    /// The session that it concerns, if it concerns one.
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

/// Something for the front to do, in the order given.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Start a child, in these roots; report [`Event::NotStarted`] where that fails.
    Start(ChildId, Guard, Purpose),
    /// Let a child end; report [`Event::Gone`] when it has.
    End(ChildId),
    /// End a child at once; it was let end before.
    Kill(ChildId),
    /// There is nothing left to do for this client: its server does not live.
    Leave(SessionId),
    /// Tell the operator.
    Say(String),
    /// Look roots up; report [`Event::Placed`].
    Place(Place, Placing),
    /// Put decisions about a message on record; report [`Event::Recorded`].
    Record(SessionId, MessageNumber, Entries),
    /// Keep [`Engine::memory`] for the next time.
    Remember(ServerId),
}

/// What a child is started for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// To learn what the server offers, in an empty directory.
    Learn,
    /// To take calls, in its roots.
    Serve,
    /// The same, after one that ended before it could: to be traced.
    ServeTraced,
}

/// Decisions about one message.
#[derive(Debug)]
pub(crate) struct Entries {
    /// The child that the message is for. The front knows its process and writes that into the events.
    pub(crate) child: Option<ChildId>,
    pub(crate) events: Vec<AuditEvent>,
}

/// Whose roots are looked up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// A legacy session's.
    Session(SessionId),
    /// Those of one modern request.
    Request(SessionId, MessageNumber),
    /// Those that a client of the hub shares with all of its servers.
    Client(ClientId),
}

/// Whether decisions are on record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnRecord {
    Yes,
    No,
}

/// A server as it is configured, and what is remembered of it.
#[derive(Debug)]
pub(crate) struct Server {
    /// Its name on record.
    pub(crate) name: Arc<str>,
    pub(crate) rules: Arc<Rules>,
    /// What its sessions learn their roots by.
    pub(crate) terms: Arc<Terms>,
    /// What the operator and the user give.
    pub(crate) given: Arc<Given>,
    /// What a change of roots takes.
    pub(crate) change: Change,
    pub(crate) learners: Learners,
    pub(crate) begin: Begin,
    pub(crate) memory: Arc<Memory>,
    /// The same for each principal, by its name, as long as this process runs.
    pub(crate) of_principals: BTreeMap<Arc<str>, Arc<Memory>>,
}

impl Server {
    /// What sessions of this party know of the server before it runs.
    // SECURITY: a server may tell of one principal's files in its lists, which another principal would be shown
    // (test: what_a_server_told_one_principal_no_other_hears)
    fn memory_of(&mut self, party: &Party) -> &mut Arc<Memory> {
        match &party.principal {
            Some(principal) => self.of_principals.entry(Arc::clone(&principal.name)).or_default(),
            None => &mut self.memory,
        }
    }
}

/// The engine.
#[derive(Debug)]
pub(crate) struct Engine {
    servers: Vec<Server>,
    sessions: BTreeMap<SessionId, Session>,
    last_session: u64,
    /// The longest message that is passed on.
    longest: usize,
    /// Whether sessions tell the operator which roots of their client are left out.
    tells_left_out: bool,
}

impl Engine {
    pub(crate) fn new(longest: usize) -> Engine {
        Engine { servers: Vec::new(), sessions: BTreeMap::new(), last_session: 0, longest, tells_left_out: true }
    }

    /// An engine behind a hub, where a client has a session with each server: the hub tells which of its roots are left out, once.
    pub(crate) fn behind_hub(longest: usize) -> Engine {
        Engine { tells_left_out: false, ..Engine::new(longest) }
    }

    /// Adds a server.
    pub(crate) fn add(&mut self, server: Server) -> ServerId {
        self.servers.push(server);
        ServerId(self.servers.len() - 1)
    }

    /// A client has come, for this server.
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

    /// A client is gone: its children are let end.
    pub(crate) fn close(&mut self, id: SessionId) -> Vec<Effect> {
        let session = self.sessions.remove(&id);
        session.iter().flat_map(Session::children).map(|(child, _)| Effect::End(child)).collect()
    }

    /// Takes notice of an event; what is to be done.
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
                    advance(servers, session, now, Happened::Given(&given), &mut effects);
                }
            }
            Event::Tick => {
                for session in sessions.values_mut().filter(|session| session.is_due(now)) {
                    advance(servers, session, now, Happened::Nothing, &mut effects);
                }
            }
            event => {
                let (id, happened) = Happened::of(event);
                if let Some(session) = sessions.get_mut(&id) {
                    advance(servers, session, now, happened, &mut effects);
                }
            }
        }
        effects
    }

    /// The server that a child is of.
    pub(crate) fn server_of(&self, child: ChildId) -> Option<ServerId> {
        self.sessions.get(&child.session)?.server_of(child)
    }

    /// The name of the server that a child is of.
    pub(crate) fn name_of(&self, child: ChildId) -> Option<&str> {
        self.servers.get(self.server_of(child)?.0).map(|server| &*server.name)
    }

    /// The ceiling of a server.
    pub(crate) fn ceiling(&self, server: ServerId) -> Option<RootSet> {
        self.servers.get(server.0).map(|server| server.given.sources.ceiling.clone())
    }

    /// What is remembered of a server.
    pub(crate) fn memory(&self, server: ServerId) -> Option<&Memory> {
        self.servers.get(server.0).map(|server| &*server.memory)
    }

    /// When time next matters.
    pub(crate) fn wakes_at(&self) -> Option<Duration> {
        self.sessions.values().filter_map(Session::due).min()
    }

    /// The sessions that time matters to now.
    pub(crate) fn due(&self, now: Duration) -> impl Iterator<Item = SessionId> {
        self.sessions.iter().filter(move |(_, session)| session.is_due(now)).map(|(id, _)| *id)
    }

    /// A session, for fronts that write to its client.
    pub(crate) fn session(&self, id: SessionId) -> Option<&Session> {
        self.sessions.get(&id)
    }

    /// What waits to be written to a client.
    pub(crate) fn client_outlet(&mut self, id: SessionId) -> Option<&mut Outlet> {
        self.sessions.get_mut(&id).map(Session::outlet)
    }

    /// What waits to be written to a child.
    pub(crate) fn child_outlet(&mut self, child: ChildId) -> Option<&mut Outlet> {
        self.sessions.get_mut(&child.session)?.child_mut(child).map(|child| &mut child.input)
    }
}

/// Takes a session one step further, and keeps what it learned of its server.
fn advance(
    servers: &mut [Server],
    session: &mut Session,
    now: Duration,
    happened: Happened<'_>,
    effects: &mut Vec<Effect>,
) {
    session.step(now, happened, effects);
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
