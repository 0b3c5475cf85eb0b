//! Scripts: a hub with one client and scripted servers. Real directories, no processes.

mod asking;
mod crowding;
mod failing;
mod limiting;
mod listing;
mod modern;
mod modern_crowd;
mod modern_listening;
mod modern_passing;
mod modern_rounds;
mod parting;
mod principals;
mod roots;
mod sharing;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rootward_core::session::{Policy, Sources};
use rootward_core::{GuardOptions, Origin, Root, RootSet, Validation};
use rootward_protocol::frame::{FrameReader, Line, Members, Message};
use serde_json::{Value, json};

use super::{Clients, Hub, Served};
use crate::config::{Catalog, HubConfig, HubSettings, Isolation, ToolFilter};
use crate::engine::{
    Begin, Change, ChildId, ClientId, Effect, Event, Failure, Hope, OnRecord, Outlet, Purpose, Rules, Server, ServerId,
};
use crate::front::{Caller, CallerPurpose, Middle};
use crate::principal::Principal;

/// How long a server may be idle.
const IDLE: Duration = Duration::from_mins(10);

/// How a scripted server behaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Manner {
    /// It answers everything.
    #[default]
    Answers,
    /// It does not answer unknown methods, like some legacy servers.
    SaysNothing,
    /// It answers `initialize` and nothing else.
    Silent,
    /// It answers nothing at all.
    Dead,
    /// It cannot be started.
    Missing,
}

/// A scripted server.
#[derive(Clone, Debug, Default)]
struct Script {
    name: &'static str,
    manner: Manner,
    /// Its tools; each has an argument `path`.
    tools: Vec<&'static str>,
    /// Its ceiling within the directory of the play.
    ceiling: Option<&'static str>,
    filter: ToolFilter,
    isolation: Isolation,
    /// The prefix of its tools, if it is not the server's name.
    prefix: Option<&'static str>,
    /// Whether it speaks only the modern era.
    modern: bool,
}

struct Play {
    middle: Clients,
    /// The client that speaks.
    client: ClientId,
    scripts: Vec<Script>,
    ids: Vec<ServerId>,
    now: Duration,
    /// The running processes, with their purpose and directories.
    running: BTreeMap<ChildId, (Purpose, Vec<PathBuf>)>,
    leaving: Vec<ChildId>,
    /// The messages that servers got, with the index of the server.
    asked: Vec<(usize, Value)>,
    /// How often servers were started to take calls.
    starts: Vec<usize>,
    /// Servers whose lists have changed.
    grown: BTreeSet<usize>,
    said: Vec<String>,
    /// Messages to clients that the test has not looked at yet.
    heard: BTreeMap<ClientId, Vec<Value>>,
    /// What clients answer at once when they are asked for their roots.
    shares: BTreeMap<ClientId, Vec<String>>,
    directory: tempfile::TempDir,
}

/// A filter that removes these tools.
fn denying(patterns: &[&str]) -> ToolFilter {
    let text = json!({"mcpServers": {"a": {"command": "x", "rootward": {"tools": {"deny": patterns}}}}}).to_string();
    HubConfig::read(&text).unwrap().servers[0].rootward.tools.clone()
}

fn script(name: &'static str, tools: &[&'static str]) -> Script {
    Script { name, tools: tools.to_vec(), ..Script::default() }
}

impl Play {
    fn new(scripts: Vec<Script>) -> Play {
        Play::with(scripts, Catalog::Merged)
    }

    /// Two running servers, `a` and `b`, with a tool `read` each.
    fn with_two_running() -> Play {
        let mut play = Play::begun(vec![script("a", &["read"]), script("b", &["read"])]);
        let path = play.path("one");
        for (id, tool) in [(1, "a__read"), (2, "b__read")] {
            play.call(id, tool, &path);
            play.pass(3000);
            play.answer(id);
        }
        play
    }

    /// A hub with one server and two principals, both with the ceiling `one`.
    fn with_principals(script: Script) -> Play {
        let mut play = Play::new(vec![script]);
        let root = Root::from_path(place(&play.directory, "one"), Origin::Config).unwrap();
        let ceiling = RootSet::place_ambient([root], &Validation::new(None));
        play.middle.hub.principals = ["x", "y"]
            .map(|name| Arc::new(Principal { name: name.into(), ceiling: ceiling.clone(), servers: None }))
            .into();
        play
    }

    /// A request of this principal arrives on its own connection, as over HTTP.
    fn connect_as(&mut self, principal: usize) {
        self.client = self.middle.open(Caller { principal, purpose: CallerPurpose::Request }).unwrap();
    }

    fn with(scripts: Vec<Script>, catalog: Catalog) -> Play {
        let directory = tempfile::tempdir().unwrap();
        for name in ["one", "two"] {
            make(&directory.path().join(name));
        }
        let validation = Validation::new(None);
        let guard = GuardOptions::default();
        let rules = |sources| Rules::plain(Policy::default(), sources, guard.clone(), validation.clone());
        let without = rules(Sources::default());
        let settings = HubSettings { catalog, ..HubSettings::default() };
        let mut hub = Hub::new("test".to_owned(), settings, (without.terms_ambient(), without.given()), 1 << 20);
        let ids = scripts.iter().map(|script| {
            let mut sources = Sources::default();
            if let Some(name) = script.ceiling {
                let root = Root::from_path(place(&directory, name), Origin::Config).unwrap();
                sources.ceiling = RootSet::place_ambient([root], &validation);
            }
            let server = Server {
                begin: Begin::WhenNeeded { idle: IDLE },
                ..Server::new_ambient(script.name, rules(sources), Change::NewChild)
            };
            let prefix = script.prefix.unwrap_or(script.name);
            let shown = Served::new(script.name.to_owned(), prefix.to_owned(), script.filter.clone());
            hub.add(Served { isolation: script.isolation, ..shown }, server)
        });
        let ids: Vec<ServerId> = ids.collect();
        let client = hub.open().unwrap();
        Play {
            middle: Clients { hub, reloading: None },
            client,
            ids,
            now: Duration::ZERO,
            running: BTreeMap::new(),
            leaving: Vec::new(),
            asked: Vec::new(),
            starts: vec![0; scripts.len()],
            grown: BTreeSet::new(),
            said: Vec::new(),
            heard: BTreeMap::new(),
            shares: BTreeMap::new(),
            scripts,
            directory,
        }
    }

    /// The client begins, with roots, and names the directory `one`.
    fn begun(scripts: Vec<Script>) -> Play {
        let mut play = Play::new(scripts);
        play.begin();
        play
    }

    fn begin(&mut self) {
        self.begin_with(&["one"]);
    }

    fn begin_with(&mut self, roots: &[&str]) {
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": {"listChanged": true}}});
        self.client(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
        self.client(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        self.share(roots);
        self.heard();
    }

    /// Answers every request for roots, open ones and later ones.
    fn share(&mut self, names: &[&str]) {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        self.shares.insert(self.client, names);
        self.answer_for_roots();
    }

    /// Leaves requests for roots open.
    fn share_later(&mut self) {
        self.shares.remove(&self.client);
    }

    fn answer_for_roots(&mut self) {
        self.hear();
        let client = self.client;
        let Some(names) = self.shares.get(&client) else { return };
        let roots: Vec<Value> =
            names.iter().map(|name| json!({"uri": format!("file://{}", self.path(name))})).collect();
        let heard = self.heard.entry(client).or_default();
        let asked = heard.extract_if(.., |message| message["method"] == "roots/list").collect::<Vec<_>>();
        for question in asked {
            self.client(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": roots}}));
        }
    }

    /// Collects the messages to the client.
    fn hear(&mut self) {
        let told = self.middle.client_outlet(self.client).map(lines).unwrap_or_default();
        let told = told.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
        self.heard.entry(self.client).or_default().extend(told);
    }

    /// The unanswered requests with this method; all other messages to the client are dropped.
    fn questions(&mut self, method: &str) -> Vec<Value> {
        self.heard().into_iter().filter(|message| message["method"] == method && !message["id"].is_null()).collect()
    }

    fn path(&self, name: &str) -> String {
        place(&self.directory, name).to_str().unwrap().to_owned()
    }

    fn client(&mut self, message: &Value) {
        self.client_text(&message.to_string());
    }

    fn client_text(&mut self, text: &str) {
        let effects = self.middle.client_line(self.now, self.client, Line::Frame(text.as_bytes()));
        self.carry_out(effects);
    }

    /// A request with these params.
    fn ask(&mut self, id: u64, method: &str, params: &Value) {
        self.client(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    /// A call of a tool with a path.
    fn call(&mut self, id: u64, tool: &str, path: &str) {
        self.ask(id, "tools/call", &json!({"name": tool, "arguments": {"path": path}}));
    }

    /// The answer to a request, which must be the only one with its id.
    fn answer(&mut self, id: u64) -> Value {
        let heard = self.heard();
        let mut answers = heard.iter().filter(|message| message["id"] == id && message["method"].is_null());
        let answer = answers.next().unwrap_or_else(|| panic!("no answer to {id}: {heard:?}")).clone();
        assert_eq!(answers.next(), None);
        answer
    }

    fn heard(&mut self) -> Vec<Value> {
        self.hear();
        std::mem::take(self.heard.entry(self.client).or_default())
    }

    fn feed(&mut self, event: Event<'_>) {
        let effects = self.middle.step(self.now, event);
        self.carry_out(effects);
    }

    /// Does what a front does, and what servers answer, until nothing more happens.
    fn carry_out(&mut self, effects: Vec<Effect>) {
        let mut effects = VecDeque::from(effects);
        loop {
            while let Some(effect) = effects.pop_front() {
                effects.extend(self.carry_out_one(effect));
            }
            let replies: Vec<(ChildId, Value)> = self.replies();
            if replies.is_empty() {
                return self.answer_for_roots();
            }
            for (child, reply) in replies {
                effects.extend(self.child_says(child, &reply));
            }
        }
    }

    fn carry_out_one(&mut self, effect: Effect) -> Vec<Effect> {
        match effect {
            Effect::Start(child, guard, purpose) => {
                let server = self.server_of(child);
                if self.scripts[server].manner == Manner::Missing {
                    let failure = Failure::new("there is no such program");
                    return self.middle.step(self.now, Event::NotStarted(child, &failure, Hope::None));
                }
                let places = guard.roots().iter().map(|root| root.place.clone()).collect();
                self.running.insert(child, (purpose, places));
                if purpose != Purpose::Learn {
                    self.starts[server] += 1;
                }
                Vec::new()
            }
            Effect::End(child) => {
                self.running.remove(&child);
                self.leaving.push(child);
                Vec::new()
            }
            Effect::Kill(_) | Effect::Remember(_) => Vec::new(),
            Effect::Leave(session) => panic!("a hub never leaves its client: {session:?}"),
            Effect::Say(text) => {
                self.said.push(text);
                Vec::new()
            }
            Effect::Place(whose, placing) => self.middle.step(self.now, Event::Placed(whose, placing.run_ambient())),
            Effect::Record(session, message, _) => {
                self.middle.step(self.now, Event::Recorded(session, message, OnRecord::Yes))
            }
        }
    }

    fn server_of(&self, child: ChildId) -> usize {
        let id = self.middle.server_of(child).unwrap();
        self.ids.iter().position(|known| *known == id).unwrap()
    }

    /// A child sends a message.
    fn child_says(&mut self, child: ChildId, message: &Value) -> Vec<Effect> {
        let mut reader = FrameReader::new(1 << 20);
        reader.add(format!("{message}\n").as_bytes());
        reader.find().map(|found| self.middle.step(self.now, Event::ChildLine(child, found))).unwrap_or_default()
    }

    /// The single process of a server that takes calls.
    fn child(&self, server: usize) -> ChildId {
        let of_server = |(child, (purpose, _)): (&ChildId, &(Purpose, Vec<PathBuf>))| {
            (*purpose != Purpose::Learn && self.server_of(*child) == server).then_some(*child)
        };
        self.running.iter().find_map(of_server).unwrap()
    }

    /// A server sends a message on its own.
    fn server(&mut self, server: usize, message: &Value) {
        let effects = self.child_says(self.child(server), message);
        self.carry_out(effects);
    }

    /// The running servers' answers to what they were sent.
    fn replies(&mut self) -> Vec<(ChildId, Value)> {
        let mut replies = Vec::new();
        for child in self.running.keys().copied().collect::<Vec<_>>() {
            let server = self.server_of(child);
            let sent = self.middle.child_outlet(child).map(lines).unwrap_or_default();
            for line in sent {
                let message: Value = serde_json::from_str(&line).unwrap();
                assert_unambiguous(&line);
                self.assert_confined(child, &message);
                self.asked.push((server, message.clone()));
                replies.extend(self.reply(server, &message).map(|reply| (child, reply)));
            }
        }
        replies
    }

    /// Checks that no process gets a path outside its directories.
    fn assert_confined(&self, child: ChildId, message: &Value) {
        let Some(path) = message["params"]["arguments"]["path"].as_str() else { return };
        let (_, places) = &self.running[&child];
        assert!(places.iter().any(|place| Path::new(path).starts_with(place)), "{path} is not in {places:?}");
    }

    fn reply(&self, server: usize, message: &Value) -> Option<Value> {
        let script = &self.scripts[server];
        let method = message["method"].as_str()?;
        if message["id"].is_null() {
            return None;
        }
        if script.modern && script.manner == Manner::Answers && method != "tools/list" {
            return modern_passing::reply(script.name, message);
        }
        let result = match (script.manner, method) {
            (Manner::Dead | Manner::Missing, _) | (Manner::SaysNothing, "server/discover") => return None,
            (_, "server/discover") => {
                let error = json!({"code": -32601, "message": "unknown"});
                return Some(json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
            }
            (_, "initialize") => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}, "logging": {}, "prompts": {}, "resources": {}},
                "serverInfo": {"name": script.name, "version": "1"},
            }),
            (Manner::Silent, _) => return None,
            (_, "tools/list") => {
                let more = self.grown.contains(&server).then_some(&"more");
                let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
                let tools = script.tools.iter().chain(more);
                let tools: Vec<Value> = tools.map(|name| json!({"name": name, "inputSchema": schema})).collect();
                json!({"tools": tools})
            }
            (_, "prompts/list") => json!({"prompts": [{"name": "greet"}]}),
            (_, "resources/list") => json!({"resources": [{"uri": format!("demo-{}://x", script.name), "name": "x"}]}),
            (_, "resources/templates/list") => {
                json!({"resourceTemplates": [{"uriTemplate": format!("demo-{}://at/{{id}}", script.name), "name": "t"}]})
            }
            // It echoes the request.
            _ => json!({"server": script.name, "method": method, "params": message["params"]}),
        };
        Some(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
    }

    /// Time passes, with a step whenever the hub wants one.
    fn pass(&mut self, milliseconds: u64) {
        let until = self.now + Duration::from_millis(milliseconds);
        let mut steps = 0;
        while let Some(due) = self.middle.wakes_at().filter(|due| *due <= until) {
            self.now = due.max(self.now);
            self.moment();
            steps += 1;
            assert!(steps < 1000, "the hub never comes to rest: {due:?} at {:?}", self.now);
        }
        self.now = until;
        self.moment();
    }

    fn moment(&mut self) {
        self.feed(Event::Tick);
        for child in std::mem::take(&mut self.leaving) {
            self.feed(Event::Gone(child));
        }
    }

    /// The requests with this method that a server got since the last call.
    fn asked(&mut self, server: usize, method: &str) -> Vec<Value> {
        let asked = self.asked.iter().filter(|(of, message)| *of == server && message["method"] == method);
        let asked = asked.map(|(_, message)| message.clone()).collect();
        self.asked.retain(|(of, message)| !(*of == server && message["method"] == method));
        asked
    }
}

#[expect(clippy::disallowed_methods, reason = "tests build the trees that clients share")]
fn make(directory: &Path) {
    std::fs::create_dir(directory).unwrap();
    std::fs::write(directory.join("file.txt"), "").unwrap();
}

#[expect(clippy::disallowed_methods, reason = "tests build the trees that clients share")]
fn place(directory: &tempfile::TempDir, name: &str) -> PathBuf {
    directory.path().canonicalize().unwrap().join(name)
}

/// Checks for duplicate keys: a server may read either value.
fn assert_unambiguous(line: &str) {
    let Ok(Message::Single(envelope)) = Message::parse(line.as_bytes()) else { panic!("{line}") };
    if let Some(params) = envelope.params() {
        let params = Members::read(params).unwrap_or_else(|| panic!("{line}"));
        let responses = params.get("inputResponses");
        assert!(responses.is_none_or(|responses| Members::read(responses).is_some()), "{line}");
    }
}

fn lines(outlet: &mut Outlet) -> Vec<String> {
    let text = String::from_utf8(outlet.waiting().to_vec()).unwrap();
    outlet.clear();
    text.lines().map(str::to_owned).collect()
}
