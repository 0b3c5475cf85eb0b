//! A client's branch to one server: opened when the server is needed, greeted by the hub, then used for its messages.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rootward_protocol::frame::{Envelope, Members};
use rootward_protocol::message::{self, INTERNAL_ERROR};
use rootward_protocol::offer::Offer;
use rootward_protocol::{keys, method, shown};
use serde_json::value::RawValue;

use super::client::{Client, LONGEST_SHOWN, Order, Queued};
use super::lists::Listing;
use super::passing::Listens;

/// How long to wait before trying again to reach a server that could not be initialized.
const TRIED_AGAIN_AFTER: Duration = Duration::from_secs(5);

/// How long to wait before greeting a server again that did not say what it offers: its package may still be
/// downloading.
const GREETED_AGAIN_AFTER: Duration = Duration::from_secs(90);

/// How many bytes may wait for a server that is starting.
const MOST_QUEUED: usize = 16 << 20;

#[derive(Debug, Default)]
pub(super) struct Branch {
    pub(super) phase: Phase,
    /// Messages that wait until the server is ready.
    queued: Vec<Queued>,
    /// When `initialize` was sent.
    greeted: Duration,
    /// Its answer to `initialize`.
    pub(super) handshake: Option<Box<RawValue>>,
    /// Its lists, as far as they are known.
    pub(super) listings: BTreeMap<&'static str, Listing>,
    /// Why the server last failed to return a list, if it did.
    pub(super) trouble: Option<String>,
    /// Lists that the client got without this server. It is notified when they are available.
    pub(super) missed: BTreeSet<&'static str>,
    /// Whether the server speaks the modern era to this client.
    pub(super) is_modern: bool,
    /// Whether it was asked for its era and has not begun since.
    pub(super) is_probed: bool,
    /// How it is asked for its era at the next start.
    pub(super) era_question: EraQuestion,
    /// Whether a modern server reports changes, and of which resources.
    pub(super) listens: Listens,
    pub(super) resources: BTreeSet<String>,
}

/// How a server is asked for its era, depending on what it did last time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum EraQuestion {
    /// With a short timeout: a legacy server may never answer.
    #[default]
    Brief,
    /// With a long timeout: it answered as a modern server, but too late.
    Patient,
    /// Not at all: it exited when it was asked.
    Skipped,
}

/// The state of a branch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) enum Phase {
    #[default]
    Closed,
    /// `server/discover` was sent.
    Probing {
        until: Duration,
    },
    /// `initialize` was sent.
    Greeting,
    Ready,
    /// The server could not be initialized.
    Failed {
        why: String,
        since: Duration,
    },
}

/// The hub's own request to a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Own {
    Handshake(usize),
    Discovery(usize),
    Listening(usize),
    List(usize, &'static str),
    /// Nobody waits for the answer.
    Level(usize),
}

impl Own {
    /// The server that is asked.
    pub(super) fn server(self) -> usize {
        match self {
            Own::Handshake(server)
            | Own::Discovery(server)
            | Own::Listening(server)
            | Own::List(server, _)
            | Own::Level(server) => server,
        }
    }
}

impl Branch {
    pub(super) fn queued_bytes(&self) -> usize {
        self.queued.iter().map(|queued| queued.line.len()).sum()
    }

    pub(super) fn is_ready(&self) -> bool {
        self.phase == Phase::Ready
    }

    /// Whether messages can pass through it.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Probing { .. } | Phase::Greeting | Phase::Ready)
    }

    /// Takes the messages that wait until it is ready.
    pub(super) fn take_queued(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.queued).into_iter().map(|queued| queued.line).collect()
    }

    /// Whether the server offers this capability.
    pub(super) fn offers(&self, capability: &str) -> bool {
        self.handshake.as_ref().is_some_and(|handshake| Offer::read(handshake).has(capability))
    }
}

impl Client {
    /// Sends a line to a server, now or when it is ready. `id` is the client's request, which gets an error if that
    /// fails.
    pub(super) fn send(&mut self, server: usize, line: Vec<u8>, id: Option<&str>) {
        let now = self.now;
        let Some(branch) = self.branches.get_mut(server) else { return };
        match &branch.phase {
            Phase::Ready if branch.is_modern => return self.pass_modern(server, &line),
            Phase::Ready => return self.orders.push_back(Order::Line(server, line)),
            Phase::Failed { since, .. } if now < *since + TRIED_AGAIN_AFTER => {}
            Phase::Probing { .. } | Phase::Greeting if branch.queued_bytes() + line.len() > MOST_QUEUED => {}
            Phase::Closed | Phase::Probing { .. } | Phase::Greeting | Phase::Failed { .. } => {
                branch.queued.push(Queued { line, id: id.map(Into::into) });
                return self.open(server);
            }
        }
        if let Some(id) = id {
            self.cannot_answer(server, id);
        }
    }

    /// Sends a line to a server if it is ready; otherwise drops it.
    pub(super) fn send_if_open(&mut self, server: usize, line: &str) {
        let Some(branch) = self.branches.get(server).filter(|branch| branch.is_ready()) else { return };
        if branch.is_modern {
            self.pass_modern(server, line.as_bytes());
        } else {
            self.orders.push_back(Order::Line(server, line.as_bytes().to_vec()));
        }
    }

    /// Opens a closed branch: asks the server for its era, or greets it at once.
    pub(super) fn open(&mut self, server: usize) {
        let Some(branch) = self.branches.get_mut(server) else { return };
        if !matches!(branch.phase, Phase::Closed | Phase::Failed { .. }) || self.hello.is_none() {
            return;
        }
        branch.greeted = self.now;
        if self.probes(server) { self.probe(server) } else { self.greet(server) }
    }

    /// Greets a server with the client's params.
    pub(super) fn greet(&mut self, server: usize) {
        let (Some(branch), Some(hello)) = (self.branches.get_mut(server), &self.hello) else { return };
        branch.phase = Phase::Greeting;
        branch.greeted = self.now;
        let hello = hello.get().to_owned();
        let id = self.own_id();
        let greeting = message::request(&id, method::INITIALIZE, Some(&hello));
        self.own.insert(id, Own::Handshake(server));
        self.orders.push_back(Order::Line(server, greeting.into_bytes()));
    }

    /// Greets servers again that did not say what they offer and list nothing. A client with roots hears about their
    /// lists when they run; a client without roots would not.
    pub(super) fn greet_again(&mut self, now: Duration) {
        self.now = now.max(self.now);
        for server in self.order.clone() {
            let Some(branch) = self.branches.get_mut(server) else { continue };
            let handshake = branch.handshake.as_ref().map(|handshake| Offer::read(handshake));
            let says_nothing = handshake.is_none_or(|handshake| handshake.is_improvised());
            let is_over = branch.is_open() && now >= branch.greeted + GREETED_AGAIN_AFTER;
            let lists_nothing = branch.listings.values().all(Listing::is_empty);
            if says_nothing && is_over && lists_nothing && !self.calls.values().any(|of| *of == server) {
                *branch = Branch::default();
                self.own.retain(|_, own| own.server() != server);
                self.orders.push_back(Order::Close(server));
                self.forget_merged();
            }
        }
    }

    /// A server has answered `initialize`.
    pub(super) fn greeted(&mut self, server: usize, envelope: &Envelope<'_>) {
        let Some(result) = envelope.result() else {
            let error = envelope.error().and_then(Members::read).and_then(|error| error.text("message"));
            return self.failed(server, &error.unwrap_or_else(|| "it refused `initialize`".to_owned()));
        };
        let Some(branch) = self.branches.get_mut(server) else { return };
        branch.handshake = Some(result.to_owned());
        branch.is_probed = false;
        let from_before: Vec<&'static str> = branch.listings.keys().copied().collect();
        self.tell_ready(server);
        self.ask_again(server, &from_before);
    }

    /// Completes the handshake once the client has begun, and sends the queued messages.
    pub(super) fn tell_ready(&mut self, server: usize) {
        let initialized = self.initialized;
        let Some(branch) = self.branches.get_mut(server) else { return };
        if !initialized || branch.phase != Phase::Greeting || branch.handshake.is_none() {
            return;
        }
        branch.phase = Phase::Ready;
        let queued = std::mem::take(&mut branch.queued);
        let logs = branch.offers("logging");
        let begun = message::notification(method::INITIALIZED).into_bytes();
        let queued = queued.into_iter().map(|queued| queued.line);
        self.orders.extend([begun].into_iter().chain(queued).map(|line| Order::Line(server, line)));
        if logs {
            self.tell_level(server);
        }
    }

    /// Tells a server which logs the client wants, if known.
    pub(super) fn tell_level(&mut self, server: usize) {
        let Some(params) = self.level.as_ref().map(|level| level.get().to_owned()) else { return };
        // Every modern request states its own level.
        if self.branches.get(server).is_some_and(|branch| branch.is_modern) {
            return;
        }
        let id = self.own_id();
        let line = message::request(&id, method::SET_LEVEL, Some(&params));
        self.own.insert(id, Own::Level(server));
        self.orders.push_back(Order::Line(server, line.into_bytes()));
    }

    /// A server has ended before it answered. The question about its era may have caused that: then it is greeted
    /// without it.
    pub(super) fn ended(&mut self, server: usize) {
        let Some(branch) = self.branches.get_mut(server) else { return };
        if std::mem::take(&mut branch.is_probed) {
            branch.era_question = EraQuestion::Skipped;
            return self.begin_again(server);
        }
        self.failed(server, "it ended before it answered");
    }

    /// A server cannot begin, or its branch has ended: queued messages and open requests get an error.
    pub(super) fn failed(&mut self, server: usize, why: &str) {
        let now = self.now;
        let Some(branch) = self.branches.get_mut(server) else { return };
        if matches!(branch.phase, Phase::Failed { .. }) {
            return;
        }
        let Branch { queued, mut listings, era_question, resources, .. } = std::mem::take(branch);
        (branch.era_question, branch.resources) = (era_question, resources);
        // Its tools stay known: calling one returns the reason why the server is not running.
        listings.retain(|_, listing| listing.is_known());
        branch.listings = listings;
        let name = self.servers.get(server).map(|server| server.name.clone()).unwrap_or_default();
        let why = format!("server `{name}` cannot be reached: {}", shown(why, LONGEST_SHOWN));
        self.branches[server].phase = Phase::Failed { why: why.clone(), since: now };
        self.own.retain(|_, own| own.server() != server);
        self.orders.push_back(Order::Close(server));
        let owed = self.calls.extract_if(|_, of| *of == server).map(|(id, _)| id);
        let ids: Vec<Box<str>> = queued.into_iter().filter_map(|queued| queued.id).chain(owed).collect();
        for id in ids {
            self.calls.remove(&id);
            self.tell(&message::error(&id, INTERNAL_ERROR, &why, None));
        }
        self.take_questions_back(server);
        self.forget_merged();
    }

    /// The error for a request to a server that is not running.
    pub(super) fn cannot_answer(&mut self, server: usize, id: &str) {
        self.calls.remove(id);
        let why = match self.branches.get(server).map(|branch| &branch.phase) {
            Some(Phase::Failed { why, .. }) => why.clone(),
            _ => "too many bytes are queued for this server".to_owned(),
        };
        self.tell(&message::error(id, INTERNAL_ERROR, &why, None));
    }

    /// Handles a server's answer.
    pub(super) fn server_answers(&mut self, server: usize, envelope: &Envelope<'_>, line: &[u8]) {
        let Some(id) = envelope.id() else { return };
        // SECURITY: only the server that was asked may answer (test: a_server_answers_only_what_it_was_asked)
        match self.own.get(&id.key()).copied().filter(|own| own.server() == server) {
            Some(own) => {
                self.own.remove(&id.key());
                return match own {
                    Own::Handshake(_) => self.greeted(server, envelope),
                    Own::Discovery(_) => self.discovered(server, envelope),
                    Own::Listening(_) => self.listening_ended(server, &id.key(), envelope),
                    Own::List(_, list) => self.listed(server, list, envelope),
                    Own::Level(_) => {}
                };
            }
            None if self.calls.get(&id.key()) != Some(&server) => return,
            None if self.branches[server].is_modern && self.answers_modern(server, id, envelope) => return,
            None => self.calls.remove(&id.key()),
        };
        self.note_task(server, envelope);
        self.out.push_bytes(line);
    }

    /// Remembers a task that a call has started, because later requests name it.
    fn note_task(&mut self, server: usize, envelope: &Envelope<'_>) {
        // Cheap checks first: few results are tasks, and some are large.
        let Some(result) = envelope.result().filter(|result| result.get().len() < 1 << 16) else { return };
        if !result.get().contains(keys::TASK_ID) {
            return;
        }
        let task = Members::read(result).and_then(|result| result.object(keys::TASK)?.text(keys::TASK_ID));
        if let Some(task) = task {
            self.tasks.insert(task, server);
        }
    }
}
