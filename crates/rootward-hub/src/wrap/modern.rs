//! The modern era: a client says with every request what it can, and is asked for its roots by an answer that calls for another round.
//!
//! The roots of a request are those that come with it. The child's own question for roots, which stands in its answer, is answered
//! here: the request is sent to it again, with the roots in force.

use std::sync::Arc;
use std::time::Duration;

use rootward_core::session::Support;
use rootward_protocol::frame::{Envelope, Id, Kind, Members, Message, object};
use rootward_protocol::input::{Input, read_input};
use rootward_protocol::message::{self, INVALID_PARAMS, Results};
use rootward_protocol::session::{NoList, Published, SessionGuard};
use rootward_protocol::{Pages, Refusal, Turned, era, keys, method};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::child::{ChildNumber, Owed};
use super::engine::{Client, Engine};
use super::from_client::Done;
use super::gate::Judgement;
use super::rounds::{Asks, Round, Rounds, Sent};

/// How often a child may ask for roots in one call.
const MOST_ASKED: u8 = 8;

/// What a modern request says besides what it is about.
#[derive(Debug)]
pub(super) struct Request {
    support: Support,
    /// What the client says of its roots: the whole result of `roots/list`, or why there is none.
    said: Option<Result<Value, String>>,
    /// What is carried from the round before.
    round: Round,
    /// The params as the child is to see them, but for its roots.
    params: String,
}

impl Engine {
    /// What a modern request says; `None` for one of the legacy era.
    pub(super) fn modern_request(&mut self, envelope: &Envelope<'_>) -> Option<Result<Request, &'static str>> {
        if matches!(self.client, Client::Legacy(_)) || envelope.kind() != Kind::Request {
            return None;
        }
        let params = Members::read(envelope.params()?)?;
        let meta = params.object(keys::META).filter(|meta| meta.get(keys::VERSION).is_some());
        let (Some(meta), Some(raw)) = (meta, params.get(keys::META)) else { return None };
        // A client that tries which era a server is of decides once it has the answer.
        if envelope.method() != Some(method::DISCOVER) {
            self.client = Client::Modern;
        }
        self.rounds.note_meta(raw);
        Some(read_request(&params, &meta, &self.rounds))
    }

    /// Passes a modern request on, or asks the client for its roots.
    pub(super) fn forward_modern(
        &mut self,
        envelope: &Envelope<'_>,
        request: &Result<Request, &'static str>,
        arrived: Duration,
    ) -> Done {
        let (Some(id), method) = (envelope.id().map(Id::as_str), envelope.method().unwrap_or_default()) else {
            return Done::Yes;
        };
        let request = match request {
            Ok(request) => request,
            Err(reason) => {
                self.tell_client(&message::error(id, INVALID_PARAMS, reason, None));
                return Done::Yes;
            }
        };
        let is_call = method == method::CALL_TOOL;
        // Any child can tell.
        if is_call && self.running().is_some() && self.waits_for_tools(arrived) {
            return Done::NotYet;
        }
        // SECURITY: a page is not the list; the next one may close a part of what this one opens
        // (test: a_modern_list_in_pages_is_read_whole_or_not_at_all)
        if request.round.pages.cursor().is_some() {
            self.ask_for_roots(id, request.round.clone());
            return Done::Yes;
        }
        self.roots = Some(self.roots_of(request));
        let known = self.published().is_some();
        // SECURITY: a server that waits for roots is told those of this request, not those of one before
        // (test: a_server_that_wants_roots_among_others_gets_those_of_the_client)
        if !known && !request.round.roots.is_empty() {
            self.ask_for_roots(id, request.round.clone());
            return Done::Yes;
        }
        if let Some(waits) = self.stand_in(envelope, arrived) {
            return waits;
        }
        if is_call && self.waits_for_tools(arrived) {
            return Done::NotYet;
        }
        // Rootward's own answers are no paths of the client's.
        let round = Round { roots: Vec::new(), ..request.round.clone() };
        let judged = self.text_for_child(envelope, &request.params, &round);
        let Ok(Message::Single(passed)) = Message::parse(judged.as_bytes()) else { return Done::Yes };
        match self.judge(&passed, self.now) {
            Judgement::Pass => {
                let text = match request.round.roots.as_slice() {
                    [] => judged,
                    _ => self.text_for_child(envelope, &request.params, &request.round),
                };
                let owed = if method == method::LIST_TOOLS { Owed::Tools } else { Owed::Plain };
                let asks = if known { Asks::Child } else { Asks::Client };
                if let (Some(child), Some(key)) = (self.running(), envelope.id().map(Id::key)) {
                    if method::RETRIED.contains(&method) {
                        child.sent.insert(key, Sent { text: text.as_str().into(), asks, asked: 0 });
                    }
                    child.ask(id, owed, &text);
                }
            }
            Judgement::Refused(Some(refusal)) => self.tell_client(&refusal),
            Judgement::Refused(None) => {}
            // Roots are needed and not known: the answer is the question.
            Judgement::Wait if !known && method::RETRIED.contains(&method) => {
                self.ask_for_roots(id, request.round.clone())
            }
            Judgement::Wait if known => return Done::NotYet,
            Judgement::Wait => {
                self.tell_client(&message::refusal(id, method, self.era(), Results::Free, &Refusal::pending()));
            }
        }
        Done::Yes
    }

    /// The roots of one request, as far as it tells them.
    fn roots_of(&self, request: &Request) -> SessionGuard {
        let (terms, given) = (Arc::clone(&self.terms), Arc::clone(&self.given));
        let mut roots = SessionGuard::of_request(terms, given, request.support);
        if let Some(said) = request.said.clone()
            && let Some(placing) = roots.told(self.now, said.map_err(NoList::because))
        {
            roots.placed(self.now, placing.run_ambient());
        }
        roots
    }

    /// Answers a call with the question for the client's roots.
    fn ask_for_roots(&mut self, id: &str, round: Round) {
        let cursor = round.pages.cursor().map(str::to_owned);
        let state = self.rounds.keep(Round { asks_for_roots: true, ..round });
        self.tell_client(&message::result(id, &question(&state, cursor.as_deref())));
    }

    /// Sees that a child runs, in the roots of the request where they are known. What becomes of the request where none can.
    fn stand_in(&mut self, envelope: &Envelope<'_>, arrived: Duration) -> Option<Done> {
        let wanted = self.guard().cloned();
        let runs_in = self.running().map(|child| child.guard.clone());
        let fits = match (&wanted, runs_in) {
            (Some(wanted), Some(guard)) => wanted.decides_as(&guard),
            // Whether it needs roots is not known yet: any child will do for what needs none.
            (None, runs) => runs.is_some(),
            (Some(_), None) => false,
        };
        if fits {
            return None;
        }
        if let Some(guard) = &wanted {
            self.impossible.take_if(|(tried, _)| !tried.decides_as(guard));
        }
        if !self.may_start() {
            return Some(self.without_child(envelope, arrived));
        }
        let guard = wanted.unwrap_or_else(|| self.nothing());
        self.start_modern(guard);
        None
    }

    /// The request as the child is to see it.
    fn text_for_child(&self, envelope: &Envelope<'_>, params: &str, round: &Round) -> String {
        let mut text = Vec::new();
        let params = with_roots(params, round, self.published());
        match RawValue::from_string(params) {
            Ok(params) => envelope.write_with_params(&params, &mut text),
            Err(_) => text.extend_from_slice(envelope.text().as_bytes()),
        }
        String::from_utf8(text).unwrap_or_default()
    }

    /// A child's answer that calls for another round. Whether it was dealt with here: what it asks of others is the client's.
    pub(super) fn wants_input(&mut self, number: ChildNumber, envelope: &Envelope<'_>, sent: Option<&Sent>) -> bool {
        let (Some(result), Some(id)) = (envelope.result(), envelope.id().map(Id::as_str)) else { return false };
        let Ok(Input { result, questions }) = read_input(result) else {
            self.say("an answer of the server's that can be read in two ways is left out");
            let says = "the server's answer can be read in two ways";
            self.tell_client(&message::error(id, message::INTERNAL_ERROR, says, None));
            return true;
        };
        let own: Vec<String> =
            questions.iter().filter(|question| question.asks_for_roots).map(|question| question.key.clone()).collect();
        if own.is_empty() {
            return false;
        }
        // SECURITY: only a call that is known to be under way is answered with a question; to any other the client would answer
        // with its own roots (test: a_question_for_roots_that_reads_two_ways_reaches_no_client)
        let Some(sent) = sent else {
            let says = "the server asks for roots in an answer that cannot ask for any";
            self.tell_client(&message::error(id, message::INTERNAL_ERROR, says, None));
            return true;
        };
        let state = result.as_ref().and_then(|result| result.get(keys::REQUEST_STATE)).map(|state| state.get().into());
        let round = Round { state, roots: own, ..Round::default() };
        let others: Vec<(&str, &str)> = questions
            .iter()
            .filter(|question| !question.asks_for_roots)
            .map(|question| (question.key.as_str(), question.value.get()))
            .collect();
        if !others.is_empty() {
            let state = self.rounds.keep(round);
            let result = object([
                (keys::RESULT_TYPE, r#""input_required""#),
                (keys::INPUT_REQUESTS, object(others).as_str()),
                (keys::REQUEST_STATE, &state),
            ]);
            self.tell_client(&message::result(id, &result));
            return true;
        }
        if sent.asks == Asks::Client {
            // The call itself needed none, so the client was not asked for them yet.
            self.ask_for_roots(id, round);
            return true;
        }
        if sent.asked == MOST_ASKED {
            let says = "the server asks for its roots again and again";
            self.tell_client(&message::error(id, message::INTERNAL_ERROR, says, None));
            return true;
        }
        self.send_again(number, sent, &round);
        true
    }

    /// Sends a request to a child once more, with its roots.
    fn send_again(&mut self, number: ChildNumber, sent: &Sent, round: &Round) {
        let Ok(Message::Single(envelope)) = Message::parse(sent.text.as_bytes()) else { return };
        let (Some(id), Some(params)) = (envelope.id(), envelope.params()) else { return };
        let Some(child) = self.children.get_mut(&number) else { return };
        let list = message::roots(child.guard.roots());
        let params = carried_on(params, round, &list);
        let Ok(params) = RawValue::from_string(params) else { return };
        child.owes.insert(id.key(), Owed::Plain);
        child.sent.insert(id.key(), Sent { asked: sent.asked + 1, ..sent.clone() });
        child.input.push_with(|bytes| envelope.write_with_params(&params, bytes));
    }
}

/// Reads what a request says besides what it is about.
fn read_request(params: &Members<'_>, meta: &Members<'_>, rounds: &Rounds) -> Result<Request, &'static str> {
    let capabilities = meta.object(keys::CAPABILITIES);
    let roots = capabilities.as_ref().and_then(|capabilities| capabilities.get("roots"));
    let support = if roots.is_some_and(|roots| roots.get() != "null") { Support::Listed } else { Support::No };
    let state = params.text(keys::REQUEST_STATE);
    let mut round = match &state {
        Some(name) if Rounds::is_own(name) => {
            rounds.find(name).ok_or("the request state is not known any more: send the call anew")?
        }
        _ => Round { state: params.get(keys::REQUEST_STATE).map(|state| state.get().into()), ..Round::default() },
    };
    let pages = std::mem::take(&mut round.pages);
    let mut said = None;
    for (key, value) in params.object(keys::INPUT_RESPONSES).iter().flat_map(Members::iter) {
        // SECURITY: only what Rootward asked for are roots; a server may put a question of its own under the same name
        // (test: a_server_cannot_have_its_own_question_answered_as_roots)
        if key == keys::ROOTS_QUESTION && round.asks_for_roots {
            said = Some(value);
        } else {
            round.responses.retain(|(known, _)| known != key);
            round.responses.push((key.to_owned(), value.get().into()));
        }
    }
    // Without an answer the list is read again from its first page.
    let said = said.and_then(|page| read_page(page, pages, capabilities.as_ref().is_some_and(era::pages), &mut round));
    // Whoever asks the child is Rootward, and it has roots.
    let capabilities = match &capabilities {
        Some(capabilities) if roots.is_none() => Some(capabilities.with("roots", "{}")),
        Some(_) => None,
        None => Some(r#"{"roots":{}}"#.to_owned()),
    };
    let text =
        object(params.iter().filter(|(key, _)| ![keys::REQUEST_STATE, keys::INPUT_RESPONSES].contains(key)).map(raw));
    let params = match capabilities {
        None => text,
        Some(capabilities) => {
            let meta = meta.with(keys::CAPABILITIES, &capabilities);
            let text = RawValue::from_string(text).map_err(|_| "the params cannot be read")?;
            Members::read(&text).map(|params| params.with(keys::META, &meta)).ok_or("the params cannot be read")?
        }
    };
    Ok(Request { support, said, round, params })
}

/// Adds a page to those of the rounds before: the whole list, or why there is none; nothing where the client is to be asked for the
/// next page, which the round then carries.
fn read_page(page: &RawValue, mut pages: Pages, paging: bool, round: &mut Round) -> Option<Result<Value, String>> {
    let page: Value = match serde_json::from_str(page.get()) {
        Ok(page) => page,
        Err(error) => return Some(Err(error.to_string())),
    };
    match pages.add(page) {
        Ok(Turned::Whole(list)) => Some(Ok(list)),
        Ok(Turned::Next) if paging => {
            round.pages = pages;
            None
        }
        Ok(Turned::Next) => Some(Err("the list has more pages, and the client did not declare paging".to_owned())),
        Err(error) => Some(Err(error.to_string())),
    }
}

fn raw<'m>((key, value): (&'m str, &'m RawValue)) -> (&'m str, &'m str) {
    (key, value.get())
}

/// Params with what is carried from round to round.
fn with_roots(params: &str, round: &Round, roots: Option<&Published>) -> String {
    let list = message::roots(roots.map(Published::list).unwrap_or_default());
    match RawValue::from_string(params.to_owned()) {
        Ok(params) => carried_on(&params, round, &list),
        Err(_) => params.to_owned(),
    }
}

fn carried_on(params: &RawValue, round: &Round, roots: &str) -> String {
    let Some(members) = Members::read(params) else { return params.get().to_owned() };
    let responses: Vec<(&str, &str)> = round
        .responses
        .iter()
        .map(|(key, value)| (key.as_str(), &**value))
        .chain(round.roots.iter().map(|key| (key.as_str(), roots)))
        .collect();
    let responses = (!responses.is_empty()).then(|| object(responses));
    let carried = [(keys::INPUT_RESPONSES, responses.as_deref()), (keys::REQUEST_STATE, round.state.as_deref())];
    let kept = members.iter().filter(|(key, _)| ![keys::REQUEST_STATE, keys::INPUT_RESPONSES].contains(key)).map(raw);
    let carried = carried.into_iter().filter_map(|(key, value)| Some((key, value?)));
    object(kept.chain(carried).collect::<Vec<_>>())
}

/// The answer that asks for roots, or for the page of them that begins at `cursor`.
fn question(state: &str, cursor: Option<&str>) -> String {
    let question = match cursor {
        None => json!({"method": method::LIST_ROOTS}),
        Some(cursor) => json!({"method": method::LIST_ROOTS, "params": {keys::META: {keys::CURSOR: cursor}}}),
    };
    let questions = object([(keys::ROOTS_QUESTION, question.to_string().as_str())]);
    object([
        (keys::RESULT_TYPE, r#""input_required""#),
        (keys::INPUT_REQUESTS, questions.as_str()),
        (keys::REQUEST_STATE, state),
    ])
}
