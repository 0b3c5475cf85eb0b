//! The hub as a front drives it: all of its clients, and its changing configuration.

use std::time::Duration;

use rootward_protocol::frame::Line;
use rootward_protocol::session::Given;

use super::client::Client;
use super::{Hub, Reloading};
use crate::engine::{ChildId, ClientId, Effect, Event, Memory, Outlet, ServerId, Session};
use crate::front::{Backings, Caller, Middle};

/// The hub, with the watcher of its configuration.
#[derive(Debug)]
pub(crate) struct Clients {
    pub(crate) hub: Hub,
    /// Watches the configuration, and knows how to add servers.
    pub(crate) reloading: Option<Reloading>,
}

impl Clients {
    /// The sessions of a client, and of the stand-ins for its modern requests.
    fn sessions(&self, client: ClientId) -> impl Iterator<Item = &Session> {
        let clients = [client].into_iter().chain(self.hub.modern.visited_by(client));
        let sessions = clients.flat_map(|client| self.hub.sessions_of(client));
        sessions.filter_map(|session| self.hub.engine.session(session))
    }

    fn client(&self, client: ClientId) -> Option<&Client> {
        self.hub.clients.get(&client)
    }
}

impl Middle for Clients {
    const PASSES_CODE: bool = false;

    fn client_line(&mut self, now: Duration, client: ClientId, line: Line<'_>) -> Vec<Effect> {
        let effects = self.hub.client_line(now, client, &line);
        self.hub.admitted(now, effects)
    }

    fn client_closed(&mut self, now: Duration, client: ClientId) -> Vec<Effect> {
        let effects = self.hub.client_closed(now, client);
        self.hub.admitted(now, effects)
    }

    fn left(&mut self, now: Duration, client: ClientId) -> Vec<Effect> {
        let effects = self.hub.left(now, client);
        self.hub.admitted(now, effects)
    }

    fn open(&mut self, caller: Caller) -> Option<ClientId> {
        self.hub.open_to(caller)
    }

    fn forget(&mut self, now: Duration, client: ClientId) -> Vec<Effect> {
        let effects = self.hub.forget(now, client);
        self.hub.admitted(now, effects)
    }

    fn step(&mut self, now: Duration, event: Event<'_>) -> Vec<Effect> {
        let effects = self.hub.step(now, event);
        self.hub.admitted(now, effects)
    }

    fn give(&mut self, now: Duration, given: Given) -> Vec<Effect> {
        let effects = self.hub.give(now, &given);
        self.hub.admitted(now, effects)
    }

    fn looks(&self) -> bool {
        self.reloading.is_some()
    }

    fn look_ambient(&mut self, now: Duration) -> (Backings, Vec<Effect>) {
        let reloading = self.reloading.as_mut().and_then(|reloading| reloading.look_ambient(now, &mut self.hub));
        let (backings, effects) = reloading.unwrap_or_default();
        (backings, self.hub.admitted(now, effects))
    }

    fn wakes_at(&self) -> Option<Duration> {
        let clients = self.hub.clients.values().filter_map(Client::wakes_at);
        self.hub.engine.wakes_at().into_iter().chain(clients).chain(self.hub.modern_wakes_at()).min()
    }

    fn memory(&self, server: ServerId) -> Option<&Memory> {
        self.hub.engine.memory(server)
    }

    fn server_of(&self, child: ChildId) -> Option<ServerId> {
        self.hub.engine.server_of(child)
    }

    fn name_of(&self, child: ChildId) -> Option<&str> {
        self.hub.engine.name_of(child)
    }

    fn wants(&self, child: ChildId) -> bool {
        self.hub.session_of(child).is_some_and(|session| session.wants(child))
    }

    fn clients_of(&self, child: ChildId) -> impl ExactSizeIterator<Item = ClientId> {
        let clients = self.hub.clients_of(child.session()).into_iter();
        // The readers of a stand-in's messages are its visitors.
        let readers: Vec<ClientId> =
            clients.flat_map(|id| self.hub.modern.visitors(id).unwrap_or_else(|| [id].into())).collect();
        readers.into_iter()
    }

    fn client_outlet(&mut self, client: ClientId) -> Option<&mut Outlet> {
        self.hub.clients.get_mut(&client).map(|client| &mut client.out)
    }

    fn child_outlet(&mut self, child: ChildId) -> Option<&mut Outlet> {
        self.hub.engine.child_outlet(child)
    }

    fn unread(&self, client: ClientId) -> usize {
        self.client(client).map_or(0, |client| client.out.waiting().len())
    }

    fn unread_by(&self, child: ChildId) -> usize {
        self.hub.session_of(child).map_or(0, |session| session.unread_by(child))
    }

    fn most_unread(&self, client: ClientId) -> usize {
        self.sessions(client).map(Session::most_unread).max().unwrap_or(0)
    }

    fn held_bytes(&self, client: ClientId) -> usize {
        let clients = [client].into_iter().chain(self.hub.modern.visited_by(client));
        let waiting = clients.filter_map(|client| self.client(client)).map(Client::held_bytes).sum::<usize>();
        self.sessions(client).map(Session::held_bytes).sum::<usize>() + waiting
    }

    fn is_delivered(&self, client: ClientId) -> bool {
        self.sessions(client).all(Session::is_delivered)
    }

    fn owes(&self, client: ClientId) -> bool {
        self.client(client).is_some_and(Client::owes) || self.hub.modern.owes(client)
    }
}
