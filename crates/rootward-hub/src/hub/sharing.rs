//! One engine session for several clients.
//!
//! Request ids and progress tokens are replaced on the way to the server, because two clients may use the same ones,
//! and restored on the way back. A client gets only what it asked for or subscribed to, and what concerns everybody.
//! The server cannot ask these clients anything: nobody would know which one it means.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rootward_core::session::Support;
use rootward_core::{Guard, PlacedRoot};
use rootward_protocol::era::common_hello;
use rootward_protocol::frame::{Envelope, Id, Kind, Members, Message, key};
use rootward_protocol::message::{self, INTERNAL_ERROR, METHOD_NOT_FOUND};
use rootward_protocol::offer::{LISTS, Offer};
use rootward_protocol::{keys, method};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::renaming::renamed;
use crate::engine::ClientId;
use crate::principal::Party;

/// The id of the hub's own `initialize`.
const GREETING: &str = "\"rootward-shared-0\"";

/// The log levels, most verbose first.
pub(super) const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// How many resources a client may subscribe to.
const MOST_SUBSCRIBED: usize = 1000;

/// What clients that share a session have in common.
#[derive(Clone, Debug)]
pub(super) struct Common {
    /// The protocol revision that they asked for.
    pub(super) revision: Option<String>,
    /// Their owner.
    pub(super) party: Party,
    /// The current roots; `None` if the server does not use the clients' roots.
    pub(super) roots: Option<CommonRoots>,
}

/// Current roots of several clients.
#[derive(Clone, Debug)]
pub(super) struct CommonRoots {
    guard: Guard,
    /// In the form of an answer to `roots/list`.
    list: String,
}

impl CommonRoots {
    pub(super) fn new(guard: &Guard, list: &[PlacedRoot]) -> CommonRoots {
        let told = |placed: &PlacedRoot| {
            // SECURITY: without this, a read-only root would become fully accessible
            // (test: a_read_only_root_is_read_only_in_a_shared_process)
            let access = json!({keys::ACCESS: placed.root.access});
            let mut root = json!({"uri": placed.root.uri()?.as_str(), "_meta": access});
            if let Some(name) = &placed.root.name {
                root["name"] = json!(name);
            }
            Some(root)
        };
        let roots: Vec<Value> = list.iter().filter_map(told).collect();
        CommonRoots { guard: guard.clone(), list: json!({"roots": roots}).to_string() }
    }
}

impl Common {
    // SECURITY: clients share a process only if they have the same access and the same principal
    // (test: clients_with_different_roots_do_not_share_a_process, principals_never_share_a_process)
    pub(super) fn is(&self, other: &Common) -> bool {
        let same_roots = match (&self.roots, &other.roots) {
            (None, None) => true,
            (Some(own), Some(others)) => own.list == others.list && own.guard.decides_as(&others.guard),
            _ => false,
        };
        self.revision == other.revision && same_roots && self.party.is_with(&other.party)
    }
}

/// A session that clients share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) common: Common,
    members: BTreeMap<ClientId, Member>,
    handshake: Handshake,
    /// Client requests, by the id that the server sees.
    open: HashMap<Box<str>, Open>,
    /// What clients sent before the handshake was done.
    early: Vec<(ClientId, Vec<u8>)>,
    last: u64,
    /// Pending messages to the server and to clients.
    pub(super) to_server: Vec<Vec<u8>>,
    pub(super) to_clients: Vec<(ClientId, Vec<u8>)>,
}

/// What a client wants to receive.
#[derive(Debug, Default)]
pub(super) struct Member {
    /// The id of its `initialize`, until it is answered.
    greets: Option<Box<str>>,
    subscribed: BTreeSet<String>,
    /// The lowest log level, as an index.
    level: Option<usize>,
}

#[derive(Debug)]
enum Handshake {
    Asked,
    Done(Box<RawValue>),
    Failed(String),
}

/// A client's request.
#[derive(Debug)]
struct Open {
    client: ClientId,
    id: Box<str>,
    token: Option<Box<RawValue>>,
}

impl Shared {
    /// Begins a session.
    pub(super) fn new(common: Common) -> Shared {
        // It announces no changes: a client whose roots change leaves the session.
        let support = if common.roots.is_some() { Support::Listed } else { Support::No };
        let hello = common_hello(common.revision.as_deref(), support, "rootward-hub", env!("CARGO_PKG_VERSION"));
        let greeting = message::request(GREETING, method::INITIALIZE, Some(&hello));
        Shared {
            common,
            members: BTreeMap::new(),
            handshake: Handshake::Asked,
            open: HashMap::new(),
            early: Vec::new(),
            last: 0,
            to_server: vec![greeting.into_bytes()],
            to_clients: Vec::new(),
        }
    }

    pub(super) fn clients(&self) -> impl Iterator<Item = ClientId> {
        self.members.keys().copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// A client joins. Its existing subscriptions continue.
    pub(super) fn join(&mut self, client: ClientId, mut member: Member) {
        let greets = member.greets.take();
        self.members.insert(client, member);
        if let Some(id) = greets.as_deref().and_then(Id::read) {
            self.client_greets(client, id);
        }
        if matches!(self.handshake, Handshake::Done(_)) {
            self.set_level();
            self.subscribe(client);
        }
    }

    fn subscribe(&mut self, client: ClientId) {
        let subscribed = self.members.get(&client).map(|member| member.subscribed.clone()).unwrap_or_default();
        for uri in subscribed {
            self.ask_for_itself(method::SUBSCRIBE, &json!({"uri": uri}));
        }
    }

    /// A client leaves. Returns its membership and the ids of its open requests, which the server no longer has to
    /// answer.
    pub(super) fn leave(&mut self, client: ClientId) -> (Member, Vec<Box<str>>) {
        let open: Vec<(Box<str>, Open)> = self.open.extract_if(|_, open| open.client == client).collect();
        for (id, _) in &open {
            self.to_server.push(message::cancelled(id, "the client is gone").into_bytes());
        }
        let early: Vec<Box<str>> = self.early.extract_if(.., |(of, _)| *of == client).filter_map(id_of).collect();
        let member = self.members.remove(&client).unwrap_or_default();
        for uri in &member.subscribed {
            if !self.members.values().any(|other| other.subscribed.contains(uri)) {
                self.ask_for_itself(method::UNSUBSCRIBE, &json!({"uri": uri}));
            }
        }
        (member, open.into_iter().map(|(_, open)| open.id).chain(early).collect())
    }

    /// Handles a line from a client.
    pub(super) fn client_line(&mut self, client: ClientId, line: &[u8]) {
        let Ok(Message::Single(envelope)) = Message::parse(line) else { return };
        match (envelope.kind(), envelope.id(), envelope.method().unwrap_or_default()) {
            (Kind::Request, Some(id), method::INITIALIZE) => self.client_greets(client, id),
            (_, _, method) if matches!(self.handshake, Handshake::Asked) && !is_for_one(method) => {
                self.early.push((client, line.to_vec()));
            }
            (Kind::Request, Some(id), _) => self.client_asks(client, id, &envelope),
            (Kind::Notification, _, method::CANCELLED) => self.client_cancels(client, &envelope),
            // Everything else is about the client's own session, or answers a question that nobody asked.
            _ => {}
        }
    }

    fn client_greets(&mut self, client: ClientId, id: Id<'_>) {
        let answer = match &self.handshake {
            Handshake::Asked => {
                self.members.entry(client).or_default().greets = Some(id.as_str().into());
                return;
            }
            Handshake::Done(result) => message::result(id.as_str(), result.get()),
            Handshake::Failed(why) => message::error(id.as_str(), INTERNAL_ERROR, why, None),
        };
        self.tell(client, answer);
    }

    fn client_asks(&mut self, client: ClientId, id: Id<'_>, envelope: &Envelope<'_>) {
        if let Handshake::Failed(why) = &self.handshake {
            return self.tell(client, message::error(id.as_str(), INTERNAL_ERROR, why, None));
        }
        let params = envelope.params().and_then(Members::read);
        let uri = params.as_ref().and_then(|params| params.text("uri"));
        let Some(member) = self.members.get_mut(&client) else { return };
        match (envelope.method().unwrap_or_default(), uri) {
            (method::SET_LEVEL, _) => {
                let level = params.and_then(|params| params.text("level"));
                member.level = level.and_then(|level| LEVELS.iter().position(|known| *known == level));
                self.set_level();
                return self.tell(client, message::result(id.as_str(), "{}"));
            }
            (method::SUBSCRIBE, Some(uri)) => {
                if member.subscribed.len() >= MOST_SUBSCRIBED {
                    let says = "too many subscriptions";
                    return self.tell(client, message::error(id.as_str(), INTERNAL_ERROR, says, None));
                }
                member.subscribed.insert(uri);
            }
            (method::UNSUBSCRIBE, Some(uri)) => {
                member.subscribed.remove(&uri);
                if self.members.values().any(|other| other.subscribed.contains(&uri)) {
                    return self.tell(client, message::result(id.as_str(), "{}"));
                }
            }
            _ => {}
        }
        let own = self.own_id();
        let (line, token) = renamed(envelope, &own);
        self.open.insert(own, Open { client, id: id.as_str().into(), token });
        self.to_server.push(line);
    }

    fn client_cancels(&mut self, client: ClientId, envelope: &Envelope<'_>) {
        let params = envelope.params().and_then(Members::read);
        let Some(id) = params.and_then(|params| params.get(keys::REQUEST_ID)) else { return };
        // SECURITY: a client can cancel only its own requests (test: clients_that_share_hear_only_their_own)
        let is_it = |open: &Open| open.client == client && key(&open.id) == key(id.get());
        let Some(own) = self.open.iter().find(|(_, open)| is_it(open)).map(|(own, _)| own.clone()) else { return };
        let mut line = Vec::new();
        envelope.write_replacing(id.get(), &own, &mut line);
        self.open.remove(&own);
        self.to_server.push(line);
    }

    /// Handles a line from the server.
    pub(super) fn server_line(&mut self, line: &[u8]) {
        let Ok(Message::Single(envelope)) = Message::parse(line) else { return };
        match (envelope.kind(), envelope.id()) {
            (Kind::Response | Kind::ErrorResponse, Some(id)) if *id.key() == *GREETING => self.greeted(&envelope),
            // SECURITY: an answer goes to the client that asked (test: clients_that_share_hear_only_their_own)
            (Kind::Response | Kind::ErrorResponse, Some(id)) => {
                let Some(Open { client, id, .. }) = self.open.remove(&id.key()) else { return };
                let mut answer = Vec::new();
                if let Some(id) = Id::read(&id) {
                    envelope.write_with_id(id, &mut answer);
                    self.to_clients.push((client, answer));
                }
            }
            (Kind::Request, Some(id)) => self.server_asks(id, envelope.method().unwrap_or_default()),
            (Kind::Notification, _) => self.server_notifies(&envelope),
            _ => {}
        }
    }

    fn greeted(&mut self, envelope: &Envelope<'_>) {
        self.handshake = match envelope.result() {
            Some(result) => {
                self.to_server.push(message::notification(method::INITIALIZED).into_bytes());
                Handshake::Done(result.to_owned())
            }
            None => {
                let error = envelope.error().and_then(Members::read).and_then(|error| error.text("message"));
                Handshake::Failed(error.unwrap_or_else(|| "the server refused `initialize`".to_owned()))
            }
        };
        let greeting: Vec<_> =
            self.members.iter_mut().filter_map(|(client, member)| Some((*client, member.greets.take()?))).collect();
        for (client, id) in greeting {
            if let Some(id) = Id::read(&id) {
                self.client_greets(client, id);
            }
        }
        self.set_level();
        for client in self.clients().collect::<Vec<_>>() {
            self.subscribe(client);
        }
        for (client, line) in std::mem::take(&mut self.early) {
            self.client_line(client, &line);
        }
    }

    fn server_asks(&mut self, id: Id<'_>, method: &str) {
        let answer = match method {
            method::PING => message::result(id.as_str(), "{}"),
            method::LIST_ROOTS => {
                let list = self.common.roots.as_ref().map_or(r#"{"roots":[]}"#, |roots| &roots.list);
                message::result(id.as_str(), list)
            }
            // SECURITY: a question during one client's call must not be answered by another client
            // (test: a_shared_server_cannot_ask_clients)
            _ => {
                let says = "several clients share this server, so it cannot ask one of them";
                message::error(id.as_str(), METHOD_NOT_FOUND, says, None)
            }
        };
        self.to_server.push(answer.into_bytes());
    }

    fn server_notifies(&mut self, envelope: &Envelope<'_>) {
        let method = envelope.method().unwrap_or_default();
        let params = envelope.params().and_then(Members::read);
        let text = |key: &str| params.as_ref().and_then(|params| params.text(key));
        match method {
            method::CANCELLED => {}
            method::PROGRESS => {
                let Some(own) = params.as_ref().and_then(|params| params.get(keys::PROGRESS_TOKEN)) else { return };
                let open = self.open.get(&key(own.get()));
                let Some(Open { client, token: Some(token), .. }) = open else { return };
                let mut line = Vec::new();
                envelope.write_replacing(own.get(), token.get(), &mut line);
                self.to_clients.push((*client, line));
            }
            method::RESOURCE_UPDATED => {
                let uri = text("uri").unwrap_or_default();
                self.tell_those(envelope, |member| member.subscribed.contains(&uri));
            }
            method::MESSAGE => {
                let level = text("level").and_then(|level| LEVELS.iter().position(|known| *known == level));
                self.tell_those(envelope, |member| level.is_none() || member.level.is_none() || level >= member.level);
            }
            // SECURITY: other notifications may be about one client's call
            // (test: notifications_that_may_concern_one_client_reach_nobody)
            _ if LISTS.iter().any(|list| list.changed == method) => self.tell_those(envelope, |_| true),
            _ => {}
        }
    }

    /// Sets the most verbose level that a client wants.
    fn set_level(&mut self) {
        let offers = matches!(&self.handshake, Handshake::Done(result) if Offer::read(result).has("logging"));
        let wanted = self.members.values().filter_map(|member| member.level).min().and_then(|level| LEVELS.get(level));
        if let (true, Some(level)) = (offers, wanted) {
            self.ask_for_itself(method::SET_LEVEL, &json!({"level": level}));
        }
    }

    fn tell_those(&mut self, envelope: &Envelope<'_>, wants: impl Fn(&Member) -> bool) {
        let wanting = self.members.iter().filter(|(_, member)| wants(member));
        let told = wanting.map(|(client, _)| (*client, envelope.text().as_bytes().to_vec()));
        self.to_clients.extend(told);
    }

    fn tell(&mut self, client: ClientId, message: String) {
        self.to_clients.push((client, message.into_bytes()));
    }

    /// A request whose answer nobody needs.
    fn ask_for_itself(&mut self, method: &str, params: &Value) {
        let id = self.own_id();
        self.to_server.push(message::request(&id, method, Some(&params.to_string())).into_bytes());
    }

    fn own_id(&mut self) -> Box<str> {
        self.last += 1;
        format!("\"rootward-shared-{}\"", self.last).into()
    }
}

/// Whether a notification is about a client's own session, not the one with the server.
fn is_for_one(method: &str) -> bool {
    matches!(method, method::INITIALIZED | method::ROOTS_CHANGED)
}

/// The id of a request.
fn id_of((_, line): (ClientId, Vec<u8>)) -> Option<Box<str>> {
    let Ok(Message::Single(envelope)) = Message::parse(&line) else { return None };
    let id = envelope.id().filter(|_| envelope.kind() == Kind::Request)?;
    Some(id.as_str().into())
}
