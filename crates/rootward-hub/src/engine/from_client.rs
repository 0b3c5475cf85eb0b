//! What the client sends.

use std::sync::Arc;

use rootward_protocol::era::Hello;
use rootward_protocol::frame::{Batch, Envelope, Id, Kind, Line, Members, Message};
use rootward_protocol::message::{self, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST};
use rootward_protocol::session::{NoList, SessionGuard, Turn};
use rootward_protocol::{keys, method, shown};
use serde_json::Value;
use serde_json::value::RawValue;

use super::child::{ChildId, Owed, Phase, key};
use super::gate::Judgement;
use super::lists::owed;
use super::session::{Asked, Client, Done, Legacy, Session, Stirs, Waiting, Way};

/// How much of a method's name is shown, in characters.
const LONGEST_NAME: usize = 200;

impl Session {
    /// A line of the client's.
    pub(super) fn client_line(&mut self, line: &Line<'_>) -> Stirs {
        match line {
            Line::TooLong(long) => {
                if let Some(answer) = message::too_long(long, self.longest) {
                    self.tell_client(&answer);
                }
                self.say(format!("a message of the client's was too long: {} bytes", long.length));
            }
            Line::Frame(frame) => match Message::parse(frame) {
                Err(bad) => {
                    self.say(format!("a line of the client's is refused: {}", bad.reason));
                    self.tell_client(&message::bad_frame(bad.id.as_deref(), &bad.reason));
                }
                Ok(Message::Single(envelope)) => return self.client_message(&envelope),
                Ok(Message::Batch(batch)) => {
                    self.client_batch(&batch);
                    return Stirs::All;
                }
            },
        }
        Stirs::Nobody
    }

    /// Members are decided one by one, and passed on one by one: that is all a batch means.
    fn client_batch(&mut self, batch: &Batch<'_>) {
        for member in batch.members() {
            match member {
                Ok(envelope) => drop(self.client_message(&envelope)),
                Err(bad) => self.tell_client(&message::bad_frame(bad.id.as_deref(), &bad.reason)),
            }
        }
    }

    fn client_message(&mut self, envelope: &Envelope<'_>) -> Stirs {
        match (envelope.kind(), envelope.method().unwrap_or_default()) {
            (Kind::Response | Kind::ErrorResponse, _) => return self.client_answer(envelope),
            (Kind::Request, method::INITIALIZE) => {
                self.initialize(envelope);
                return Stirs::All;
            }
            (Kind::Notification, method::INITIALIZED) => {
                self.initialized(envelope);
                return Stirs::All;
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
            _ => {
                let link = self.route(envelope);
                let mut way = self.new_way(link);
                // SECURITY: a call must not overtake the one before it, which may be what it builds on
                // (test: a_call_does_not_overtake_one_that_is_being_recorded)
                way.behind = self.is_recording(link);
                if way.behind || self.pass(envelope, &mut way) == Done::NotYet {
                    let id = envelope.id().map(|id| id.as_str().into());
                    self.waiting.push_back(Waiting { text: envelope.text().into(), id, way });
                    self.arrange();
                }
            }
        }
        Stirs::Nobody
    }

    /// Passes on a message that has waited.
    pub(super) fn pass_text(&mut self, text: &str, way: &mut Way) -> Done {
        match Message::parse(text.as_bytes()) {
            Ok(Message::Single(envelope)) => self.pass(&envelope, way),
            // It was read before.
            _ => Done::Yes,
        }
    }

    /// Passes a request or notification on to the child, if it may be and can be.
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
        if method == method::CALL_TOOL && self.waits_for_tools(link, way.arrived) {
            return Done::NotYet;
        }
        match self.judge(envelope, way) {
            Judgement::Wait => return Done::NotYet,
            Judgement::Refused(answer) => answer.into_iter().for_each(|answer| self.tell_client(&answer)),
            Judgement::Pass => {
                let Some(child) = self.links[link].running() else { return Done::NotYet };
                match envelope.id().map(Id::as_str) {
                    Some(id) => child.ask(id, owed(envelope), envelope.text()),
                    None => child.send(envelope.text()),
                }
            }
        }
        Done::Yes
    }

    /// A message for a server that does not run now.
    pub(super) fn without_child(&mut self, envelope: &Envelope<'_>, way: &mut Way) -> Done {
        if let (Client::Silent, None) = (&self.client, self.links[way.link].current) {
            // Something before `initialize`: the server answers it, not Rootward.
            let guard = self.nothing();
            let number = self.start(way.link, guard, Phase::Running);
            self.links[way.link].current = Some(number);
            return self.pass_legacy(envelope, way);
        }
        // Other roots may be about to come, and with them another try.
        let settled = self.roots.as_ref().is_none_or(|roots| roots.turn(way.arrived, self.now) == Turn::GoOn);
        let reason = match &self.links[way.link].impossible {
            Some((_, reason)) if settled => reason.clone(),
            _ if self.now >= way.arrived + self.patience() => "the server does not run".to_owned(),
            _ => return Done::NotYet,
        };
        if let Some(id) = envelope.id() {
            self.tell_client(&message::error(id.as_str(), INTERNAL_ERROR, &reason, None));
        }
        Done::Yes
    }

    /// The client begins.
    fn initialize(&mut self, envelope: &Envelope<'_>) {
        let Some(id) = envelope.id().map(Id::as_str) else { return };
        if !matches!(self.client, Client::Silent) {
            self.tell_client(&message::error(id, INVALID_REQUEST, "the session has begun before", None));
            return;
        }
        let Some(Hello { params, fingerprint, support, client }) = envelope.params().and_then(Hello::read) else {
            let says = "the params of `initialize` are refused: no object, or a key stands twice";
            self.tell_client(&message::error(id, INVALID_PARAMS, says, None));
            return;
        };
        self.client_name = client;
        let mut greeting = Vec::new();
        if let Ok(params) = RawValue::from_string(params.clone()) {
            envelope.write_with_params(&params, &mut greeting);
        }
        let link = self.route(envelope);
        self.links[link].remembered = self.links[link].memory.recall(&fingerprint);
        self.client = Client::Legacy(Legacy { params, fingerprint, promised: None, initialized: false });
        self.roots = Some(SessionGuard::new(Arc::clone(&self.terms), Arc::clone(&self.given), support));
        let known = self.guard().cloned();
        let of = &self.links[link];
        if let (None, Some(remembered), None) = (&known, &of.remembered, of.current) {
            let text: Box<str> = remembered.result.get().into();
            self.tell_client(&message::result(id, &text));
            self.promise(&text);
            return;
        }
        // A child that has got something before `initialize` goes on with it; its roots are put right afterwards.
        let number = match of.current {
            Some(number) => number,
            None => {
                let guard = known.unwrap_or_else(|| self.nothing());
                self.start(link, guard, Phase::Greeting)
            }
        };
        self.links[link].current = Some(number);
        if let (Some(child), Ok(greeting)) =
            (self.links[link].children.get_mut(&number), std::str::from_utf8(&greeting))
        {
            child.phase = Phase::Greeting;
            child.ask(id, Owed::Handshake, greeting);
        }
    }

    /// The client was given this answer to `initialize`.
    pub(super) fn promise(&mut self, result: &str) {
        if let Client::Legacy(legacy) = &mut self.client {
            legacy.promised = Some(result.into());
        }
    }

    fn initialized(&mut self, envelope: &Envelope<'_>) {
        if let Client::Legacy(legacy) = &mut self.client {
            legacy.initialized = true;
            if legacy.promised.is_none() {
                // It did not wait for the answer to `initialize`; the server is told in order.
                return;
            }
        }
        self.begin(envelope.text());
    }

    /// The handshake is done: the servers are told, and the client is asked for its roots.
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

    /// An answer to a question of a child's, or of Rootward's own.
    fn client_answer(&mut self, envelope: &Envelope<'_>) -> Stirs {
        let Some(id) = envelope.id() else { return Stirs::Nobody };
        match self.asked.remove(&id.key()) {
            Some(Asked::Roots(question)) => {
                let answer = read_list(envelope);
                self.report(|roots, now| roots.answered(now, question, answer));
                return Stirs::All;
            }
            Some(Asked::Child { child, id: own, .. }) => {
                if let (Some(child), Some(own)) = (self.child_mut(child), Id::read(&own)) {
                    child.input.push_with(|bytes| envelope.write_with_id(own, bytes));
                }
            }
            // SECURITY: late, or to nobody. The server gets no answer that it did not ask for: it may be the client's roots
            // (test: an_answer_that_nobody_asked_for_reaches_no_server)
            None => self.say("an answer of the client's that nobody asked for is left out"),
        }
        Stirs::Nobody
    }

    /// The client does not await an answer any more.
    fn client_cancelled(&mut self, envelope: &Envelope<'_>) {
        let id = envelope.params().and_then(Members::read).and_then(|params| params.get(keys::REQUEST_ID));
        let id: &str = &key(id.map(RawValue::get).unwrap_or_default());
        let waiting = self.waiting.iter().position(|waiting| waiting.id.as_deref().is_some_and(|own| *key(own) == *id));
        if let Some(position) = waiting {
            // It never left: nobody need be told, and nobody answers.
            self.waiting.remove(position);
            return;
        }
        let owes = self.child_that_owes(id);
        if let Some(child) = owes.and_then(|child| self.child_mut(child)) {
            // Nobody answers what was cancelled; a child that was replaced need not stay for it.
            if matches!(child.owes.get(id), Some(Owed::Plain | Owed::List(_) | Owed::Page(_))) {
                child.owes.remove(id);
                child.sent.remove(id);
            }
            child.send(envelope.text());
            return;
        }
        // Answered already, or something that Rootward does not know of: the server knows.
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

/// What a client answered to `roots/list`.
fn read_list(envelope: &Envelope<'_>) -> Result<Value, NoList> {
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
