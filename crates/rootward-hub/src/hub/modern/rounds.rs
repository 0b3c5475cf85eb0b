//! The rounds of a modern call: answers that require another round ask the client for its roots, and for what a
//! server wants to know. The state between two rounds has a name, which the client carries.

use std::time::Duration;

use rootward_core::session::Support;
use rootward_protocol::frame::{Envelope, Id, Message};
use rootward_protocol::message::{self, INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND};
use rootward_protocol::round::{ModernRequest, NOT_OF_THIS_REQUEST, Said, ask, ask_for_roots};
use rootward_protocol::{Pages, bridge, keys, method};
use serde_json::value::RawValue;

use super::super::Hub;
use super::super::passing::ServerState;
use super::super::questions::Asked as OpenQuestion;
use super::stand_in::Roots;
use super::visit::{Asked, Begun, Question, Waits, number_of};
use crate::engine::{CallIdentity, ClientId, Effect, Kept, ROUND_LIFETIME, Rounds};
use crate::principal::Party;

/// The state of a principal's calls between two rounds.
#[derive(Debug)]
pub(super) struct KeptRounds {
    party: Party,
    /// What clients have said about their roots. One per call; the oldest are dropped.
    roots: Rounds<Said>,
    /// Visits that wait for an answer, by number. There are few, and people may take minutes.
    visits: Rounds<u64>,
    /// Calls that a modern server has answered with a question.
    servers: Rounds<ServerRound>,
}

/// A call that a modern server has answered with a question.
#[derive(Clone, Debug)]
pub(super) struct ServerRound {
    /// The roots that the client sent for it.
    pub(super) roots: Roots,
    pub(super) state: ServerState,
}

/// The round that a call is in.
enum Round {
    Roots(Said),
    /// A visit continues.
    Visit(u64),
    Server(ServerRound),
}

impl KeptRounds {
    /// The round with this name, if this call may continue it.
    fn find(&self, now: Duration, state: &str, call: CallIdentity) -> Option<Round> {
        let roots = self.roots.find(now, state, call).map(Round::Roots);
        let visit = || self.visits.find(now, state, call).map(Round::Visit);
        let server = || self.servers.find(now, state, call).map(Round::Server);
        roots.or_else(visit).or_else(server)
    }
}

impl Kept for Said {
    fn bytes(&self) -> usize {
        Said::bytes(self)
    }
}

impl Kept for ServerRound {
    fn bytes(&self) -> usize {
        let roots = match &self.roots {
            Roots::List(text) | Roots::Failed(text) => text.len(),
            Roots::Unsupported => 0,
        };
        roots + self.state.state.as_ref().map_or(0, |state| state.len())
    }
}

impl Kept for u64 {
    fn bytes(&self) -> usize {
        size_of::<u64>()
    }
}

impl Hub {
    /// Handles the next round of a call that may be answered with a question.
    pub(super) fn next_round(
        &mut self,
        now: Duration,
        asked: Asked,
        (envelope, request): (&Envelope<'_>, &ModernRequest<'_>),
        effects: &mut Vec<Effect>,
    ) {
        let params = envelope.params().unwrap_or(RawValue::NULL);
        let party = self.party_of(asked.connection);
        let rounds = self.rounds_of(&party);
        let call = rounds.roots.identity(envelope.method().unwrap_or_default(), params);
        let round = match request.state().map(|state| serde_json::from_str::<String>(state.get())) {
            None => Some(Round::Roots(Said::Nothing)),
            Some(state) => state.ok().and_then(|state| rounds.find(now, &state, call)),
        };
        let said = match round {
            None => {
                let error = message::error(&asked.id, INVALID_PARAMS, NOT_OF_THIS_REQUEST, None);
                return self.tell(asked.connection, &error);
            }
            Some(Round::Visit(number)) => return self.go_on(now, number, asked, request),
            Some(Round::Server(ServerRound { roots, state })) => {
                let begun = Begun { call: Some(call), state: Some(state), ..Begun::new(roots) };
                return self.begin_visit(now, asked, (envelope, request), begun, effects);
            }
            Some(Round::Roots(said)) => said,
        };
        let named = request.responses().into_iter().find(|(name, _)| name == keys::ROOTS_QUESTION);
        let answer = named.map(|(_, list)| serde_json::from_str(list.get()).unwrap_or_default());
        let roots = match said.heard(answer, request.paging()) {
            // SECURITY: a page is not the whole list; the next page may restrict what this one opens
            // (test: a_list_in_pages_is_asked_for_to_its_end)
            Said::Asked(pages) => return self.ask_client_for_roots(now, &asked, call, pages),
            // Roots that would be ignored are not requested.
            Said::Nothing if request.support() != Support::No && self.terms.policy.follow.listens() => {
                return self.ask_client_for_roots(now, &asked, call, Pages::default());
            }
            Said::Nothing => Roots::Unsupported,
            Said::List(list) => Roots::List(list.to_string()),
            Said::Failed(why) => Roots::Failed(why),
        };
        self.begin_visit(now, asked, (envelope, request), Begun { call: Some(call), ..Begun::new(roots) }, effects);
    }

    fn ask_client_for_roots(&mut self, now: Duration, asked: &Asked, call: CallIdentity, pages: Pages) {
        let (party, cursor) = (self.party_of(asked.connection), pages.cursor().map(str::to_owned));
        let state = self.rounds_of(&party).roots.keep(now, call, Said::Asked(pages));
        self.tell(asked.connection, &message::result(&asked.id, &ask_for_roots(&state, cursor.as_deref())));
    }

    /// The rounds of a principal's calls.
    fn rounds_of(&mut self, party: &Party) -> &mut KeptRounds {
        // SECURITY: no principal can answer or continue another's rounds
        // (test: a_state_of_another_principal_is_refused)
        let known = self.modern.rounds.iter().position(|kept| kept.party.is_with(party));
        let position = known.unwrap_or_else(|| {
            let kept = KeptRounds {
                party: party.clone(),
                roots: Rounds::default(),
                visits: Rounds::default(),
                servers: Rounds::default(),
            };
            self.modern.rounds.push(kept);
            self.modern.rounds.len() - 1
        });
        &mut self.modern.rounds[position]
    }

    /// Stores the round of a modern server that answered a call with a question. Returns the name that the client
    /// carries, as JSON.
    pub(super) fn keep_server_round(
        &mut self,
        now: Duration,
        party: &Party,
        call: CallIdentity,
        round: ServerRound,
    ) -> String {
        self.rounds_of(party).servers.keep(now, call, round)
    }

    /// A server asks something during a visit.
    pub(super) fn server_question(&mut self, now: Duration, stand_in: ClientId, envelope: &Envelope<'_>, id: Id<'_>) {
        match self.visit_asked(now, stand_in, envelope, id) {
            Ok((number, question)) => {
                if let Some(visit) = self.modern.visits.get_mut(&number) {
                    visit.questions.push(question);
                }
                self.ask_client(now, number);
            }
            Err((code, says)) => self.feed(now, stand_in, &message::error(id.as_str(), code, &says, None)),
        }
    }

    /// The visit that a question belongs to. Returns an error if that is not certain, or if its client cannot be
    /// asked.
    fn visit_asked(
        &self,
        now: Duration,
        stand_in: ClientId,
        envelope: &Envelope<'_>,
        id: Id<'_>,
    ) -> Result<(u64, Question), (i32, String)> {
        let refused = |says: &str| Err((INTERNAL_ERROR, says.to_owned()));
        let method = envelope.method().unwrap_or_default();
        let Some((capability, text)) = bridge::modern_question(method, envelope.params()) else {
            return Err((METHOD_NOT_FOUND, "this client cannot be asked that".to_owned()));
        };
        let (Some(client), Some(played)) = (self.clients.get(&stand_in), self.modern.stand_ins.get(&stand_in)) else {
            return refused("the client is gone");
        };
        if !client.declares(capability) {
            return Err((METHOD_NOT_FOUND, format!("this client does not declare `{capability}`")));
        }
        let Some(OpenQuestion::Server { server, .. }) = client.asked.get(&id.key()) else {
            return refused("the asking server is unknown");
        };
        let is_doubtful = played.doubtful.get(server).is_some_and(|until| now < *until);
        let mut open = client.calls.iter().filter(|(_, of)| *of == server).map(|(call, _)| call);
        // SECURITY: a question that may belong to another call would be answered by the wrong client
        // (test: a_question_that_may_belong_to_two_calls_is_refused, a_question_after_a_cancelled_call_is_refused)
        let (Some(call), None, false) = (open.next(), open.next(), is_doubtful) else {
            return refused("it is not certain which call this question belongs to");
        };
        let number =
            number_of(call).filter(|number| self.modern.visits.get(number).is_some_and(|visit| visit.call.is_some()));
        let Some(number) = number else {
            return refused("the open request cannot be answered with a question");
        };
        let name = format!("{}{}", keys::SERVER_QUESTION, id.as_str().trim_matches('"'));
        Ok((number, Question { name, id: id.as_str().into(), text }))
    }

    /// Answers a visit with the server's questions, if there are any and somebody waits for its answer.
    fn ask_client(&mut self, now: Duration, number: u64) {
        let Some(visit) = self.modern.visits.get(&number).filter(|visit| !visit.questions.is_empty()) else { return };
        let (Some(asked), Some(call)) = (&visit.asked, visit.call) else { return };
        let (party, connection) = (self.party_of(asked.connection), asked.connection);
        let state = self.rounds_of(&party).visits.keep(now, call, number);
        let Some(visit) = self.modern.visits.get_mut(&number) else { return };
        let Some(asked) = visit.asked.take() else { return };
        let questions: Vec<(&str, &str)> =
            visit.questions.iter().map(|question| (question.name.as_str(), question.text.as_str())).collect();
        let answer = message::result(&asked.id, &ask(&questions, &state));
        visit.waits = Some(Waits { state, until: now + ROUND_LIFETIME });
        self.modern.detach(number, connection);
        self.tell(connection, &answer);
    }

    /// A client has sent answers: its visit continues.
    fn go_on(&mut self, now: Duration, number: u64, asked: Asked, request: &ModernRequest<'_>) {
        let state = request.state().map(RawValue::get);
        let visit = self.modern.visits.get_mut(&number);
        // SECURITY: each round is used once: two answers to one question would be two results of one call
        // (test: a_round_can_be_answered_only_once)
        let is_awaited = |waits: &Waits| Some(waits.state.as_str()) == state;
        let Some(visit) = visit.filter(|visit| visit.waits.as_ref().is_some_and(is_awaited)) else {
            let error = message::error(&asked.id, INVALID_PARAMS, NOT_OF_THIS_REQUEST, None);
            return self.tell(asked.connection, &error);
        };
        let (stand_in, connection) = (visit.stand_in, asked.connection);
        visit.waits = None;
        visit.asked = Some(asked);
        let mut answers = Vec::new();
        for (name, response) in request.responses() {
            let is_it = |question: &mut Question| question.name == name && response.get().starts_with('{');
            let answered =
                visit.questions.extract_if(.., is_it).map(|question| message::result(&question.id, response.get()));
            answers.extend(answered);
        }
        let answer = visit.answer.take();
        self.modern.attach(number, connection, stand_in);
        for line in answers {
            self.feed(now, stand_in, &line);
        }
        self.set_level(now, stand_in);
        match answer.as_deref().map(Message::parse) {
            Some(Ok(Message::Single(envelope))) => self.answer_visit(now, number, &envelope),
            // Ask again for what is missing.
            _ => self.ask_client(now, number),
        }
    }

    /// A server cancels a question.
    pub(super) fn question_cancelled(&mut self, stand_in: ClientId, id: &str) {
        for visit in self.modern.visits.values_mut().filter(|visit| visit.stand_in == stand_in) {
            visit.questions.retain(|question| *question.id != *id);
        }
    }

    /// A server asks the stand-in something.
    pub(super) fn server_asks(&mut self, now: Duration, stand_in: ClientId, envelope: &Envelope<'_>, id: Id<'_>) {
        let answer = match (envelope.method(), self.modern.stand_ins.get(&stand_in)) {
            (Some(method::LIST_ROOTS), Some(played)) => played.answer_for_roots(id.as_str()),
            (Some(method::PING), _) => message::result(id.as_str(), "{}"),
            _ => return self.server_question(now, stand_in, envelope, id),
        };
        self.feed(now, stand_in, &answer);
    }
}
