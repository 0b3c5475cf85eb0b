//! One client of the hub: distributes its requests among the servers, and merges their messages into one server's.
//!
//! For each server the client has a *branch*: a session of the engine in which the hub is the client. Everything that
//! `wrap` does for a client and its server applies there: learning, roots, checks, confinement, restarts. The files
//! here only decide which message goes into which branch, and under which name. Lines go in; lines and orders come
//! out. There is no engine, pipe or clock here.
//!
//! The client's own ids go into branches unchanged. Requests from servers get new ids, because two servers may use
//! the same one.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use rootward_core::session::Support;
use rootward_core::{AuditEvent, Mode};
use rootward_protocol::era::Hello;
use rootward_protocol::frame::{Envelope, Id, Kind, Line, Members, Message, key};
use rootward_protocol::message::{self, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST};
use rootward_protocol::offer::{self, OfferedList};
use rootward_protocol::session::{Given, LeftOutNews, Placing, Published, SessionGuard, Terms, Turn};
use rootward_protocol::{keys, method, shown, tells_limits};
use serde_json::value::RawValue;

use super::Served;
use super::branch::Branch;
use super::catalog::Merged;
use super::lists::ListRequest;
use super::own_tools::OwnCall;
use super::passing::Passing;
use super::questions::Asked;
use crate::config::HubSettings;
use crate::engine::Outlet;
use crate::principal::Party;

/// How many characters of a peer's text are shown.
pub(super) const LONGEST_SHOWN: usize = 300;

/// An action for the hub, to be carried out in order.
#[derive(Debug)]
pub(super) enum Order {
    /// Send a line into the branch of this server; open the branch if it is closed.
    Line(usize, Vec<u8>),
    /// Close the branch of this server.
    Close(usize),
    /// Resolve the client's roots.
    Place(Placing),
    /// Answer a call of `get-roots`, with information that only the hub has.
    Describe(Box<str>),
    /// Tell the operator.
    Say(String),
    /// Audit these events; nobody waits for it.
    Record(Vec<AuditEvent>),
}

/// A message for a server that is not ready yet.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) line: Vec<u8>,
    /// The id, if it is a client's request; it gets an error if the server never becomes ready.
    pub(super) id: Option<Box<str>>,
}

/// A request that cannot be routed yet, because the owner of its tool or resource is not known.
#[derive(Debug)]
pub(super) struct Parked {
    pub(super) text: Box<str>,
    pub(super) id: Box<str>,
    /// The lists that would show the owner.
    pub(super) lists: &'static [&'static str],
    pub(super) until: Duration,
}

#[derive(Debug)]
pub(super) struct Client {
    /// All servers that ever existed: a server keeps its index.
    pub(super) servers: Vec<Arc<Served>>,
    pub(super) branches: Vec<Branch>,
    /// The indexes of the current servers, in configuration order.
    pub(super) order: Vec<usize>,
    pub(super) settings: Arc<HubSettings>,
    /// The params of its `initialize`.
    pub(super) hello: Option<Box<RawValue>>,
    /// Whether it sent `initialized`.
    pub(super) initialized: bool,
    /// What it declares about roots.
    pub(super) support: Support,
    /// Its open requests by id, with the server that owes the answer.
    pub(super) calls: HashMap<Box<str>, usize>,
    /// The hub's requests to it, by id.
    pub(super) asked: HashMap<Box<str>, Asked>,
    /// The hub's own requests to servers, by id.
    pub(super) own: HashMap<Box<str>, super::branch::Own>,
    /// Its requests for lists that wait for servers.
    pub(super) lists: Vec<ListRequest>,
    pub(super) parked: Vec<Parked>,
    pub(super) own_calls: Vec<OwnCall>,
    /// Merged lists, until a server's list changes.
    pub(super) merged: BTreeMap<&'static str, Arc<Merged>>,
    /// Incremented when a list changes: a cursor is valid for one generation.
    pub(super) generation: u64,
    /// The server that started each task.
    pub(super) tasks: HashMap<String, usize>,
    /// The log level that the client wants.
    pub(super) level: Option<Box<RawValue>>,
    /// The owner of its roots, for `get-roots`. Branches have their own, within their servers' limits.
    pub(super) roots: Option<SessionGuard>,
    /// How it speaks to modern servers; `None` for a legacy client.
    pub(super) passing: Option<Passing>,
    /// Which unused roots were reported to the operator.
    pub(super) left_out: LeftOutNews,
    /// The client's name, for the audit log.
    pub(super) name: Option<String>,
    /// The owner.
    party: Party,
    terms: Arc<Terms>,
    given: Arc<Given>,
    pub(super) out: Outlet,
    pub(super) orders: VecDeque<Order>,
    pub(super) now: Duration,
    longest: usize,
    own_ids: u64,
}

impl Client {
    pub(super) fn new(
        (servers, order): (Vec<Arc<Served>>, &[usize]),
        settings: Arc<HubSettings>,
        (terms, given): (Arc<Terms>, Arc<Given>),
        party: Party,
        longest: usize,
    ) -> Client {
        Client {
            branches: servers.iter().map(|_| Branch::default()).collect(),
            order: open_to(&party, &servers, order),
            servers,
            settings,
            hello: None,
            initialized: false,
            support: Support::No,
            calls: HashMap::new(),
            asked: HashMap::new(),
            own: HashMap::new(),
            lists: Vec::new(),
            parked: Vec::new(),
            own_calls: Vec::new(),
            merged: BTreeMap::new(),
            generation: 1,
            tasks: HashMap::new(),
            level: None,
            roots: None,
            passing: None,
            left_out: LeftOutNews::default(),
            name: None,
            terms,
            given: party.limited(&given),
            party,
            out: Outlet::default(),
            orders: VecDeque::new(),
            now: Duration::ZERO,
            longest,
            own_ids: 0,
        }
    }

    /// Handles a line from the client.
    pub(super) fn client_line(&mut self, now: Duration, line: &Line<'_>) {
        self.now = now.max(self.now);
        match line {
            Line::TooLong(long) => {
                if let Some(answer) = message::too_long(long, self.longest) {
                    self.tell(&answer);
                }
                self.say(format!("a message from the client was too long: {} bytes", long.length));
            }
            Line::Frame(frame) => match Message::parse(frame) {
                Err(bad) => {
                    self.say(format!("refused a line from the client: {}", bad.reason));
                    self.tell(&message::bad_frame(bad.id.as_deref(), &bad.reason));
                }
                Ok(Message::Single(envelope)) => self.client_message(&envelope),
                // Members of a batch are answered one by one.
                Ok(Message::Batch(batch)) => {
                    for member in batch.members() {
                        match member {
                            Ok(envelope) => self.client_message(&envelope),
                            Err(bad) => self.tell(&message::bad_frame(bad.id.as_deref(), &bad.reason)),
                        }
                    }
                }
            },
        }
        self.settle();
    }

    fn client_message(&mut self, envelope: &Envelope<'_>) {
        match (envelope.kind(), envelope.id()) {
            (Kind::Response | Kind::ErrorResponse, _) => self.client_answers(envelope),
            (Kind::Notification, _) => self.client_notifies(envelope),
            (Kind::Request, Some(id)) => self.client_asks(envelope, id),
            (Kind::Request, None) => {}
        }
    }

    /// Handles a notification from the client.
    fn client_notifies(&mut self, envelope: &Envelope<'_>) {
        match envelope.method().unwrap_or_default() {
            method::INITIALIZED if self.hello.is_some() && !self.initialized => {
                self.initialized = true;
                self.report(|roots, now| roots.needed(now, now));
                for server in 0..self.branches.len() {
                    self.tell_ready(server);
                }
            }
            method::ROOTS_CHANGED if self.initialized => {
                self.roots_questions_are_old();
                self.report(SessionGuard::list_changed);
                for server in 0..self.branches.len() {
                    self.send_if_open(server, envelope.text());
                }
            }
            method::CANCELLED => self.client_cancels(envelope),
            method::PROGRESS => self.client_progress(envelope),
            // The receiving server is not known.
            _ => {}
        }
    }

    /// Handles a request from the client.
    fn client_asks(&mut self, envelope: &Envelope<'_>, id: Id<'_>) {
        let method = envelope.method().unwrap_or_default();
        let id_text = id.as_str();
        match method {
            method::INITIALIZE => return self.initialize(envelope, id_text),
            method::PING => return self.tell(&message::result(id_text, "{}")),
            _ if self.hello.is_none() => {
                let says = "the session has not begun; send `initialize` first";
                return self.tell(&message::error(id_text, INVALID_REQUEST, says, None));
            }
            _ => {}
        }
        // SECURITY: with two requests under one id, one server's answer could pass for another's
        // (test: an_id_in_use_is_refused)
        if self.is_in_use(&id.key()) {
            return self.tell(&message::error(id_text, INVALID_REQUEST, "this id is in use", None));
        }
        if self.calls.len() + self.parked.len() + self.lists.len() >= self.settings.limits.queued_calls {
            return self.tell(&message::error(id_text, INTERNAL_ERROR, "too many requests are open", None));
        }
        match OfferedList::of(method) {
            Some(list) => self.asks_for_list(envelope, id_text, list),
            None => self.part(envelope, id_text, self.now + super::lists::LISTS_WITHIN),
        }
    }

    /// Whether an id belongs to an open request, or to the hub's own request to a server.
    fn is_in_use(&self, asked: &str) -> bool {
        self.calls.contains_key(asked)
            || self.own.contains_key(asked)
            || self.lists.iter().any(|list| *key(&list.id) == *asked)
            || self.parked.iter().any(|parked| *key(&parked.id) == *asked)
            || self.own_calls.iter().any(|call| *key(&call.id) == *asked)
    }

    /// Handles the client's `initialize`. The hub answers for all servers; they are contacted when needed.
    fn initialize(&mut self, envelope: &Envelope<'_>, id: &str) {
        if self.hello.is_some() {
            return self.tell(&message::error(id, INVALID_REQUEST, "the session has already begun", None));
        }
        let hello = envelope.params().and_then(|params| Some((params, Hello::read(params)?)));
        let Some((params, hello)) = hello else {
            let says = "the params of `initialize` are refused: not an object, or a duplicate key";
            return self.tell(&message::error(id, INVALID_PARAMS, says, None));
        };
        self.support = hello.support;
        self.name.clone_from(&hello.client);
        self.roots = Some(SessionGuard::new(Arc::clone(&self.terms), Arc::clone(&self.given), hello.support));
        self.hello = Some(params.to_owned());
        let result = offer::of_hub(hello.revision.as_deref(), &self.instructions());
        let asked = hello.client.as_deref().is_some_and(tells_limits);
        let asking = if asked { offer::asking_for_limits(&result) } else { None };
        self.tell(&message::result(id, &asking.unwrap_or(result)));
    }

    /// The hub's instructions for models, about itself and its servers.
    pub(super) fn instructions(&self) -> String {
        let names: Vec<&str> = self.ordered().map(|(_, server)| server.name.as_str()).collect();
        let servers = match names.as_slice() {
            [] => "no server is configured".to_owned(),
            names => format!("servers: {}", names.join(", ")),
        };
        // A client that can be asked names its roots only later.
        let published = self.roots.as_ref().and_then(SessionGuard::published);
        let now = published.map(|published| format!(" {}", published.sentence())).unwrap_or_default();
        let own = format!(
            "This hub combines several MCP servers ({servers}). Each may use only the roots, the directories that the user shares: a path \
             outside them is refused. The tool `get-roots` lists them.{now}"
        );
        // SECURITY: instructions given to local clients may mention files that no principal can reach
        // (test: what_a_server_told_one_principal_is_hidden_from_others)
        let may_hear = self.party.principal.is_none();
        let told = self.ordered().filter(|_| may_hear);
        let told = told.filter_map(|(_, server)| Some((&server.name, server.instructions.as_ref()?)));
        let told = told.map(|(name, instructions)| format!("{name}: {instructions}"));
        [own].into_iter().chain(told).collect::<Vec<_>>().join("\n\n")
    }

    /// The current servers, with their indexes.
    pub(super) fn ordered(&self) -> impl Iterator<Item = (usize, &Arc<Served>)> {
        self.order.iter().filter_map(|position| Some((*position, self.servers.get(*position)?)))
    }

    /// The configuration changed: these are the servers from now on, in this order.
    pub(super) fn reconfigure(
        &mut self,
        now: Duration,
        servers: &[Arc<Served>],
        order: &[usize],
        settings: Arc<HubSettings>,
    ) {
        self.now = now.max(self.now);
        self.servers = servers.to_vec();
        self.branches.resize_with(servers.len(), Branch::default);
        let order = open_to(&self.party, servers, order);
        let gone: Vec<usize> = self.order.iter().copied().filter(|position| !order.contains(position)).collect();
        self.settings = settings;
        for server in gone {
            self.failed(server, "it was removed from the configuration");
        }
        self.order = order;
        self.forget_merged();
        for changed in [method::TOOLS_CHANGED, method::PROMPTS_CHANGED, method::RESOURCES_CHANGED] {
            if self.initialized {
                self.tell(&message::notification(changed));
            }
        }
        self.settle();
    }

    /// The client cancels a request.
    fn client_cancels(&mut self, envelope: &Envelope<'_>) {
        let params = envelope.params().and_then(Members::read);
        let Some(id) = params.and_then(|params| params.get(keys::REQUEST_ID)).and_then(|id| Id::read(id.get())) else {
            return;
        };
        let asked = id.key();
        self.lists.retain(|list| key(&list.id) != asked);
        self.parked.retain(|parked| key(&parked.id) != asked);
        self.own_calls.retain(|call| key(&call.id) != asked);
        if let Some(server) = self.calls.remove(&asked) {
            self.send_if_open(server, envelope.text());
        }
    }

    /// The operator's or user's root sources have changed.
    pub(super) fn give(&mut self, now: Duration, given: &Arc<Given>) {
        self.now = now.max(self.now);
        let given = self.party.limited(given);
        self.report(|roots, now| roots.given(now, &given));
        self.given = given;
        self.settle();
    }

    /// Whether time matters to it now.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        self.wakes_at().is_some_and(|due| due <= now)
    }

    /// The owner.
    pub(super) fn party(&self) -> &Party {
        &self.party
    }

    /// Does what is due by now.
    pub(super) fn tick(&mut self, now: Duration) {
        self.now = now.max(self.now);
        if self.roots.as_ref().and_then(SessionGuard::wakes_at).is_some_and(|due| due <= self.now) {
            self.report(SessionGuard::tick);
        }
        self.settle();
    }

    /// Continues everything that can continue.
    pub(super) fn settle(&mut self) {
        self.greet_late();
        self.answer_lists();
        self.part_parked();
        self.answer_own_calls();
    }

    /// When time next matters.
    pub(super) fn wakes_at(&self) -> Option<Duration> {
        let roots = self.roots.as_ref().and_then(SessionGuard::wakes_at);
        let lists = self.lists.iter().map(|list| list.until);
        let parked = self.parked.iter().map(|parked| parked.until);
        let calls = self.own_calls.iter().filter_map(|call| self.own_call_wakes_at(call));
        roots.into_iter().chain(lists).chain(parked).chain(calls).chain(self.probing_ends_at()).min()
    }

    /// The client is being dropped: everything that still waits here gets an error.
    pub(super) fn give_up(&mut self) {
        let lists = std::mem::take(&mut self.lists).into_iter().map(|list| list.id);
        let parked = std::mem::take(&mut self.parked).into_iter().map(|parked| parked.id);
        let calls = std::mem::take(&mut self.own_calls).into_iter().map(|call| call.id);
        for id in lists.chain(parked).chain(calls).collect::<Vec<_>>() {
            self.tell(&message::error(&id, INTERNAL_ERROR, "the session is closing", None));
        }
    }

    /// Whether the client is still waiting for something here or in a branch.
    pub(super) fn owes(&self) -> bool {
        !(self.lists.is_empty() && self.parked.is_empty() && self.own_calls.is_empty() && self.calls.is_empty())
    }

    /// The number of bytes that wait here.
    pub(super) fn held_bytes(&self) -> usize {
        let parked: usize = self.parked.iter().map(|parked| parked.text.len()).sum();
        let queued: usize = self.branches.iter().map(Branch::queued_bytes).sum();
        let carried = self.passing.as_ref().map_or(0, Passing::held_bytes);
        parked + queued + carried + self.out.waiting().len()
    }

    /// The protocol revision that it asked for.
    pub(super) fn revision(&self) -> Option<String> {
        Hello::read(self.hello.as_deref()?)?.revision
    }

    /// Whether it declared this capability.
    pub(super) fn declares(&self, capability: &str) -> bool {
        let capabilities = self.hello.as_deref().and_then(Members::read).and_then(|hello| hello.object("capabilities"));
        let declared = capabilities.and_then(|capabilities| capabilities.get(capability));
        declared.is_some_and(|declared| declared.get() != "null")
    }

    /// The current roots, unless they are being requested.
    pub(super) fn current_roots(&self) -> Option<&Published> {
        self.roots.as_ref().filter(|roots| roots.turn(self.now, self.now) == Turn::GoOn)?.published()
    }

    /// How the client's roots and the ceiling combine.
    pub(super) fn mode(&self) -> Mode {
        self.terms.policy.mode
    }

    /// Queues a message for the client.
    pub(super) fn tell(&mut self, message: &str) {
        self.out.push(message);
    }

    /// Tells the operator.
    pub(super) fn say(&mut self, text: impl AsRef<str>) {
        self.orders.push_back(Order::Say(shown(text.as_ref(), LONGEST_SHOWN)));
    }

    /// An id that no client and no server uses.
    pub(super) fn own_id(&mut self) -> Box<str> {
        self.own_ids += 1;
        format!(r#""rootward-hub-{}""#, self.own_ids).into()
    }
}

/// The current servers that a party may use.
// SECURITY: a server outside this order is neither listed nor called
// (test: a_principal_uses_the_servers_that_are_named_for_it)
fn open_to(party: &Party, servers: &[Arc<Served>], order: &[usize]) -> Vec<usize> {
    let may_use = |position: &usize| {
        let server = servers.get(*position);
        server.is_some_and(|server| party.principal.as_ref().is_none_or(|principal| principal.may_use(&server.name)))
    };
    order.iter().copied().filter(may_use).collect()
}
