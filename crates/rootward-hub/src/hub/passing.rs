//! A stand-in's branches to servers of the modern era: requests are passed on as their client sent them.
//!
//! Inside the hub a modern request has the form of a legacy one, so that it is parted and renamed like any other. What the legacy form lacks
//! is *carried* beside it, and joined to it when it goes to a modern server. A branch that is modern is a modern session of the engine, with
//! the hub as its client: the engine's question for roots is answered here, from what the client told the hub.

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

/// How long a server may take to say which era it is of, before it is greeted as a legacy server as well. A silent one is remembered.
const TELLS_ERA_WITHIN: Duration = Duration::from_secs(2);

/// The same for a server that has said that it is of the modern era, and was late.
const KNOWN_TELLS_ERA_WITHIN: Duration = Duration::from_mins(1);

/// How often a branch may ask for the roots of one call: once for the call, and once more for each round that the server asks in.
const MOST_ASKED: u8 = 8;

/// How a stand-in speaks to modern servers.
#[derive(Debug)]
pub(super) struct Passing {
    /// What requests of the hub's own say of the client.
    meta: String,
    /// The client's list of roots, as the result of `roots/list`; none if it told none.
    roots: Option<String>,
    /// Open requests, by the id that they have here.
    open: HashMap<Box<str>, OpenRequest>,
    /// Requests that a modern server has answered, and which.
    answered: HashMap<Box<str>, usize>,
    /// Whether somebody listens for changes.
    listened_to: bool,
}

/// What a modern request brings beyond its legacy form.
#[derive(Debug)]
pub(super) struct Carried {
    /// `_meta`.
    pub(super) meta: String,
    /// The state of the server that asked in the round before, and its position.
    pub(super) state: Option<ServerState>,
    /// The client's answers to what it asked.
    pub(super) responses: Vec<(String, Box<str>)>,
}

/// The state of a server between two rounds.
#[derive(Clone, Debug)]
pub(super) struct ServerState {
    /// Its position.
    pub(super) server: usize,
    /// As JSON; none if the server has none.
    pub(super) state: Option<Box<str>>,
}

#[derive(Debug)]
struct OpenRequest {
    carried: Carried,
    /// As a modern server got it.
    sent: Option<Vec<u8>>,
    /// How often its branch has asked for roots.
    asked: u8,
}

/// Whether a modern server tells the hub of changes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) enum Listens {
    /// It was not asked to, or stopped.
    #[default]
    No,
    /// By the request of this id.
    By(Box<str>),
    /// It does not know how: its lists are asked for each time.
    Never,
}

impl Passing {
    pub(super) fn new(meta: String, roots: Option<String>) -> Passing {
        Passing { meta, roots, open: HashMap::new(), answered: HashMap::new(), listened_to: false }
    }

    /// A request of this id is about to be parted.
    pub(super) fn begin(&mut self, id: &str, carried: Carried) {
        self.open.insert(key(id), OpenRequest { carried, sent: None, asked: 0 });
    }

    /// Nobody awaits the answer to it any more, or it has come: which modern server gave it.
    pub(super) fn end(&mut self, id: &str) -> Option<usize> {
        self.open.remove(&key(id));
        self.answered.remove(&key(id))
    }

    /// Whether this server may get a request.
    // SECURITY: the state of one server is not told to another, which may have the tool of that name by now
    // (test: a_state_goes_to_the_server_that_gave_it)
    pub(super) fn may_get(&self, server: usize, id: &str) -> bool {
        let state = self.open.get(&key(id)).and_then(|open| open.carried.state.as_ref());
        state.is_none_or(|state| state.server == server)
    }

    fn bytes(open: &OpenRequest) -> usize {
        let responses = open.carried.responses.iter().map(|(name, response)| name.len() + response.len());
        open.carried.meta.len() + responses.sum::<usize>() + open.sent.as_ref().map_or(0, Vec::len)
    }

    /// The bytes that it holds.
    pub(super) fn held_bytes(&self) -> usize {
        self.open.values().map(Passing::bytes).sum()
    }
}

impl Client {
    /// Whether a server is asked for its era. One that several clients share is greeted for all of them, in the legacy era.
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

    /// Greets servers that are late to tell their era. Most legacy servers refuse at once what they do not know; some say nothing.
    pub(super) fn greet_late(&mut self) {
        for server in 0..self.branches.len() {
            if matches!(self.branches[server].phase, Phase::Probing { until } if until <= self.now) {
                self.greet(server);
            }
        }
    }

    /// A server has said which era it is of, or that it does not know what it was asked.
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
        // It was late, and was greeted as a legacy server meanwhile: it begins again, in its own era.
        if self.branches[server].phase == Phase::Greeting {
            self.branches[server].era_question = EraQuestion::Patient;
            self.begin_again(server);
        }
    }

    /// Opens a branch once more. What waits for the server goes on waiting.
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

    /// Passes a line on to a modern server.
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

    /// A modern server, or the engine before it, has answered a client's request. Whether that is dealt with here: a question for roots is.
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
            // SECURITY: who begins a task later under the same name does not get what is said about the first
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
                let says = "the server asks for its roots again and again";
                self.tell(&message::error(id.as_str(), INTERNAL_ERROR, says, None));
            }
        }
    }

    /// The error for a request that carries another server's state.
    pub(super) fn refuse_state(&mut self, id: &str) {
        self.tell(&message::error(id, INVALID_PARAMS, NOT_OF_THIS_REQUEST, None));
    }

    /// Somebody listens for changes, or nobody does any more. A server that is asked to tell goes on telling.
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

    /// A resource is subscribed to, or not any more.
    fn listen_for(&mut self, server: usize, uri: String, begins: bool) {
        let resources = &mut self.branches[server].resources;
        let is_news = if begins { resources.insert(uri) } else { resources.remove(&uri) };
        if is_news && self.branches[server].listens != Listens::Never {
            self.listen(server);
        }
    }

    /// Has a modern server tell of changes to its lists, and of the resources that are subscribed to.
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
            let line = message::cancelled(&before, "something else is listened for");
            self.orders.push_back(Order::Line(server, line.into_bytes()));
        }
    }

    /// A server does not tell of changes any more: its lists may have changed unheard.
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
