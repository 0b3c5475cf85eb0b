//! The engine without processes: scripted lines and times in, lines and effects out.

mod asking;
mod cancelling;
mod ending;
mod frames;
mod given;
mod learning;
mod limiting;
mod mapping;
mod paging;
mod recording;
mod restarting;
mod revoking;
mod roots;
mod telling;
mod treating;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rootward_core::session::{Policy, Sources};
use rootward_core::{GuardOptions, Origin, Root, RootSet, Validation};
use rootward_protocol::frame::{Found, FrameReader, Line};
use serde_json::{Value, json};

use super::child::ChildId;
use super::interleaving::Looked;
use super::outlet::Outlet;
use super::rules::Rules;
use super::{Change, Effect, Engine, Entries, Event, Failure, OnRecord, Server, ServerId, Session, SessionId};

/// The longest line that the client may send in a script.
const LIMIT: usize = 4096;

/// A play: an engine with one client, and the directories that it may share.
struct Play {
    engine: Engine,
    server: ServerId,
    session: SessionId,
    now: Duration,
    seen: Vec<Seen>,
    /// Processes that will be gone after the next moment.
    leaving: Vec<ChildId>,
    recorded: Vec<Entries>,
    directory: tempfile::TempDir,
}

/// The engine's effects, except for resolving roots.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Seen {
    Start(u64),
    End(u64),
    Kill(u64),
    Leave,
    Say(String),
}

/// What a client declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Client {
    WithRoots,
    WithoutRoots,
}

/// Whether the operator has set a root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ceiling {
    Project,
    None,
}

impl Play {
    fn new(change: Change, ceiling: Ceiling) -> Play {
        Play::with(change, ceiling, |_| {})
    }

    /// A play after the handshake, with a ceiling and an audit log.
    fn recorded() -> Play {
        let mut play = Play::with(Change::NewChild, Ceiling::Project, |rules| rules.audit = Some(Arc::new(Looked)));
        play.begin(Client::WithoutRoots);
        play
    }

    /// A play with adjusted rules.
    fn with(change: Change, ceiling: Ceiling, adjust: impl FnOnce(&mut Rules)) -> Play {
        let directory = tempfile::tempdir().unwrap();
        let validation = Validation::new(None);
        let mut sources = Sources::default();
        for name in ["project", "other"] {
            make(&directory.path().join(name));
        }
        if ceiling == Ceiling::Project {
            let root = Root::from_path(place(&directory, "project"), Origin::Flag).unwrap();
            sources.ceiling = RootSet::place_ambient([root], &validation);
        }
        let mut rules = Rules::plain(Policy::default(), sources, GuardOptions::default(), validation);
        adjust(&mut rules);
        let mut engine = Engine::new(LIMIT);
        let server = engine.add(Server::new_ambient("files", rules, change));
        let session = engine.open(server, "test".to_owned()).unwrap();
        let (now, seen, leaving, recorded) = (Duration::ZERO, Vec::new(), Vec::new(), Vec::new());
        Play { engine, server, session, now, seen, leaving, recorded, directory }
    }

    /// Another client of the same server connects; the previous one is gone.
    fn reopen(&mut self) {
        drop(self.engine.close(self.session));
        self.session = self.engine.open(self.server, "again".to_owned()).unwrap();
        self.seen.clear();
    }

    /// A play after the handshake of the client and the first server, which has listed its tools.
    fn begun(change: Change, client: Client) -> Play {
        let ceiling = if client == Client::WithRoots { Ceiling::None } else { Ceiling::Project };
        let mut play = Play::new(change, ceiling);
        play.begin(client);
        if client == Client::WithRoots {
            play.share(&["project"]);
            play.greet(2);
        }
        play
    }

    /// The handshake of the client and the first server. For a client with roots, that server is a learner and gone
    /// afterwards.
    fn begin(&mut self, client: Client) {
        let roots = if client == Client::WithRoots { json!({"roots": {"listChanged": true}}) } else { json!({}) };
        let client = json!({"name": "editor", "version": "1.0"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": roots, "clientInfo": client});
        self.client(&json!({"id": "i", "method": "initialize", "params": params}));
        if self.started() == [1] {
            self.child(1, &json!({"id": "i", "result": {"capabilities": {}}}));
        }
        assert_eq!(self.heard()[0]["id"], "i");
        self.client(&json!({"method": "notifications/initialized"}));
    }

    /// The client answers the request for its roots.
    fn share(&mut self, names: &[&str]) {
        let roots: Vec<Value> = names.iter().map(|name| json!({"uri": self.uri(name)})).collect();
        self.answer_roots(&json!({"roots": roots}));
    }

    fn answer_roots(&mut self, result: &Value) {
        let question = self.heard().into_iter().rfind(|message| message["method"] == "roots/list").expect("a question");
        self.client(&json!({"id": question["id"], "result": result}));
    }

    /// A server that Rootward greeted answers, and lists its tools if asked.
    fn greet(&mut self, number: u64) {
        self.greet_with(number, &json!({"capabilities": {}}));
    }

    fn greet_with(&mut self, number: u64, result: &Value) {
        let greeting = self.given(number);
        assert_eq!(greeting[0]["method"], "initialize", "{greeting:?}");
        self.child(number, &json!({"id": greeting[0]["id"], "result": result}));
    }

    /// The server that takes the calls: the second one, if it was started for the roots.
    fn serving(&mut self) -> u64 {
        let second = self.started().contains(&2);
        if second {
            self.greet(2);
        }
        if second { 2 } else { 1 }
    }

    /// Answers Rootward's own request for tools.
    fn list_tools(&mut self, number: u64) {
        let given = self.given(number);
        let question = given.iter().find(|message| message["method"] == "tools/list").expect("a question for tools");
        self.child(number, &json!({"id": question["id"], "result": {"tools": []}}));
    }

    fn path(&self, name: &str) -> String {
        place(&self.directory, name).to_str().unwrap().to_owned()
    }

    fn uri(&self, name: &str) -> String {
        format!("file://{}", self.path(name))
    }

    /// A call with a path.
    fn read(&mut self, id: u64, name: &str) {
        let path = self.path(name);
        let params = json!({"name": "read", "arguments": {"path": path}});
        self.client(&json!({"id": id, "method": "tools/call", "params": params}));
    }

    fn client(&mut self, message: &Value) {
        self.client_bytes(format!("{message}\n").as_bytes());
    }

    fn client_bytes(&mut self, bytes: &[u8]) {
        let mut reader = FrameReader::new(LIMIT);
        reader.add(bytes);
        while let Some(line) = reader.next() {
            self.feed(Event::ClientLine(self.session, line));
        }
        self.settle();
    }

    /// A frame of any length.
    fn client_frame(&mut self, frame: &str) {
        self.feed(Event::ClientLine(self.session, Line::Frame(frame.as_bytes())));
    }

    fn close(&mut self) {
        self.feed(Event::ClientClosed(self.session));
    }

    fn child(&mut self, number: u64, message: &Value) {
        self.child_text(number, &message.to_string());
    }

    fn child_text(&mut self, number: u64, text: &str) {
        self.child_found(number, Found::Among(text.as_bytes()));
        self.settle();
    }

    fn child_found(&mut self, number: u64, found: Found<'_>) {
        self.feed(Event::ChildLine(self.id(number), found));
    }

    fn ended(&mut self, number: u64) {
        self.feed(Event::ChildEnded(self.id(number), &Failure::new("code 7")));
        self.settle();
    }

    fn id(&self, number: u64) -> ChildId {
        ChildId { session: self.session, link: 0, number }
    }

    fn session(&self) -> &Session {
        self.engine.session(self.session).unwrap()
    }

    /// Feeds an event as a front does; disk and audit log respond at once.
    fn feed(&mut self, event: Event<'_>) {
        let mut effects = std::collections::VecDeque::from(self.engine.step(self.now, event));
        while let Some(effect) = effects.pop_front() {
            match effect {
                Effect::Start(child, ..) => self.seen.push(Seen::Start(child.number)),
                Effect::End(child) => {
                    self.seen.push(Seen::End(child.number));
                    self.leaving.push(child);
                }
                Effect::Kill(child) => self.seen.push(Seen::Kill(child.number)),
                Effect::Leave(_) => self.seen.push(Seen::Leave),
                Effect::Say(text) => self.seen.push(Seen::Say(text)),
                Effect::Place(whose, placing) => {
                    effects.extend(self.engine.step(self.now, Event::Placed(whose, placing.run_ambient())));
                }
                Effect::Record(session, message, entries) => {
                    self.recorded.push(entries);
                    effects.extend(self.engine.step(self.now, Event::Recorded(session, message, OnRecord::Yes)));
                }
                Effect::Remember(_) => {}
            }
        }
    }

    /// A play whose server has listed one tool with these arguments.
    fn with_tool(name: &str, arguments: &[&str], change: Change, adjust: impl FnOnce(&mut Rules)) -> Play {
        let mut play = Play::with(change, Ceiling::Project, adjust);
        play.begin(Client::WithoutRoots);
        play.client(&json!({"id": "list", "method": "tools/list"}));
        let properties: Value = arguments.iter().map(|argument| ((*argument).to_owned(), json!({}))).collect();
        let tool = json!({"name": name, "inputSchema": {"properties": properties}});
        play.child(1, &json!({"id": "list", "result": {"tools": [tool]}}));
        play.pass(500);
        play.heard();
        play.given(1);
        play
    }

    /// Calls a tool of server 1. Returns the refusal; `None` if the call reached the server.
    fn refusal(&mut self, tool: &str, arguments: &Value) -> Option<Value> {
        let params = json!({"name": tool, "arguments": arguments});
        self.client(&json!({"id": 7, "method": "tools/call", "params": params}));
        let refused = self.heard().pop().map(|answer| answer["result"]["structuredContent"].clone());
        assert_eq!(refused.is_none(), self.given_methods(1) == ["tools/call 7"], "{refused:?}");
        refused
    }

    /// Time passes, with a step whenever the engine wants one.
    fn pass(&mut self, milliseconds: u64) {
        let until = self.now + Duration::from_millis(milliseconds);
        let mut steps = 0;
        while let Some(due) = self.engine.wakes_at().filter(|due| *due <= until) {
            self.now = due.max(self.now);
            self.settle();
            steps += 1;
            assert!(steps < 1000, "the engine never comes to rest: {due:?} at {:?}", self.now);
        }
        self.now = until;
        self.settle();
    }

    /// A moment passes.
    fn settle(&mut self) {
        self.feed(Event::Tick);
        for child in std::mem::take(&mut self.leaving) {
            self.feed(Event::Gone(child));
        }
    }

    /// The servers started since the last call.
    fn started(&mut self) -> Vec<u64> {
        let started = self.seen.extract_if(.., |seen| matches!(seen, Seen::Start(_)));
        started.filter_map(|seen| if let Seen::Start(number) = seen { Some(number) } else { None }).collect()
    }

    /// The messages to the operator since the last call.
    fn said(&mut self) -> Vec<String> {
        let said = self.seen.extract_if(.., |seen| matches!(seen, Seen::Say(_)));
        said.filter_map(|seen| if let Seen::Say(text) = seen { Some(text) } else { None }).collect()
    }

    /// Whether this server was told to end.
    fn is_told_to_end(&self, number: u64) -> bool {
        self.seen.contains(&Seen::End(number))
    }

    fn leaves(&self) -> bool {
        self.seen.contains(&Seen::Leave)
    }

    /// The text sent to the client since the last call.
    fn heard_text(&mut self) -> Vec<String> {
        lines(self.engine.client_outlet(self.session).unwrap())
    }

    fn heard(&mut self) -> Vec<Value> {
        self.heard_text().iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The text sent to a server since the last call.
    fn given_text(&mut self, number: u64) -> Vec<String> {
        self.engine.child_outlet(self.id(number)).map(lines).unwrap_or_default()
    }

    fn given(&mut self, number: u64) -> Vec<Value> {
        self.given_text(number).iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The methods and ids of messages sent to a server since the last call.
    fn given_methods(&mut self, number: u64) -> Vec<String> {
        let shown = |message: &Value| format!("{} {}", message["method"].as_str().unwrap_or("-"), message["id"]);
        self.given(number).iter().map(shown).collect()
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

fn lines(outlet: &mut Outlet) -> Vec<String> {
    let text = String::from_utf8(outlet.waiting().to_vec()).unwrap();
    outlet.clear();
    text.lines().map(str::to_owned).collect()
}
