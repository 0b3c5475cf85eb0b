//! The modern era: a client states its capabilities in every request, and Rootward asks for its roots with an answer
//! that requires another round.
//!
//! The roots of a request are those that come with it. If the child's answer asks for roots, Rootward answers that
//! itself: it sends the request again, with the current roots.

use std::sync::Arc;

use rootward_protocol::frame::{Envelope, Id, Kind, Message};
use rootward_protocol::input::{Input, read_input};
use rootward_protocol::message::{self, INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, Results};
use rootward_protocol::round::{ModernRequest, NOT_OF_THIS_REQUEST, Said, ask, ask_for_roots, with_round};
use rootward_protocol::session::{Placed, SessionGuard};
use rootward_protocol::{Pages, Refusal, keys, method};
use serde_json::value::RawValue;

use super::child::{ChildId, Owed, Phase};
use super::from_client::with_params;
use super::gate::Judgement;
use super::lists::owed;
use super::rounds::{Kept, Round, Rounds, Sent};
use super::session::{Client, Done, Session, Way};
use super::{Effect, MessageNumber, Place};
use crate::scan::acts;

/// How often a child may ask for roots in one call.
const MOST_ASKED: u8 = 8;

/// The contents of a modern request.
#[derive(Debug)]
pub(super) struct Modern {
    /// What is carried over from the previous round.
    round: Round,
    /// The params for the child, without what is carried over.
    params: Box<RawValue>,
    /// Its roots, as far as it sent them.
    pub(super) roots: SessionGuard,
    /// Whether they are being resolved.
    placing: bool,
}

impl Modern {
    /// Approximate size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.round.bytes() + self.params.get().len()
    }
}

impl Session {
    /// Parses a modern request; `None` if it is a legacy one.
    pub(super) fn modern_request<'m>(&mut self, envelope: &Envelope<'m>) -> Option<ModernRequest<'m>> {
        if matches!(self.client, Client::Legacy(_)) || envelope.kind() != Kind::Request {
            return None;
        }
        let request = ModernRequest::read(envelope.params()?)?;
        // A client that only probes for the server's era decides after it has the answer.
        if envelope.method() != Some(method::DISCOVER) {
            self.client = Client::Modern;
        }
        self.client_name = request.client();
        request.meta().into_iter().for_each(|meta| self.rounds.note_meta(meta));
        Some(request)
    }

    /// Forwards a modern request, or asks the client for its roots.
    pub(super) fn pass_modern(&mut self, envelope: &Envelope<'_>, request: &ModernRequest<'_>, way: &mut Way) -> Done {
        let Some(id) = envelope.id().map(Id::as_str) else { return Done::Yes };
        let modern = match way.modern.take() {
            Some(modern) => modern,
            None => match self.read_modern(envelope, request, way.number) {
                Ok(modern) => Box::new(modern),
                Err(reason) => {
                    self.tell_client(&message::error(id, INVALID_PARAMS, reason, None));
                    return Done::Yes;
                }
            },
        };
        if modern.placing {
            way.modern = Some(modern);
            return Done::NotYet;
        }
        let method = envelope.method().unwrap_or_default();
        let link = way.link;
        if method == method::DISCOVER && self.answer_discovery(link, envelope, request, &modern) {
            return Done::Yes;
        }
        // Any child can list the tools.
        if method == method::CALL_TOOL
            && self.links[link].running().is_some()
            && self.waits_for_tools(link, way.arrived)
        {
            way.modern = Some(modern);
            return Done::NotYet;
        }
        // SECURITY: a page is not the whole list; the next page may restrict what this one opens
        // (test: a_modern_list_in_pages_is_read_whole_or_not_at_all)
        if modern.round.said.goes_on() {
            self.ask_for_roots(envelope, modern.round);
            return Done::Yes;
        }
        // Until the next request, these are the session's roots.
        self.roots = Some(modern.roots.clone());
        let done = self.pass_with_roots(envelope, &modern, way);
        if done == Done::NotYet {
            way.modern = Some(modern);
        }
        done
    }

    /// Continues, now that the session has the request's roots.
    fn pass_with_roots(&mut self, envelope: &Envelope<'_>, modern: &Modern, way: &mut Way) -> Done {
        let (Some(id), method) = (envelope.id().map(Id::as_str), envelope.method().unwrap_or_default()) else {
            return Done::Yes;
        };
        let link = way.link;
        let known = self.published().is_some();
        // SECURITY: no server gets a call before the directories it runs in are known, and one that asks for roots
        // gets those of this request
        // (test: a_modern_call_without_paths_asks_for_roots,
        // a_server_that_wants_roots_among_others_gets_those_of_the_client)
        if !known && method::RETRIED.contains(&method) {
            self.ask_for_roots(envelope, modern.round.clone());
            return Done::Yes;
        }
        if !known && self.links[link].running().is_none() {
            self.answer_without_roots(envelope, modern, way);
            return Done::Yes;
        }
        if let Some(waits) = self.stand_in(envelope, way) {
            return waits;
        }
        if method == method::CALL_TOOL && self.waits_for_tools(link, way.arrived) {
            return Done::NotYet;
        }
        // Rootward's own answers are not paths from the client.
        let judged = with_params(envelope, &carried_on(&modern.params, &modern.round, None));
        let Ok(Message::Single(passed)) = Message::parse(judged.as_bytes()) else { return Done::Yes };
        let arrived = std::mem::replace(&mut way.arrived, self.now);
        let judgement = self.judge(&passed, way);
        way.arrived = arrived;
        match judgement {
            Judgement::Pass => {
                let text = match modern.round.roots.as_slice() {
                    [] => judged,
                    _ => {
                        let rules = &self.links[link].rules;
                        let roots = self.guard().map(|guard| rules.roots_told(guard));
                        with_params(envelope, &carried_on(&modern.params, &modern.round, roots.as_deref()))
                    }
                };
                let (said, given) = (modern.round.said.clone(), Arc::clone(&self.given));
                if let (Some(child), Some(key)) = (self.links[link].running(), envelope.id().map(Id::key)) {
                    if method::RETRIED.contains(&method) {
                        child.sent.insert(key, Sent { text: text.as_str().into(), said, known, given, asked: 0 });
                    }
                    child.ask(id, owed(envelope), &text);
                }
            }
            Judgement::Refused(Some(refusal)) => self.tell_client(&refusal),
            Judgement::Refused(None) => {}
            Judgement::Wait if known => return Done::NotYet,
            Judgement::Wait => self.refuse_without_roots(id, method),
        }
        Done::Yes
    }

    /// Answers `server/discover` from the cache or with a learner. Returns false if the roots are known and the
    /// server itself can be asked.
    fn answer_discovery(
        &mut self,
        link: usize,
        envelope: &Envelope<'_>,
        request: &ModernRequest<'_>,
        modern: &Modern,
    ) -> bool {
        let Some(id) = envelope.id().map(Id::as_str) else { return true };
        let of = &mut self.links[link];
        if of.running().is_some() {
            return false;
        }
        let fingerprint = request.fingerprint();
        of.remembered = of.memory.recall(&fingerprint);
        self.fingerprint = Some(fingerprint);
        let of = &self.links[link];
        if of.memory.is_legacy_only() {
            self.tell_client(&message::error(id, METHOD_NOT_FOUND, "the server speaks only the legacy era", None));
            return true;
        }
        if modern.roots.published().is_some() && !of.is_learning() {
            return false;
        }
        match of.remembered.as_ref().map(|remembered| remembered.result.clone()) {
            Some(result) => self.tell_offer(id, result.get()),
            None => self.ask_learner(link, id, Owed::Discovery, &with_params(envelope, modern.params.get())),
        }
        true
    }

    /// Answers a request that cannot be answered with a request for roots, before any server runs.
    fn answer_without_roots(&mut self, envelope: &Envelope<'_>, modern: &Modern, way: &mut Way) {
        let (Some(id), method) = (envelope.id().map(Id::as_str), envelope.method().unwrap_or_default()) else { return };
        if let Some(answer) = self.remembered_list(way.link, envelope) {
            return self.tell_client(&answer);
        }
        match self.judge(envelope, way) {
            Judgement::Pass if !acts(method) || method == method::LISTEN => {
                self.ask_learner(way.link, id, owed(envelope), &with_params(envelope, modern.params.get()));
            }
            Judgement::Refused(refusal) => refusal.into_iter().for_each(|refusal| self.tell_client(&refusal)),
            Judgement::Pass | Judgement::Wait => self.refuse_without_roots(id, method),
        }
    }

    fn refuse_without_roots(&mut self, id: &str, method: &str) {
        let form = (self.terms.refusals, Results::Free);
        let refusal = message::refusal(id, method, self.era(), form, &Refusal::pending());
        self.tell_client(&refusal);
    }

    /// Parses a request's contents, and starts to resolve its roots.
    fn read_modern(
        &mut self,
        envelope: &Envelope<'_>,
        request: &ModernRequest<'_>,
        number: MessageNumber,
    ) -> Result<Modern, &'static str> {
        let round = self.read_round(envelope, request)?;
        let params = request.params_for_server().and_then(|params| RawValue::from_string(params).ok());
        let params = params.ok_or("the params cannot be read")?;
        let (terms, given) = (Arc::clone(&self.terms), Arc::clone(&self.given));
        let mut roots = SessionGuard::of_request(terms, given, request.support());
        let placing = if round.said.goes_on() { None } else { roots.list_of_request(self.now, round.said.clone()) };
        let is_placing = placing.is_some();
        if let Some(placing) = placing {
            self.push(Effect::Place(Place::Request(self.id, number), placing));
        }
        Ok(Modern { round, params, roots, placing: is_placing })
    }

    fn read_round(&self, envelope: &Envelope<'_>, request: &ModernRequest<'_>) -> Result<Round, &'static str> {
        let (method, params) = (envelope.method().unwrap_or_default(), envelope.params().unwrap_or(RawValue::NULL));
        let state = request.state();
        let name: Option<String> = state.and_then(|state| serde_json::from_str(state.get()).ok());
        let mut round = match name.filter(|name| Rounds::<Round>::is_own(name)) {
            Some(name) => {
                let call = self.rounds.identity(method, params);
                self.rounds.find(self.now, &name, call).ok_or(NOT_OF_THIS_REQUEST)?
            }
            None => Round { state: state.map(|state| state.get().into()), ..Round::default() },
        };
        let mut answer = None;
        for (key, value) in request.responses() {
            // SECURITY: only answers to Rootward's own request are roots; a server may use the same name for its own
            // question
            // (test: a_server_cannot_have_its_own_question_answered_as_roots)
            if key == keys::ROOTS_QUESTION && matches!(round.said, Said::Asked(_)) {
                answer = Some(serde_json::from_str(value.get()).unwrap_or_default());
            // SECURITY: Rootward answers a server's request for roots. With a duplicate key, the server might read
            // the other value
            // (test: a_server_that_asks_for_roots_gets_those_of_the_call)
            } else if !round.roots.contains(&key) {
                round.responses.retain(|(known, _)| *known != key);
                round.responses.push((key, value.get().into()));
            }
        }
        round.said = round.said.heard(answer, request.paging());
        Ok(round)
    }

    /// The roots of a request were resolved.
    pub(super) fn placed_for(&mut self, message: MessageNumber, placed: Placed) {
        let now = self.now;
        if let Some(modern) = self.way_of(message).and_then(|way| way.modern.as_mut()) {
            modern.placing = false;
            modern.roots.placed(now, placed);
        }
    }

    /// Answers a call with a request for the client's roots.
    fn ask_for_roots(&mut self, envelope: &Envelope<'_>, round: Round) {
        let (Some(id), Some(params)) = (envelope.id().map(Id::as_str), envelope.params()) else { return };
        let said = match round.said {
            Said::Asked(pages) => Said::Asked(pages),
            Said::Nothing | Said::List(_) | Said::Failed(_) => Said::Asked(Pages::default()),
        };
        let cursor = match &said {
            Said::Asked(pages) => pages.cursor().map(str::to_owned),
            _ => None,
        };
        let call = self.rounds.identity(envelope.method().unwrap_or_default(), params);
        let state = self.rounds.keep(self.now, call, Round { said, ..round });
        self.tell_client(&message::result(id, &ask_for_roots(&state, cursor.as_deref())));
    }

    /// Makes sure that a child runs, with the request's roots if they are known. Returns what happens to the request
    /// if none can run.
    fn stand_in(&mut self, envelope: &Envelope<'_>, way: &mut Way) -> Option<Done> {
        let wanted = self.guard().cloned();
        if wanted.is_some() {
            self.end_lesson(way.link);
        }
        let of = &mut self.links[way.link];
        let fits = match (&wanted, of.running()) {
            (Some(wanted), Some(child)) => wanted.decides_as(&child.guard),
            // Whether it needs roots is not known yet; any child can handle a request without paths.
            (None, runs) => runs.is_some(),
            (Some(_), None) => false,
        };
        if fits {
            return None;
        }
        if let Some(guard) = &wanted {
            of.impossible.take_if(|(tried, _)| !tried.decides_as(guard));
        }
        match wanted.filter(|_| of.may_start(self.now)) {
            Some(guard) => {
                self.start_modern(way.link, guard);
                None
            }
            None => Some(self.without_child(envelope, way)),
        }
    }

    /// Handles a child's answer that requires another round. Returns false if the client has to answer all of it.
    pub(super) fn wants_input(&mut self, child: ChildId, envelope: &Envelope<'_>, sent: Option<&Sent>) -> bool {
        let (Some(result), Some(id)) = (envelope.result(), envelope.id().map(Id::as_str)) else { return false };
        let Ok(Input { result, questions }) = read_input(result) else {
            self.say("ignored an ambiguous answer from the server");
            self.fail(id, "the server's answer is ambiguous");
            return true;
        };
        // SECURITY: a learner may not ask anyone anything (test: only_the_answers_of_a_learner_reach_the_client)
        let is_learner = self.child_mut(child).is_some_and(|child| child.phase == Phase::Learning);
        if is_learner && !questions.is_empty() {
            self.fail(id, "the server asked a question before it was started with the client's directories");
            return true;
        }
        let (own, others): (Vec<_>, Vec<_>) = questions.iter().partition(|question| question.asks_for_roots);
        let state =
            || result.as_ref().and_then(|result| result.get(keys::REQUEST_STATE)).map(|state| state.get().into());
        let is_known = sent.is_some_and(|sent| sent.said != Said::Nothing);
        if own.is_empty() && (others.is_empty() || !is_known) {
            return false;
        }
        // SECURITY: only a known open call may be answered with a question; otherwise the client would answer with
        // its own roots
        // (test: an_ambiguous_request_for_roots_reaches_no_client)
        let Some(sent) = sent else {
            self.fail(id, "the server asked for roots in an answer that cannot contain questions");
            return true;
        };
        let Ok(Message::Single(call)) = Message::parse(sent.text.as_bytes()) else { return true };
        let roots = own.iter().map(|question| question.key.clone()).collect();
        let round = Round { state: state(), roots, responses: Vec::new(), said: sent.said.clone() };
        if !others.is_empty() {
            // The server starts a round of its own; what is known about the roots is carried along.
            let params = call.params().unwrap_or(RawValue::NULL);
            let identity = self.rounds.identity(call.method().unwrap_or_default(), params);
            let state = self.rounds.keep(self.now, identity, round);
            let others: Vec<(&str, &str)> =
                others.iter().map(|question| (question.key.as_str(), question.value.get())).collect();
            self.tell_client(&message::result(id, &ask(&others, &state)));
            return true;
        }
        if !sent.known {
            // The call itself needed no roots, so the client was not asked for them yet.
            self.ask_for_roots(&call, round);
            return true;
        }
        // SECURITY: the call would be sent again, although it was checked against older sources
        // (test: a_server_that_asks_for_roots_after_they_changed_does_not_get_the_call_again)
        if !Arc::ptr_eq(&sent.given, &self.given) {
            self.fail(id, "the roots changed during this call; call again");
            return true;
        }
        if sent.asked == MOST_ASKED {
            self.fail(id, "the server keeps asking for its roots");
            return true;
        }
        self.send_again(child, sent, &round);
        true
    }

    /// Sends a request to a child again, with its roots.
    fn send_again(&mut self, child: ChildId, sent: &Sent, round: &Round) {
        let Ok(Message::Single(envelope)) = Message::parse(sent.text.as_bytes()) else { return };
        let (Some(id), Some(params)) = (envelope.id(), envelope.params()) else { return };
        let Some(rules) = self.links.get(child.link).map(|link| Arc::clone(&link.rules)) else { return };
        let Some(child) = self.child_mut(child) else { return };
        let list = rules.roots_told(&child.guard);
        let Ok(params) = RawValue::from_string(with_answers(params, round, &list)) else { return };
        child.owes.insert(id.key(), Owed::Plain);
        child.sent.insert(id.key(), Sent { asked: sent.asked + 1, ..sent.clone() });
        child.input.push_with(|bytes| envelope.write_with_params(&params, bytes));
    }

    fn fail(&mut self, id: &str, says: &str) {
        self.tell_client(&message::error(id, INTERNAL_ERROR, says, None));
    }
}

/// The params with what is carried from round to round. If `roots` is set, the server's requests for roots are
/// answered.
fn carried_on(params: &RawValue, round: &Round, roots: Option<&str>) -> String {
    match roots {
        Some(roots) => with_answers(params, round, roots),
        None => with_answers(params, &Round { roots: Vec::new(), ..round.clone() }, ""),
    }
}

fn with_answers(params: &RawValue, round: &Round, roots: &str) -> String {
    let responses: Vec<(&str, &str)> = round
        .responses
        .iter()
        .map(|(key, value)| (key.as_str(), &**value))
        .chain(round.roots.iter().map(|key| (key.as_str(), roots)))
        .collect();
    with_round(params, &responses, round.state.as_deref())
}
