//! What a front drives: the engine with one session (`wrap`), or the hub.

use std::time::Duration;

use rootward_protocol::frame::Line;
use rootward_protocol::session::Given;

use super::backing::Backings;
use super::door::Caller;
use crate::engine::{ChildId, ClientId, Effect, Engine, Event, Memory, Outlet, ServerId, Session, SessionId};

/// Takes events and lines, returns effects and bytes.
pub(crate) trait Middle {
    /// Whether the program exits with the server's exit code.
    const PASSES_CODE: bool;

    /// A client has connected; `None` if it cannot be accepted.
    fn open(&mut self, _: Caller) -> Option<ClientId> {
        None
    }
    /// A client sent a line.
    fn client_line(&mut self, now: Duration, client: ClientId, line: Line<'_>) -> Vec<Effect>;
    /// A client has closed its end.
    fn client_closed(&mut self, now: Duration, client: ClientId) -> Vec<Effect>;
    /// A client is being dropped: its waiting messages get an error.
    fn left(&mut self, now: Duration, client: ClientId) -> Vec<Effect>;
    /// A client is gone; others may remain.
    fn forget(&mut self, now: Duration, client: ClientId) -> Vec<Effect> {
        self.left(now, client)
    }
    /// Handles an event that did not come from a client.
    fn step(&mut self, now: Duration, event: Event<'_>) -> Vec<Effect>;
    /// The operator's or user's root sources have changed.
    fn give(&mut self, now: Duration, given: Given) -> Vec<Effect>;
    /// Whether it has to check the disk regularly.
    fn looks(&self) -> bool {
        false
    }
    /// Checks the disk. Returns new servers and effects.
    fn look_ambient(&mut self, _: Duration) -> (Backings, Vec<Effect>) {
        Default::default()
    }
    /// When time next matters.
    fn wakes_at(&self) -> Option<Duration>;

    /// The cached memory of a server.
    fn memory(&self, server: ServerId) -> Option<&Memory>;
    /// The server that a child belongs to.
    fn server_of(&self, child: ChildId) -> Option<ServerId>;
    /// The name of the server that a child belongs to.
    fn name_of(&self, child: ChildId) -> Option<&str>;
    /// Whether a child is still needed.
    fn wants(&self, child: ChildId) -> bool;

    /// The clients that receive a child's output.
    fn clients_of(&self, child: ChildId) -> impl ExactSizeIterator<Item = ClientId>;
    /// Pending output to a client.
    fn client_outlet(&mut self, client: ClientId) -> Option<&mut Outlet>;
    /// Pending input for a child.
    fn child_outlet(&mut self, child: ChildId) -> Option<&mut Outlet>;
    /// The number of bytes that a client has not read.
    fn unread(&self, client: ClientId) -> usize;
    /// The number of bytes that a child has not read.
    fn unread_by(&self, child: ChildId) -> usize;
    /// The number of bytes that the slowest of a client's children has not read.
    fn most_unread(&self, client: ClientId) -> usize;
    /// The size of a client's waiting messages plus the output that it has not read.
    fn held_bytes(&self, client: ClientId) -> usize;
    /// Whether everything that a client sent has reached a child or was answered.
    fn is_delivered(&self, client: ClientId) -> bool;
    /// Whether a client is still waiting for an answer.
    fn owes(&self, client: ClientId) -> bool;
}

/// One client and one server; nothing is renamed between them.
#[derive(Debug)]
pub(crate) struct OneServer {
    pub(crate) engine: Engine,
    pub(crate) server: ServerId,
    pub(crate) session: SessionId,
}

impl OneServer {
    /// The only client.
    pub(crate) const CLIENT: ClientId = ClientId(0);

    fn session(&self) -> Option<&Session> {
        self.engine.session(self.session)
    }
}

impl Middle for OneServer {
    const PASSES_CODE: bool = true;

    fn client_line(&mut self, now: Duration, _: ClientId, line: Line<'_>) -> Vec<Effect> {
        self.engine.step(now, Event::ClientLine(self.session, line))
    }

    fn client_closed(&mut self, now: Duration, _: ClientId) -> Vec<Effect> {
        self.engine.step(now, Event::ClientClosed(self.session))
    }

    fn left(&mut self, now: Duration, _: ClientId) -> Vec<Effect> {
        self.engine.step(now, Event::Left(self.session))
    }

    fn step(&mut self, now: Duration, event: Event<'_>) -> Vec<Effect> {
        self.engine.step(now, event)
    }

    fn give(&mut self, now: Duration, given: Given) -> Vec<Effect> {
        self.engine.step(now, Event::Given(self.server, given))
    }

    fn wakes_at(&self) -> Option<Duration> {
        self.engine.wakes_at()
    }

    fn memory(&self, server: ServerId) -> Option<&Memory> {
        self.engine.memory(server)
    }

    fn server_of(&self, child: ChildId) -> Option<ServerId> {
        self.engine.server_of(child)
    }

    fn name_of(&self, child: ChildId) -> Option<&str> {
        self.engine.name_of(child)
    }

    fn wants(&self, child: ChildId) -> bool {
        self.session().is_some_and(|session| session.wants(child))
    }

    fn clients_of(&self, _: ChildId) -> impl ExactSizeIterator<Item = ClientId> {
        std::iter::once(OneServer::CLIENT)
    }

    fn client_outlet(&mut self, _: ClientId) -> Option<&mut Outlet> {
        self.engine.client_outlet(self.session)
    }

    fn child_outlet(&mut self, child: ChildId) -> Option<&mut Outlet> {
        self.engine.child_outlet(child)
    }

    fn unread(&self, _: ClientId) -> usize {
        self.session().map_or(0, Session::unread_bytes)
    }

    fn unread_by(&self, child: ChildId) -> usize {
        self.session().map_or(0, |session| session.unread_by(child))
    }

    fn most_unread(&self, _: ClientId) -> usize {
        self.session().map_or(0, Session::most_unread)
    }

    fn held_bytes(&self, _: ClientId) -> usize {
        self.session().map_or(0, Session::held_bytes)
    }

    fn is_delivered(&self, _: ClientId) -> bool {
        self.session().is_none_or(Session::is_delivered)
    }

    fn owes(&self, _: ClientId) -> bool {
        self.session().is_some_and(Session::owes)
    }
}
