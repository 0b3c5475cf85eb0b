//! What a transcript is played against: an engine for each connection, with servers in memory behind it and a clock that is wound on.
//!
//! Only this file knows the engine.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use rootward_core::{GuardOptions, Validation};
use rootward_testkit::transcript::{Line, Received, Refusals, Server, Settings};

use super::super::LONGEST;
use super::super::child::ChildNumber;
use super::super::engine::{Change, Effect, Engine};
use super::super::memory::Memory;
use super::super::outlet::Outlet;
use super::super::rules::{Enforce, Rules, Treatments};
use super::server::FileServer;
use crate::scan::{Expansion, Treatment};
use rootward_protocol::frame::{self, Found};

/// When servers are started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Start {
    /// Again for each change of roots.
    ForEachChange,
    /// Once; later changes are told to the server.
    Once,
}

/// `wrap`, one process for each connection.
pub(super) struct Wrapped {
    start: Start,
    handshakes: PathBuf,
    /// The time of all connections.
    clock: Rc<Cell<Duration>>,
}

impl Wrapped {
    pub(super) fn new(start: Start, handshakes: &Path) -> Wrapped {
        Wrapped { start, handshakes: handshakes.to_owned(), clock: Rc::default() }
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
        // What these call a path is only said again, or asked for by the server itself.
        let mut treatments = Treatments::default();
        for tool in ["echo", "roots_last"] {
            treatments.add(tool, "path", Treatment::Text);
        }
        let rules = Rules {
            policy: settings.policy.clone(),
            sources: settings.sources.clone(),
            guard: GuardOptions::default(),
            validation: Validation::new(None),
            expansion: Expansion::default(),
            enforce: Enforce::Refuse,
            treatments,
            audit: None,
        };
        let change = match self.start {
            Start::ForEachChange => Change::NewChild,
            Start::Once => Change::Told,
        };
        let memory = Memory::new(Some(self.handshakes.clone()), OsStr::new("server"), &[]);
        let engine = Engine::new(rules, change, memory);
        let clock = Rc::clone(&self.clock);
        let (servers, heard) = (BTreeMap::new(), VecDeque::new());
        Ok(Box::new(Wire { engine, servers, heard, now: clock.get(), clock, state: State::Open }))
    }
}

/// How far a connection has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Open,
    /// The client has closed its end.
    Closing,
    Over,
}

/// A connection.
struct Wire {
    engine: Engine,
    servers: BTreeMap<ChildNumber, FileServer>,
    /// What the client was sent and has not received yet.
    heard: VecDeque<String>,
    now: Duration,
    clock: Rc<Cell<Duration>>,
    state: State,
}

impl Wire {
    /// Does what the pump does, until nothing moves.
    fn settle(&mut self) {
        loop {
            self.engine.tick(self.now);
            let effects = self.engine.take_effects();
            let mut moved = !effects.is_empty();
            for effect in effects {
                match effect {
                    Effect::Start(number) => {
                        let first = self.engine.guard_of(number).and_then(|guard| guard.root_set().first_directory());
                        let directory = first.map(|root| root.place.clone());
                        self.servers.insert(number, FileServer::new(directory));
                    }
                    Effect::End(number) => drop(self.servers.remove(&number)),
                    Effect::Leave => self.state = State::Over,
                    Effect::Kill(_) | Effect::Say(_) => {}
                }
            }
            for (number, server) in &mut self.servers {
                let input = self.engine.children.get_mut(number).map(|child| lines(&mut child.input));
                for answer in input.into_iter().flatten().flat_map(|line| server.hear(&line)) {
                    moved = true;
                    self.engine.child_line(self.now, *number, Found::Among(answer.as_bytes()));
                }
            }
            self.heard.extend(lines(&mut self.engine.out));
            if !moved {
                return;
            }
        }
    }

    /// Winds the clock on to `until`, or to when something was said.
    fn pass(&mut self, until: Duration) {
        while self.heard.is_empty() && self.now < until {
            let due = self.engine.wakes_at().filter(|due| *due > self.now);
            self.now = due.map_or(until, |due| due.min(until));
            self.settle();
        }
    }

    /// The pump ends once everything is answered.
    fn end(&mut self) {
        if self.state == State::Closing && self.engine.is_delivered() && !self.engine.owes() {
            self.engine.give_up();
            self.settle();
            self.state = State::Over;
        }
    }

    /// Has happen what was due while another connection had the time.
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
        self.engine.client_line(self.now, &frame::Line::Frame(frame.as_bytes()), LONGEST);
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
        self.engine.client_closed(self.now);
        self.settle();
        Ok(())
    }
}

/// Takes what waits, line by line.
fn lines(outlet: &mut Outlet) -> Vec<String> {
    let text = String::from_utf8_lossy(outlet.waiting()).into_owned();
    outlet.clear();
    text.lines().map(str::to_owned).collect()
}
