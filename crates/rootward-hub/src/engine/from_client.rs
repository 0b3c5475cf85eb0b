//! Messages from the client.

use std::sync::Arc;

use rootward_core::Guard;
use rootward_protocol::era::Hello;
use rootward_protocol::frame::{Batch, Envelope, Id, Kind, Line, Members, Message, key};
use rootward_protocol::message::{self, INVALID_PARAMS, INVALID_REQUEST};
use rootward_protocol::round::ModernRequest;
use rootward_protocol::session::{NoList, SessionGuard, Turn};
use rootward_protocol::{HostLimits, keys, method, shown};
use serde_json::Value;
use serde_json::value::RawValue;

use super::child::{ChildId, Owed, Phase};
use super::failure::Failure;
use super::gate::Judgement;
use super::link::Begin;
use super::lists::owed;
use super::session::{Asked, Client, Done, Legacy, Releases, Session, Waiting, Way};

/// How much of a method's name is shown, in characters.
const LONGEST_NAME: usize = 200;

impl Session {
    /// Handles a line from the client.
    pub(super) fn client_line(&mut self, line: &Line<'_>) -> Releases {
        match line {
            Line::TooLong(long) => {
                if let Some(answer) = message::too_long(long, self.longest) {
                    self.tell_client(&answer);
                }
                self.say(format!("a message from the client was too long: {} bytes", long.length));
            }
            Line::Frame(frame) => match Message::parse(frame) {
                Err(bad) => {
                    self.say(format!("refused a line from the client: {}", bad.reason));
                    self.tell_client(&message::bad_frame(bad.id.as_deref(), &bad.reason));
                }
                Ok(Message::Single(envelope)) => return self.client_message(&envelope),
                Ok(Message::Batch(batch)) => {
                    self.client_batch(&batch);
                    return Releases::All;
                }
            },
        }
        Releases::Nobody
    }

    /// Members of a batch are checked and forwarded one by one.
    fn client_batch(&mut self, batch: &Batch<'_>) {
        for member in batch.members() {
            match member {
                Ok(envelope) => drop(self.client_message(&envelope)),
                Err(bad) => self.tell_client(&message::bad_frame(bad.id.as_deref(), &bad.reason)),
            }
        }
    }

    /// Handles a client message; `limits` were removed from it.
    pub(super) fn client_message_within(&mut self, envelope: &Envelope<'_>, limits: Option<HostLimits>) -> Releases {
        match (envelope.kind(), envelope.method().unwrap_or_default()) {
            (Kind::Response | Kind::ErrorResponse, _) => return self.client_answer(envelope),
            (Kind::Request, method::INITIALIZE) => {
                self.initialize(envelope);
                return Releases::All;
            }
            (Kind::Notification, method::INITIALIZED) => {
                self.initialized(envelope);
                return Releases::All;
            }
            (Kind::Notification, method::ROOTS_CHANGED) => self.report(SessionGuard::list_changed),
            (Kind::Notification, method::CANCELLED) => self.client_cancelled(envelope),
            (Kind::Notification, method::PROGRESS) if let Some(child) = self.child_of_token(envelope) => {
                self.send_to(child, envelope.text());
            }
            (Kind::Request, method) if method.starts_with(method::NOTIFICATION) => {
                let says = format!("`{}` is a notification and has no id", shown(method, LONGEST_NAME));
                let id = envelope.id().map_or("null", Id::as_str);
                self.tell_client(&message::error(id, INVALID_REQUEST, &says, None));
            }
            (kind, method) if self.is_too_early(envelope) => self.refuse_early(kind, method, envelope.id()),
            _ => {
                let link = self.route(envelope);
                let mut way = self.new_way(link);
                way.limits = limits.map(Box::new);
                // SECURITY: a call must not overtake an earlier one, which it may depend on
                // (test: a_call_does_not_overtake_one_that_is_being_recorded)
                way.behind = self.is_recording(link);
                if way.behind || self.pass(envelope, &mut way) == Done::NotYet {
                    let id = envelope.id().map(|id| id.as_str().into());
                    self.waiting.push_back(Waiting { text: envelope.text().into(), id, way });
                    self.arrange();
                }
            }
        }
        Releases::Nobody
    }

    /// Whether a message arrives before the client has begun. No server gets it, because its roots are not known yet.
    fn is_too_early(&self, envelope: &Envelope<'_>) -> bool {
        let is_modern = || envelope.params().and_then(ModernRequest::read).is_some();
        matches!(self.client, Client::Silent) && !is_modern()
    }

    // SECURITY: no server gets a call before the directories it runs in are known
    // (test: a_call_before_initialize_reaches_no_server)
    fn refuse_early(&mut self, kind: Kind, method: &str, id: Option<Id<'_>>) {
        let (Kind::Request, Some(id)) = (kind, id.map(Id::as_str)) else { return };
        let answer = match method {
            method::PING => message::result(id, "{}"),
            _ => message::error(id, INVALID_REQUEST, "the session has not begun; send `initialize` first", None),
        };
        self.tell_client(&answer);
    }

    /// Forwards a message that has waited.
    pub(super) fn pass_text(&mut self, text: &str, way: &mut Way) -> Done {
        match Message::parse(text.as_bytes()) {
            Ok(Message::Single(envelope)) => self.pass(&envelope, way),
            // It was parsed before.
            _ => Done::Yes,
        }
    }

    /// Forwards a request or notification to the child, if allowed and possible.
    fn pass(&mut self, envelope: &Envelope<'_>, way: &mut Way) -> Done {
        match self.modern_request(envelope) {
            Some(request) => self.pass_modern(envelope, &request, way),
            None => self.pass_legacy(envelope, way),
        }
    }

    fn pass_legacy(&mut self, envelope: &Envelope<'_>, way: &mut Way) -> Done {
        let link = way.link;
        if let Some(answer) = self.remembered_list(link, envelope) {
            self.tell_client(&answer);
            return Done::Yes;
        }
        if self.links[link].running().is_none() {
            return self.without_child(envelope, way);
        }
        let method = envelope.method().unwrap_or_default();
        if let Some(answer) = envelope.id().and_then(|id| self.lacking(link, id.as_str(), method)) {
            self.tell_client(&answer);
            return Done::Yes;
        }
        if method == method::CALL_TOOL && self.waits_for_tools(link, way.arrived) {
            return Done::NotYet;
        }
        match self.judge(envelope, way) {
            Judgement::Wait => return Done::NotYet,
            Judgement::Refused(answer) => answer.into_iter().for_each(|answer| self.tell_client(&answer)),
            Judgement::Pass => {
                self.links[link].needed = self.now;
                self.links[link].has_subscribers |= method == method::SUBSCRIBE;
                let Some(child) = self.links[link].running() else { return Done::NotYet };
                match envelope.id().map(Id::as_str) {
                    Some(id) => child.ask(id, owed(envelope), envelope.text()),
                    None => child.send(envelope.text()),
                }
            }
        }
        Done::Yes
    }

    /// Handles a message for a server that is not running.
    pub(super) fn without_child(&mut self, envelope: &Envelope<'_>, way: &mut Way) -> Done {
        if let Some(answer) = self.pong(envelope).or_else(|| self.list_in_absence(envelope, way)) {
            self.tell_client(&answer);
            return Done::Yes;
        }
        // The roots may be about to change, and the server may start then.
        let settled = self.roots.as_ref().is_none_or(|roots| roots.turn(way.arrived, self.now) == Turn::GoOn);
        let of = &self.links[way.link];
        let failure = match (&of.impossible, &of.failure) {
            (Some((_, failure)), _) if settled => failure.clone(),
            // It died and restarts after a pause: do not wait for that.
            (_, Some(failure)) if !of.is_coming(self.now) && of.backoff.not_before(self.now).is_some() => {
                failure.clone()
            }
            _ if self.now >= way.arrived + self.patience() => Failure::new("the server is not running"),
            _ => return Done::NotYet,
        };
        if let Some(id) = envelope.id() {
            self.tell_client(&failure.answer(id.as_str()));
        }
        Done::Yes
    }

    /// The answer to `ping` if no server can give it, but not before the answer to `initialize`.
    fn pong(&self, envelope: &Envelope<'_>) -> Option<String> {
        let is_promised = matches!(&self.client, Client::Legacy(legacy) if legacy.promised.is_some());
        let id = envelope.id().filter(|_| is_promised && envelope.method() == Some(method::PING))?;
        Some(message::result(id.as_str(), "{}"))
    }

    /// Handles the client's `initialize`.
    fn initialize(&mut self, envelope: &Envelope<'_>) {
        let Some(id) = envelope.id().map(Id::as_str) else { return };
        if !matches!(self.client, Client::Silent) {
            self.tell_client(&message::error(id, INVALID_REQUEST, "the session has already begun", None));
            return;
        }
        let Some(hello) = envelope.params().and_then(Hello::read) else {
            let says = "the params of `initialize` are refused: not an object, or a duplicate key";
            self.tell_client(&message::error(id, INVALID_PARAMS, says, None));
            return;
        };
        let Hello { params, fingerprint, revision, support, client } = hello;
        self.client_name = client;
        let link = self.route(envelope);
        self.links[link].remembered = self.links[link].memory.recall(&fingerprint);
        self.fingerprint = Some(fingerprint);
        let greeting = with_params(envelope, &params);
        self.client = Client::Legacy(Legacy { params, revision, promised: None, initialized: false });
        self.roots = Some(SessionGuard::new(Arc::clone(&self.terms), Arc::clone(&self.given), support));
        let of = &self.links[link];
        // A server that starts on demand is not started to repeat a cached answer.
        let starts = !of.is_learning() && (of.begin == Begin::AtOnce || of.remembered.is_none());
        match (self.guard().cloned(), of.remembered.clone()) {
            (Some(guard), _) if starts => self.greet(link, guard, id, &greeting),
            (_, Some(remembered)) => {
                self.tell_offer(id, remembered.result.get());
                self.promise(remembered.result.get());
                self.links[link].handshake = Some(remembered.result);
            }
            (_, None) => self.ask_learner(link, id, Owed::Handshake, &greeting),
        }
    }

    /// Starts the server with known roots and lets it answer the client's `initialize`.
    fn greet(&mut self, link: usize, guard: Guard, id: &str, greeting: &str) {
        // A child that has answered `server/discover` is kept.
        let number = match self.links[link].current {
            Some(number) => number,
            None => self.start(link, guard, Phase::Greeting),
        };
        self.links[link].current = Some(number);
        if let Some(child) = self.links[link].children.get_mut(&number) {
            child.phase = Phase::Greeting;
            child.ask(id, Owed::Handshake, greeting);
        }
    }

    /// Records the answer to `initialize` that the client got.
    pub(super) fn promise(&mut self, result: &str) {
        let Client::Legacy(legacy) = &mut self.client else { return };
        legacy.promised = Some(result.into());
        if legacy.initialized {
            // The client did not wait for the answer.
            self.begin(&message::notification(method::INITIALIZED));
        }
    }

    fn initialized(&mut self, envelope: &Envelope<'_>) {
        if let Client::Legacy(legacy) = &mut self.client {
            legacy.initialized = true;
            if legacy.promised.is_none() {
                // The client did not wait for the answer to `initialize`; the server gets both in order.
                return;
            }
        }
        self.begin(envelope.text());
    }

    /// After the handshake: notifies the servers and asks the client for its roots.
    pub(super) fn begin(&mut self, initialized: &str) {
        for link in 0..self.links.len() {
            let (now, settles) = (self.now, self.settles_at(link));
            if let Some(child) = self.links[link].running().filter(|child| !child.greeted) {
                (child.greeted, child.since, child.settles_at) = (true, now, settles);
                child.send(initialized);
            }
        }
        self.report(|roots, now| roots.needed(now, now));
    }

    /// Handles an answer to a child's question or to Rootward's own.
    fn client_answer(&mut self, envelope: &Envelope<'_>) -> Releases {
        let Some(id) = envelope.id() else { return Releases::Nobody };
        match self.asked.remove(&id.key()) {
            Some(Asked::Roots(question)) => {
                let answer = read_list(envelope);
                self.report(|roots, now| roots.answered(now, question, answer));
                return Releases::All;
            }
            Some(Asked::Child { child, id: own, .. }) => {
                if let (Some(child), Some(own)) = (self.child_mut(child), Id::read(&own)) {
                    child.input.push_with(|bytes| envelope.write_with_id(own, bytes));
                }
            }
            // SECURITY: the answer is late or unsolicited. It may contain the client's roots, so no server gets it
            // (test: an_answer_that_nobody_asked_for_reaches_no_server)
            None => self.say("ignored an answer from the client that nobody asked for"),
        }
        Releases::Nobody
    }

    /// The client cancels a request.
    fn client_cancelled(&mut self, envelope: &Envelope<'_>) {
        let id = envelope.params().and_then(Members::read).and_then(|params| params.get(keys::REQUEST_ID));
        let id: &str = &key(id.map(RawValue::get).unwrap_or_default());
        let waiting = self.waiting.iter().position(|waiting| waiting.id.as_deref().is_some_and(|own| *key(own) == *id));
        if let Some(position) = waiting {
            // It was never forwarded, so nobody has to be told and nobody will answer.
            self.waiting.remove(position);
            return;
        }
        let owes = self.child_that_owes(id);
        if let Some(child) = owes.and_then(|child| self.child_mut(child)) {
            // Nobody answers a cancelled request, so a replaced child need not stay for it.
            if matches!(child.owes.get(id), Some(Owed::Plain | Owed::List(_) | Owed::Page(_))) {
                child.owes.remove(id);
                child.sent.remove(id);
            }
            child.send(envelope.text());
            return;
        }
        // Already answered, or unknown to Rootward; the server may know it.
        let link = self.route(envelope);
        if let Some(child) = self.links[link].running() {
            child.send(envelope.text());
        }
    }

    fn send_to(&mut self, child: ChildId, text: &str) {
        if let Some(child) = self.child_mut(child) {
            child.send(text);
        }
    }
}

/// The message with different params.
pub(super) fn with_params(envelope: &Envelope<'_>, params: &str) -> String {
    let mut text = Vec::new();
    match RawValue::from_string(params.to_owned()) {
        Ok(params) => envelope.write_with_params(&params, &mut text),
        Err(_) => text.extend_from_slice(envelope.text().as_bytes()),
    }
    String::from_utf8(text).unwrap_or_default()
}

/// The client's answer to `roots/list`.
pub(crate) fn read_list(envelope: &Envelope<'_>) -> Result<Value, NoList> {
    match envelope.result() {
        Some(result) => serde_json::from_str(result.get()).map_err(|error| NoList::because(error.to_string())),
        None => {
            let error = envelope.error().and_then(Members::read);
            let message = error.as_ref().and_then(|error| error.text("message"));
            let code = error.and_then(|error| error.get("code")).and_then(|code| code.get().parse().ok());
            Err(NoList::error(code, message.as_deref().unwrap_or("an error")))
        }
    }
}
