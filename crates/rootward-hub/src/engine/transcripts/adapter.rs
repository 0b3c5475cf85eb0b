//! What a transcript is played against: one engine per connection, with in-memory servers and a simulated clock.
//!
//! Only this file knows the engine.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rootward_core::{GuardOptions, Validation};
use rootward_testkit::transcript::{Line, Received, Refusals, Server, Settings};

use super::super::{
    About, Change, ChildId, Effect, Engine, Event, Memory, OnRecord, Outlet, Rules, Server as Configured, Session,
    SessionId, Treatments,
};
use super::server::FileServer;
use crate::scan::Treatment;
use crate::wrap::LONGEST;
use rootward_protocol::frame::{self, Found};

/// When servers are started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Start {
    /// Again for each change of roots.
    ForEachChange,
    /// Once; later changes are sent to the server.
    Once,
}

/// `wrap`, one process per connection.
pub(super) struct Wrapped {
    start: Start,
    /// The memory of the server.
    memory: Rc<RefCell<Memory>>,
    /// The time of all connections.
    clock: Rc<Cell<Duration>>,
}

impl Wrapped {
    pub(super) fn new(start: Start, memory: Rc<RefCell<Memory>>) -> Wrapped {
        Wrapped { start, memory, clock: Rc::default() }
    }
}

impl Server for Wrapped {
    fn connect(&mut self, settings: &Settings) -> io::Result<Box<dyn Line>> {
        let unset = Settings::default();
        if settings.refusals != Refusals::ToolError
            || (&settings.principal, settings.round_lifetime) != (&unset.principal, unset.round_lifetime)
        {
            return Err(io::Error::other("a setting that only the library has"));
        }
        // These transcripts only repeat the path, or the server itself asks for it.
        let mut treatments = Treatments::default();
        for tool in ["echo", "roots_last"] {
            treatments.add(format!("{tool}.path"), Treatment::Text, About::ThisServer);
        }
        let (policy, sources) = (settings.policy.clone(), settings.sources.clone());
        let plain = Rules::plain(policy, sources, GuardOptions::default(), Validation::new(None));
        let rules = Rules { treatments, ..plain };
        let change = match self.start {
            Start::ForEachChange => Change::NewChild,
            Start::Once => Change::Told,
        };
        let mut engine = Engine::new(LONGEST);
        let memory = Arc::new(self.memory.borrow().clone());
        let server = engine.add(Configured { memory, ..Configured::new_ambient("files", rules, change) });
        let session = engine.open(server, "test".to_owned()).ok_or(io::ErrorKind::NotFound)?;
        let (clock, memory) = (Rc::clone(&self.clock), Rc::clone(&self.memory));
        let (servers, heard) = (BTreeMap::new(), VecDeque::new());
        Ok(Box::new(Wire { engine, session, memory, servers, heard, now: clock.get(), clock, state: State::Open }))
    }
}

/// The state of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Open,
    /// The client has closed its end.
    Closing,
    Over,
}

struct Wire {
    engine: Engine,
    session: SessionId,
    memory: Rc<RefCell<Memory>>,
    servers: BTreeMap<ChildId, FileServer>,
    /// What the client was sent and has not received yet.
    heard: VecDeque<String>,
    now: Duration,
    clock: Rc<Cell<Duration>>,
    state: State,
}

impl Wire {
    /// Does what a front does with an event.
    fn feed(&mut self, event: Event<'_>) {
        let mut effects = VecDeque::from(self.engine.step(self.now, event));
        while let Some(effect) = effects.pop_front() {
            match effect {
                Effect::Start(child, guard, _) => {
                    let directory = guard.base().map(Path::to_owned);
                    self.servers.insert(child, FileServer::new(directory));
                }
                Effect::End(child) => {
                    self.servers.remove(&child);
                    effects.extend(self.engine.step(self.now, Event::Gone(child)));
                }
                Effect::Leave(_) => self.state = State::Over,
                Effect::Kill(_) | Effect::Say(_) => {}
                Effect::Place(whose, placing) => {
                    effects.extend(self.engine.step(self.now, Event::Placed(whose, placing.run_ambient())));
                }
                Effect::Record(session, message, _) => {
                    effects.extend(self.engine.step(self.now, Event::Recorded(session, message, OnRecord::Yes)));
                }
                Effect::Remember(server) => {
                    self.memory.replace(self.engine.memory(server).cloned().unwrap_or_default());
                }
            }
        }
    }

    /// Lets the servers answer until nothing changes.
    fn settle(&mut self) {
        loop {
            self.feed(Event::Tick);
            let mut answers = Vec::new();
            for (child, server) in &mut self.servers {
                let input = self.engine.child_outlet(*child).map(lines).unwrap_or_default();
                answers.extend(input.iter().flat_map(|line| server.hear(line)).map(|answer| (*child, answer)));
            }
            let moved = !answers.is_empty();
            for (child, answer) in answers {
                self.feed(Event::ChildLine(child, Found::Among(answer.as_bytes())));
            }
            self.heard.extend(self.engine.client_outlet(self.session).map(lines).into_iter().flatten());
            if !moved {
                return;
            }
        }
    }

    /// Advances the clock to `until`, or until something was sent.
    fn pass(&mut self, until: Duration) {
        while self.heard.is_empty() && self.now < until {
            let due = self.engine.wakes_at().filter(|due| *due > self.now);
            self.now = due.map_or(until, |due| due.min(until));
            self.settle();
        }
    }

    /// Ends once everything is answered.
    fn end(&mut self) {
        let session = self.engine.session(self.session);
        let done = session.is_none_or(|session| Session::is_delivered(session) && !session.owes());
        if self.state == State::Closing && done {
            self.feed(Event::Left(self.session));
            self.settle();
            self.state = State::Over;
        }
    }

    /// Catches up on what was due while another connection advanced the clock.
    fn catch_up(&mut self) {
        while self.now < self.clock.get() {
            let mut heard = std::mem::take(&mut self.heard);
            self.pass(self.clock.get());
            heard.append(&mut self.heard);
            self.heard = heard;
        }
    }
}

impl Line for Wire {
    fn send(&mut self, frame: &str) -> io::Result<()> {
        self.catch_up();
        self.feed(Event::ClientLine(self.session, frame::Line::Frame(frame.as_bytes())));
        self.settle();
        Ok(())
    }

    fn receive(&mut self, patience: Duration) -> io::Result<Received> {
        self.catch_up();
        let until = self.now + patience;
        self.end();
        while self.heard.is_empty() && self.state != State::Over && self.now < until {
            self.pass(until);
            self.end();
        }
        self.clock.set(self.now);
        Ok(match self.heard.pop_front() {
            Some(frame) => Received::Frame(frame),
            None if self.state == State::Over => Received::End,
            None => Received::Silence,
        })
    }

    fn close(&mut self) -> io::Result<()> {
        self.catch_up();
        self.state = State::Closing;
        self.feed(Event::ClientClosed(self.session));
        self.settle();
        Ok(())
    }
}

/// Takes the pending lines.
fn lines(outlet: &mut Outlet) -> Vec<String> {
    let text = String::from_utf8_lossy(outlet.waiting()).into_owned();
    outlet.clear();
    text.lines().map(str::to_owned).collect()
}
