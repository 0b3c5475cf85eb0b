//! The invariants, expressed without the engine.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use rootward_core::session::Follow;
use rootward_protocol::keys;
use serde_json::{Map, Value};

use super::client::Client;
use super::places::{Need, PLACES, Places};
use super::server::{PERSON, Process, ROOTS};
use super::world::{SERVERS, World};
use crate::engine::child::ChildId;
use crate::engine::{Change, Purpose};

/// A call as it reached a server.
struct Arrived<'m> {
    child: ChildId,
    request: u64,
    params: &'m Value,
}

impl Arrived<'_> {
    fn path(&self) -> Option<&str> {
        self.params["arguments"]["path"].as_str()
    }
}

impl World {
    /// A call has reached a server.
    pub(super) fn judge(&mut self, child: ChildId, message: &Value) {
        let call = Arrived { child, request: message["id"].as_u64().unwrap(), params: &message["params"] };
        let is_first =
            self.delivered.insert((child.session, call.request, call.params[keys::REQUEST_STATE].to_string()));
        assert!(is_first, "{message} reached a server twice");
        self.judge_answers(&call);
        self.judge_path(&call);
        self.judge_server(&call);
        self.judge_told(&call);
    }

    /// A question in a server's answer comes back exactly once, with an answer to each part, and nothing else comes
    /// back.
    fn judge_answers(&mut self, call: &Arrived<'_>) {
        let responses = call.params[keys::INPUT_RESPONSES].as_object();
        let answered: BTreeSet<String> = responses.into_iter().flat_map(Map::keys).cloned().collect();
        let asked = match call.params[keys::REQUEST_STATE].as_str() {
            Some(state) => self.open_states.remove(state).unwrap_or_else(|| panic!("`{state}` is not open")),
            None => BTreeSet::new(),
        };
        assert_eq!(answered, asked, "{}", self.tell(call));
        if let Some(person) = responses.and_then(|responses| responses.get(PERSON)) {
            let of = self.client_of(call.child).call_of(call.request).map(|call| call as u64);
            assert_eq!(person["content"]["call"].as_u64(), of, "the answer to another call: {}", self.tell(call));
        }
    }

    /// The path of a call is inside the roots that apply to it now, and is not restricted now.
    fn judge_path(&self, call: &Arrived<'_>) {
        let Some(path) = call.path() else { return };
        let need = Need::ALL.into_iter().find(|need| call.params["name"] == need.tool()).unwrap();
        let place = self.ground.place_of_file(path);
        assert!(self.permits(call, place, need), "outside: {}", self.tell(call));
        assert!(!self.gift.closed.names(place), "closed: {}", self.tell(call));
    }

    /// No process that takes calls starts while a learner runs.
    pub(super) fn judge_start(&self, child: ChildId) {
        let leaving = self.leaving.iter().map(|(child, purpose)| (child, *purpose));
        let all = self.processes.iter().map(|(child, process)| (child, process.purpose)).chain(leaving);
        for (other, purpose) in all.filter(|(other, _)| other.session == child.session) {
            assert_ne!(purpose, Purpose::Learn, "{child:?} starts beside {other:?}");
        }
    }

    /// A server that gets a call was started for calls. If it is confined, it can reach no more than the call may.
    fn judge_server(&self, call: &Arrived<'_>) {
        let number = self.clients.iter().position(|client| client.session == call.child.session).unwrap();
        let Process { runs_in, purpose, .. } = self.processes[&call.child];
        assert_ne!(purpose, Purpose::Learn, "{}", self.tell(call));
        if SERVERS[number % SERVERS.len()] != Change::NewChild || runs_in == Places::NONE {
            return;
        }
        for (place, need) in everything().filter(|(place, need)| runs_in.permit(*place, *need)) {
            assert!(self.permits(call, place, need), "the server runs in {runs_in:?}: {}", self.tell(call));
        }
        let closed = &self.processes[&call.child].closed;
        assert!(Arc::ptr_eq(closed, &self.closed), "closed since the server began: {}", self.tell(call));
    }

    /// A server that asks for the roots of a call gets these and no others.
    fn judge_told(&self, call: &Arrived<'_>) {
        let Some(told) = call.params[keys::INPUT_RESPONSES].get(ROOTS) else { return };
        let told = self.ground.places_of_list(told);
        for (place, need) in everything() {
            assert_eq!(told.permit(place, need), self.permits(call, place, need), "{}", self.tell(call));
        }
    }

    /// Whether the roots that apply to a call now allow this access.
    fn permits(&self, call: &Arrived<'_>, place: usize, need: Need) -> bool {
        let stand_in = (self.follow == Follow::Client).then(|| self.gift.stand_in());
        self.gift.permits(place, need) && self.client_of(call.child).permits(call.request, place, need, stand_in)
    }

    fn client_of(&self, child: ChildId) -> &Client {
        self.clients.iter().find(|client| client.session == child.session).unwrap()
    }

    fn tell(&self, call: &Arrived<'_>) -> String {
        let client = self.client_of(call.child);
        format!("request {} with {}, given {:?}, of {client:?}", call.request, call.params, self.gift)
    }

    /// Every request was answered once, unless it was cancelled, and every question from a server at most once.
    pub(super) fn check(&self) -> Result<(), TestCaseError> {
        for client in self.clients.iter().filter(|client| !client.over) {
            for (id, times) in &client.answers {
                let is_cancelled = client.cancelled.contains(id);
                prop_assert!(*times == 1 || (is_cancelled && *times == 0), "{id}: {times} answers to {client:?}");
            }
        }
        for process in self.processes.values() {
            prop_assert!(process.answers.values().all(|times| *times <= 1), "{:?}", process.answers);
        }
        Ok(())
    }
}

/// Every possible access of a call.
fn everything() -> impl Iterator<Item = (usize, Need)> {
    (0..PLACES).flat_map(|place| Need::ALL.map(|need| (place, need)))
}
