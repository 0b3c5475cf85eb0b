//! Calls that a modern server answers with questions.
//!
//! A legacy server asks its client while a call is open. A modern one ends the call with its questions, and the call comes again with
//! the answers. Here each question becomes a request to the client, and the call is sent again once all of them are answered.

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

/// How many rounds a call may take. A server that asks for ever gets no further.
const MOST_ROUNDS: u32 = 64;

/// How many questions one answer may ask.
const MOST_QUESTIONS: usize = 100;

/// How much of a client's error the server's caller is shown, in characters.
const LONGEST_ERROR: usize = 500;

/// The open calls.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// By the id under which the server has them; none while their questions are open.
    sent: BTreeMap<Box<str>, Call>,
    /// Calls whose questions are open, by the client's id of the call.
    asking: BTreeMap<Box<str>, Asking>,
    /// Which call a question belongs to, and its name there, by its id.
    questions: BTreeMap<Box<str>, (Box<str>, String)>,
}

#[derive(Debug)]
struct Call {
    /// The id that the client gave it.
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

    /// The server's answer to a call. `None` if it is no such answer.
    pub(super) fn told(&mut self, id: &str, envelope: &Envelope<'_>, last_id: &mut u64) -> Option<Lines> {
        let call = self.sent.remove(id)?;
        let Some(result) = envelope.result() else {
            let error = envelope.error().map_or("null", RawValue::get);
            return Some(to_engine(format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, call.id)));
        };
        let fails = |says: &str| Some(to_engine(message::error(&call.id, INTERNAL_ERROR, says, None)));
        // SECURITY: a client must not read a question where none was read here (test: an_unclear_answer_is_an_error)
        let Ok(input) = read_input(result) else { return fails("the server's answer is ambiguous") };
        let is_question_round = input.result.as_ref().is_some_and(asks);
        if !is_question_round {
            if !input.questions.is_empty() {
                return fails("the server's answer is complete and asks questions");
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
            // The modern era's question for roots may carry a cursor, which the engine has no use for.
            let params = params.filter(|_| method != method::LIST_ROOTS);
            lines.to_engine.push(message::request(&id, &method, params));
            self.questions.insert(key(&id), (call_key.clone(), name));
        }
        self.asking.insert(call_key, asking);
        Some(lines)
    }

    /// An answer to a question. `again` is the id of the call if it is sent again now.
    pub(super) fn answered(&mut self, id: &str, envelope: &Envelope<'_>, again: &str) -> Lines {
        let Some((call, name)) = self.questions.remove(id) else { return Lines::default() };
        let Some(mut asking) = self.asking.remove(&call) else { return Lines::default() };
        let Some(result) = envelope.result() else {
            // A round has no place for an error, so the call ends with it.
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

    /// The client does not await a call any more.
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

    /// Forgets the questions of a call; what tells the client that they are not awaited any more.
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
