//! A visit: one modern request, from its first round to its answer.

use std::time::Duration;

use rootward_protocol::bridge::{legacy_params, modern_error, modern_result};
use rootward_protocol::frame::{Envelope, Id, key};
use rootward_protocol::keys;
use rootward_protocol::message::{self, INTERNAL_ERROR};
use rootward_protocol::offer::OfferedList;
use rootward_protocol::passing::passed_meta;
use rootward_protocol::round::ModernRequest;
use serde_json::value::RawValue;

use super::super::Hub;
use super::super::passing::{Carried, ServerState};
use super::passing_on::with_task;
use super::stand_in::Roots;
use crate::engine::{CallIdentity, ClientId, Effect};

/// The prefix of visits' ids in their stand-in.
const VISIT: &str = "\"rootward-visit-";

/// How long a server's question may still be about a call that it was told to cancel.
const DOUBTFUL: Duration = Duration::from_mins(1);

#[derive(Debug)]
pub(super) struct Visit {
    pub(super) stand_in: ClientId,
    pub(super) method: Box<str>,
    /// Identifies the call, if a server may ask questions during it.
    pub(super) call: Option<CallIdentity>,
    /// Who waits for the answer; `None` between two rounds.
    pub(super) asked: Option<Asked>,
    /// Between two rounds: what the client must send, and until when.
    pub(super) waits: Option<Waits>,
    /// The server's unanswered questions.
    pub(super) questions: Vec<Question>,
    /// The answer that came between two rounds, under the stand-in's id.
    pub(super) answer: Option<Box<[u8]>>,
}

/// A request as its client sent it.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) connection: ClientId,
    pub(super) id: Box<str>,
    /// Its progress token.
    pub(super) token: Option<Box<RawValue>>,
    /// The lowest log level that it wants, as an index; `None` for no logs.
    pub(super) level: Option<usize>,
}

/// What a client must send to continue.
#[derive(Debug)]
pub(super) struct Waits {
    /// The name of the round.
    pub(super) state: String,
    pub(super) until: Duration,
}

/// The start of a visit.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) roots: Roots,
    /// Identifies the call, if a server may ask questions during it.
    pub(super) call: Option<CallIdentity>,
    /// The server that asked in the previous round, and its state.
    pub(super) state: Option<ServerState>,
    /// The task that it is about, under the server's own name.
    pub(super) task: Option<String>,
}

impl Begun {
    /// A request that cannot be answered with a question.
    pub(super) fn new(roots: Roots) -> Begun {
        Begun { roots, call: None, state: None, task: None }
    }
}

/// A server's question.
#[derive(Debug)]
pub(super) struct Question {
    /// Its name among the questions of the answer.
    pub(super) name: String,
    /// The id under which the stand-in was asked.
    pub(super) id: Box<str>,
    /// The question in its modern form.
    pub(super) text: String,
}

impl Visit {
    /// Whether it is the request with this id.
    pub(super) fn is_asked_as(&self, id: &str) -> bool {
        self.asked.as_ref().is_some_and(|asked| *key(&asked.id) == *id)
    }
}

/// The id of a visit in its stand-in. Its progress token is the same.
pub(super) fn own_id(number: u64) -> String {
    format!("{VISIT}{number}\"")
}

/// The visit with this id.
pub(super) fn number_of(id: &str) -> Option<u64> {
    id.strip_prefix(VISIT)?.strip_suffix('"')?.parse().ok()
}

impl Hub {
    /// Begins a visit: the request goes to the stand-in for these roots.
    pub(super) fn begin_visit(
        &mut self,
        now: Duration,
        asked: Asked,
        (envelope, request): (&Envelope<'_>, &ModernRequest<'_>),
        begun: Begun,
        effects: &mut Vec<Effect>,
    ) {
        let party = self.party_of(asked.connection);
        match self.stand_in(now, &party, request, begun.roots.clone(), effects) {
            Ok(stand_in) => self.begin_visit_of(now, stand_in, asked, (envelope, request), begun),
            Err(says) => self.tell(asked.connection, &message::error(&asked.id, INTERNAL_ERROR, says, None)),
        }
    }

    /// Like [`Hub::begin_visit`], with a known stand-in.
    pub(super) fn begin_visit_of(
        &mut self,
        now: Duration,
        stand_in: ClientId,
        asked: Asked,
        (envelope, request): (&Envelope<'_>, &ModernRequest<'_>),
        begun: Begun,
    ) {
        let Begun { roots, call, state, task } = begun;
        let (number, method) = (self.modern.number(), envelope.method().unwrap_or_default());
        let own = own_id(number);
        // The answer to the hub's own question is not meant for a server.
        let responses = request.responses().into_iter().filter(|(name, _)| name != keys::ROOTS_QUESTION);
        let responses = responses.map(|(name, response)| (name, response.get().into())).collect();
        let carried = Carried { meta: passed_meta(request, roots.support(), &own), state, responses };
        if let Some(passing) = self.clients.get_mut(&stand_in).and_then(|client| client.passing.as_mut()) {
            passing.begin(&own, carried);
        }
        self.modern.attach(number, asked.connection, stand_in);
        let visit = Visit {
            stand_in,
            method: method.into(),
            call,
            asked: Some(asked),
            waits: None,
            questions: Vec::new(),
            answer: None,
        };
        self.modern.visits.insert(number, visit);
        self.set_level(now, stand_in);
        if OfferedList::of(method).is_some() {
            self.clients.get_mut(&stand_in).into_iter().for_each(|client| client.greet_again(now));
        }
        let params = legacy_params(request, &own);
        let params = task.and_then(|task| with_task(&params, &task)).unwrap_or(params);
        self.feed(now, stand_in, &message::request(&own, method, Some(&params)));
    }

    /// Cancels a visit and tells its server.
    pub(super) fn cancel_visit(&mut self, now: Duration, number: u64, why: &str) {
        let Some(visit) = self.modern.visits.remove(&number) else { return };
        let (own, stand_in) = (own_id(number), visit.stand_in);
        self.end_passing(stand_in, &own);
        if let Some(asked) = &visit.asked {
            self.modern.detach(number, asked.connection);
        }
        for question in visit.questions {
            self.feed(now, stand_in, &message::error(&question.id, INTERNAL_ERROR, why, None));
        }
        let server = self.clients.get(&stand_in).and_then(|client| client.calls.get(&key(&own)).copied());
        if let (Some(server), Some(stand_in)) = (server, self.modern.stand_ins.get_mut(&stand_in)) {
            stand_in.doubtful.insert(server, now + DOUBTFUL);
        }
        self.feed(now, stand_in, &message::cancelled(&own, why));
        self.is_left(now, stand_in, number);
    }

    /// The answer to a visit: it ends, or keeps the answer for the next round.
    pub(super) fn answer_visit(&mut self, now: Duration, number: u64, envelope: &Envelope<'_>) {
        let Some(visit) = self.modern.visits.get_mut(&number) else { return };
        let (stand_in, Some(asked)) = (visit.stand_in, &visit.asked) else {
            visit.answer = Some(envelope.text().as_bytes().into());
            return;
        };
        let connection = asked.connection;
        let (id, method) = (asked.id.clone(), visit.method.clone());
        let answer = match self.end_passing(stand_in, &own_id(number)) {
            Some(server) => self.passed_answer(now, number, server, envelope),
            None => told(&id, &method, envelope),
        };
        self.modern.visits.remove(&number);
        self.modern.detach(number, connection);
        self.tell(connection, &answer);
        self.is_left(now, stand_in, number);
    }
}

/// A legacy server's answer under the client's own id.
fn told(id: &str, method: &str, envelope: &Envelope<'_>) -> String {
    match (envelope.result(), envelope.error()) {
        (Some(result), _) => match modern_result(method, result) {
            Some(result) => message::result(id, &result),
            None => message::error(id, INTERNAL_ERROR, "the server's answer is ambiguous", None),
        },
        (None, error) => modern_error(id, error.unwrap_or(RawValue::NULL)),
    }
}

impl Asked {
    /// A request with this id, and what it wants besides its answer.
    pub(super) fn new(connection: ClientId, id: Id<'_>, token: Option<&RawValue>, level: Option<usize>) -> Asked {
        Asked { connection, id: id.as_str().into(), token: token.map(ToOwned::to_owned), level }
    }
}
