//! Calls that a modern server answers with questions.
//!
//! A legacy server asks its client while a call is open. A modern server answers the call with its questions, and the
//! client sends the call again with the answers. Here each question becomes a request to the client. Once all are
//! answered, the call is sent again.

use std::collections::BTreeMap;

use rootward_protocol::frame::{Envelope, Members, key};
use rootward_protocol::input::read_input;
use rootward_protocol::message::{self, INTERNAL_ERROR};
use rootward_protocol::passing::asks;
use rootward_protocol::round::with_round;
use rootward_protocol::upgrade::{is_question, legacy_result};
use rootward_protocol::{keys, method, shown};
use serde_json::value::RawValue;

use super::{Line, Lines, cancelled_id, own_id};

/// Maximum number of rounds of a call, so that a server cannot ask forever.
const MOST_ROUNDS: u32 = 64;

/// Maximum number of questions in one answer.
const MOST_QUESTIONS: usize = 100;

/// How much of a client's error is shown, in characters.
const LONGEST_ERROR: usize = 500;

/// The open calls.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// Calls that the server has, by the id that it knows.
    sent: BTreeMap<Box<str>, Call>,
    /// Calls with unanswered questions, by the client's id of the call.
    asking: BTreeMap<Box<str>, Asking>,
    /// The call of each open question, and the question's name in it, by the question's id.
    questions: BTreeMap<Box<str>, (Box<str>, String)>,
}

#[derive(Debug)]
struct Call {
    /// The client's id.
    id: Box<str>,
    method: String,
    params: Box<RawValue>,
    rounds: u32,
}

#[derive(Debug)]
struct Asking {
    call: Call,
    state: Option<String>,
    answers: BTreeMap<String, String>,
    open: usize,
}

impl Rounds {
    pub(super) fn begin(&mut self, id: &str, method: &str, params: Box<RawValue>) {
        let call = Call { id: id.into(), method: method.to_owned(), params, rounds: 0 };
        self.sent.insert(key(id), call);
    }

    /// Handles the server's answer to a call. `None` if it answers no open call.
    pub(super) fn server_answered(&mut self, id: &str, envelope: &Envelope<'_>, last_id: &mut u64) -> Option<Lines> {
        let call = self.sent.remove(id)?;
        let Some(result) = envelope.result() else {
            let error = envelope.error().map_or("null", RawValue::get);
            return Some(to_engine(format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, call.id)));
        };
        let fails = |says: &str| Some(to_engine(message::error(&call.id, INTERNAL_ERROR, says, None)));
        // SECURITY: the client must not see a question where this parser saw none (test: an_unclear_answer_is_an_error)
        let Ok(input) = read_input(result) else { return fails("the server's answer is ambiguous") };
        let is_question_round = input.result.as_ref().is_some_and(asks);
        if !is_question_round {
            if !input.questions.is_empty() {
                return fails("the server's answer is complete but also asks questions");
            }
            return match legacy_result(result) {
                Some(result) => Some(to_engine(message::result(&call.id, result.get()))),
                None => fails("the server's answer is not an object"),
            };
        }
        if call.rounds >= MOST_ROUNDS {
            return fails(&format!("the server asked for more than {MOST_ROUNDS} rounds"));
        }
        if input.questions.len() > MOST_QUESTIONS {
            return fails(&format!("the server asked more than {MOST_QUESTIONS} questions at once"));
        }
        let mut asked = Vec::new();
        for question in &input.questions {
            let members = Members::read(question.value);
            let method =
                members.as_ref().and_then(|members| members.text("method")).filter(|method| is_question(method));
            let Some(method) = method else { return fails("the server asked something that clients cannot answer") };
            let params = members.and_then(|members| members.get("params")).map(RawValue::get);
            asked.push((question.key.clone(), method, params));
        }
        let state = input.result.and_then(|result| result.get(keys::REQUEST_STATE)).map(|state| state.get().to_owned());
        let call_key = key(&call.id);
        let asking = Asking { call, state, answers: BTreeMap::new(), open: asked.len() };
        if asked.is_empty() {
            *last_id += 1;
            return Some(self.send_again(asking, &own_id(*last_id)));
        }
        let mut lines = Lines::default();
        for (name, method, params) in asked {
            *last_id += 1;
            let id = own_id(*last_id);
            // A modern request for roots may have a cursor, which the engine does not use.
            let params = params.filter(|_| method != method::LIST_ROOTS);
            lines.to_engine.push(message::request(&id, &method, params));
            self.questions.insert(key(&id), (call_key.clone(), name));
        }
        self.asking.insert(call_key, asking);
        Some(lines)
    }

    /// Handles an answer to a question. If the call is now sent again, `again` is its new id.
    pub(super) fn answered(&mut self, id: &str, envelope: &Envelope<'_>, again: &str) -> Lines {
        let Some((call, name)) = self.questions.remove(id) else { return Lines::default() };
        let Some(mut asking) = self.asking.remove(&call) else { return Lines::default() };
        let Some(result) = envelope.result() else {
            // A round cannot carry an error, so the call fails.
            let ends = self.forget_questions(&call);
            let error = shown(envelope.error().map(RawValue::get).unwrap_or_default(), LONGEST_ERROR);
            let says = format!("the client did not answer the server's question: {error}");
            let failed = message::error(&asking.call.id, INTERNAL_ERROR, &says, None);
            return Lines { to_engine: ends.into_iter().chain([failed]).collect(), ..Lines::default() };
        };
        asking.answers.insert(name, result.get().to_owned());
        asking.open -= 1;
        if asking.open > 0 {
            self.asking.insert(call, asking);
            return Lines::default();
        }
        self.send_again(asking, again)
    }

    fn send_again(&mut self, asking: Asking, id: &str) -> Lines {
        let Asking { mut call, state, answers, .. } = asking;
        call.rounds += 1;
        let answers: Vec<(&str, &str)> = answers.iter().map(|(name, answer)| (&**name, &**answer)).collect();
        let params = with_round(&call.params, &answers, state.as_deref());
        let request = message::request(id, &call.method, Some(&params));
        self.sent.insert(key(id), call);
        Lines { to_server: vec![request], ..Lines::default() }
    }

    /// The client cancels a call.
    pub(super) fn cancel(&mut self, envelope: &Envelope<'_>) -> Line {
        let Some(id) = cancelled_id(envelope) else { return Lines::none() };
        let id = key(id.get());
        if self.asking.remove(&id).is_some() {
            return Line::Instead(Lines { to_engine: self.forget_questions(&id), ..Lines::default() });
        }
        let sent = self.sent.iter().find(|(_, call)| key(&call.id) == id).map(|(sent, _)| sent.clone());
        match sent {
            Some(sent) if sent != id => {
                self.sent.remove(&sent);
                Lines::to_server(message::cancelled(&sent, "the client no longer needs the answer"))
            }
            _ => Line::Same,
        }
    }

    /// Drops the questions of a call. Returns the cancellations for the client.
    fn forget_questions(&mut self, call: &str) -> Vec<String> {
        let open: Vec<Box<str>> =
            self.questions.iter().filter(|(_, (of, _))| **of == *call).map(|(id, _)| id.clone()).collect();
        for id in &open {
            self.questions.remove(id);
        }
        open.iter().map(|id| message::cancelled(id, "the call has ended")).collect()
    }
}

fn to_engine(line: String) -> Lines {
    Lines { to_engine: vec![line], ..Lines::default() }
}
