//! Modern clients: every request is independent, but the servers behind the hub need a handshake.
//!
//! ```text
//!   request ──▶ visit ──┐
//!   request ──▶ visit ──┴─▶ stand-in: a legacy Client of the hub, which the hub itself plays ──▶ branches
//! ```
//!
//! A modern request is a *visit*. Visits of one principal with the same client, capabilities and roots share a
//! *stand-in*: a [`Client`] without a connection. The hub sends its messages and receives the answers. So everything
//! that applies to a legacy client and its branches applies to a visit: roots, checks, confinement, audit. The files
//! here only translate: [`reading`] parses a request, [`rounds`] asks for roots and passes servers' questions on,
//! [`hearing`] forwards messages for the stand-in to visits, [`listening`] keeps `subscriptions/listen` open.
//!
//! A server that speaks the modern era gets the request itself, and its client gets the server's own answer: see
//! [`passing_on`], and [`passing`](super::passing) for the stand-in's side.
//!
//! [`Client`]: super::client::Client

mod hearing;
mod listening;
mod passing_on;
mod reading;
mod rounds;
mod stand_in;
mod visit;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rootward_protocol::frame::{Envelope, Id, Kind, Line, Members, Message, key};
use rootward_protocol::message::{self, INTERNAL_ERROR, INVALID_REQUEST};
use rootward_protocol::round::ModernRequest;
use rootward_protocol::{keys, method};

use super::Hub;
use crate::engine::{ClientId, Effect};
use crate::front::CallerPurpose;
use listening::Listener;
use rounds::KeptRounds;
use stand_in::StandIn;
use visit::Visit;

/// The hub's state for modern clients.
#[derive(Debug, Default)]
pub(super) struct Modern {
    /// Connections that speak the modern era.
    connections: BTreeMap<ClientId, Connection>,
    stand_ins: BTreeMap<ClientId, StandIn>,
    /// Open requests, by number. Numbers are not reused.
    visits: BTreeMap<u64, Visit>,
    listeners: BTreeMap<u64, Listener>,
    /// The state between two rounds of calls, for each principal.
    rounds: Vec<KeptRounds>,
    last: u64,
}

/// A connection that speaks the modern era.
#[derive(Debug, Default)]
struct Connection {
    /// What it was opened for; `None` for standard input and output.
    purpose: Option<CallerPurpose>,
    /// Its visits and listeners that wait for something.
    open: BTreeSet<u64>,
}

impl Modern {
    /// How many clients are not sessions: stand-ins, and connections for one request.
    pub(super) fn count(&self) -> usize {
        self.stand_ins.len() + self.count_requests()
    }

    /// The number of connections that were opened for one request.
    pub(super) fn count_requests(&self) -> usize {
        let is_request = |connection: &&Connection| connection.purpose == Some(CallerPurpose::Request);
        self.connections.values().filter(is_request).count()
    }

    /// A connection for one modern request was opened.
    pub(super) fn opened(&mut self, connection: ClientId) {
        let purpose = Some(CallerPurpose::Request);
        self.connections.insert(connection, Connection { purpose, open: BTreeSet::new() });
    }

    /// The visits and listeners of a connection.
    fn open_on(&self, connection: ClientId) -> impl Iterator<Item = u64> {
        self.connections.get(&connection).into_iter().flat_map(|connection| &connection.open).copied()
    }

    /// A visit or listener waits on this connection for something from this stand-in.
    fn attach(&mut self, number: u64, connection: ClientId, stand_in: ClientId) {
        self.connections.entry(connection).or_default().open.insert(number);
        self.stand_ins.get_mut(&stand_in).into_iter().for_each(|stand_in| stand_in.begun(number));
    }

    /// It no longer waits for anything on this connection.
    fn detach(&mut self, number: u64, connection: ClientId) {
        if let Some(connection) = self.connections.get_mut(&connection) {
            connection.open.remove(&number);
        }
    }

    /// The stand-ins that requests of this connection use.
    pub(super) fn visited_by(&self, connection: ClientId) -> BTreeSet<ClientId> {
        let listener = |number: &u64| self.listeners.get(number).map(|listener| listener.stand_in);
        let stand_in = |number| self.visits.get(&number).map(|visit| visit.stand_in).or_else(|| listener(&number));
        self.open_on(connection).filter_map(stand_in).collect()
    }

    /// The connections whose requests use this stand-in; `None` if it is not a stand-in.
    pub(super) fn visitors(&self, stand_in: ClientId) -> Option<BTreeSet<ClientId>> {
        Some(self.stand_ins.get(&stand_in)?.asked(&self.visits).map(|asked| asked.connection).collect())
    }

    /// The stand-ins that only this client uses, if it is on standard input and output and has closed its end. Their
    /// processes end with it and are not restarted.
    pub(super) fn closing_with(&self, connection: ClientId) -> Vec<ClientId> {
        let is_alone = self.connections.get(&connection).is_some_and(|connection| connection.purpose.is_none());
        self.stand_ins.keys().filter(|_| is_alone).copied().collect()
    }

    /// Whether a request of this connection waits for its answer. `subscriptions/listen` does not count.
    pub(super) fn owes(&self, connection: ClientId) -> bool {
        self.open_on(connection).any(|number| self.visits.contains_key(&number))
    }

    /// The request with this id on this connection.
    // SECURITY: a client can cancel only its own requests (test: equal_ids_and_tokens_of_two_connections_stay_apart)
    fn request_on(&self, connection: ClientId, id: &str) -> Option<u64> {
        let visit = |number: &u64| self.visits.get(number).is_some_and(|visit| visit.is_asked_as(id));
        let listener = |number: &u64| self.listeners.get(number).is_some_and(|listener| listener.is_asked_as(id));
        self.open_on(connection).find(|number| visit(number) || listener(number))
    }

    fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }
}

impl Hub {
    /// Whether a line comes from a modern client. A connection has the era of its first message, except that
    /// `server/discover` may only be a probe.
    pub(super) fn is_modern(&self, id: ClientId, line: &Line<'_>) -> bool {
        let Line::Frame(frame) = line else { return false };
        if self.clients.get(&id).is_none_or(|client| client.hello.is_some()) {
            return false;
        }
        let reads_modern = |envelope: &Envelope<'_>| {
            envelope.kind() == Kind::Request && envelope.params().and_then(ModernRequest::read).is_some()
        };
        self.modern.connections.contains_key(&id)
            || matches!(Message::parse(frame), Ok(Message::Single(envelope)) if reads_modern(&envelope))
    }

    /// Handles a line from a modern client.
    pub(super) fn modern_line(&mut self, now: Duration, connection: ClientId, line: &Line<'_>) -> Vec<Effect> {
        let mut effects = Vec::new();
        let Line::Frame(frame) = line else { return effects };
        match Message::parse(frame) {
            Err(bad) => self.tell(connection, &message::bad_frame(bad.id.as_deref(), &bad.reason)),
            Ok(Message::Batch(_)) => {
                let says = "the message is refused: this revision has no batches";
                self.tell(connection, &message::error("null", INVALID_REQUEST, says, None));
            }
            Ok(Message::Single(envelope)) => match (envelope.kind(), envelope.id(), envelope.method()) {
                (Kind::Request, Some(id), _) => self.modern_request(now, connection, &envelope, id, &mut effects),
                (Kind::Notification, _, Some(method::CANCELLED)) => self.cancelled(now, connection, &envelope),
                // A modern client answers with another request, and sends no other notifications.
                _ => {}
            },
        }
        self.carry_out_all(now, &mut effects);
        effects
    }

    /// A client cancels a request.
    fn cancelled(&mut self, now: Duration, connection: ClientId, envelope: &Envelope<'_>) {
        let params = envelope.params().and_then(Members::read);
        let Some(id) = params.and_then(|params| params.get(keys::REQUEST_ID)).map(|id| key(id.get())) else { return };
        if let Some(number) = self.modern.request_on(connection, &id) {
            self.give_up(now, number, "the client no longer needs the answer");
        }
    }

    /// Nobody waits for this visit or listener now.
    fn give_up(&mut self, now: Duration, number: u64, why: &str) {
        self.cancel_visit(now, number, why);
        self.stop_listening(now, number);
    }

    /// A connection is gone: nobody waits for answers to its requests.
    pub(super) fn end_visits_of(&mut self, now: Duration, connection: ClientId) {
        for number in self.modern.connections.remove(&connection).unwrap_or_default().open {
            self.give_up(now, number, "the client is gone");
        }
    }

    /// The hub ends: waiting requests get an error, and listeners their result.
    pub(super) fn leave_visits_of(&mut self, now: Duration, connection: ClientId, effects: &mut Vec<Effect>) {
        let visited = self.modern.visited_by(connection);
        let open = self.modern.connections.remove(&connection).unwrap_or_default().open;
        for stand_in in visited {
            effects.extend(self.left(now, stand_in));
        }
        for number in open {
            let visit = self.modern.visits.remove(&number).and_then(|visit| visit.asked);
            let error = visit.map(|asked| message::error(&asked.id, INTERNAL_ERROR, "the session is closing", None));
            let ended = self.modern.listeners.remove(&number).map(|listener| listener.ended());
            if let Some(answer) = error.or(ended) {
                self.tell(connection, &answer);
            }
        }
    }

    /// When time next matters to modern clients.
    pub(super) fn modern_wakes_at(&self) -> Option<Duration> {
        let waits = self.modern.visits.values().filter_map(|visit| visit.waits.as_ref().map(|waits| waits.until));
        let idle = self.modern.stand_ins.keys().filter_map(|id| self.idle_at(*id));
        waits.chain(idle).min()
    }

    /// Does what is due by now.
    pub(super) fn modern_tick(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        let is_over = |visit: &Visit| visit.waits.as_ref().is_some_and(|waits| waits.until <= now);
        let over = self.modern.visits.iter().filter(|(_, visit)| is_over(visit)).map(|(number, _)| *number);
        for number in over.collect::<Vec<_>>() {
            self.cancel_visit(now, number, "the client did not send the call again");
        }
        let idle = |id: &&ClientId| self.idle_at(**id).is_some_and(|due| due <= now);
        for id in self.modern.stand_ins.keys().filter(idle).copied().collect::<Vec<_>>() {
            self.end_stand_in(now, id, effects);
        }
    }

    /// Sends a message to a connection.
    fn tell(&mut self, connection: ClientId, message: &str) {
        if let Some(client) = self.clients.get_mut(&connection) {
            client.tell(message);
        }
    }

    /// Answers a request with an error.
    fn tell_error(&mut self, connection: ClientId, id: Id<'_>, code: i32, says: &str) {
        self.tell(connection, &message::error(id.as_str(), code, says, None));
    }
}
