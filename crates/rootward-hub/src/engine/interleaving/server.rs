//! A server's process: the answers it owes and the questions it asks.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use proptest::prelude::*;
use rootward_core::{Guard, Restrictions};
use rootward_protocol::frame::Found;
use rootward_protocol::keys;
use serde_json::{Map, Value, json};

use super::places::{Ground, Places};
use super::world::World;
use crate::engine::child::ChildId;
use crate::engine::{Event, Purpose};

/// The key of a server's request for roots.
pub(super) const ROOTS: &str = "where";
/// The key of its question to the user.
pub(super) const PERSON: &str = "who";

pub(super) struct Process {
    pub(super) purpose: Purpose,
    /// The roots that it was started with.
    pub(super) runs_in: Places,
    /// What was restricted in them.
    pub(super) closed: Arc<Restrictions>,
    /// Requests that it has not answered.
    owes: VecDeque<Value>,
    /// How often each of its questions was answered.
    pub(super) answers: HashMap<String, u32>,
    asked: u64,
}

/// How a server answers a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reply {
    Done,
    /// With these questions, if the call is modern.
    Asks(&'static [&'static str]),
}

/// Whether servers finish calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Calls {
    Open,
    Done,
}

impl Reply {
    pub(super) fn any() -> impl Strategy<Value = Reply> {
        prop_oneof![
            5 => Just(Reply::Done),
            2 => Just(Reply::Asks(&[ROOTS])),
            1 => Just(Reply::Asks(&[PERSON])),
            1 => Just(Reply::Asks(&[PERSON, ROOTS])),
        ]
    }
}

impl Process {
    pub(super) fn new(ground: &Ground, guard: &Guard, purpose: Purpose) -> Process {
        let runs_in = ground.places(guard.roots().iter().map(|root| root.place.as_path()));
        Process {
            purpose,
            runs_in,
            closed: guard.restrictions(),
            owes: VecDeque::new(),
            answers: HashMap::new(),
            asked: 0,
        }
    }

    /// The first request that it has not answered, with or without calls.
    pub(super) fn owes(&self, calls: Calls) -> Option<usize> {
        self.owes.iter().position(|request| calls == Calls::Done || request["method"] != "tools/call")
    }

    /// Receives a message.
    pub(super) fn take(&mut self, message: Value) {
        if message.get("method").is_none() {
            *self.answers.entry(message["id"].to_string()).or_default() += 1;
        } else if message.get("id").is_some() {
            self.owes.push_back(message);
        }
    }
}

impl World {
    /// A server answers one of its requests.
    pub(super) fn reply(&mut self, child: ChildId, which: usize, reply: Reply) {
        let Some(owes) = self.processes.get_mut(&child).map(|process| &mut process.owes) else { return };
        let Some(request) = which.checked_rem(owes.len()).and_then(|which| owes.remove(which)) else { return };
        let is_modern = request["params"]["_meta"].get(keys::VERSION).is_some();
        let result = match (request["method"].as_str(), reply) {
            (Some("initialize"), _) => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}),
            (Some("tools/list"), _) => json!({"tools": [{"name": "read_file"}, {"name": "write_file"}]}),
            (Some("tools/call"), Reply::Asks(questions)) if is_modern => self.asking(questions),
            _ => json!({"content": []}),
        };
        self.child_says(child, &json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }

    /// An answer with questions, under a unique state.
    fn asking(&mut self, questions: &[&str]) -> Value {
        self.last_state += 1;
        let state = format!("state-{}", self.last_state);
        self.open_states.insert(state.clone(), questions.iter().map(|key| (*key).to_owned()).collect());
        let question = |key: &&str| {
            let method = if *key == ROOTS { "roots/list" } else { "elicitation/create" };
            ((*key).to_owned(), json!({"method": method}))
        };
        let asked: Map<String, Value> = questions.iter().map(question).collect();
        json!({"resultType": "input_required", "inputRequests": asked, "requestState": state})
    }

    /// A legacy server asks the client something.
    pub(super) fn ask(&mut self, child: ChildId) {
        let Some(process) = self.processes.get_mut(&child) else { return };
        process.asked += 1;
        let id = format!("q{}", process.asked);
        self.child_says(child, &json!({"jsonrpc": "2.0", "id": id, "method": "sampling/createMessage"}));
    }

    fn child_says(&mut self, child: ChildId, message: &Value) {
        let text = message.to_string();
        self.feed(Event::ChildLine(child, Found::Among(text.as_bytes())));
    }
}
