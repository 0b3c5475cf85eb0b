//! The hub: many servers behind one endpoint, each confined to the client's roots.
//!
//! ```text
//!              ┌─ branch ─▶ Session ─▶ server a
//!   client ──▶ Client ─ branch ─▶ Session ─▶ server b          Sessions, links and children are the engine's.
//!              └─ branch ─▶ Session ─▶ server c
//! ```
//!
//! A client distributes its requests among its branches. A branch is a session of the engine, with the hub as its
//! client: what `wrap` does for one server, the branch does for each. So the hub itself checks no paths, starts
//! nothing and learns nothing about servers; it renames and merges.

mod branch;
mod catalog;
mod client;
mod lists;
mod modern;
mod own_tools;
mod parting;
mod passing;
mod questions;
mod renaming;
mod running;
#[cfg(test)]
mod scripts;
mod sessions;
mod sharing;
mod together;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use rootward_core::Shown;
use rootward_core::session::Sources;
use rootward_protocol::frame::Line;
use rootward_protocol::session::Given;
use rootward_protocol::shortened;

use crate::config::{HubSettings, Isolation, ToolFilter};
use crate::engine::{ChildId, ClientId, Effect, Engine, Event, Failure, Place, Server, ServerId, Session, SessionId};
use crate::front::Runs;
pub use crate::front::{Caller, CallerPurpose, NO_ROOM_LINE, OuterDoor};
use crate::principal::{Party, Principal};
use crate::scan::Protection;
use client::Client;
use modern::Modern;
use own_tools::View;
pub use rootward_protocol::session::Terms;
pub(crate) use running::Reloading;
pub use running::{ConfiguredHub, HubServer, Reload, Reloaded};
use sessions::Whose;
pub(crate) use together::Clients;

/// How many characters of a server's instructions are passed on. There may be many servers, and models read all of it
/// every time.
const LONGEST_INSTRUCTIONS: usize = 2000;

/// A server as clients of the hub see it.
#[derive(Debug)]
pub(crate) struct Served {
    server: Option<ServerId>,
    pub(crate) name: String,
    /// The prefix of its tools and prompts.
    pub(crate) prefix: String,
    pub(crate) tools: ToolFilter,
    pub(crate) isolation: Isolation,
    /// The server's last instructions for models, shortened.
    instructions: Option<String>,
    protection: Protection,
    pub(crate) runs: Runs,
}

impl Served {
    pub(crate) fn new(name: String, prefix: String, tools: ToolFilter) -> Served {
        Served {
            server: None,
            name,
            prefix,
            tools,
            isolation: Isolation::default(),
            instructions: None,
            protection: Protection::CallsOnly,
            runs: Runs::Here,
        }
    }

    #[cfg(test)]
    fn named(name: &str) -> Served {
        Served::new(name.to_owned(), name.to_owned(), ToolFilter::default())
    }

    fn allows(&self, tool: &str) -> bool {
        self.tools.allows(tool)
    }
}

#[derive(Debug)]
pub(crate) struct Hub {
    engine: Engine,
    /// All servers that ever existed, and the indexes of the current ones.
    servers: Vec<Arc<Served>>,
    order: Vec<usize>,
    settings: Arc<HubSettings>,
    terms: Arc<Terms>,
    given: Arc<Given>,
    clients: BTreeMap<ClientId, Client>,
    /// The sessions of clients' branches, with their owner and server.
    branches: BTreeMap<(ClientId, usize), SessionId>,
    sessions: HashMap<SessionId, (Whose, usize)>,
    /// Lines of clients whose roots must be known first, with the target server.
    waiting: Vec<(ClientId, usize, Vec<u8>)>,
    /// Clients that may have pending orders.
    with_orders: BTreeSet<ClientId>,
    /// The running processes.
    children: HashSet<ChildId>,
    /// Modern requests, and the clients that the hub plays for them.
    modern: Modern,
    /// Who may connect over the network.
    principals: Vec<Arc<Principal>>,
    /// The name of this hub in the audit log.
    name: String,
    longest: usize,
    last_client: u64,
}

impl Hub {
    /// A hub without servers. `terms` and `given` define the clients' own roots.
    pub(crate) fn new(name: String, settings: HubSettings, (terms, given): (Terms, Given), longest: usize) -> Hub {
        Hub {
            engine: Engine::behind_hub(longest),
            servers: Vec::new(),
            order: Vec::new(),
            settings: Arc::new(settings),
            terms: Arc::new(terms),
            given: Arc::new(given),
            clients: BTreeMap::new(),
            branches: BTreeMap::new(),
            sessions: HashMap::new(),
            waiting: Vec::new(),
            with_orders: BTreeSet::new(),
            children: HashSet::new(),
            modern: Modern::default(),
            principals: Vec::new(),
            name,
            longest,
            last_client: 0,
        }
    }

    /// Also accepts these principals.
    pub(crate) fn admitting(self, principals: Vec<Arc<Principal>>) -> Hub {
        Hub { principals, ..self }
    }

    /// Adds a server after all others.
    pub(crate) fn add(&mut self, shown: Served, configured: Server) -> ServerId {
        let protection = configured.rules.protection;
        let instructions = configured.memory.instructions().map(|text| shortened(&text, LONGEST_INSTRUCTIONS));
        let id = self.engine.add(configured);
        self.order.push(self.servers.len());
        self.servers.push(Arc::new(Served { server: Some(id), instructions, protection, ..shown }));
        id
    }

    /// The configuration changed. `added` are the new or changed servers; `names` are all servers, in order.
    /// Unchanged servers are not disturbed.
    pub(crate) fn reconfigure(
        &mut self,
        now: Duration,
        added: Vec<(Served, Server)>,
        names: &[String],
        settings: HubSettings,
    ) -> (Vec<ServerId>, Vec<Effect>) {
        let mut current: BTreeMap<String, usize> =
            self.order.iter().map(|position| (self.servers[*position].name.clone(), *position)).collect();
        let mut ids = Vec::new();
        for (shown, configured) in added {
            current.insert(shown.name.clone(), self.servers.len());
            ids.push(self.add(shown, configured));
        }
        self.order = names.iter().filter_map(|name| current.get(name).copied()).collect();
        self.settings = Arc::new(settings);
        let mut effects = Vec::new();
        for id in self.clients.keys().copied().collect::<Vec<_>>() {
            if let Some(client) = self.clients.get_mut(&id) {
                client.reconfigure(now, &self.servers, &self.order, Arc::clone(&self.settings));
            }
            effects.extend(self.carry_out(now, id));
        }
        (ids, effects)
    }

    /// The client on this machine connects. `None` if there are too many.
    pub(crate) fn open(&mut self) -> Option<ClientId> {
        self.open_for(self.name.clone().into())
    }

    /// A client connects over the network. `None` if there are too many, or the principal is unknown.
    pub(crate) fn open_to(&mut self, caller: Caller) -> Option<ClientId> {
        let principal = Arc::clone(self.principals.get(caller.principal)?);
        // Each session has its own name in the audit log.
        let name = format!("{}-{}", self.name, self.last_client + 1);
        let party = Party { name, principal: Some(principal) };
        if caller.purpose != CallerPurpose::Request {
            return self.open_for(party);
        }
        if self.modern.count_requests() >= self.settings.limits.queued_calls {
            return None;
        }
        let id = self.add_client(party);
        self.modern.opened(id);
        Some(id)
    }

    fn open_for(&mut self, party: Party) -> Option<ClientId> {
        let sessions = self.clients.len().saturating_sub(self.modern.count());
        (sessions < self.settings.limits.sessions).then(|| self.add_client(party))
    }

    fn add_client(&mut self, party: Party) -> ClientId {
        self.last_client += 1;
        let id = ClientId(self.last_client);
        let terms = (Arc::clone(&self.terms), Arc::clone(&self.given));
        let servers = (self.servers.clone(), &*self.order);
        self.clients.insert(id, Client::new(servers, Arc::clone(&self.settings), terms, party, self.longest));
        id
    }

    /// A client is gone: its branches are closed, and nothing of it is kept.
    pub(crate) fn forget(&mut self, now: Duration, id: ClientId) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.end_visits_of(now, id);
        for branch in self.branches_of(id).map(|(branch, _)| branch).collect::<Vec<_>>() {
            drop(self.close(now, branch, &mut effects));
        }
        self.clients.remove(&id);
        self.waiting.retain(|(client, ..)| *client != id);
        self.with_orders.remove(&id);
        self.carry_out_all(now, &mut effects);
        effects
    }

    /// A client sent a line.
    pub(crate) fn client_line(&mut self, now: Duration, id: ClientId, line: &Line<'_>) -> Vec<Effect> {
        if self.is_modern(id, line) {
            return self.modern_line(now, id, line);
        }
        if let Some(client) = self.clients.get_mut(&id) {
            client.client_line(now, line);
        }
        self.carry_out(now, id)
    }

    /// A client has closed its end.
    pub(crate) fn client_closed(&mut self, now: Duration, id: ClientId) -> Vec<Effect> {
        if let Some(client) = self.clients.get_mut(&id) {
            client.closed(now);
        }
        let mut effects = Vec::new();
        for id in self.modern.closing_with(id).into_iter().chain([id]) {
            self.tell_branches(now, id, Event::ClientClosed, &mut effects);
        }
        effects.extend(self.carry_out(now, id));
        effects
    }

    /// A client is being dropped.
    pub(crate) fn left(&mut self, now: Duration, id: ClientId) -> Vec<Effect> {
        if let Some(client) = self.clients.get_mut(&id) {
            client.give_up();
        }
        let mut effects = Vec::new();
        self.leave_visits_of(now, id, &mut effects);
        self.tell_branches(now, id, Event::Left, &mut effects);
        let shared = |session: &SessionId| matches!(self.sessions.get(session), Some((Whose::Shared(_), _)));
        let all = self.branches_of(id).filter(|(_, session)| shared(session));
        for branch in all.map(|(branch, _)| branch).collect::<Vec<_>>() {
            drop(self.close(now, branch, &mut effects));
        }
        effects.extend(self.carry_out(now, id));
        effects
    }

    /// Sends an event to all sessions that only this client uses.
    fn tell_branches(
        &mut self,
        now: Duration,
        id: ClientId,
        event: fn(SessionId) -> Event<'static>,
        effects: &mut Vec<Effect>,
    ) {
        let own = |session: &SessionId| matches!(self.sessions.get(session), Some((Whose::Of(_), _)));
        for session in self.sessions_of(id).filter(own).collect::<Vec<_>>() {
            effects.extend(self.engine.step(now, event(session)));
            self.hear(now, session, effects);
        }
    }

    fn sessions_of(&self, id: ClientId) -> impl Iterator<Item = SessionId> {
        self.branches_of(id).map(|(_, session)| session)
    }

    /// The branches of a client. Called often, with many clients.
    fn branches_of(&self, id: ClientId) -> impl Iterator<Item = ((ClientId, usize), SessionId)> {
        self.branches.range((id, 0)..=(id, usize::MAX)).map(|(branch, session)| (*branch, *session))
    }

    /// Handles an event that did not come from a client.
    pub(crate) fn step(&mut self, now: Duration, event: Event<'_>) -> Vec<Effect> {
        if let Event::Gone(child) | Event::NotStarted(child, ..) = &event {
            self.children.remove(child);
        }
        let client = match event {
            Event::Placed(Place::Client(id), placed) => {
                if let Some(client) = self.clients.get_mut(&id) {
                    client.placed(now, placed);
                }
                return self.carry_out(now, id);
            }
            Event::Tick | Event::Given(..) => None,
            ref event => event.session(),
        };
        let sessions: Vec<SessionId> = match (client, &event) {
            (Some(session), _) => vec![session],
            (None, Event::Tick) => self.engine.due(now).collect(),
            (None, _) => self.sessions.keys().copied().collect(),
        };
        let mut effects = self.engine.step(now, event);
        for session in sessions {
            self.hear(now, session, &mut effects);
        }
        if client.is_none() {
            // There may be many clients, and most of them are idle.
            for (id, client) in self.clients.iter_mut().filter(|(_, client)| client.is_due(now)) {
                self.with_orders.insert(*id);
                client.tick(now);
            }
            self.modern_tick(now, &mut effects);
        }
        self.carry_out_all(now, &mut effects);
        effects
    }

    /// Drops starts beyond the limit. The engine sees them as having ended at once, and tries again later.
    fn admitted(&mut self, now: Duration, effects: Vec<Effect>) -> Vec<Effect> {
        // Few events start anything.
        if !effects.iter().any(|effect| matches!(effect, Effect::Start(..))) {
            return effects;
        }
        let (mut admitted, mut queue) = (Vec::new(), VecDeque::from(effects));
        while let Some(effect) = queue.pop_front() {
            match &effect {
                Effect::Start(child, ..) if self.children.len() >= self.settings.limits.children => {
                    let failure = Failure::new("too many servers are running (`limits.children`)");
                    queue.extend(self.step(now, Event::ChildEnded(*child, &failure)));
                    queue.extend(self.step(now, Event::Gone(*child)));
                }
                Effect::Start(child, ..) => {
                    self.children.insert(*child);
                    admitted.push(effect);
                }
                _ => admitted.push(effect),
            }
        }
        admitted
    }

    /// The operator's or user's root sources have changed. Each server keeps its own ceiling.
    pub(crate) fn give(&mut self, now: Duration, given: &Given) -> Vec<Effect> {
        let mut effects = Vec::new();
        for id in self.servers.iter().filter_map(|server| server.server).collect::<Vec<_>>() {
            let Some(ceiling) = self.engine.ceiling(id) else { continue };
            let sources = Sources { ceiling, ..given.sources.clone() };
            effects.extend(self.step(now, Event::Given(id, Given { sources, ..given.clone() })));
        }
        self.given = Arc::new(given.clone());
        for id in self.clients.keys().copied().collect::<Vec<_>>() {
            let given = Arc::clone(&self.given);
            self.clients.get_mut(&id).into_iter().for_each(|client| client.give(now, &given));
            effects.extend(self.carry_out(now, id));
        }
        effects
    }

    /// What `get-roots` returns about a server.
    fn view(&self, id: ClientId, server: usize) -> View {
        let session = self.branches.get(&(id, server)).and_then(|session| self.engine.session(*session));
        let places = session.and_then(Session::places);
        let roots = places.map(|places| places.iter().map(|place| Shown::new(place).to_string()).collect());
        let confinement = match self.servers.get(server).map(|server| (server.protection, server.runs)) {
            Some((Protection::Elsewhere, _)) => "it runs on another machine and cannot see files on this one",
            Some((_, Runs::Elsewhere)) => "it runs on another machine; the paths in its calls are checked",
            Some((Protection::Kernel, _)) => "the kernel confines it to its roots, and its calls are checked",
            _ => "only its calls are checked",
        };
        let names = session.and_then(Session::names);
        View { roots, names, confinement, processes: session.map_or(0, Session::count_running) }
    }

    fn session_of(&self, child: ChildId) -> Option<&Session> {
        self.engine.session(child.session())
    }
}
