//! The engine: one client on one side, a server's processes on the other, roots in between. No pipes, no processes, no clock: lines
//! and times in, bytes and effects out.
//!
//! ```text
//!              client_line                        child.input
//!   client ───────────────▶ judge, wait, pass ───────────────▶ child (current)
//!          ◀─────────────── out                                  │
//!              child_line ◀──────────────────────────────────────┘
//!                                  coming: started for other roots, takes over once it has answered `initialize`
//!                                  retired: finishes what it began
//! ```

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use rootward_core::Guard;
use rootward_core::session::RequestNumber;
use rootward_protocol::frame::object;
use rootward_protocol::message::{self, INTERNAL_ERROR};
use rootward_protocol::session::{Given, SessionGuard, Terms};
use rootward_protocol::{Era, keys, method, shown};

use super::backoff::Backoff;
use super::child::{Child, ChildNumber, Owed, Phase, SETTLES_WITHIN};
use super::memory::{Memory, Remembered};
use super::outlet::Outlet;
use super::rounds::Rounds;
use super::rules::Rules;
use super::tools::Tools;

/// How long a request that needs no roots waits for a client to name them, before a child without roots is started for it.
pub(super) const GRACE: Duration = Duration::from_millis(300);

/// How long a message waits for a server that is being started: as long as clients commonly wait for an answer.
const STARTS_WITHIN: Duration = Duration::from_mins(1);

/// The longest sentence for the operator, in characters: room for two paths of any length.
const LONGEST_SAID: usize = 10_000;

/// Something for the loop to do, in the order given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    /// Start this child, in the roots that [`Engine::guard_of`] tells.
    Start(ChildNumber),
    /// Let this child end.
    End(ChildNumber),
    /// End this child at once; it was let end before.
    Kill(ChildNumber),
    /// There is nothing left to do: the server does not live.
    Leave,
    /// Tell the operator.
    Say(String),
}

/// What a change of roots takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// Another child: confinement, arguments or the working directory depend on them.
    NewChild,
    /// A word to the one there is.
    Told,
}

/// What is known of the client.
#[derive(Debug)]
pub(super) enum Client {
    /// It has said nothing that tells.
    Silent,
    /// It began with `initialize`.
    Legacy(Legacy),
    /// It says with every request what it can.
    Modern,
}

/// A client of the legacy era.
#[derive(Debug)]
pub(super) struct Legacy {
    /// What it said in `initialize`, with Rootward's own roots in place of its: what children are greeted with.
    pub(super) params: String,
    /// By which the handshake is remembered.
    pub(super) fingerprint: String,
    /// The answer it got.
    pub(super) promised: Option<Box<str>>,
    /// Whether it said `initialized`.
    pub(super) initialized: bool,
}

/// A question to the client that is open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Asked {
    /// Rootward's own, for its roots.
    Roots(RequestNumber),
    /// A child's, under the id that the child gave it.
    Child(ChildNumber, Box<str>),
}

/// A message of the client's that cannot be passed on yet.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) text: Box<str>,
    pub(super) id: Option<Box<str>>,
    pub(super) arrived: Duration,
}

/// The engine.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) rules: Rules,
    pub(super) change: Change,
    pub(super) memory: Memory,
    pub(super) client: Client,
    /// What every session is held to.
    pub(super) terms: Arc<Terms>,
    /// What the operator and the user give.
    pub(super) given: Arc<Given>,
    /// None until the client has said what it can.
    pub(super) roots: Option<SessionGuard>,
    pub(super) children: BTreeMap<ChildNumber, Child>,
    /// The child that gets the client's messages.
    pub(super) current: Option<ChildNumber>,
    /// The child that will.
    pub(super) coming: Option<ChildNumber>,
    last_child: u64,
    pub(super) asked: HashMap<Box<str>, Asked>,
    pub(super) waiting: VecDeque<Waiting>,
    pub(super) tools: Tools,
    pub(super) remembered: Option<Remembered>,
    /// What modern clients are asked between two rounds of a call.
    pub(super) rounds: Rounds,
    backoff: Backoff,
    /// Why no child can be started in these roots.
    pub(super) impossible: Option<(Guard, String)>,
    /// What waits to be written to the client.
    pub(super) out: Outlet,
    effects: Vec<Effect>,
    pub(super) now: Duration,
    /// The client has closed its end.
    pub(super) closed: bool,
    own_ids: u64,
}

impl Engine {
    pub(super) fn new(rules: Rules, change: Change, memory: Memory) -> Engine {
        let (policy, guard) = (rules.policy.clone(), rules.guard.clone());
        let given = Given { sources: rules.sources.clone(), restrictions: Arc::clone(&guard.restrictions) };
        Engine {
            terms: Arc::new(Terms::new_ambient(policy, guard, rules.validation.clone())),
            given: Arc::new(given),
            rules,
            change,
            memory,
            client: Client::Silent,
            roots: None,
            children: BTreeMap::new(),
            current: None,
            coming: None,
            last_child: 0,
            asked: HashMap::new(),
            waiting: VecDeque::new(),
            tools: Tools::default(),
            remembered: None,
            rounds: Rounds::default(),
            backoff: Backoff::default(),
            impossible: None,
            out: Outlet::default(),
            effects: Vec::new(),
            now: Duration::ZERO,
            closed: false,
            own_ids: 0,
        }
    }

    /// What is to be done.
    pub(super) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// The roots that a child is to be started in.
    pub(super) fn guard_of(&self, number: ChildNumber) -> Option<&Guard> {
        self.children.get(&number).map(|child| &child.guard)
    }

    /// The bytes that messages in waiting take.
    pub(super) fn waiting_bytes(&self) -> usize {
        self.waiting.iter().map(|waiting| waiting.text.len()).sum()
    }

    /// Puts a message on its way to the client.
    pub(super) fn tell_client(&mut self, message: &str) {
        self.out.push(message);
    }

    pub(super) fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Tells the operator.
    pub(super) fn say(&mut self, text: impl AsRef<str>) {
        // SECURITY: names of methods and errors are a peer's text, and this goes to a terminal
        // (test: nothing_that_a_peer_says_reaches_the_terminal_raw)
        self.effects.push(Effect::Say(shown(text.as_ref(), LONGEST_SAID)));
    }

    /// An id that no client and no server writes.
    pub(super) fn own_id(&mut self, what: &str) -> String {
        self.own_ids += 1;
        format!(r#""rootward-{what}-{}""#, self.own_ids)
    }

    /// The child that takes calls.
    pub(super) fn running(&mut self) -> Option<&mut Child> {
        let child = self.children.get_mut(&self.current?)?;
        (child.phase == Phase::Running).then_some(child)
    }

    /// Time has passed.
    pub(super) fn tick(&mut self, now: Duration) {
        self.now = now.max(self.now);
        if self.roots.as_ref().and_then(SessionGuard::wakes_at).is_some_and(|due| due <= self.now) {
            self.report(SessionGuard::tick);
        }
        self.note_silence();
        self.arrange();
        self.end_revoked();
        self.release();
        let retired = self.children.iter().filter(|(_, child)| child.phase == Phase::Retired);
        let retired: Vec<ChildNumber> = retired.map(|(number, _)| *number).collect();
        for number in retired {
            self.end_if_done(number);
        }
    }

    /// A child that had time to ask for its roots and did not will not: the next calls need not wait for it.
    fn note_silence(&mut self) {
        let Some(remembered) = self.remembered.as_mut().filter(|known| known.asks_for_roots.is_none()) else { return };
        let Some(child) = self.current.and_then(|number| self.children.get(&number)) else { return };
        if child.greeted && !child.asks_for_roots && child.since + SETTLES_WITHIN <= self.now {
            remembered.asks_for_roots = Some(false);
            self.keep_handshake();
        }
    }

    /// Keeps what is known of the handshake for the next time.
    pub(super) fn keep_handshake(&self) {
        if let (Client::Legacy(legacy), Some(remembered)) = (&self.client, &self.remembered) {
            self.memory.keep_ambient(&legacy.fingerprint, remembered);
        }
    }

    /// How long a message may wait now. A server that is being started costs more than a client that says nothing: what starts it
    /// may have to fetch it first.
    pub(super) fn patience(&self) -> Duration {
        let comes = |child: &Child| child.phase == Phase::Greeting || child.settles_at > self.now;
        let timeout = self.rules.policy.timeout;
        if self.children.values().any(comes) { timeout.max(STARTS_WITHIN) } else { timeout }
    }

    /// When time next matters.
    pub(super) fn wakes_at(&self) -> Option<Duration> {
        let roots = self.roots.as_ref().and_then(SessionGuard::wakes_at);
        let patience = self.patience();
        let patience = self.waiting.iter().map(|waiting| waiting.arrived + patience).find(|ends| *ends > self.now);
        let grace = self.waiting.iter().map(|waiting| waiting.arrived + GRACE).find(|ends| *ends > self.now);
        let settles = self.waiting.front().and_then(|_| {
            let child = self.children.get(&self.current?)?;
            (child.settles_at > self.now).then_some(child.settles_at)
        });
        let again = self.coming.is_none().then(|| self.backoff.not_before(self.now)).flatten();
        [roots, patience, grace, settles, again, self.revoked_at()].into_iter().flatten().min()
    }

    /// Sees that the child there is fits the roots in force, and that there is one where one is needed.
    pub(super) fn arrange(&mut self) {
        let Client::Legacy(legacy) = &self.client else { return };
        // The first child is started by `initialize` itself, or by nobody: then its answer was remembered. And nobody is started for a
        // client that is gone, unless something waits.
        if legacy.promised.is_none() || (self.closed && self.waiting.is_empty()) {
            return;
        }
        match self.guard().cloned() {
            Some(guard) => {
                self.note_revoked(&guard);
                self.fit(&guard);
            }
            // Nobody has waited long enough yet, or there is a child that can serve without roots.
            None if self.current.is_some() || self.coming.is_some() => {}
            None if self.grace_is_over() && self.backoff.not_before(self.now).is_none() => {
                let guard = self.nothing();
                self.start_and_greet(guard);
            }
            None => {}
        }
    }

    /// Whether a request has waited long enough for the client to name its roots.
    fn grace_is_over(&self) -> bool {
        self.waiting.front().is_some_and(|first| first.arrived + GRACE <= self.now)
    }

    /// Sees that a child runs in these roots.
    fn fit(&mut self, guard: &Guard) {
        let fits = |engine: &Engine, number: Option<ChildNumber>| {
            let child = number.and_then(|number| engine.children.get(&number));
            child.is_some_and(|child| child.guard.decides_as(guard))
        };
        if fits(self, self.coming) || (self.coming.is_none() && fits(self, self.current)) {
            return;
        }
        if let Some(number) = self.coming.take() {
            // Overtaken by other roots before it was ready.
            self.drop_child(number);
        }
        // SECURITY: the child reads relative paths from where it was started, so where the first root is another it is told nothing
        // and started anew (test: relative_paths_mean_the_first_root_after_a_change)
        let first = |guard: &Guard| guard.root_set().first_directory().map(|root| root.place.clone());
        let now = self.now;
        if self.change == Change::Told
            && let Some(child) = self.running().filter(|child| child.greeted && first(&child.guard) == first(guard))
        {
            child.guard = guard.clone();
            child.send(&message::notification(method::ROOTS_CHANGED));
            if child.asks_for_roots {
                child.settles_at = now + SETTLES_WITHIN;
            }
            return;
        }
        self.impossible.take_if(|(tried, _)| !tried.decides_as(guard));
        if fits(self, self.current) || self.impossible.is_some() || self.backoff.not_before(self.now).is_some() {
            return;
        }
        self.start_and_greet(guard.clone());
    }

    /// Starts a child and greets it on the client's behalf.
    fn start_and_greet(&mut self, guard: Guard) {
        let Client::Legacy(legacy) = &self.client else { return };
        let params = legacy.params.clone();
        let id = self.own_id(method::INITIALIZE);
        let number = self.start(guard, Phase::Greeting);
        if let Some(child) = self.children.get_mut(&number) {
            child.ask(&id, Owed::OwnHandshake, &message::request(&id, method::INITIALIZE, Some(&params)));
        }
        self.coming = Some(number);
    }

    /// Has a child started.
    pub(super) fn start(&mut self, guard: Guard, phase: Phase) -> ChildNumber {
        self.last_child += 1;
        let number = ChildNumber(self.last_child);
        self.children.insert(number, Child::new(guard, phase, self.now));
        self.effects.push(Effect::Start(number));
        number
    }

    /// A child that was greeted by Rootward has answered: it takes over.
    pub(super) fn take_over(&mut self, number: ChildNumber) {
        if self.coming != Some(number) {
            return;
        }
        self.coming = None;
        if let Some(old) = self.current.replace(number) {
            self.retire(old);
        }
        let initialized = matches!(&self.client, Client::Legacy(legacy) if legacy.initialized);
        let settles = self.settles_at();
        if let Some(child) = self.children.get_mut(&number) {
            (child.phase, child.since, child.settles_at) = (Phase::Running, self.now, settles);
            if initialized && !child.greeted {
                child.greeted = true;
                child.send(&message::notification(method::INITIALIZED));
            }
        }
        self.compare_tools(number);
    }

    /// Until when calls wait for a child that starts now to ask for its roots.
    pub(super) fn settles_at(&self) -> Duration {
        match &self.remembered {
            Some(Remembered { asks_for_roots: Some(false), .. }) => self.now,
            _ => self.now + SETTLES_WITHIN,
        }
    }

    /// Asks a new child for its tools, where the client was told those of another.
    fn compare_tools(&mut self, number: ChildNumber) {
        if self.tools.are_told() {
            self.list_tools(number);
        }
    }

    /// Asks a child for its tools, unless that is under way.
    pub(super) fn list_tools(&mut self, number: ChildNumber) {
        let id = self.own_id("tools");
        let meta = self.rounds.meta().filter(|_| self.era() == Era::Modern);
        let params = meta.map(|meta| object([(keys::META, meta)]));
        let Some(child) = self.children.get_mut(&number) else { return };
        if !child.owes.values().any(|owed| matches!(owed, Owed::Tools | Owed::OwnTools)) {
            child.ask(&id, Owed::OwnTools, &message::request(&id, method::LIST_TOOLS, params.as_deref()));
        }
    }

    /// Whether a call waits for the list of tools, which is asked for where nobody has: what a tool does with an argument is in its
    /// schema. A server that does not answer holds nobody up for long.
    pub(super) fn waits_for_tools(&mut self, arrived: Duration) -> bool {
        if self.now >= arrived + self.rules.policy.timeout {
            self.tools.will_not_be_listed();
        }
        if self.tools.are_listed() {
            return false;
        }
        if let Some(number) = self.current {
            self.list_tools(number);
        }
        true
    }

    /// Has a child finish what it began, and end then.
    pub(super) fn retire(&mut self, number: ChildNumber) {
        if let Some(child) = self.children.get_mut(&number) {
            child.phase = Phase::Retired;
        }
        self.end_if_done(number);
    }

    /// Lets a retired child end that owes nothing and asks nothing.
    pub(super) fn end_if_done(&mut self, number: ChildNumber) {
        let Some(child) = self.children.get(&number) else { return };
        let asks = self.asked.values().any(|asked| matches!(asked, Asked::Child(child, _) if *child == number));
        if child.phase == Phase::Retired && child.owes.is_empty() && !asks && child.input.is_empty() {
            self.drop_child(number);
        }
    }

    fn drop_child(&mut self, number: ChildNumber) {
        self.children.remove(&number);
        self.effects.push(Effect::End(number));
    }

    /// A child could not be started. Until the roots change, no other will be.
    pub(super) fn not_started(&mut self, number: ChildNumber, reason: &str) {
        let first = self.is_first();
        let guard = self.guard_of(number).cloned();
        self.lost(number, reason);
        if first {
            self.effects.push(Effect::Leave);
        } else {
            self.impossible = guard.map(|guard| (guard, reason.to_owned()));
            // SECURITY: what it was given is not what is in force any more
            // (test: where_no_server_can_be_started_in_the_new_roots_calls_are_told_so)
            if let Some(old) = self.current.take() {
                self.retire(old);
            }
        }
        self.release();
    }

    /// A child has ended, or closed its end.
    pub(super) fn ended(&mut self, number: ChildNumber, how: &str) {
        let Some(child) = self.children.get(&number) else { return };
        let (phase, since) = (child.phase, child.since);
        let reason = format!("the server ended ({how}) before it answered");
        let first = self.is_first();
        self.lost(number, &reason);
        match phase {
            Phase::Retired => {}
            _ if first => self.effects.push(Effect::Leave),
            Phase::Greeting | Phase::Running => {
                self.backoff.failed(self.now, self.now.saturating_sub(since));
                if !self.closed {
                    self.say(format!("the server ended ({how}) and is started again"));
                }
            }
        }
        self.arrange();
        self.release();
    }

    pub(super) fn era(&self) -> Era {
        if matches!(self.client, Client::Modern) { Era::Modern } else { Era::Legacy }
    }

    /// Whether no server has answered the client yet: then there is no session to save.
    fn is_first(&self) -> bool {
        match &self.client {
            Client::Silent => true,
            Client::Legacy(legacy) => legacy.promised.is_none(),
            Client::Modern => false,
        }
    }

    /// Whether a child may be started now.
    pub(super) fn may_start(&self) -> bool {
        self.impossible.is_none() && self.backoff.not_before(self.now).is_none()
    }

    /// Has a modern child take over at once: it needs no greeting.
    pub(super) fn start_modern(&mut self, guard: Guard) {
        let number = self.start(guard, Phase::Running);
        if let Some(old) = self.current.replace(number) {
            self.retire(old);
        }
        self.compare_tools(number);
    }

    /// Forgets a child: whoever waits for its answers gets an error, and its own questions are taken back.
    pub(super) fn lost(&mut self, number: ChildNumber, reason: &str) {
        let Some(child) = self.children.remove(&number) else { return };
        self.effects.push(Effect::End(number));
        self.current.take_if(|current| *current == number);
        self.coming.take_if(|coming| *coming == number);
        for (id, owed) in child.owes {
            if owed.is_clients() {
                self.tell_client(&message::error(&id, INTERNAL_ERROR, reason, None));
            }
        }
        let asked: Vec<Box<str>> = self
            .asked
            .iter()
            .filter(|(_, asked)| matches!(asked, Asked::Child(child, _) if *child == number))
            .map(|(id, _)| id.clone())
            .collect();
        for id in asked {
            self.asked.remove(&id);
            self.tell_client(&message::cancelled(&id, "the server ended"));
        }
    }
}
