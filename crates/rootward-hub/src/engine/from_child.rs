//! Messages from children.

use std::sync::Arc;

use rootward_protocol::frame::{BadFrame, Envelope, Found, Id, Kind, Members, Message, TooLong, key, outline};
use rootward_protocol::message::{self, INTERNAL_ERROR};
use rootward_protocol::offer::{self, Offer};
use rootward_protocol::{keys, method, shown};
use serde_json::value::RawValue;

use super::child::{ASKS_WITHIN, ChildId, Owed, Phase};
use super::failure::Failure;
use super::router::progress_token;
use super::session::{Asked, Client, Legacy, Releases, Session};

/// How much of a server's error is shown, in characters.
const LONGEST_ERROR: usize = 1000;

/// How many bytes may wait for a child that asks questions but does not read.
const MOST_UNREAD: usize = 8 << 20;

/// Frames of at least this size are outlined before they are parsed.
const LARGE: usize = 1 << 16;

/// How many questions a child may have open.
const MOST_QUESTIONS: usize = 1000;

/// Maximum total length of their ids, in bytes.
const MOST_QUESTION_BYTES: usize = 1 << 20;

/// What remains to be done with a parsed frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Remains {
    /// Forward it unchanged.
    PassOn,
    /// Nothing; wake up these messages.
    Nothing(Releases),
}

impl Session {
    /// Handles a line from a child.
    pub(super) fn child_line(&mut self, id: ChildId, line: Found<'_>) -> Releases {
        // A child that was dropped is ignored.
        if self.child_mut(id).is_none() {
            return Releases::Nobody;
        }
        match line {
            Found::TooLong(long) => {
                self.child_too_long(id, &long);
                Releases::All
            }
            // SECURITY: every frame is parsed whole, whatever its size: some clients treat a large answer that also
            // has a method as a request
            // (test: a_large_frame_is_read_like_any_other)
            Found::Alone(frame) => match self.child_frame(id, frame) {
                Remains::PassOn => {
                    self.out.push_buffer(frame);
                    Releases::Nobody
                }
                Remains::Nothing(releases) => releases,
            },
            Found::Among(frame) | Found::Unended(frame) => match self.child_frame(id, frame) {
                Remains::PassOn => {
                    self.out.push_bytes(frame);
                    Releases::Nobody
                }
                Remains::Nothing(releases) => releases,
            },
        }
    }

    fn child_frame(&mut self, id: ChildId, frame: &[u8]) -> Remains {
        if frame.len() >= LARGE && self.settles_by_outline(id, frame) {
            return Remains::PassOn;
        }
        Remains::Nothing(match Message::parse(frame) {
            Err(bad) => self.child_bad(id, &bad),
            Ok(Message::Single(envelope)) if self.settles(id, &envelope) => return Remains::PassOn,
            Ok(Message::Single(envelope)) => self.child_message(id, &envelope),
            Ok(Message::Batch(batch)) => {
                for member in batch.members() {
                    match member {
                        Ok(envelope) => drop(self.child_message(id, &envelope)),
                        Err(bad) => drop(self.child_bad(id, &bad)),
                    }
                }
                Releases::All
            }
        })
    }

    /// Like [`Session::settles`], using the outline of a large frame. If this returns `false`, the frame must be
    /// parsed whole.
    fn settles_by_outline(&mut self, id: ChildId, frame: &[u8]) -> bool {
        let Some(outline) = outline(frame) else { return false };
        let Ok(Message::Single(envelope)) = Message::parse(outline.as_bytes()) else { return false };
        // SECURITY: the outline omits long ids, so an empty id matches nobody's request
        // (test: a_large_frame_with_a_long_id_is_read_whole)
        let has_its_id = envelope.id().is_some_and(|id| id.as_str() != "\"\"");
        has_its_id && self.settles(id, &envelope)
    }

    /// Whether the client waits for this answer and Rootward needs nothing from it. If so, it is no longer owed.
    fn settles(&mut self, id: ChildId, envelope: &Envelope<'_>) -> bool {
        let (Kind::Response | Kind::ErrorResponse, Some(answered)) = (envelope.kind(), envelope.id()) else {
            return false;
        };
        // An answer to a modern client may be a question.
        if !matches!(self.client, Client::Legacy(_)) {
            return false;
        }
        let Some(child) = self.child_mut(id) else { return false };
        let key = answered.key();
        let is_plain = child.owes.get(&key) == Some(&Owed::Plain) && !child.sent.contains_key(&key);
        is_plain && child.owes.remove(&key).is_some()
    }

    /// Handles a line that is not a message. Some servers print other text to stdout; the client gets only messages.
    fn child_bad(&mut self, id: ChildId, bad: &BadFrame) -> Releases {
        self.say(format!("ignored a line from the server that is not a message: {}", bad.reason));
        let (Some(answered), true) = (&bad.id, bad.has_outcome) else { return Releases::Nobody };
        let reason = shown(&bad.reason.to_string(), LONGEST_ERROR);
        self.child_cannot_answer(id, answered, &format!("the server's answer is not valid: {reason}"));
        Releases::All
    }

    fn child_too_long(&mut self, id: ChildId, long: &TooLong) {
        self.say(format!("a message from the server was too long: {} bytes", long.length));
        if let Some(answered) = &long.answers {
            let says = format!("the server's answer has {} bytes, which is too long", long.length);
            self.child_cannot_answer(id, answered, &says);
        }
    }

    /// Replaces a child's answer that cannot be forwarded with an error for the client.
    fn child_cannot_answer(&mut self, id: ChildId, answered: &str, says: &str) {
        let Some(child) = self.child_mut(id) else { return };
        child.sent.remove(&key(answered));
        match child.owes.remove(&key(answered)) {
            Some(Owed::OwnHandshake) => {
                self.ended(id, &Failure::new(format!("the server could not be initialized: {says}")));
            }
            Some(Owed::OwnList(list)) => self.own_list(id.link, list, None),
            Some(Owed::Handshake) if self.improvises_for(id, answered, None) => {}
            Some(Owed::Plain | Owed::List(_) | Owed::Page(_) | Owed::Handshake | Owed::Discovery) => {
                self.tell_client(&message::error(answered, INTERNAL_ERROR, says, None));
            }
            None => {}
        }
    }

    fn child_message(&mut self, id: ChildId, envelope: &Envelope<'_>) -> Releases {
        let is_learner = self.child_mut(id).is_some_and(|child| child.phase == Phase::Learning);
        match (envelope.kind(), envelope.method().unwrap_or_default()) {
            (Kind::Request, method::LIST_ROOTS) => {
                self.child_asks_for_roots(id, envelope);
                return Releases::All;
            }
            // SECURITY: a learner runs before the real server: it may not ask anyone anything, and its notifications
            // concern no project
            // (test: only_the_answers_of_a_learner_reach_the_client)
            (Kind::Request, _) if is_learner => envelope.id().into_iter().for_each(|question| {
                self.refuse_question(id, question, "the server is only being asked what it offers");
            }),
            (Kind::Notification, _) if is_learner => {}
            (Kind::Request, _) => self.child_asks(id, envelope),
            (Kind::Notification, method::CANCELLED) => self.child_cancelled(id, envelope),
            (Kind::Notification, _) => self.tell_client(envelope.text()),
            (Kind::Response | Kind::ErrorResponse, _) => return self.child_answers(id, envelope),
        }
        Releases::Nobody
    }

    /// A child asks for its roots, which Rootward answers.
    fn child_asks_for_roots(&mut self, id: ChildId, envelope: &Envelope<'_>) {
        let now = self.now;
        let Some(rules) = self.links.get(id.link).map(|link| Arc::clone(&link.rules)) else { return };
        let (Some(child), Some(question)) = (self.child_mut(id), envelope.id()) else { return };
        // A child that asks but does not read gets no more answers.
        if child.input.waiting().len() > MOST_UNREAD {
            return;
        }
        let list = rules.roots_told(&child.guard);
        child.send(&message::result(question.as_str(), &list));
        child.settles_at = now;
        // A child that asks during a call is not one that other calls should wait for.
        let by_itself = child.owes.is_empty();
        // It asked during a call, soon after the start: perhaps on its own, with the call arriving first. The next
        // start waits to find out.
        let in_doubt = !by_itself && !child.asked && now < child.since + ASKS_WITHIN;
        child.asked = true;
        let first = by_itself && !std::mem::replace(&mut child.asks_for_roots, true);
        let Some(remembered) = &mut self.links[id.link].remembered else { return };
        let known = remembered.asks_for_roots;
        match known {
            _ if first => remembered.asks_for_roots = Some(true),
            Some(false) if in_doubt => remembered.asks_for_roots = None,
            _ => {}
        }
        if remembered.asks_for_roots != known {
            self.learn(id.link);
        }
    }

    /// A child asks the client something else. The question keeps its id, unless another question has the same one.
    fn child_asks(&mut self, child: ChildId, envelope: &Envelope<'_>) {
        let Some(id) = envelope.id() else { return };
        if !self.may_ask(child, id) {
            return self.refuse_question(child, id, "too many requests to the client are waiting for an answer");
        }
        let asked = Asked::Child { child, id: id.as_str().into(), token: progress_token(envelope) };
        let key = id.key();
        // SECURITY: an answer to a server's question must not pass for an answer to one of Rootward's own later
        // questions
        // (test: a_server_cannot_take_the_id_of_the_question_for_roots)
        if self.asked.contains_key(&key) || key.contains("rootward") {
            let other = self.own_id("question");
            if let Some(other) = Id::read(&other) {
                self.out.push_with(|bytes| envelope.write_with_id(other, bytes));
            }
            self.asked.insert(other.into(), asked);
        } else {
            self.tell_client(envelope.text());
            self.asked.insert(key, asked);
        }
    }

    /// Whether a child may have one more open question.
    fn may_ask(&self, number: ChildId, id: Id<'_>) -> bool {
        let ids = self.asked.iter().filter_map(|(sent, asked)| match asked {
            Asked::Child { child, id, token } if *child == number => {
                Some(sent.len() + id.len() + token.as_ref().map_or(0, |token| token.len()))
            }
            _ => None,
        });
        let (count, bytes) = ids.fold((0, 0), |(count, bytes), id| (count + 1, bytes + id));
        count < MOST_QUESTIONS && bytes + 2 * id.as_str().len() <= MOST_QUESTION_BYTES
    }

    // SECURITY: unanswered questions are kept, so their number must be bounded
    // (test: a_server_has_a_bounded_number_of_questions_open)
    fn refuse_question(&mut self, child: ChildId, id: Id<'_>, says: &str) {
        let Some(child) = self.child_mut(child) else { return };
        if child.input.waiting().len() <= MOST_UNREAD {
            child.send(&message::error(id.as_str(), INTERNAL_ERROR, says, None));
        }
    }

    fn child_cancelled(&mut self, number: ChildId, envelope: &Envelope<'_>) {
        let id = envelope.params().and_then(Members::read).and_then(|params| params.get(keys::REQUEST_ID));
        let Some(id) = id.map(|id| key(id.get())) else { return };
        let is_it =
            |asked: &Asked| matches!(asked, Asked::Child { child, id: own, .. } if *child == number && key(own) == id);
        let Some(sent) = self.asked.iter().find(|(_, asked)| is_it(asked)).map(|(sent, _)| sent.clone()) else {
            return;
        };
        self.asked.remove(&sent);
        if sent == id {
            self.tell_client(envelope.text());
        } else {
            self.tell_client(&message::cancelled(&sent, "the server no longer needs the answer"));
        }
    }

    fn child_answers(&mut self, child: ChildId, envelope: &Envelope<'_>) -> Releases {
        let Some(id) = envelope.id() else {
            self.tell_client(envelope.text());
            return Releases::Nobody;
        };
        let owed = self.child_mut(child).and_then(|child| child.owes.remove(&id.key()));
        let sent = self.child_mut(child).and_then(|child| child.sent.remove(&id.key()));
        // An answer to Rootward's own question is not forwarded.
        if let Some(Owed::OwnList(list)) = owed {
            self.own_list(child.link, list, envelope.result());
            return Releases::All;
        }
        let is_learner = self.child_mut(child).is_some_and(|child| child.phase == Phase::Learning);
        let is_legacy = matches!(self.client, Client::Legacy(_));
        if !is_legacy && self.wants_input(child, envelope, sent.as_ref()) {
            return Releases::Nobody;
        }
        match owed {
            Some(Owed::Handshake) => self.greeted_by_client(child, envelope),
            Some(Owed::Discovery) => {
                self.discovered(child.link, envelope);
                self.pass_offer(envelope);
            }
            Some(Owed::OwnHandshake) if is_learner => self.learned_late(child.link, envelope.result()),
            Some(Owed::OwnHandshake) => self.greeted(child, envelope),
            Some(Owed::List(list)) => {
                if let Some(result) = envelope.result() {
                    self.list_for_client(child.link, list, result);
                }
                self.tell_client(envelope.text());
            }
            Some(Owed::Page(list)) => {
                if let Some(result) = envelope.result() {
                    self.learn_list(child.link, list, result);
                }
                self.tell_client(envelope.text());
            }
            // The client was already answered on its behalf.
            None if is_learner => {}
            // This includes answers that are no longer owed: the client may have cancelled the request.
            Some(Owed::Plain | Owed::OwnList(_)) | None => {
                self.tell_client(envelope.text());
                return Releases::Nobody;
            }
        }
        Releases::All
    }

    /// The first child has answered the client's own `initialize`.
    fn greeted_by_client(&mut self, child: ChildId, envelope: &Envelope<'_>) {
        let (error, id) = (envelope.error(), envelope.id().map_or("null", Id::as_str));
        if envelope.result().is_none() && self.improvises_for(child, id, error) {
            return;
        }
        self.pass_offer(envelope);
        let is_learner = self.child_mut(child).is_some_and(|child| child.phase == Phase::Learning);
        let Some(result) = envelope.result() else {
            // The client will start over with another version.
            (self.client, self.roots) = (Client::Silent, None);
            if let Some(child) = self.child_mut(child).filter(|_| !is_learner) {
                child.phase = Phase::Running;
            }
            return;
        };
        self.links[child.link].handshake = Some(result.to_owned());
        self.remember(child.link, result);
        self.note_era(child);
        if is_learner {
            self.ask_for_all_lists(child.link, result);
        } else {
            self.runs(child.link, child.number);
        }
        self.promise(result.get());
    }

    /// A later child has answered `initialize`. Tell the client what differs from the first handshake.
    fn greeted(&mut self, child: ChildId, envelope: &Envelope<'_>) {
        let Some(result) = envelope.result() else {
            let error = shown(envelope.error().map(RawValue::get).unwrap_or_default(), LONGEST_ERROR);
            return self.ended(child, &Failure::new(format!("the server refused `initialize`: {error}")));
        };
        self.remember(child.link, result);
        if self.needs_newer_client(result) {
            return self.cannot_go_on(child, result);
        }
        let before = self.links[child.link].handshake.replace(result.to_owned());
        self.take_over(child.link, child.number);
        if let Some(before) = before.filter(|before| before.get() != result.get()) {
            self.correct(&before, result);
        }
    }

    /// Whether a server chose a later revision than the client was told.
    fn needs_newer_client(&self, result: &RawValue) -> bool {
        let Client::Legacy(Legacy { promised: Some(promised), .. }) = &self.client else { return false };
        let promised = RawValue::from_string(promised.to_string());
        promised.is_ok_and(|promised| Offer::read(result).is_newer_than(&Offer::read(&promised)))
    }

    /// A server speaks a revision that the client was not told about. The new handshake is cached for the next
    /// client.
    fn cannot_go_on(&mut self, id: ChildId, result: &RawValue) {
        let Some(guard) = self.child_mut(id).map(|child| child.guard.clone()) else { return };
        let revision = shown(&Offer::read(result).revision().unwrap_or_default(), LONGEST_ERROR);
        let says = format!(
            "the server speaks revision {revision} of the protocol, which this client was not told of: reconnect to it"
        );
        self.say(&says);
        let failure = Failure::new(says);
        self.lost(id, &failure);
        self.links[id.link].impossible = Some((guard, failure));
    }

    /// Tells the client about lists that the server offers now and did not before, or the other way round.
    fn correct(&mut self, before: &RawValue, result: &RawValue) {
        let (before, now) = (Offer::read(before), Offer::read(result));
        for list in offer::LISTS.iter().filter(|list| list.method != method::LIST_TEMPLATES) {
            if before.has(list.capability) || now.has(list.capability) {
                self.tell_client(&message::notification(list.changed));
            }
        }
    }
}
