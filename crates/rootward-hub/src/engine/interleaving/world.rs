//! Clients, servers, disk, audit log and clock around an engine, and their actions.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rootward_core::session::{Follow, Policy, Sources};
use rootward_core::{Audit, AuditEvent, GuardOptions, Restrictions, Validation};
use rootward_protocol::frame::Line;
use rootward_protocol::session::Placing;
use serde_json::Value;

use super::CLIENTS;
use super::client::{Client, Habit, Manner};
use super::places::{Gift, Ground};
use super::server::{Calls, Process, Reply};
use crate::engine::child::ChildId;
use crate::engine::outlet::Outlet;
use crate::engine::rules::Rules;
use crate::engine::{
    Change, Effect, Engine, Event, Failure, MessageNumber, OnRecord, Place, Purpose, Server, ServerId, SessionId,
};

/// The kinds of servers; a client uses the server at its number modulo two.
pub(super) const SERVERS: [Change; 2] = [Change::NewChild, Change::Told];

/// An audit log that discards its entries.
pub(in crate::engine) struct Looked;

impl Audit for Looked {
    fn record(&self, _: &AuditEvent) -> io::Result<()> {
        Ok(())
    }
}

pub(super) struct World {
    engine: Engine,
    pub(super) follow: Follow,
    pub(super) ground: Ground,
    now: Duration,
    pub(super) clients: Vec<Client>,
    pub(super) processes: BTreeMap<ChildId, Process>,
    /// Questions in servers' answers that have not come back, by state.
    pub(super) open_states: HashMap<String, BTreeSet<String>>,
    pub(super) last_state: u64,
    /// Calls that reached a server: the client, the request, the server's own state.
    pub(super) delivered: HashSet<(SessionId, u64, String)>,
    pub(super) gift: Gift,
    pub(super) closed: Arc<Restrictions>,
    looks: VecDeque<(Place, Placing)>,
    records: VecDeque<(SessionId, MessageNumber)>,
    /// Processes that were stopped but are not gone yet.
    pub(super) leaving: VecDeque<(ChildId, Purpose)>,
}

impl World {
    pub(super) fn new(habits: [Habit; CLIENTS], follow: Follow) -> World {
        let guard = GuardOptions::default();
        let closed = Arc::clone(&guard.restrictions);
        let policy = Policy { follow, ..Policy::default() };
        let mut engine = Engine::new(1 << 20);
        let servers = SERVERS.map(|change| {
            let audit: Option<Arc<dyn Audit>> = match change {
                Change::NewChild => Some(Arc::new(Looked)),
                Change::Told => None,
            };
            let plain = Rules::plain(policy.clone(), Sources::default(), guard.clone(), Validation::new(None));
            engine.add(Server::new_ambient("files", Rules { audit, ..plain }, change))
        });
        let clients = habits.into_iter().enumerate().map(|(number, habit)| {
            let server = servers[number % SERVERS.len()];
            Client::new(engine.open(server, number.to_string()).unwrap(), habit)
        });
        let clients = clients.collect();
        World {
            engine,
            follow,
            ground: Ground::new(),
            now: Duration::ZERO,
            clients,
            processes: BTreeMap::new(),
            open_states: HashMap::new(),
            last_state: 0,
            delivered: HashSet::new(),
            gift: Gift::default(),
            closed,
            looks: VecDeque::new(),
            records: VecDeque::new(),
            leaving: VecDeque::new(),
        }
    }

    pub(super) fn feed(&mut self, event: Event<'_>) {
        for effect in self.engine.step(self.now, event) {
            match effect {
                Effect::Start(child, guard, purpose) => {
                    if purpose != Purpose::Learn {
                        self.judge_start(child);
                    }
                    self.processes.insert(child, Process::new(&self.ground, &guard, purpose));
                }
                Effect::End(child) => {
                    let process = self.processes.remove(&child);
                    let purpose = process.map_or(Purpose::Serve, |process| process.purpose);
                    self.leaving.push_back((child, purpose));
                }
                Effect::Kill(_) | Effect::Say(_) | Effect::Remember(_) => {}
                Effect::Leave(session) => {
                    self.clients.iter_mut().filter(|client| client.session == session).for_each(|one| one.over = true);
                }
                Effect::Place(whose, placing) => self.looks.push_back((whose, placing)),
                Effect::Record(session, message, _) => self.records.push_back((session, message)),
            }
        }
        self.look_round();
    }

    /// Reads what was written to clients and servers.
    fn look_round(&mut self) {
        for client in &mut self.clients {
            let heard = self.engine.client_outlet(client.session).map(lines).unwrap_or_default();
            for message in &heard {
                client.hear(message);
            }
        }
        let children: Vec<ChildId> = self.processes.keys().copied().collect();
        for child in children {
            for message in self.engine.child_outlet(child).map(lines).unwrap_or_default() {
                if message["method"] == "tools/call" {
                    self.judge(child, &message);
                }
                self.processes.get_mut(&child).into_iter().for_each(|process| process.take(message.clone()));
            }
        }
    }

    pub(super) fn say(&mut self, client: usize, message: &Value) {
        let text = message.to_string();
        self.feed(Event::ClientLine(self.clients[client].session, Line::Frame(text.as_bytes())));
    }

    /// The processes that run for a client.
    pub(super) fn of(&self, client: usize) -> Vec<ChildId> {
        let session = self.clients[client].session;
        self.processes.keys().filter(|child| child.session == session).copied().collect()
    }

    /// The operator and the user provide these sources from now on.
    pub(super) fn give(&mut self, gift: Gift) {
        let given = gift.told(&self.ground, (self.gift, &self.closed));
        (self.gift, self.closed) = (gift, Arc::clone(&given.restrictions));
        for server in 0..SERVERS.len() {
            self.feed(Event::Given(ServerId(server), given.clone()));
        }
    }

    /// A server ends.
    pub(super) fn exit(&mut self, child: ChildId) {
        self.feed(Event::ChildEnded(child, &Failure::new("code 1")));
    }

    /// A process has exited.
    pub(super) fn gone(&mut self) {
        if let Some((child, _)) = self.leaving.pop_front() {
            self.feed(Event::Gone(child));
        }
    }

    /// A disk lookup is done.
    pub(super) fn look(&mut self, which: usize) {
        let which = which.checked_rem(self.looks.len());
        if let Some((whose, placing)) = which.and_then(|which| self.looks.remove(which)) {
            self.feed(Event::Placed(whose, placing.run_ambient()));
        }
    }

    /// The audit entry was written, or could not be.
    pub(super) fn record(&mut self, on_record: OnRecord) {
        if let Some((session, message)) = self.records.pop_front() {
            self.feed(Event::Recorded(session, message, on_record));
        }
    }

    pub(super) fn wait(&mut self, milliseconds: u64) {
        let until = self.now + Duration::from_millis(milliseconds);
        for _ in 0..1000 {
            let Some(due) = self.engine.wakes_at().filter(|due| *due <= until) else { break };
            self.now = due.max(self.now + Duration::from_micros(1));
            self.feed(Event::Tick);
        }
        self.now = until.max(self.now);
        self.feed(Event::Tick);
    }

    /// All parties do what is expected of them until nothing is left to do.
    pub(super) fn come_to_rest(&mut self, rounds: usize) {
        for _ in 0..rounds {
            self.go_on(Manner::Well, Calls::Done);
        }
    }

    /// One round of that.
    pub(super) fn go_on(&mut self, manner: Manner, calls: Calls) {
        for client in 0..CLIENTS {
            let mut answers = 0;
            while self.clients[client].is_asked() {
                self.answer(client, 0, manner);
                answers += 1;
                assert!(answers < 1000, "asked without end: {:?}", self.clients[client]);
            }
            for child in self.of(client) {
                while let Some(which) = self.processes.get(&child).and_then(|process| process.owes(calls)) {
                    self.reply(child, which, Reply::Done);
                }
            }
        }
        while !self.looks.is_empty() || !self.records.is_empty() || !self.leaving.is_empty() {
            self.gone();
            self.look(0);
            self.record(OnRecord::Yes);
        }
        self.wait(if calls == Calls::Done { 3000 } else { 300 });
    }
}

fn lines(outlet: &mut Outlet) -> Vec<Value> {
    let text = String::from_utf8_lossy(outlet.waiting()).into_owned();
    outlet.clear();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
