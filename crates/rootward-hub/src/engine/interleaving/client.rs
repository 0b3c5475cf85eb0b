//! A client: what it shares, what it is asked, and what it has said about its roots, for all calls or per call.
//!
//! It is honest: it announces every change at once if its era allows that, and it answers with what it shares at that
//! moment.

use std::collections::{HashMap, HashSet, VecDeque};

use proptest::prelude::*;
use rootward_protocol::round::Paging;
use rootward_protocol::{Era, keys};
use serde_json::{Map, Value, json};

use super::places::{Ground, Need, Places};
use super::world::World;
use crate::engine::SessionId;

/// A client's era, and whether it sends its list in pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Habit {
    era: Era,
    paging: Paging,
}

/// How a client answers a request for its roots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Manner {
    /// With its list, or the requested page.
    Well,
    /// With an error. A modern client does not answer at all.
    Refuses,
    /// With a stale cursor error. A modern client answers with something that is not a list.
    Stale,
    /// With the first page, and with an error for any other page.
    BreaksOff,
}

/// A question that the client has not answered.
#[derive(Clone, PartialEq, Debug)]
enum Question {
    /// A request.
    Request { id: Value, method: String, cursor: Option<String> },
    /// An answer that requires another round of a call.
    Round { call: usize, asked: Map<String, Value>, state: Value },
}

/// What a modern client has said about its roots for one call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Said {
    Nothing,
    /// Some pages of the list, but not the last.
    Part(Places),
    List(Places),
    /// Something that is not a list.
    NoList,
}

/// A modern call, which takes one or more requests.
#[derive(Debug)]
struct Call {
    method: String,
    params: Value,
    said: Said,
}

#[derive(Debug)]
pub(super) struct Client {
    pub(super) session: SessionId,
    habit: Habit,
    pub(super) begun: bool,
    /// Whether the engine has dropped this client.
    pub(super) over: bool,
    shared: Places,
    questions: VecDeque<Question>,
    /// Cancelled questions. An answer may already be on its way.
    taken_back: VecDeque<Question>,
    /// Whether a request for its roots ever failed. Then the operator's or user's roots may be used instead.
    pub(super) failed: bool,
    /// How often each of its requests was answered.
    pub(super) answers: HashMap<u64, u32>,
    pub(super) cancelled: HashSet<u64>,
    last: u64,
    calls: Vec<Call>,
    /// The call that each modern request belongs to.
    call_of: HashMap<u64, usize>,
}

impl Habit {
    pub(super) fn any() -> impl Strategy<Value = Habit> {
        let era = prop_oneof![Just(Era::Legacy), Just(Era::Modern)];
        let paging = prop_oneof![Just(Paging::NotDeclared), Just(Paging::Declared)];
        (era, paging).prop_map(|(era, paging)| Habit { era, paging })
    }

    fn capabilities(self) -> Value {
        let mut capabilities = match self.era {
            Era::Legacy => json!({"roots": {"listChanged": true}, "sampling": {}}),
            Era::Modern => json!({"roots": {}, "elicitation": {}}),
        };
        if self.paging == Paging::Declared {
            capabilities["extensions"] = json!({keys::PAGING: {}});
        }
        capabilities
    }
}

impl Manner {
    pub(super) fn any() -> impl Strategy<Value = Manner> {
        let well = prop_oneof![8 => Just(Manner::Well), 1 => Just(Manner::BreaksOff)];
        prop_oneof![9 => well, 1 => Just(Manner::Refuses), 1 => Just(Manner::Stale)]
    }

    /// How it answers for the page at a cursor.
    fn at(self, cursor: Option<&str>) -> Manner {
        match (self, cursor) {
            (Manner::BreaksOff, None) => Manner::Well,
            (Manner::BreaksOff, Some(_)) => Manner::Refuses,
            (manner, _) => manner,
        }
    }
}

impl Client {
    pub(super) fn new(session: SessionId, habit: Habit) -> Client {
        Client {
            session,
            habit,
            begun: false,
            over: false,
            shared: Places::AT_FIRST,
            questions: VecDeque::new(),
            taken_back: VecDeque::new(),
            failed: false,
            answers: HashMap::new(),
            cancelled: HashSet::new(),
            last: 0,
            calls: Vec::new(),
            call_of: HashMap::new(),
        }
    }

    pub(super) fn era(&self) -> Era {
        self.habit.era
    }

    pub(super) fn is_asked(&self) -> bool {
        !self.questions.is_empty()
    }

    /// The number of the call that a request belongs to.
    pub(super) fn call_of(&self, request: u64) -> Option<usize> {
        self.call_of.get(&request).copied()
    }

    /// Whether the roots that apply to a request allow this access: the roots that the client shares or sent with the
    /// call. If it sent none, the stand-in roots apply.
    pub(super) fn permits(&self, request: u64, place: usize, need: Need, stand_in: Option<Places>) -> bool {
        let by_others = || stand_in.is_some_and(|roots| roots.permit(place, need));
        match self.habit.era {
            Era::Legacy => self.shared.permit(place, need) || (self.failed && by_others()),
            Era::Modern => match self.call_of(request).map(|call| self.calls[call].said) {
                // An incomplete list does not count.
                None | Some(Said::Nothing | Said::Part(_)) => false,
                Some(Said::NoList | Said::List(Places::NONE)) => by_others(),
                Some(Said::List(list)) => list.permit(place, need),
            },
        }
    }

    /// Adds the metadata of a modern request.
    fn with_meta(&self, mut params: Value) -> Value {
        if self.habit.era == Era::Modern {
            params["_meta"] = json!({keys::VERSION: "2026-07-28", keys::CAPABILITIES: self.habit.capabilities()});
        }
        params
    }

    /// The page of its list at a cursor: the JSON, its place, and what comes next. The whole list if the client does
    /// not page.
    fn page(&self, ground: &Ground, cursor: Option<&str>) -> (Value, Places, Option<usize>) {
        let from = cursor.map_or(0, |cursor| cursor.parse().unwrap());
        let mut next = self.shared.next(from);
        let (mut entries, mut places) = (Vec::new(), Places::NONE);
        while let Some(place) = next {
            entries.push(ground.entry(place));
            places = places.with(place);
            next = self.shared.next(place + 1);
            if self.habit.paging == Paging::Declared {
                break;
            }
        }
        let mut page = json!({"roots": entries});
        if let Some(next) = next {
            page["nextCursor"] = json!(next.to_string());
        }
        (page, places, next)
    }

    /// Receives a message from the engine.
    pub(super) fn hear(&mut self, message: &Value) {
        match (message["method"].as_str(), message.get("id")) {
            (Some(method), Some(id)) => {
                let cursor = message["params"]["cursor"].as_str().map(str::to_owned);
                self.questions.push_back(Question::Request { id: id.clone(), method: method.to_owned(), cursor });
            }
            (Some("notifications/cancelled"), None) => {
                let which = &message["params"]["requestId"];
                let is_it = |question: &Question| matches!(question, Question::Request { id, .. } if id == which);
                let position = self.questions.iter().position(is_it);
                if let Some(question) = position.and_then(|position| self.questions.remove(position)) {
                    self.taken_back.push_back(question);
                    self.failed = true;
                }
            }
            (Some(_), None) => {}
            (None, id) => self.hear_answer(id.and_then(Value::as_u64).unwrap_or(0), &message["result"]),
        }
    }

    fn hear_answer(&mut self, request: u64, result: &Value) {
        *self.answers.entry(request).or_default() += 1;
        let call = self.call_of(request).filter(|_| !self.cancelled.contains(&request));
        if let (Some(call), Some("input_required")) = (call, result["resultType"].as_str()) {
            let asked = result["inputRequests"].as_object().unwrap().clone();
            self.questions.push_back(Question::Round { call, asked, state: result["requestState"].clone() });
        }
    }
}

impl World {
    /// The client begins, if it has not yet.
    pub(super) fn begin(&mut self, number: usize) {
        let client = &mut self.clients[number];
        if std::mem::replace(&mut client.begun, true) {
            return;
        }
        match client.habit.era {
            Era::Legacy => {
                let params = json!({"protocolVersion": "2025-11-25", "capabilities": client.habit.capabilities()});
                self.request(number, "initialize", params);
                self.say(number, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
            }
            Era::Modern => self.request(number, "server/discover", json!({})),
        }
    }

    /// The client sends a request to its server.
    pub(super) fn request(&mut self, number: usize, method: &str, params: Value) {
        let client = &mut self.clients[number];
        if !client.begun || client.over {
            return;
        }
        client.calls.push(Call { method: method.to_owned(), params: params.clone(), said: Said::Nothing });
        self.send(number, self.clients[number].calls.len() - 1, params);
    }

    /// Sends a call, for the first time or again.
    fn send(&mut self, number: usize, call: usize, params: Value) {
        let client = &mut self.clients[number];
        client.last += 1;
        let id = client.last;
        client.answers.insert(id, 0);
        client.call_of.insert(id, call);
        let (method, params) = (&client.calls[call].method, client.with_meta(params));
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.say(number, &message);
    }

    /// The client cancels its last request.
    pub(super) fn cancel(&mut self, number: usize) {
        let client = &mut self.clients[number];
        let id = client.last;
        // A client may not cancel `initialize`.
        if id > 1 {
            client.cancelled.insert(id);
            let params = json!({"requestId": id});
            self.say(number, &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
        }
    }

    /// The client shares these from now on, and announces it if it can.
    pub(super) fn share(&mut self, number: usize, shared: Places) {
        let client = &mut self.clients[number];
        client.shared = shared;
        if client.begun && client.habit.era == Era::Legacy {
            let failed = client.failed;
            self.say(number, &json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
            // Its roots are requested again.
            self.clients[number].failed = failed;
        }
    }

    /// The client answers one of its questions.
    pub(super) fn answer(&mut self, number: usize, which: usize, manner: Manner) {
        let questions = &mut self.clients[number].questions;
        let Some(question) = which.checked_rem(questions.len()).and_then(|which| questions.remove(which)) else {
            return;
        };
        match question {
            Question::Request { id, method, cursor } => self.answer_request(number, &id, (&method, cursor), manner),
            Question::Round { call, asked, state } => self.send_again(number, call, &asked, state, manner),
        }
    }

    /// The client answers a question after it was cancelled.
    pub(super) fn answer_too_late(&mut self, number: usize) {
        if let Some(question) = self.clients[number].taken_back.pop_front() {
            self.clients[number].questions.push_front(question);
            self.answer(number, 0, Manner::Well);
        }
    }

    fn answer_request(&mut self, number: usize, id: &Value, (method, cursor): (&str, Option<String>), manner: Manner) {
        let client = &mut self.clients[number];
        let error = |code: i32| json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no"}});
        let result = |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
        let message = match manner.at(cursor.as_deref()) {
            Manner::Well if method == "roots/list" => {
                client.failed |= client.shared == Places::NONE;
                result(client.page(&self.ground, cursor.as_deref()).0)
            }
            Manner::Well => result(json!({"content": "x"})),
            bad => {
                client.failed |= method == "roots/list";
                error(if bad == Manner::Stale { -32602 } else { -32603 })
            }
        };
        self.say(number, &message);
    }

    /// The client sends a call again, with the requested input.
    fn send_again(&mut self, number: usize, call: usize, asked: &Map<String, Value>, state: Value, manner: Manner) {
        let client = &mut self.clients[number];
        let mut responses = Map::new();
        for (key, question) in asked {
            if question["method"] != "roots/list" {
                // So that it can be distinguished from the answer to another call.
                responses.insert(key.clone(), json!({"action": "accept", "content": {"call": call}}));
                continue;
            }
            let cursor = question["params"]["_meta"][keys::CURSOR].as_str();
            let before = match (cursor, client.calls[call].said) {
                (Some(_), Said::Part(places)) => places,
                _ => Places::NONE,
            };
            let (page, places, next) = client.page(&self.ground, cursor);
            let (said, response) = match (manner.at(cursor), next) {
                (Manner::Well, None) => (Said::List(before.and(places)), Some(page)),
                (Manner::Well, Some(_)) => (Said::Part(before.and(places)), Some(page)),
                (Manner::Stale, _) => (Said::NoList, Some(json!("stale"))),
                (Manner::Refuses | Manner::BreaksOff, _) => (Said::NoList, None),
            };
            client.calls[call].said = said;
            responses.extend(response.map(|response| (key.clone(), response)));
        }
        let mut params = client.calls[call].params.clone();
        params[keys::REQUEST_STATE] = state;
        params[keys::INPUT_RESPONSES] = Value::Object(responses);
        self.send(number, call, params);
    }
}
