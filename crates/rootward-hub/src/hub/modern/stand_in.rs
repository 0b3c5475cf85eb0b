//! A stand-in: a legacy client of the hub, which the hub itself plays for modern requests.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rootward_core::session::Support;
use rootward_protocol::bridge::legacy_hello;
use rootward_protocol::frame::Line;
use rootward_protocol::message::{self, INTERNAL_ERROR};
use rootward_protocol::method;
use rootward_protocol::passing::own_meta;
use rootward_protocol::round::ModernRequest;
use serde_json::json;

use super::super::Hub;
use super::super::passing::Passing;
use super::super::sharing::LEVELS;
use super::visit::{Asked, Visit};
use crate::engine::{ClientId, Effect};
use crate::principal::Party;

/// A client's complete answer about its roots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Roots {
    /// It has no roots, or this kind of request cannot ask for them.
    Unsupported,
    /// The result of `roots/list`.
    List(String),
    /// It was asked and sent none, for this reason.
    Failed(String),
}

impl Roots {
    /// The roots capability that servers see.
    pub(super) fn support(&self) -> Support {
        if *self == Roots::Unsupported { Support::No } else { Support::Listed }
    }
}

#[derive(Debug)]
pub(super) struct StandIn {
    /// The params for greeting servers, without roots. Stand-ins of one principal with the same params belong to one
    /// client.
    pub(super) hello: String,
    pub(super) roots: Roots,
    /// When a request last began or ended.
    used: Duration,
    /// Its visits and listeners.
    open: BTreeSet<u64>,
    /// The log level that the servers were told, as an index.
    level: Option<usize>,
    /// Servers that were told to cancel a call, and until when a question from them may still be about it.
    pub(super) doubtful: BTreeMap<usize, Duration>,
    /// The resources that the servers were asked to report on.
    pub(super) subscribed: BTreeSet<String>,
}

impl StandIn {
    /// A visit or listener has begun.
    pub(super) fn begun(&mut self, number: u64) {
        self.open.insert(number);
    }

    /// The requests that wait for an answer from it.
    pub(super) fn asked<'v>(&self, visits: &'v BTreeMap<u64, Visit>) -> impl Iterator<Item = &'v Asked> {
        self.open.iter().filter_map(|number| visits.get(number)?.asked.as_ref())
    }

    /// Whether nobody uses it, so that it may be replaced.
    fn is_unused(&self) -> bool {
        self.open.is_empty()
    }

    /// The answer to a server's `roots/list`.
    pub(super) fn answer_for_roots(&self, id: &str) -> String {
        match &self.roots {
            Roots::List(list) => message::result(id, list),
            Roots::Failed(why) => message::error(id, INTERNAL_ERROR, why, None),
            Roots::Unsupported => message::error(id, message::METHOD_NOT_FOUND, "this client has no roots", None),
        }
    }
}

impl Hub {
    /// The stand-in for a request with these roots; an error if there are too many.
    pub(super) fn stand_in(
        &mut self,
        now: Duration,
        party: &Party,
        request: &ModernRequest<'_>,
        roots: Roots,
        effects: &mut Vec<Effect>,
    ) -> Result<ClientId, &'static str> {
        let hello = legacy_hello(request, Support::No);
        // SECURITY: requests with other roots or of another principal never share a branch, and so never a process
        // (test: two_lists_at_once_reach_two_processes, visits_of_two_principals_share_nothing)
        let known = self
            .modern
            .stand_ins
            .iter()
            .find(|(id, stand_in)| stand_in.hello == hello && stand_in.roots == roots && self.is_of(**id, party));
        if let Some(id) = known.map(|(id, _)| *id) {
            self.modern.stand_ins.get_mut(&id).into_iter().for_each(|stand_in| stand_in.used = now);
            return Ok(id);
        }
        if self.modern.stand_ins.len() >= self.settings.limits.sessions {
            let unused = self.modern.stand_ins.iter().filter(|(_, stand_in)| stand_in.is_unused());
            let oldest = unused.min_by_key(|(_, stand_in)| stand_in.used).map(|(id, _)| *id);
            self.end_stand_in(
                now,
                oldest.ok_or("too many clients or roots are in use at a time (`limits.sessions`)")?,
                effects,
            );
        }
        let name = format!("{}-{}", self.name, self.last_client + 1);
        let id = self.add_client(Party { name, principal: party.principal.clone() });
        let greeting = legacy_hello(request, roots.support());
        let list = if let Roots::List(list) = &roots { Some(list.clone()) } else { None };
        let passing = Passing::new(own_meta(request, roots.support()), list);
        if let Some(client) = self.clients.get_mut(&id) {
            client.passing = Some(passing);
        }
        let stand_in = StandIn {
            hello,
            roots,
            used: now,
            open: BTreeSet::new(),
            level: None,
            doubtful: BTreeMap::new(),
            subscribed: BTreeSet::new(),
        };
        self.modern.stand_ins.insert(id, stand_in);
        let own = self.own_id();
        self.feed(now, id, &message::request(&own, method::INITIALIZE, Some(&greeting)));
        self.feed(now, id, &message::notification(method::INITIALIZED));
        self.subscribe(now, id);
        Ok(id)
    }

    /// Ends a stand-in and its branches.
    pub(super) fn end_stand_in(&mut self, now: Duration, id: ClientId, effects: &mut Vec<Effect>) {
        self.modern.stand_ins.remove(&id);
        effects.extend(self.forget(now, id));
    }

    /// When an unused stand-in ends.
    pub(super) fn idle_at(&self, id: ClientId) -> Option<Duration> {
        let stand_in = self.modern.stand_ins.get(&id)?;
        let is_idle = stand_in.is_unused() && stand_in.subscribed.is_empty();
        is_idle.then(|| stand_in.used + self.settings.idle)
    }

    /// A visit or listener of this stand-in has ended.
    pub(super) fn is_left(&mut self, now: Duration, id: ClientId, number: u64) {
        if let Some(stand_in) = self.modern.stand_ins.get_mut(&id) {
            stand_in.open.remove(&number);
            stand_in.used = now;
        }
    }

    /// Whether a client belongs to this party's principal.
    pub(super) fn is_of(&self, id: ClientId, party: &Party) -> bool {
        self.clients.get(&id).is_some_and(|client| client.party().is_with(party))
    }

    /// The party of a connection.
    pub(super) fn party_of(&self, connection: ClientId) -> Party {
        self.clients.get(&connection).map(|client| client.party().clone()).unwrap_or_default()
    }

    /// Sends a message on behalf of a stand-in.
    pub(super) fn feed(&mut self, now: Duration, id: ClientId, line: &str) {
        if let Some(client) = self.clients.get_mut(&id) {
            client.client_line(now, &Line::Frame(line.as_bytes()));
            self.with_orders.insert(id);
        }
    }

    /// The hub's own id, for a request whose answer nobody needs.
    pub(super) fn own_id(&mut self) -> String {
        format!(r#""rootward-own-{}""#, self.modern.number())
    }

    /// Tells the servers the most verbose level that a request wants.
    pub(super) fn set_level(&mut self, now: Duration, id: ClientId) {
        let Some(stand_in) = self.modern.stand_ins.get_mut(&id) else { return };
        let wanted = stand_in.asked(&self.modern.visits).filter_map(|asked| asked.level).min();
        let Some(level) = wanted.filter(|level| Some(*level) != stand_in.level) else { return };
        stand_in.level = Some(level);
        let params = json!({"level": LEVELS.get(level)}).to_string();
        let own = self.own_id();
        self.feed(now, id, &message::request(&own, method::SET_LEVEL, Some(&params)));
    }
}
