//! Learns what a server offers before the roots are known.
//!
//! A client names its roots only after it was told what the server offers, and no server gets a call before the
//! directories it runs in are known. So a process is started in an empty directory, asked what it offers, and stopped
//! before the real one starts: the *learner*. If it dies or is late, Rootward answers in its place; requests for
//! something that the real server lacks then get empty answers.

use std::time::Duration;

use rootward_protocol::frame::{Envelope, Members};
use rootward_protocol::message::{self, METHOD_NOT_FOUND};
use rootward_protocol::offer::{self, Offer};
use rootward_protocol::{Era, method};
use serde_json::value::RawValue;

use super::child::{Child, ChildId, Owed, Phase};
use super::failure::{Failure, Hope};
use super::link::Learners;
use super::memory::Learned;
use super::session::{Client, Session};
use super::{Effect, Purpose};

/// How long a learner may take to answer a client's first request. It may have to be fetched first.
const ANSWERS_WITHIN: Duration = Duration::from_secs(20);

/// How long a late learner may continue fetching the server. If it were stopped, the real start would have to fetch
/// again.
const FETCHES_WITHIN: Duration = Duration::from_mins(1);

/// How long it may take to list what it offers. The real server waits until it has ended.
const LISTS_WITHIN: Duration = Duration::from_secs(2);

/// The codes with which legacy servers refuse an unknown method.
const NOT_KNOWN: [&str; 3] = ["-32601", "-32602", "-32600"];

/// The code with which a server refuses the requested revision.
const UNSUPPORTED_REVISION: &str = "-32602";

/// A running learner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Lesson {
    pub(super) child: u64,
    /// The deadline for its answers.
    until: Duration,
}

impl Session {
    /// Asks a learner something on the client's behalf. Starts one if none is running.
    pub(super) fn ask_learner(&mut self, link: usize, id: &str, owed: Owed, text: &str) {
        if self.links[link].learners == Learners::Never {
            return self.answer_in_its_place(id, owed);
        }
        let number = match self.links[link].lesson {
            Some(lesson) => lesson.child,
            None => {
                let guard = self.nothing();
                self.start(link, guard, Phase::Learning)
            }
        };
        self.links[link].lesson = Some(Lesson { child: number, until: self.now + ANSWERS_WITHIN });
        if let Some(child) = self.links[link].children.get_mut(&number) {
            child.ask(id, owed, text);
        }
    }

    /// A learner has told a legacy client what it offers. Asks it for its lists, so that they are available at once.
    pub(super) fn ask_for_all_lists(&mut self, link: usize, result: &RawValue) {
        let Some(lesson) = &mut self.links[link].lesson else { return };
        lesson.until = self.now + LISTS_WITHIN;
        let number = lesson.child;
        if let Some(child) = self.links[link].children.get_mut(&number) {
            child.send(&message::notification(method::INITIALIZED));
        }
        let offer = Offer::read(result);
        for list in offer::LISTS.iter().filter(|list| offer.has(list.capability)) {
            self.ask_for_list(link, number, list.method);
        }
    }

    /// Stops learners that are done, and answers for those that are late.
    pub(super) fn go_on_learning(&mut self) {
        for link in 0..self.links.len() {
            let Some(lesson) = self.links[link].lesson else { continue };
            let Some(child) = self.links[link].children.get(&lesson.child) else { continue };
            let is_late = self.now >= lesson.until;
            let owes = |owed: &Owed| child.owes.values().any(|known| known == owed);
            let is_promised = matches!(&self.client, Client::Legacy(legacy) if legacy.promised.is_some());
            if is_late && owes(&Owed::Handshake) && self.links[link].learners == Learners::Fetching {
                self.go_on_fetching(link, lesson.child);
            } else if is_late && owes(&Owed::Discovery) {
                // The client continues with `initialize`; the learner may still be fetching.
                self.answer_for(link, lesson.child, |owed| owed == Owed::Discovery);
            } else if is_late && self.era() == Era::Modern {
                // A listening request is answered when something happens, and may stay open.
                self.answer_for(link, lesson.child, |owed| owed != Owed::Plain);
            } else if (is_late && owes(&Owed::Handshake)) || (is_promised && (is_late || child.owes.is_empty())) {
                self.end_lesson(link);
            }
        }
    }

    /// Answers the client in place of a learner that is probably fetching the server, and lets it continue.
    fn go_on_fetching(&mut self, link: usize, number: u64) {
        let Some(child) = self.links[link].children.get_mut(&number) else { return };
        let owed: Vec<Box<str>> = child.owes.extract_if(|_, owed| *owed == Owed::Handshake).map(|(id, _)| id).collect();
        for id in owed {
            if let Some(child) = self.links[link].children.get_mut(&number) {
                child.owes.insert(id.clone(), Owed::OwnHandshake);
            }
            self.improvise(&id);
        }
        self.links[link].lesson = Some(Lesson { child: number, until: self.now + FETCHES_WITHIN });
    }

    /// A learner whose client was already answered has now answered `initialize`.
    pub(super) fn learned_late(&mut self, link: usize, result: Option<&RawValue>) {
        match result {
            Some(result) => {
                self.links[link].handshake = Some(result.to_owned());
                self.remember(link, result);
                self.ask_for_all_lists(link, result);
            }
            None => self.end_lesson(link),
        }
    }

    /// Stops a learner and answers its open requests in its place. Nothing starts before it is gone.
    pub(super) fn end_lesson(&mut self, link: usize) {
        let Some(lesson) = self.links[link].lesson.take() else { return };
        let id = self.child_id(link, lesson.child);
        self.answer_for_all(id);
        self.links[link].children.remove(&lesson.child);
        // SECURITY: two processes of a server never run with different roots at the same time, and a learner has
        // nothing to save
        // (test: the_learner_is_gone_before_the_server_starts)
        self.links[link].leaving.push(lesson.child);
        self.push(Effect::End(id));
        self.push(Effect::Kill(id));
    }

    /// A learner has ended on its own. That is not a failure: the server may need its roots to run.
    pub(super) fn learner_ended(&mut self, id: ChildId) {
        self.links[id.link].lesson = None;
        self.answer_for_all(id);
        self.links[id.link].children.remove(&id.number);
        self.links[id.link].leaving.push(id.number);
        self.push(Effect::End(id));
    }

    /// A learner could not be started.
    pub(super) fn learner_not_started(&mut self, id: ChildId, failure: &Failure, hope: Hope) {
        self.links[id.link].lesson = None;
        match hope {
            Hope::OtherRoots => {
                self.answer_for_all(id);
                self.links[id.link].children.remove(&id.number);
            }
            Hope::None => {
                self.lost(id, failure);
                self.push(Effect::Leave(self.id));
            }
        }
    }

    /// The process of a child has exited.
    pub(super) fn gone(&mut self, id: ChildId) {
        self.links[id.link].leaving.retain(|number| *number != id.number);
    }

    /// Answers all of a learner's open requests.
    fn answer_for_all(&mut self, id: ChildId) {
        self.answer_for(id.link, id.number, |_| true);
    }

    /// Answers some of a learner's open requests in its place.
    fn answer_for(&mut self, link: usize, number: u64, is_meant: impl Fn(Owed) -> bool) {
        let Some(child) = self.links[link].children.get_mut(&number) else { return };
        let owed: Vec<(Box<str>, Owed)> = child.owes.extract_if(|_, owed| is_meant(*owed)).collect();
        for (id, owed) in owed {
            self.answer_in_its_place(&id, owed);
        }
    }

    fn answer_in_its_place(&mut self, id: &str, owed: Owed) {
        match owed {
            Owed::Handshake => self.improvise(id),
            Owed::Discovery => {
                let says = "the server did not say which revision it speaks; begin with `initialize`";
                self.tell_client(&message::error(id, METHOD_NOT_FOUND, says, None));
            }
            Owed::Plain | Owed::List(_) | Owed::Page(_) => {
                let says = "the server is not running yet; call a tool, or send the request again";
                self.tell_client(&Failure::new(says).answer(id));
            }
            Owed::OwnHandshake | Owed::OwnList(_) => {}
        }
    }

    /// A learner cannot answer the client's `initialize`, or answered with an error. Returns whether Rootward
    /// answered in its place, which it does not if the client should choose another revision.
    pub(super) fn improvises_for(&mut self, id: ChildId, request: &str, error: Option<&RawValue>) -> bool {
        let is_learner = self.child_mut(id).is_some_and(|child| child.phase == Phase::Learning);
        let code = error.and_then(Members::read).and_then(|error| error.get("code")).map(RawValue::get);
        if !is_learner || code == Some(UNSUPPORTED_REVISION) {
            return false;
        }
        self.improvise(request);
        self.end_lesson(id.link);
        true
    }

    /// Answers `initialize` without knowing what the server will offer.
    fn improvise(&mut self, id: &str) {
        let Client::Legacy(legacy) = &self.client else { return };
        let result = offer::improvised(legacy.revision.as_deref());
        self.tell_offer(id, &result);
        self.promise(&result);
    }

    /// A server has answered `server/discover`.
    pub(super) fn discovered(&mut self, link: usize, envelope: &Envelope<'_>) {
        match (envelope.result(), envelope.error().and_then(Members::read)) {
            (Some(result), _) => {
                self.links[link].refused_discovery = false;
                // A client that did not wait has begun with `initialize`, whose answer is another.
                if !matches!(self.client, Client::Legacy(_)) {
                    self.remember(link, result);
                }
                if self.links[link].memory.is_legacy_only() {
                    self.learn_that(link, Learned::BothEras);
                }
            }
            (None, error) => {
                let code = error.and_then(|error| error.get("code")).map(RawValue::get);
                self.links[link].refused_discovery = code.is_some_and(|code| NOT_KNOWN.contains(&code));
            }
        }
    }

    /// A server has answered `initialize`. If it refused or ignored `server/discover`, it speaks only the legacy era.
    pub(super) fn note_era(&mut self, child: ChildId) {
        let link = child.link;
        let owes = |child: &mut Child| child.owes.values().any(|owed| *owed == Owed::Discovery);
        let passed_over = self.child_mut(child).is_some_and(owes);
        if std::mem::take(&mut self.links[link].refused_discovery) || passed_over {
            self.learn_that(link, Learned::LegacyOnly);
        }
    }

    /// When a learner is late.
    pub(super) fn lessons_end_at(&self) -> Option<Duration> {
        let until = self.links.iter().filter_map(|link| link.lesson).map(|lesson| lesson.until);
        until.filter(|until| *until > self.now).min()
    }

    /// The purpose of a process.
    pub(super) fn purpose(&self, link: usize, phase: Phase) -> Purpose {
        match phase {
            Phase::Learning => Purpose::Learn,
            _ if self.links[link].failure.is_some() => Purpose::ServeTraced,
            _ => Purpose::Serve,
        }
    }

    /// The answer to a request for something that the client was promised but the server lacks.
    pub(super) fn lacking(&self, link: usize, id: &str, method: &str) -> Option<String> {
        let (capability, nothing) = offer::nothing(method)?;
        let Client::Legacy(legacy) = &self.client else { return None };
        let promised = RawValue::from_string(legacy.promised.as_deref()?.to_owned()).ok()?;
        let offers = Offer::read(self.links[link].handshake.as_ref()?).has(capability);
        (!offers && Offer::read(&promised).has(capability)).then(|| message::result(id, nothing))
    }
}
