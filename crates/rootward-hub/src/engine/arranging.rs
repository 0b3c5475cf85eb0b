//! Children: started with the current roots, greeted, replaced, retired, lost.

use std::time::Duration;

use rootward_core::Guard;
use rootward_protocol::message;
use rootward_protocol::{Era, method};

use super::Effect;
use super::child::{ASKS_WITHIN, ChildId, Owed, Phase, SETTLES_WITHIN};
use super::failure::{Failure, Hope};
use super::link::{Begin, Change};
use super::session::{Asked, Client, Session};

impl Session {
    /// Makes sure that every child has the current roots, and starts one if needed.
    pub(super) fn arrange(&mut self) {
        let Client::Legacy(legacy) = &self.client else { return };
        // The first child is started by `initialize`, or not at all if the answer was cached. After the client is
        // gone, nothing is started unless a message waits.
        if legacy.promised.is_none() || (self.closed && self.waiting.is_empty()) {
            return;
        }
        let guard = self.guard().cloned();
        if let Some(guard) = &guard {
            self.note_revoked(guard);
        }
        // SECURITY: no server gets a call before the directories it runs in are known
        // (test: a_client_that_never_names_its_roots_gets_lists_all_the_same)
        if let Some(guard) = guard {
            (0..self.links.len()).for_each(|link| self.fit(link, &guard));
        }
    }

    /// Makes sure that a child runs with these roots.
    fn fit(&mut self, link: usize, guard: &Guard) {
        let of = &mut self.links[link];
        if of.fits(of.coming, guard) || (of.coming.is_none() && of.fits(of.current, guard)) {
            return;
        }
        if let Some(number) = of.coming.take() {
            // The roots changed again before it was ready.
            self.drop_child(link, number);
        }
        // SECURITY: relative paths start where the child was started, so if that directory would change, the child is
        // restarted instead of notified
        // (test: relative_paths_mean_the_first_root_after_a_change)
        let now = self.now;
        let of = &mut self.links[link];
        if of.change == Change::Told
            && let Some(child) = of.running().filter(|child| child.greeted && child.guard.base() == guard.base())
        {
            child.guard = guard.clone();
            child.send(&message::notification(method::ROOTS_CHANGED));
            if child.asks_for_roots {
                child.settles_at = now + SETTLES_WITHIN;
            }
            return;
        }
        of.impossible.take_if(|(tried, _)| !tried.decides_as(guard));
        if of.fits(of.current, guard) || !of.may_start(now) {
            return;
        }
        if self.is_needed(link) {
            self.start_and_greet(link, guard.clone());
        } else if let Some(old) = self.links[link].current.take() {
            // The next message starts another child.
            self.retire(link, old);
        }
    }

    /// Whether a child has to run now.
    fn is_needed(&self, link: usize) -> bool {
        let of = &self.links[link];
        // A server that nobody knows anything about cannot be called, so it is started to find out.
        let is_unknown = of.handshake.is_none() && of.remembered.is_none();
        of.begin == Begin::AtOnce || is_unknown || self.waiting.iter().any(|waiting| waiting.way.link == link)
    }

    /// Stops children that have been idle for long enough.
    pub(super) fn end_idle(&mut self) {
        for link in 0..self.links.len() {
            if self.idle_at(link).is_some_and(|due| due <= self.now)
                && let Some(old) = self.links[link].current.take()
            {
                self.retire(link, old);
            }
        }
    }

    /// When the child of a link has been idle for long enough.
    pub(super) fn idle_at(&self, link: usize) -> Option<Duration> {
        let of = self.links.get(link)?;
        let (Begin::WhenNeeded { idle }, Some(number), None) = (of.begin, of.current, of.coming) else { return None };
        let child = of.children.get(&number).filter(|child| child.phase == Phase::Running)?;
        let id = self.child_id(link, number);
        let asks = || self.asked.values().any(|asked| matches!(asked, Asked::Child { child, .. } if *child == id));
        let works = of.has_subscribers || !child.owes.is_empty() || asks();
        (!works).then(|| of.needed.max(child.since) + idle)
    }

    /// Starts a child and sends it `initialize` on the client's behalf.
    fn start_and_greet(&mut self, link: usize, guard: Guard) {
        let Client::Legacy(legacy) = &self.client else { return };
        let params = legacy.params.clone();
        let id = self.own_id("greeting");
        let number = self.start(link, guard, Phase::Greeting);
        if let Some(child) = self.links[link].children.get_mut(&number) {
            child.ask(&id, Owed::OwnHandshake, &message::request(&id, method::INITIALIZE, Some(&params)));
        }
        self.links[link].coming = Some(number);
    }

    /// Requests the start of a child.
    pub(super) fn start(&mut self, link: usize, guard: Guard, phase: Phase) -> u64 {
        let number = self.links[link].add(guard.clone(), phase, self.now);
        self.push(Effect::Start(self.child_id(link, number), guard, self.purpose(link, phase)));
        number
    }

    /// Starts a modern child, which takes over at once because it needs no handshake.
    pub(super) fn start_modern(&mut self, link: usize, guard: Guard) {
        let number = self.start(link, guard, Phase::Running);
        if let Some(old) = self.links[link].current.replace(number) {
            self.retire(link, old);
        }
        self.compare_lists(link, number);
    }

    /// A child that Rootward greeted has answered and takes over.
    pub(super) fn take_over(&mut self, link: usize, number: u64) {
        if self.links[link].coming != Some(number) {
            return;
        }
        self.links[link].coming = None;
        if let Some(old) = self.links[link].current.replace(number) {
            self.retire(link, old);
        }
        self.runs(link, number);
        let initialized = matches!(&self.client, Client::Legacy(legacy) if legacy.initialized);
        if let Some(child) = self.links[link].children.get_mut(&number).filter(|child| initialized && !child.greeted) {
            child.greeted = true;
            child.send(&message::notification(method::INITIALIZED));
        }
        self.compare_lists(link, number);
    }

    /// A child has answered `initialize` and can take calls.
    pub(super) fn runs(&mut self, link: usize, number: u64) {
        let (now, settles) = (self.now, self.settles_at(link));
        self.links[link].failure = None;
        if let Some(child) = self.links[link].children.get_mut(&number) {
            (child.phase, child.since, child.settles_at) = (Phase::Running, now, settles);
        }
    }

    /// How long calls wait for a child that starts now to ask for its roots.
    pub(super) fn settles_at(&self, link: usize) -> Duration {
        match self.links[link].remembered.as_ref().and_then(|remembered| remembered.asks_for_roots) {
            Some(false) => self.now,
            Some(true) => self.now + ASKS_WITHIN,
            None => self.now + SETTLES_WITHIN,
        }
    }

    /// Records that a child had time to ask for its roots and did not, so that later calls need not wait. A child
    /// that is known to ask gets more time.
    pub(super) fn note_silence(&mut self) {
        for link in 0..self.links.len() {
            let of = &mut self.links[link];
            let Some(child) = of.current.and_then(|number| of.children.get(&number)) else { continue };
            let silence = self.now.saturating_sub(child.since);
            let Some(remembered) = of.remembered.as_mut() else { continue };
            let enough = match remembered.asks_for_roots {
                Some(false) => continue,
                Some(true) => ASKS_WITHIN,
                None => SETTLES_WITHIN,
            };
            if child.greeted && !child.asked && silence >= enough {
                remembered.asks_for_roots = Some(false);
                self.learn(link);
            }
        }
    }

    /// Lets a child finish its work; it is stopped afterwards.
    pub(super) fn retire(&mut self, link: usize, number: u64) {
        if let Some(child) = self.links[link].children.get_mut(&number) {
            child.phase = Phase::Retired;
        }
    }

    /// Stops retired children that owe no answer and have no open question.
    pub(super) fn sweep(&mut self) {
        let retired = self.children().filter(|(_, child)| child.phase == Phase::Retired);
        let retired: Vec<ChildId> =
            retired.filter(|(_, child)| child.owes.is_empty() && child.input.is_empty()).map(|(id, _)| id).collect();
        for id in retired {
            let asks = self.asked.values().any(|asked| matches!(asked, Asked::Child { child, .. } if *child == id));
            if !asks {
                self.drop_child(id.link, id.number);
            }
        }
    }

    fn drop_child(&mut self, link: usize, number: u64) {
        self.links[link].children.remove(&number);
        self.push(Effect::End(self.child_id(link, number)));
    }

    /// A child could not be started. No other is started until the roots change.
    pub(super) fn not_started(&mut self, id: ChildId, failure: &Failure, hope: Hope) {
        let Some((phase, guard)) = self.child_mut(id).map(|child| (child.phase, child.guard.clone())) else { return };
        if phase == Phase::Learning {
            return self.learner_not_started(id, failure, hope);
        }
        let first = self.is_first();
        self.lost(id, failure);
        if first {
            self.push(Effect::Leave(self.id));
        } else {
            self.links[id.link].impossible = Some((guard, failure.clone()));
            // SECURITY: the old child runs with roots that are no longer current
            // (test: calls_fail_if_no_server_can_be_started_with_the_new_roots)
            if let Some(old) = self.links[id.link].current.take() {
                self.retire(id.link, old);
            }
        }
    }

    /// A child has ended, or closed its output.
    pub(super) fn ended(&mut self, id: ChildId, failure: &Failure) {
        let Some((phase, since)) = self.child_mut(id).map(|child| (child.phase, child.since)) else { return };
        if phase == Phase::Learning {
            return self.learner_ended(id);
        }
        let first = self.is_first();
        if first && self.begins_again(id, failure) {
            return;
        }
        self.lost(id, failure);
        match phase {
            Phase::Retired | Phase::Learning => {}
            _ if first => self.push(Effect::Leave(self.id)),
            Phase::Greeting | Phase::Running => {
                let now = self.now;
                let of = &mut self.links[id.link];
                of.backoff.failed(now, now.saturating_sub(since));
                of.failure = (phase == Phase::Greeting).then(|| failure.clone());
                if !self.closed {
                    self.say(format!("the server ended ({}) and is being restarted", failure.how));
                }
            }
        }
    }

    /// Restarts a server that ended before it answered the client's `initialize`. The front traces the second
    /// process, so that the error can say what it was refused. Returns whether the server is restarted.
    fn begins_again(&mut self, id: ChildId, failure: &Failure) -> bool {
        let Client::Legacy(legacy) = &self.client else { return false };
        let (params, is_first_end) = (legacy.params.clone(), self.links[id.link].failure.is_none());
        let Some(child) = self.child_mut(id).filter(|_| is_first_end) else { return false };
        let request = child.owes.extract_if(|_, owed| *owed == Owed::Handshake).next();
        let (Some((request, _)), guard) = (request, child.guard.clone()) else { return false };
        self.lost(id, failure);
        self.links[id.link].failure = Some(failure.clone());
        let number = self.start(id.link, guard, Phase::Greeting);
        let of = &mut self.links[id.link];
        of.current = Some(number);
        if let Some(child) = of.children.get_mut(&number) {
            child.ask(&request, Owed::Handshake, &message::request(&request, method::INITIALIZE, Some(&params)));
        }
        true
    }

    /// Whether no server has answered the client yet. Then there is no session to preserve.
    fn is_first(&self) -> bool {
        match &self.client {
            Client::Silent => true,
            Client::Legacy(legacy) => legacy.promised.is_none(),
            Client::Modern => false,
        }
    }

    /// Removes a child: the client gets an error for every open request, and the child's own questions are cancelled.
    pub(super) fn lost(&mut self, id: ChildId, failure: &Failure) {
        let of = &mut self.links[id.link];
        let Some(child) = of.children.remove(&id.number) else { return };
        of.current.take_if(|current| *current == id.number);
        of.coming.take_if(|coming| *coming == id.number);
        self.push(Effect::End(id));
        for (request, owed) in child.owes {
            if owed.is_clients() {
                self.tell_client(&failure.answer(&request));
            }
        }
        let is_its = |asked: &Asked| matches!(asked, Asked::Child { child, .. } if *child == id);
        let asked = self.asked.iter().filter(|(_, asked)| is_its(asked)).map(|(sent, _)| sent.clone());
        for sent in asked.collect::<Vec<Box<str>>>() {
            self.asked.remove(&sent);
            self.tell_client(&message::cancelled(&sent, "the server ended"));
        }
    }

    /// Whether the server runs with the current roots, or the roots do not matter.
    pub(super) fn is_in_place(&self, link: usize) -> bool {
        // A modern call shows by its paths that it needs roots; without paths, the client is not asked for them.
        if self.roots.is_none() || self.era() == Era::Modern {
            return true;
        }
        let Some(guard) = self.guard() else { return false };
        self.links[link].current().is_some_and(|child| child.guard.decides_as(guard))
    }
}
