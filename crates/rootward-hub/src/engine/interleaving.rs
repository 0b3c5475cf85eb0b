//! Any interleaving of what clients and servers say, of exits, looks at the disk, the record and time, with several clients and servers:
//! no call leaves with a path that the client does not share at that moment, none is lost, none is answered twice.
//!
//! The clients here are honest: they announce every change at once, and answer with what they share when they answer. So a call that
//! leaves must lie in what its client shares right then.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use rootward_core::session::{Policy, Sources};
use rootward_core::{Audit, AuditEvent, GuardOptions, Validation};
use rootward_protocol::frame::{Found, Line};
use rootward_protocol::session::{Given, Placing, Terms};
use serde_json::{Value, json};

use super::child::ChildId;
use super::outlet::Outlet;
use super::rules::{Enforce, Rules, Treatments};
use super::{Change, Effect, Engine, Event, MessageNumber, OnRecord, Place, Server, SessionId};
use crate::scan::{Expansion, Held};

/// How many clients there are; each has the server of its number, modulo two.
const CLIENTS: usize = 3;
/// The directories that may be shared.
const PLACES: [&str; 3] = ["a", "b", "c"];

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    /// The client begins, if it has not.
    Begin(usize),
    /// It calls a tool with a path in this place.
    Call(usize, usize),
    /// It calls a tool without one.
    CallPlain(usize),
    List(usize),
    /// It cancels its last call.
    Cancel(usize),
    /// It shares these from now on, and says so.
    Share(usize, u8),
    /// It answers the oldest question: with a result, or with an error.
    Answer(usize, bool),
    /// A server answers its oldest request.
    Reply(usize),
    /// A server asks the client something.
    Ask(usize),
    /// A server ends.
    Exit(usize),
    /// A look at the disk is done.
    Look,
    /// The record is written, or cannot be.
    Record(bool),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let client = || 0..CLIENTS;
    prop_oneof![
        2 => client().prop_map(Step::Begin),
        6 => (client(), 0..PLACES.len()).prop_map(|(client, place)| Step::Call(client, place)),
        2 => client().prop_map(Step::CallPlain),
        1 => client().prop_map(Step::List),
        1 => client().prop_map(Step::Cancel),
        3 => (client(), 0..8_u8).prop_map(|(client, shared)| Step::Share(client, shared)),
        6 => (client(), prop::bool::weighted(0.9)).prop_map(|(client, well)| Step::Answer(client, well)),
        8 => client().prop_map(Step::Reply),
        1 => client().prop_map(Step::Ask),
        1 => client().prop_map(Step::Exit),
        5 => Just(Step::Look),
        4 => prop::bool::weighted(0.9).prop_map(Step::Record),
        4 => prop_oneof![Just(1_u64), Just(260), Just(2100), Just(11_000)].prop_map(Step::Wait),
    ]
}

/// A record that is only looked at.
pub(super) struct Looked;

impl Audit for Looked {
    fn record(&self, _: &AuditEvent) -> io::Result<()> {
        Ok(())
    }
}

/// A client, as it sees itself.
struct Client {
    session: SessionId,
    begun: bool,
    /// Which places it shares, a bit for each.
    shared: u8,
    /// Questions that it has not answered, and what they ask.
    questions: VecDeque<(Value, String)>,
    /// How often each of its requests was answered.
    answers: HashMap<u64, u32>,
    cancelled: Vec<u64>,
    last: u64,
    /// The engine has given it up.
    over: bool,
}

/// A server's process.
#[derive(Default)]
struct Process {
    /// Requests that it has not answered.
    owes: VecDeque<Value>,
    /// How often each of its questions was answered.
    answers: HashMap<String, u32>,
    asked: u64,
}

struct World {
    engine: Engine,
    directory: tempfile::TempDir,
    now: Duration,
    clients: Vec<Client>,
    processes: BTreeMap<ChildId, Process>,
    looks: VecDeque<(Place, Placing)>,
    records: VecDeque<(SessionId, MessageNumber)>,
}

impl World {
    #[expect(clippy::disallowed_methods, reason = "tests build the trees that clients share")]
    fn new() -> World {
        let directory = tempfile::tempdir().unwrap();
        for place in PLACES {
            std::fs::create_dir(directory.path().join(place)).unwrap();
        }
        let guard = GuardOptions::default();
        let given = Given { sources: Sources::default(), restrictions: Arc::clone(&guard.restrictions) };
        let terms = Terms::new_ambient(Policy::default(), guard.clone(), Validation::new(None));
        let mut engine = Engine::new(terms, given, 1 << 20);
        let mut server = |change: Change, audit: Option<Arc<dyn Audit>>| {
            let rules = Rules {
                policy: Policy::default(),
                sources: Sources::default(),
                guard: guard.clone(),
                validation: Validation::new(None),
                expansion: Expansion::default(),
                held: Held::default(),
                way: None,
                enforce: Enforce::Refuse,
                treatments: Treatments::default(),
                audit,
            };
            engine.add(Server { rules: Arc::new(rules), change, memory: Arc::default() })
        };
        let servers = [server(Change::NewChild, Some(Arc::new(Looked))), server(Change::Told, None)];
        let clients = (0..CLIENTS).map(|number| Client {
            session: engine.open(servers[number % 2], number.to_string()).unwrap(),
            begun: false,
            shared: 3,
            questions: VecDeque::new(),
            answers: HashMap::new(),
            cancelled: Vec::new(),
            last: 0,
            over: false,
        });
        let clients = clients.collect();
        let (processes, looks, records) = (BTreeMap::new(), VecDeque::new(), VecDeque::new());
        World { engine, directory, now: Duration::ZERO, clients, processes, looks, records }
    }

    #[expect(clippy::disallowed_methods, reason = "tests build the trees that clients share")]
    fn place(&self, place: usize) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(PLACES[place])
    }

    fn feed(&mut self, event: Event<'_>) {
        for effect in self.engine.step(self.now, event) {
            match effect {
                Effect::Start(child, _) => drop(self.processes.insert(child, Process::default())),
                Effect::End(child) => drop(self.processes.remove(&child)),
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

    /// Sees what was written to whom.
    fn look_round(&mut self) {
        for number in 0..self.clients.len() {
            let session = self.clients[number].session;
            let heard = self.engine.client_outlet(session).map(lines).unwrap_or_default();
            for message in heard {
                let client = &mut self.clients[number];
                match (message["method"].as_str(), message.get("id")) {
                    (Some(method), Some(id)) => client.questions.push_back((id.clone(), method.to_owned())),
                    (Some("notifications/cancelled"), None) => {
                        client.questions.retain(|(id, _)| *id != message["params"]["requestId"]);
                    }
                    (Some(_), None) => {}
                    (None, id) => *client.answers.entry(id.and_then(Value::as_u64).unwrap_or(0)).or_default() += 1,
                }
            }
        }
        let children: Vec<ChildId> = self.processes.keys().copied().collect();
        for child in children {
            let given = self.engine.child_outlet(child).map(lines).unwrap_or_default();
            for message in given {
                self.judge(child, &message);
                let Some(process) = self.processes.get_mut(&child) else { continue };
                if message.get("method").is_none() {
                    *process.answers.entry(message["id"].to_string()).or_default() += 1;
                } else if message.get("id").is_some() {
                    process.owes.push_back(message);
                }
            }
        }
    }

    /// A call that reaches a server must lie in what its client shares now.
    fn judge(&self, child: ChildId, message: &Value) {
        let Some(path) = message["params"]["arguments"]["path"].as_str() else { return };
        let client = self.clients.iter().find(|client| client.session == child.session).unwrap();
        let place = (0..PLACES.len()).find(|place| path.starts_with(self.place(*place).to_str().unwrap()));
        let is_shared = place.is_some_and(|place| client.shared & (1 << place) != 0);
        assert!(is_shared, "{path} left while {:03b} is shared", client.shared);
    }

    fn say(&mut self, client: usize, message: &Value) {
        let text = message.to_string();
        self.feed(Event::ClientLine(self.clients[client].session, Line::Frame(text.as_bytes())));
    }

    fn request(&mut self, client: usize, method: &str, params: &Value) {
        if !self.clients[client].begun || self.clients[client].over {
            return;
        }
        self.clients[client].last += 1;
        let id = self.clients[client].last;
        self.clients[client].answers.insert(id, 0);
        self.say(client, &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    /// The processes that run for a client.
    fn of(&self, client: usize) -> Vec<ChildId> {
        let session = self.clients[client].session;
        self.processes.keys().filter(|child| child.session == session).copied().collect()
    }

    fn answer(&mut self, client: usize, well: bool) {
        let Some((id, method)) = self.clients[client].questions.pop_front() else { return };
        let shared = self.clients[client].shared;
        let roots = (0..PLACES.len()).filter(|place| shared & (1 << place) != 0);
        let roots: Vec<Value> =
            roots.map(|place| json!({"uri": format!("file://{}", self.place(place).display())})).collect();
        let result = if method == "roots/list" { json!({"roots": roots}) } else { json!({"content": "x"}) };
        let message = if well {
            json!({"jsonrpc": "2.0", "id": id, "result": result})
        } else {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": "no"}})
        };
        self.say(client, &message);
    }

    fn reply(&mut self, child: ChildId) {
        let Some(request) = self.processes.get_mut(&child).and_then(|process| process.owes.pop_front()) else { return };
        let result = match request["method"].as_str() {
            Some("initialize") => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}),
            Some("tools/list") => json!({"tools": [{"name": "read"}]}),
            _ => json!({"content": []}),
        };
        let text = json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string();
        self.feed(Event::ChildLine(child, Found::Among(text.as_bytes())));
    }

    fn act(&mut self, step: &Step) {
        match *step {
            Step::Begin(client) => {
                if !std::mem::replace(&mut self.clients[client].begun, true) {
                    let roots = json!({"roots": {"listChanged": true}});
                    self.request(
                        client,
                        "initialize",
                        &json!({"protocolVersion": "2025-11-25", "capabilities": roots}),
                    );
                    self.say(client, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
                }
            }
            Step::Call(client, place) => {
                let path = self.place(place).join("file");
                self.request(client, "tools/call", &json!({"name": "read", "arguments": {"path": path}}));
            }
            Step::CallPlain(client) => self.request(client, "tools/call", &json!({"name": "read", "arguments": {}})),
            Step::List(client) => self.request(client, "tools/list", &json!({})),
            Step::Cancel(client) => {
                let id = self.clients[client].last;
                // A client may not cancel `initialize`.
                if id > 1 {
                    self.clients[client].cancelled.push(id);
                    let params = json!({"requestId": id});
                    self.say(client, &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
                }
            }
            Step::Share(client, shared) => {
                self.clients[client].shared = shared;
                if self.clients[client].begun {
                    self.say(client, &json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
                }
            }
            Step::Answer(client, well) => self.answer(client, well),
            Step::Reply(client) => self.of(client).into_iter().for_each(|child| self.reply(child)),
            Step::Ask(client) => {
                for child in self.of(client) {
                    let Some(process) = self.processes.get_mut(&child) else { continue };
                    process.asked += 1;
                    let id = format!("q{}", process.asked);
                    let text = json!({"jsonrpc": "2.0", "id": id, "method": "sampling/createMessage"}).to_string();
                    self.feed(Event::ChildLine(child, Found::Among(text.as_bytes())));
                }
            }
            Step::Exit(client) => {
                for child in self.of(client) {
                    self.processes.remove(&child);
                    self.feed(Event::ChildEnded(child, "code 1"));
                }
            }
            Step::Look => {
                if let Some((whose, placing)) = self.looks.pop_front() {
                    self.feed(Event::Placed(whose, placing.run_ambient()));
                }
            }
            Step::Record(kept) => {
                if let Some((session, message)) = self.records.pop_front() {
                    let on_record = if kept { OnRecord::Yes } else { OnRecord::No };
                    self.feed(Event::Recorded(session, message, on_record));
                }
            }
            Step::Wait(milliseconds) => self.wait(milliseconds),
        }
    }

    fn wait(&mut self, milliseconds: u64) {
        let until = self.now + Duration::from_millis(milliseconds);
        for _ in 0..1000 {
            let Some(due) = self.engine.wakes_at().filter(|due| *due <= until) else { break };
            self.now = due.max(self.now + Duration::from_micros(1));
            self.feed(Event::Tick);
        }
        self.now = until.max(self.now);
        self.feed(Event::Tick);
    }

    /// Everybody does what is expected of them, until nothing is left to do.
    fn come_to_rest(&mut self, rounds: usize) {
        for _ in 0..rounds {
            for client in 0..CLIENTS {
                while !self.clients[client].questions.is_empty() {
                    self.answer(client, true);
                }
                for child in self.of(client) {
                    while self.processes.get(&child).is_some_and(|process| !process.owes.is_empty()) {
                        self.reply(child);
                    }
                }
            }
            while !self.looks.is_empty() || !self.records.is_empty() {
                self.act(&Step::Look);
                self.act(&Step::Record(true));
            }
            self.wait(3000);
        }
    }

    fn check(&self) -> Result<(), TestCaseError> {
        for client in self.clients.iter().filter(|client| !client.over) {
            for (id, times) in &client.answers {
                let is_cancelled = client.cancelled.contains(id);
                prop_assert!(*times == 1 || (is_cancelled && *times == 0), "{id} was answered {times} times");
            }
        }
        for process in self.processes.values() {
            prop_assert!(process.answers.values().all(|times| *times <= 1), "{:?}", process.answers);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 2000, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn a_message_is_decided_by_the_roots_in_force_when_it_leaves(
        begun in prop::bool::weighted(0.8),
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let mut world = World::new();
        if begun {
            (0..CLIENTS).for_each(|client| world.act(&Step::Begin(client)));
            world.come_to_rest(3);
        }
        for step in &steps {
            world.act(step);
        }
        world.come_to_rest(40);
        world.check()?;
    }
}

fn lines(outlet: &mut Outlet) -> Vec<Value> {
    let text = String::from_utf8_lossy(outlet.waiting()).into_owned();
    outlet.clear();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
