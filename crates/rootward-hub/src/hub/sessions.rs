//! The sessions behind clients' branches: one per client, or one for several. They are opened when a line needs them.

use std::time::Duration;

use rootward_protocol::frame::{Kind, Line, Message};
use rootward_protocol::message::{self, INTERNAL_ERROR};

use super::Hub;
use super::client::Order;
use super::own_tools::View;
use super::sharing::{Common, CommonRoots, Member, Shared};
use crate::config::Isolation;
use crate::engine::{ClientId, Effect, Entries, Event, MessageNumber, Outlet, Place, SessionId};

/// Who uses a session.
#[derive(Debug)]
pub(super) enum Whose {
    Of(ClientId),
    Shared(Box<Shared>),
}

/// Where a client's line goes.
enum Where {
    Session(SessionId),
    /// Once the client's roots are known.
    Later,
    Nowhere(&'static str),
}

impl Hub {
    /// Carries out a client's orders, and those that others give because of them, until none are left.
    pub(super) fn carry_out(&mut self, now: Duration, id: ClientId) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.with_orders.insert(id);
        while let Some(id) = self.with_orders.pop_first() {
            let waiting: Vec<_> = self.waiting.extract_if(.., |(of, ..)| *of == id).collect();
            for (_, server, line) in waiting {
                self.send(now, (id, server), line, &mut effects);
            }
            while let Some(order) = self.clients.get_mut(&id).and_then(|client| client.orders.pop_front()) {
                self.carry_out_one(now, id, order, &mut effects);
            }
            self.hear_stand_in(now, id);
        }
        effects
    }

    /// Carries out all clients' orders.
    pub(super) fn carry_out_all(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        while let Some(id) = self.with_orders.first().copied() {
            effects.extend(self.carry_out(now, id));
        }
    }

    fn carry_out_one(&mut self, now: Duration, id: ClientId, order: Order, effects: &mut Vec<Effect>) {
        match order {
            Order::Line(server, line) => self.send(now, (id, server), line, effects),
            Order::Close(server) => drop(self.close(now, (id, server), effects)),
            Order::Place(placing) => effects.push(Effect::Place(Place::Client(id), placing)),
            Order::Say(text) => effects.push(Effect::Say(text)),
            Order::Record(events) => {
                let entries = Entries { child: None, events };
                effects.push(Effect::Record(SessionId::NONE, MessageNumber::NONE, entries));
            }
            Order::Describe(call) => {
                let views: Vec<View> = self.order.iter().map(|server| self.view(id, *server)).collect();
                if let Some(client) = self.clients.get_mut(&id) {
                    client.describe(&call, &views);
                }
            }
        }
    }

    /// Sends a client's line into its branch.
    fn send(&mut self, now: Duration, branch: (ClientId, usize), line: Vec<u8>, effects: &mut Vec<Effect>) {
        let (id, server) = branch;
        match self.way(now, branch, effects) {
            Where::Session(session) => {
                match self.sessions.get_mut(&session) {
                    Some((Whose::Shared(shared), _)) => shared.client_line(id, &line),
                    _ => effects.extend(self.engine.step(now, Event::ClientLine(session, Line::Frame(&line)))),
                }
                self.hear(now, session, effects);
            }
            Where::Later => self.waiting.push((id, server, line)),
            Where::Nowhere(why) => self.refuse(now, branch, &line, why),
        }
    }

    /// Answers a request with an error.
    fn refuse(&mut self, now: Duration, (id, server): (ClientId, usize), line: &[u8], why: &str) {
        let Ok(Message::Single(envelope)) = Message::parse(line) else { return };
        if let (Kind::Request, Some(request), Some(client)) =
            (envelope.kind(), envelope.id(), self.clients.get_mut(&id))
        {
            let answer = message::error(request.as_str(), INTERNAL_ERROR, why, None);
            client.server_line(now, server, answer.as_bytes());
        }
    }

    /// The session for lines of this branch. Opens it if needed.
    fn way(&mut self, now: Duration, branch: (ClientId, usize), effects: &mut Vec<Effect>) -> Where {
        let common = match self.common(branch) {
            Ok(common) => common,
            Err(elsewhere) => return elsewhere,
        };
        let current = self.branches.get(&branch).copied();
        let Some(common) = common else {
            return current.or_else(|| self.open_session(branch, None)).map_or(Where::Nowhere(GONE), Where::Session);
        };
        if let Some(session) = current.filter(|session| self.is_shared_by(*session, &common)) {
            return Where::Session(session);
        }
        // SECURITY: once its roots change, nothing from this client reaches the process with the old ones
        // (test: a_client_whose_roots_change_leaves_the_process_of_the_others)
        let (member, unanswered) = self.close(now, branch, effects);
        let of_server = |(session, (_, of)): (&SessionId, &(Whose, usize))| (*of == branch.1).then_some(*session);
        let mut known = self.sessions.iter().filter_map(of_server);
        let joined = known.find(|session| self.is_shared_by(*session, &common));
        let Some(session) = joined.or_else(|| self.open_session(branch, Some(common))) else {
            return Where::Nowhere(GONE);
        };
        self.branches.insert(branch, session);
        if let Some((Whose::Shared(shared), _)) = self.sessions.get_mut(&session) {
            shared.join(branch.0, member);
        }
        for request in unanswered {
            let says = "the roots changed before the server answered";
            let answer = message::error(&request, INTERNAL_ERROR, says, None);
            self.clients
                .get_mut(&branch.0)
                .into_iter()
                .for_each(|client| client.server_line(now, branch.1, answer.as_bytes()));
        }
        Where::Session(session)
    }

    /// What clients must have in common with this one to share its session with the server. `None` if it shares none.
    fn common(&self, (id, server): (ClientId, usize)) -> Result<Option<Common>, Where> {
        let (Some(offered), Some(client)) = (self.servers.get(server), self.clients.get(&id)) else {
            return Err(Where::Nowhere(GONE));
        };
        let roots = match offered.isolation {
            Isolation::Session => return Ok(None),
            Isolation::All => None,
            Isolation::Roots => match client.current_roots() {
                None => return Err(Where::Later),
                Some(published) if published.list().is_empty() => return Err(Where::Nowhere(NO_ROOTS)),
                Some(published) => Some(CommonRoots::new(published.guard(), published.list())),
            },
        };
        Ok(Some(Common { revision: client.revision(), party: client.party().clone(), roots }))
    }

    fn is_shared_by(&self, session: SessionId, common: &Common) -> bool {
        matches!(self.sessions.get(&session), Some((Whose::Shared(shared), _)) if shared.common.is(common))
    }

    fn open_session(&mut self, branch: (ClientId, usize), common: Option<Common>) -> Option<SessionId> {
        let session =
            self.engine.open(self.servers.get(branch.1)?.server?, self.clients.get(&branch.0)?.party().clone())?;
        let whose = match common {
            Some(common) => Whose::Shared(Box::new(Shared::new(common))),
            None => Whose::Of(branch.0),
        };
        self.branches.insert(branch, session);
        self.sessions.insert(session, (whose, branch.1));
        Some(session)
    }

    /// Closes a branch, and its session unless others share it. Returns the client's membership in a shared session,
    /// and the ids of its unanswered requests there.
    pub(super) fn close(
        &mut self,
        now: Duration,
        branch: (ClientId, usize),
        effects: &mut Vec<Effect>,
    ) -> (Member, Vec<Box<str>>) {
        let Some(session) = self.branches.remove(&branch) else { return Default::default() };
        let mut left = Default::default();
        if let Some((Whose::Shared(shared), _)) = self.sessions.get_mut(&session) {
            left = shared.leave(branch.0);
            if !shared.is_empty() {
                self.hear(now, session, effects);
                return left;
            }
        }
        self.sessions.remove(&session);
        effects.extend(self.engine.close(session));
        left
    }

    /// Forwards a session's output to its clients, and notices its end.
    pub(super) fn hear(&mut self, now: Duration, session: SessionId, effects: &mut Vec<Effect>) {
        loop {
            let said = self.engine.client_outlet(session).map(Outlet::take).unwrap_or_default();
            let lines = said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            let Some((whose, server)) = self.sessions.get_mut(&session) else { return };
            let server = *server;
            match whose {
                Whose::Of(id) => {
                    let Some(client) = self.clients.get_mut(id) else { return };
                    self.with_orders.insert(*id);
                    lines.for_each(|line| client.server_line(now, server, line));
                    break;
                }
                Whose::Shared(shared) => {
                    lines.for_each(|line| shared.server_line(line));
                    let (to_server, told) =
                        (std::mem::take(&mut shared.to_server), std::mem::take(&mut shared.to_clients));
                    if to_server.is_empty() && told.is_empty() {
                        break;
                    }
                    for (id, line) in told {
                        self.with_orders.insert(id);
                        self.clients.get_mut(&id).into_iter().for_each(|client| client.server_line(now, server, &line));
                    }
                    for line in to_server {
                        effects.extend(self.engine.step(now, Event::ClientLine(session, Line::Frame(&line))));
                    }
                }
            }
        }
        self.notice_end(session, effects);
    }

    /// The clients that use a session.
    pub(super) fn clients_of(&self, session: SessionId) -> Vec<ClientId> {
        match self.sessions.get(&session) {
            Some((Whose::Of(id), _)) => vec![*id],
            Some((Whose::Shared(shared), _)) => shared.clients().collect(),
            None => Vec::new(),
        }
    }

    /// Handles the end of a session that the engine leaves because the server does not run.
    fn notice_end(&mut self, session: SessionId, effects: &mut Vec<Effect>) {
        let ends = |effect: &mut Effect| matches!(effect, Effect::Leave(left) if *left == session);
        if effects.extract_if(.., ends).count() == 0 {
            return;
        }
        let Some((_, server)) = self.sessions.get(&session) else { return };
        for id in self.clients_of(session) {
            self.with_orders.insert(id);
            self.clients.get_mut(&id).into_iter().for_each(|client| client.ended(*server));
        }
    }
}

/// The error for a server that was removed from the configuration.
const GONE: &str = "this server no longer exists";

/// The error for a client without roots, if only clients with the same roots share the server.
const NO_ROOTS: &str = "this server needs a client that shares a directory, and this client shares none";
