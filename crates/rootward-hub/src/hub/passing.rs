//! A stand-in's branches to modern servers: requests are forwarded as their client sent them.
//!
//! Inside the hub a modern request has the form of a legacy one, so that it is routed and renamed like any other.
//! What the legacy form lacks is *carried* beside it, and added again for a modern server. A modern branch is a
//! modern session of the engine, with the hub as its client: the engine's request for roots is answered here, from
//! what the client told the hub.

use std::collections::HashMap;
use std::time::Duration;

use rootward_protocol::frame::{Envelope, Id, Kind, Members, Message, key};
use rootward_protocol::input::read_input;
use rootward_protocol::message::{self, INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND};
use rootward_protocol::offer::LISTS;
use rootward_protocol::passing::{is_modern, passed_params, task_of};
use rootward_protocol::round::{NOT_OF_THIS_REQUEST, with_round};
use rootward_protocol::subscription::SubscriptionFilter;
use rootward_protocol::{keys, method};
use serde_json::value::RawValue;

use super::branch::{EraQuestion, Own, Phase};
use super::client::{Client, Order};
use crate::config::Isolation;

/// How long a server may take to tell its era before it is also greeted as a legacy server. A silent server is
/// remembered.
const TELLS_ERA_WITHIN: Duration = Duration::from_secs(2);

/// The same for a server that turned out to be modern, but answered late.
const KNOWN_TELLS_ERA_WITHIN: Duration = Duration::from_mins(1);

/// How often a branch may ask for the roots of one call: once for the call, and once for each round that the server
/// starts.
const MOST_ASKED: u8 = 8;

/// How a stand-in speaks to modern servers.
#[derive(Debug)]
pub(super) struct Passing {
    /// The client metadata in the hub's own requests.
    meta: String,
    /// The client's list of roots, as the result of `roots/list`; `None` if it sent none.
    roots: Option<String>,
    /// Open requests, by their id here.
    open: HashMap<Box<str>, OpenRequest>,
    /// Requests that a modern server has answered, with that server.
    answered: HashMap<Box<str>, usize>,
    /// Whether somebody listens for changes.
    listened_to: bool,
}

/// The parts of a modern request that its legacy form lacks.
#[derive(Debug)]
pub(super) struct Carried {
    /// `_meta`.
    pub(super) meta: String,
    /// The state of the server that asked in the previous round.
    pub(super) state: Option<ServerState>,
    /// The client's answers to its questions.
    pub(super) responses: Vec<(String, Box<str>)>,
}

/// The state of a server between two rounds.
#[derive(Clone, Debug)]
pub(super) struct ServerState {
    /// The index of the server.
    pub(super) server: usize,
    /// As JSON; `None` if the server has none.
    pub(super) state: Option<Box<str>>,
}

#[derive(Debug)]
struct OpenRequest {
    carried: Carried,
    /// The message that a modern server got.
    sent: Option<Vec<u8>>,
    /// How often its branch has asked for roots.
    asked: u8,
}

/// Whether a modern server reports changes to the hub.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) enum Listens {
    /// It was not asked to, or stopped.
    #[default]
    No,
    /// Through the request with this id.
    By(Box<str>),
    /// It does not support that: its lists are requested each time.
    Never,
}

impl Passing {
    pub(super) fn new(meta: String, roots: Option<String>) -> Passing {
        Passing { meta, roots, open: HashMap::new(), answered: HashMap::new(), listened_to: false }
    }

    /// A request with this id is about to be routed.
    pub(super) fn begin(&mut self, id: &str, carried: Carried) {
        self.open.insert(key(id), OpenRequest { carried, sent: None, asked: 0 });
    }

    /// The request was answered or cancelled. Returns the modern server that answered it.
    pub(super) fn end(&mut self, id: &str) -> Option<usize> {
        self.open.remove(&key(id));
        self.answered.remove(&key(id))
    }

    /// Whether this server may get a request.
    // SECURITY: one server's state is never sent to another, which may have a tool of the same name by now
    // (test: a_state_goes_to_the_server_that_gave_it)
    pub(super) fn may_get(&self, server: usize, id: &str) -> bool {
        let state = self.open.get(&key(id)).and_then(|open| open.carried.state.as_ref());
        state.is_none_or(|state| state.server == server)
    }

    fn bytes(open: &OpenRequest) -> usize {
        let responses = open.carried.responses.iter().map(|(name, response)| name.len() + response.len());
        open.carried.meta.len() + responses.sum::<usize>() + open.sent.as_ref().map_or(0, Vec::len)
    }

    /// The number of bytes that it holds.
    pub(super) fn held_bytes(&self) -> usize {
        self.open.values().map(Passing::bytes).sum()
    }
}

impl Client {
    /// Whether a server is asked for its era. A server that several clients share is greeted for all of them, in the
    /// legacy era.
    pub(super) fn probes(&self, server: usize) -> bool {
        let shares = self.servers.get(server).is_none_or(|server| server.isolation != Isolation::Session);
        let asks = self.branches.get(server).is_some_and(|branch| branch.era_question != EraQuestion::Skipped);
        self.passing.is_some() && !shares && asks
    }

    /// Asks a server for its era.
    pub(super) fn probe(&mut self, server: usize) {
        let (Some(passing), now) = (&self.passing, self.now) else { return };
        let params = passed_params(None, &passing.meta, &[], None);
        let Some(branch) = self.branches.get_mut(server) else { return };
        let within = match branch.era_question {
            EraQuestion::Patient => KNOWN_TELLS_ERA_WITHIN,
            EraQuestion::Brief | EraQuestion::Skipped => TELLS_ERA_WITHIN,
        };
        branch.phase = Phase::Probing { until: now + within };
        branch.is_probed = true;
        let id = self.own_id();
        let line = message::request(&id, method::DISCOVER, params.as_ref().map(|params| params.get()));
        self.own.insert(id, Own::Discovery(server));
        self.orders.push_back(Order::Line(server, line.into_bytes()));
    }

    /// When a server is late to tell its era.
    pub(super) fn probing_ends_at(&self) -> Option<Duration> {
        let until = self.branches.iter().filter_map(|branch| match branch.phase {
            Phase::Probing { until } => Some(until),
            _ => None,
        });
        until.min()
    }

    /// Greets servers that are late to tell their era. Most legacy servers refuse an unknown method at once; some do
    /// not answer.
    pub(super) fn greet_late(&mut self) {
        for server in 0..self.branches.len() {
            if matches!(self.branches[server].phase, Phase::Probing { until } if until <= self.now) {
                self.greet(server);
            }
        }
    }

    /// A server has told its era, or does not know the question.
    pub(super) fn discovered(&mut self, server: usize, envelope: &Envelope<'_>) {
        let Some(result) = envelope.result().filter(|result| is_modern(result)) else {
            if matches!(self.branches[server].phase, Phase::Probing { .. }) {
                self.greet(server);
            }
            return;
        };
        if matches!(self.branches[server].phase, Phase::Probing { .. }) {
            return self.is_ready_modern(server, result);
        }
        // It was late and has already been greeted as a legacy server: start over, in its own era.
        if self.branches[server].phase == Phase::Greeting {
            self.branches[server].era_question = EraQuestion::Patient;
            self.begin_again(server);
        }
    }

    /// Opens a branch again. Queued messages keep waiting.
    pub(super) fn begin_again(&mut self, server: usize) {
        self.branches[server].phase = Phase::Closed;
        self.own.retain(|_, own| own.server() != server || matches!(own, Own::List(..)));
        self.orders.retain(|order| !matches!(order, Order::Line(of, _) if *of == server));
        self.orders.push_back(Order::Close(server));
        self.open(server);
    }

    fn is_ready_modern(&mut self, server: usize, result: &RawValue) {
        let listened_to = self.passing.as_ref().is_some_and(|passing| passing.listened_to);
        let branch = &mut self.branches[server];
        (branch.phase, branch.is_modern, branch.is_probed) = (Phase::Ready, true, false);
        branch.handshake = Some(result.to_owned());
        let queued = branch.take_queued();
        let from_before: Vec<&'static str> = branch.listings.keys().copied().collect();
        if listened_to {
            self.listen(server);
        }
        for line in queued {
            self.pass_modern(server, &line);
        }
        self.ask_again(server, &from_before);
    }

    /// Forwards a line to a modern server.
    pub(super) fn pass_modern(&mut self, server: usize, line: &[u8]) {
        let Ok(Message::Single(envelope)) = Message::parse(line) else { return };
        let (Kind::Request, Some(id)) = (envelope.kind(), envelope.id()) else {
            if envelope.kind() != Kind::Notification || envelope.method() == Some(method::CANCELLED) {
                self.orders.push_back(Order::Line(server, line.to_vec()));
            }
            return;
        };
        let params = envelope.params().and_then(Members::read);
        if let Some(method @ (method::SUBSCRIBE | method::UNSUBSCRIBE)) = envelope.method() {
            self.calls.remove(&id.key());
            let uri = params.and_then(|params| params.text("uri")).unwrap_or_default();
            return self.listen_for(server, uri, method == method::SUBSCRIBE);
        }
        let is_clients = self.passing.as_ref().is_some_and(|passing| passing.open.contains_key(&id.key()));
        if is_clients && self.branches[server].listens == Listens::No {
            self.listen(server);
        }
        let Some(passing) = &mut self.passing else { return };
        let mut open = passing.open.get_mut(&id.key());
        let params = match &open {
            Some(OpenRequest { carried, .. }) => {
                let responses = carried.responses.iter().map(|(name, response)| (name.as_str(), &**response));
                let state = carried.state.as_ref().and_then(|state| state.state.as_deref());
                passed_params(envelope.params(), &carried.meta, &responses.collect::<Vec<_>>(), state)
            }
            None => passed_params(envelope.params(), &passing.meta, &[], None),
        };
        let Some(params) = params else { return };
        let method = envelope.method().unwrap_or_default();
        let passed = message::request(id.as_str(), method, Some(params.get())).into_bytes();
        if let Some(open) = &mut open {
            open.sent = Some(passed.clone());
        }
        self.orders.push_back(Order::Line(server, passed));
    }

    /// A modern server, or the engine in front of it, has answered a client's request. Returns true if it was a
    /// request for roots, which is handled here.
    pub(super) fn answers_modern(&mut self, server: usize, id: Id<'_>, envelope: &Envelope<'_>) -> bool {
        let result = envelope.result();
        let is_asked = result.is_some_and(|result| {
            read_input(result).is_ok_and(|input| input.questions.iter().any(|question| question.asks_for_roots))
        });
        if is_asked && let Some(result) = result {
            self.tell_roots(server, id, result);
            return true;
        }
        if let Some(task) = result.and_then(|result| task_of(method::CALL_TOOL, result)) {
            // SECURITY: a later task with the same name must not receive requests about the first one
            // (test: a_task_stays_with_the_server_that_began_it)
            self.tasks.entry(task).or_insert(server);
        }
        if let Some(passing) = &mut self.passing {
            passing.answered.insert(id.key(), server);
        }
        if self.branches[server].listens == Listens::No {
            self.listen(server);
        }
        false
    }

    /// Sends a call again, with the client's roots.
    fn tell_roots(&mut self, server: usize, id: Id<'_>, result: &RawValue) {
        let state = Members::read(result).and_then(|result| result.get(keys::REQUEST_STATE));
        let Some(passing) = &mut self.passing else { return };
        let roots = passing.roots.as_deref().map(|roots| (keys::ROOTS_QUESTION, roots));
        let open = passing.open.get_mut(&id.key()).filter(|open| open.asked < MOST_ASKED);
        let line = open.and_then(|open| {
            open.asked += 1;
            let Ok(Message::Single(call)) = Message::parse(open.sent.as_deref()?) else { return None };
            let roots: Vec<(&str, &str)> = roots.into_iter().collect();
            let params = with_round(call.params()?, &roots, state.map(RawValue::get));
            let (params, mut line) = (RawValue::from_string(params).ok()?, Vec::new());
            call.write_with_params(&params, &mut line);
            Some(line)
        });
        match line {
            Some(line) => self.orders.push_back(Order::Line(server, line)),
            None => {
                self.calls.remove(&id.key());
                let says = "the server keeps asking for its roots";
                self.tell(&message::error(id.as_str(), INTERNAL_ERROR, says, None));
            }
        }
    }

    /// The error for a request that carries another server's state.
    pub(super) fn refuse_state(&mut self, id: &str) {
        self.tell(&message::error(id, INVALID_PARAMS, NOT_OF_THIS_REQUEST, None));
    }

    /// Records whether somebody listens for changes. A server that already reports changes keeps doing so.
    pub(super) fn is_listened_to(&mut self, listened_to: bool) {
        let Some(passing) = &mut self.passing else { return };
        passing.listened_to = listened_to;
        if listened_to {
            for server in 0..self.branches.len() {
                let branch = &self.branches[server];
                if branch.is_modern && branch.is_ready() && branch.listens == Listens::No {
                    self.listen(server);
                }
            }
        }
    }

    /// A resource is subscribed to or unsubscribed from.
    fn listen_for(&mut self, server: usize, uri: String, begins: bool) {
        let resources = &mut self.branches[server].resources;
        let is_news = if begins { resources.insert(uri) } else { resources.remove(&uri) };
        if is_news && self.branches[server].listens != Listens::Never {
            self.listen(server);
        }
    }

    /// Asks a modern server to report changes to its lists and to subscribed resources.
    fn listen(&mut self, server: usize) {
        let id = self.own_id();
        let (Some(passing), Some(branch)) = (&self.passing, self.branches.get_mut(server)) else { return };
        let params = SubscriptionFilter::of_hub(&branch.resources, &passing.meta);
        let before = std::mem::replace(&mut branch.listens, Listens::By(id.clone()));
        let line = message::request(&id, method::LISTEN, Some(&params));
        self.own.insert(id, Own::Listening(server));
        self.orders.push_back(Order::Line(server, line.into_bytes()));
        if let Listens::By(before) = before {
            self.own.remove(&before);
            let line = message::cancelled(&before, "the subscription changed");
            self.orders.push_back(Order::Line(server, line.into_bytes()));
        }
    }

    /// A server no longer reports changes: its lists may change unnoticed.
    pub(super) fn listening_ended(&mut self, server: usize, id: &str, envelope: &Envelope<'_>) {
        let error = envelope.error().and_then(Members::read).and_then(|error| error.get("code"));
        let is_unknown = error.is_some_and(|code| code.get() == METHOD_NOT_FOUND.to_string());
        let Some(branch) = self.branches.get_mut(server) else { return };
        if branch.listens == Listens::By(id.into()) {
            branch.listens = if is_unknown { Listens::Never } else { Listens::No };
            for list in LISTS {
                self.is_stale(server, list.method);
            }
        }
    }
}
