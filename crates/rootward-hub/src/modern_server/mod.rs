//! A server that speaks only the modern era, made to look like one that also speaks the legacy era.
//!
//! The engine greets servers with `initialize`. A modern server has no handshake and refuses it. Then the translator
//! sends `server/discover`. If the server answers, everything passes through the translator from then on: it adds the
//! modern metadata to each request, and turns questions in answers into requests, as a legacy server would send them.
//!
//! No pipes and no clock: lines go in, lines come out. The engine checks every call before it gets here, and answers
//! the server's requests for roots.

mod rounds;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::time::Duration;

use rootward_protocol::frame::{Envelope, Id, Kind, Members, Message, key};
use rootward_protocol::message::{self, INVALID_PARAMS, INVALID_REQUEST};
use rootward_protocol::passing::is_modern;
use rootward_protocol::round::ModernRequest;
use rootward_protocol::subscription::SubscriptionFilter;
use rootward_protocol::upgrade::{
    has_news, legacy_handshake, legacy_result, may_be_modern, modern_meta, modern_params,
};
use rootward_protocol::{keys, method};
use serde_json::value::RawValue;

use rounds::Rounds;

/// How long a server may take to answer `server/discover`. After that, its refusal of `initialize` is final.
const DISCOVERS_WITHIN: Duration = Duration::from_secs(5);

/// The prefix of the ids of the translator's own requests.
const OWN: &str = "\"rootward-era-";

/// Maximum number of subscribed resources.
const MOST_RESOURCES: usize = 1000;

/// Translates between the engine and one process.
#[derive(Debug, Default)]
pub(crate) struct Translator {
    state: State,
}

#[derive(Debug, Default)]
enum State {
    /// The engine has not sent anything yet.
    #[default]
    Silent,
    /// The engine sent `initialize`.
    Greeting(Hello),
    /// The server refused it and was sent `server/discover`.
    Discovering { hello: Hello, refusal: Vec<u8>, until: Duration },
    /// The server speaks only the modern era.
    Translating(Box<Translating>),
    /// Nothing to translate: the server accepted `initialize`, or the client is modern.
    Off,
}

#[derive(Debug)]
struct Hello {
    id: Box<str>,
    params: Box<RawValue>,
}

/// What happens to a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// It is forwarded unchanged.
    Same,
    /// These lines replace it.
    Instead(Lines),
}

/// Lines for both sides.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) to_server: Vec<String>,
    pub(crate) to_engine: Vec<String>,
}

impl Lines {
    fn to_server(line: String) -> Line {
        Line::Instead(Lines { to_server: vec![line], ..Lines::default() })
    }

    fn to_engine(line: String) -> Line {
        Line::Instead(Lines { to_engine: vec![line], ..Lines::default() })
    }

    fn none() -> Line {
        Line::Instead(Lines::default())
    }
}

impl Translator {
    /// Whether lines to the server must pass through the translator.
    pub(crate) fn reads_engine(&self) -> bool {
        !matches!(self.state, State::Off)
    }

    /// Whether lines from the server must pass through the translator.
    pub(crate) fn reads_server(&self) -> bool {
        matches!(self.state, State::Greeting(_) | State::Discovering { .. } | State::Translating(_))
    }

    /// Handles a line from the engine.
    pub(crate) fn engine_line(&mut self, line: &[u8]) -> Line {
        let Ok(Message::Single(envelope)) = Message::parse(line) else { return Line::Same };
        match &mut self.state {
            State::Silent => {
                let hello = match (envelope.method(), envelope.id(), envelope.params()) {
                    (Some(method::INITIALIZE), Some(id), Some(params)) => {
                        State::Greeting(Hello { id: id.as_str().into(), params: params.to_owned() })
                    }
                    _ => State::Off,
                };
                self.state = hello;
                Line::Same
            }
            State::Translating(translating) => translating.engine_line(&envelope),
            State::Greeting(_) | State::Discovering { .. } | State::Off => Line::Same,
        }
    }

    /// Handles a line from the server.
    pub(crate) fn server_line(&mut self, now: Duration, line: &[u8]) -> Line {
        let Ok(Message::Single(envelope)) = Message::parse(line) else { return Line::Same };
        match std::mem::take(&mut self.state) {
            State::Greeting(hello) => self.greeted(now, hello, &envelope, line),
            State::Discovering { hello, refusal, until } => self.discovered(hello, refusal, until, &envelope),
            State::Translating(mut translating) => {
                let lines = translating.server_line(&envelope);
                self.state = State::Translating(translating);
                lines
            }
            state @ (State::Silent | State::Off) => {
                self.state = state;
                Line::Same
            }
        }
    }

    fn greeted(&mut self, now: Duration, hello: Hello, envelope: &Envelope<'_>, line: &[u8]) -> Line {
        if !answers(envelope, &hello.id) {
            // A server may log before it answers.
            self.state = State::Greeting(hello);
            return Line::Same;
        }
        let asked =
            envelope.error().filter(|error| may_be_modern(error)).and_then(|_| modern_meta(&hello.params, None));
        let Some(meta) = asked else {
            self.state = State::Off;
            return Line::Same;
        };
        let params = modern_params(None, &meta).map(|params| params.get().to_owned());
        self.state = State::Discovering { hello, refusal: line.to_vec(), until: now + DISCOVERS_WITHIN };
        Lines::to_server(message::request(&own_id(0), method::DISCOVER, params.as_deref()))
    }

    fn discovered(&mut self, hello: Hello, refusal: Vec<u8>, until: Duration, envelope: &Envelope<'_>) -> Line {
        if !answers(envelope, &own_id(0)) {
            self.state = State::Discovering { hello, refusal, until };
            return Line::Same;
        }
        let result = envelope.result().filter(|result| is_modern(result));
        let handshake = result.and_then(|result| legacy_handshake(&hello.params, result));
        let handshake = handshake.and_then(|handshake| RawValue::from_string(handshake).ok());
        let Some(handshake) = handshake else {
            self.state = State::Off;
            return Lines::to_engine(String::from_utf8_lossy(&refusal).into_owned());
        };
        let answer = message::result(&hello.id, handshake.get());
        self.state = State::Translating(Box::new(Translating::new(hello.params, has_news(&handshake))));
        Lines::to_engine(answer)
    }

    /// When time next matters.
    pub(crate) fn wakes_at(&self) -> Option<Duration> {
        match &self.state {
            State::Discovering { until, .. } => Some(*until),
            _ => None,
        }
    }

    /// The refusal of a server that did not answer `server/discover` in time, or has ended (`now` is `None`).
    pub(crate) fn take_refusal(&mut self, now: Option<Duration>) -> Option<Vec<u8>> {
        let State::Discovering { until, refusal, .. } = &mut self.state else { return None };
        if now.is_some_and(|now| now < *until) {
            return None;
        }
        let refusal = std::mem::take(refusal);
        self.state = State::Off;
        Some(refusal)
    }
}

/// Whether this is the answer to the request with this id.
fn answers(envelope: &Envelope<'_>, id: &str) -> bool {
    matches!(envelope.kind(), Kind::Response | Kind::ErrorResponse)
        && envelope.id().is_some_and(|answered| answered.key() == key(id))
}

fn own_id(number: u64) -> String {
    format!("{OWN}{number}\"")
}

/// A running modern server.
#[derive(Debug)]
struct Translating {
    hello: Box<RawValue>,
    /// The client metadata in each request.
    meta: String,
    /// Requests that the server may answer with questions.
    rounds: Rounds,
    /// Whether the server can send notifications on its own.
    has_news: bool,
    /// The id of the open `subscriptions/listen` request.
    listens: Option<String>,
    resources: BTreeSet<String>,
    last_id: u64,
}

impl Translating {
    fn new(hello: Box<RawValue>, has_news: bool) -> Translating {
        let meta = modern_meta(&hello, None).unwrap_or_default();
        let (rounds, resources) = (Rounds::default(), BTreeSet::new());
        Translating { hello, meta, rounds, has_news, listens: None, resources, last_id: 0 }
    }

    fn next_id(&mut self) -> String {
        self.last_id += 1;
        own_id(self.last_id)
    }

    fn engine_line(&mut self, envelope: &Envelope<'_>) -> Line {
        match envelope.kind() {
            Kind::Request => self.request(envelope),
            Kind::Notification => self.notification(envelope),
            Kind::Response | Kind::ErrorResponse => self.answered(envelope),
        }
    }

    fn request(&mut self, envelope: &Envelope<'_>) -> Line {
        let (Some(method), Some(id)) = (envelope.method(), envelope.id()) else { return Line::Same };
        if envelope.params().and_then(ModernRequest::read).is_some() {
            return Line::Same;
        }
        if id.key().starts_with(OWN) {
            let says = "ids that begin with `rootward-era-` are reserved";
            return Lines::to_engine(message::error(id.as_str(), INVALID_REQUEST, says, None));
        }
        match method {
            // The modern era does not have these methods.
            method::PING => Lines::to_engine(message::result(id.as_str(), "{}")),
            method::SET_LEVEL => self.set_level(id, envelope.params()),
            method::SUBSCRIBE | method::UNSUBSCRIBE => self.subscribe(method, id, envelope.params()),
            _ => self.ask(method, id, envelope.params()),
        }
    }

    fn ask(&mut self, method: &str, id: Id<'_>, params: Option<&RawValue>) -> Line {
        let Some(params) = modern_params(params, &self.meta) else { return unusable(id) };
        let request = message::request(id.as_str(), method, Some(params.get()));
        if method::RETRIED.contains(&method) {
            self.rounds.begin(id.as_str(), method, params);
        }
        Lines::to_server(request)
    }

    fn set_level(&mut self, id: Id<'_>, params: Option<&RawValue>) -> Line {
        let level = params.and_then(Members::read).and_then(|params| params.get("level"));
        let meta = level.and_then(|level| modern_meta(&self.hello, Some(level)));
        let Some(meta) = meta else { return unusable(id) };
        self.meta = meta;
        Lines::to_engine(message::result(id.as_str(), "{}"))
    }

    fn subscribe(&mut self, method: &str, id: Id<'_>, params: Option<&RawValue>) -> Line {
        let uri = params.and_then(Members::read).and_then(|params| params.text("uri"));
        let Some(uri) = uri else { return unusable(id) };
        let changed = if method == method::UNSUBSCRIBE {
            self.resources.remove(&uri)
        } else if self.resources.len() < MOST_RESOURCES {
            self.resources.insert(uri)
        } else {
            let says = format!("more than {MOST_RESOURCES} resources are subscribed to");
            return Lines::to_engine(message::error(id.as_str(), INVALID_PARAMS, &says, None));
        };
        let to_server = if changed { self.listen() } else { Vec::new() };
        Line::Instead(Lines { to_server, to_engine: vec![message::result(id.as_str(), "{}")] })
    }

    /// Sends a new `subscriptions/listen` request, and cancels the previous one after it.
    fn listen(&mut self) -> Vec<String> {
        let id = self.next_id();
        let params = SubscriptionFilter::of_hub(&self.resources, &self.meta);
        let before = self.listens.replace(id.clone());
        let ends = before.map(|before| message::cancelled(&before, "replaced by another request"));
        [message::request(&id, method::LISTEN, Some(&params))].into_iter().chain(ends).collect()
    }

    fn notification(&mut self, envelope: &Envelope<'_>) -> Line {
        match envelope.method().unwrap_or_default() {
            method::INITIALIZED if self.has_news && self.listens.is_none() => {
                Line::Instead(Lines { to_server: self.listen(), ..Lines::default() })
            }
            // The modern era does not have these: a client sends its roots with each call.
            method::INITIALIZED | method::ROOTS_CHANGED | method::PROGRESS => Lines::none(),
            method::CANCELLED => self.rounds.cancel(envelope),
            _ => Line::Same,
        }
    }

    /// Handles the engine's answer to a question.
    fn answered(&mut self, envelope: &Envelope<'_>) -> Line {
        let Some(id) = envelope.id() else { return Lines::none() };
        let number = self.last_id + 1;
        let lines = self.rounds.answered(&id.key(), envelope, &own_id(number));
        if !lines.to_server.is_empty() {
            self.last_id = number;
        }
        Line::Instead(lines)
    }

    fn server_line(&mut self, envelope: &Envelope<'_>) -> Line {
        let (Kind::Response | Kind::ErrorResponse, Some(id)) = (envelope.kind(), envelope.id()) else {
            let is_acknowledgment = envelope.method() == Some(method::ACKNOWLEDGED);
            return if is_acknowledgment { Lines::none() } else { Line::Same };
        };
        if self.listens.as_deref().is_some_and(|listens| id.key() == key(listens)) {
            self.listens = None;
            return Lines::none();
        }
        if let Some(lines) = self.rounds.server_answered(&id.key(), envelope, &mut self.last_id) {
            return Line::Instead(lines);
        }
        // SECURITY: nobody else may get the answer to one of the translator's own requests (test: reserved_ids_are_rejected)
        if id.key().starts_with(OWN) {
            return Lines::none();
        }
        match envelope.result().and_then(legacy_result) {
            Some(result) => Lines::to_engine(message::result(id.as_str(), result.get())),
            None => Line::Same,
        }
    }
}

fn unusable(id: Id<'_>) -> Line {
    let says = "the params are not usable: not an object, a duplicate key, or a missing member";
    Lines::to_engine(message::error(id.as_str(), INVALID_PARAMS, says, None))
}

/// The id of the request that a cancellation names.
fn cancelled_id<'f>(envelope: &Envelope<'f>) -> Option<&'f RawValue> {
    let params = Members::read(envelope.params()?)?;
    params.get(keys::REQUEST_ID)
}
