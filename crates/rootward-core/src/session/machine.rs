//! The state machine: what is in progress between the session and its client, and how events change it.

use std::time::Duration;

use crate::set::RootSet;

use super::current::{CurrentRoots, Failure, Heard, Named, State, decide, state};
use super::policy::{Policy, Sources, Support};
use super::{Effect, Event, RequestNumber, Standing};

/// The roots of one session. Dropped when the session ends.
#[derive(Clone, Debug)]
pub struct SessionRoots {
    policy: Policy,
    sources: Sources,
    support: Support,
    heard: Heard,
    named: Named,
    progress: Progress,
    last_request: RequestNumber,
    last_asked: Option<Duration>,
    current: CurrentRoots,
    /// The latest time seen. Time does not run backwards here.
    now: Duration,
    /// The last wake-up time that the driver was given.
    wake_at: Option<Duration>,
}

/// What is in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Progress {
    /// Nothing: the client's last answer is valid.
    Idle,
    /// There is no valid answer; the next call asks.
    Stale,
    /// `list_changed` arrived; the client is asked after a quiet period.
    Bursting { first: Duration, last: Duration },
    /// The client was asked.
    Asked { request: RequestNumber, until: Duration, calls: Calls },
}

/// What calls do while the client is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Calls {
    Wait,
    GoOn,
}

impl SessionRoots {
    /// A session whose client has just declared its capabilities. The client is not asked until a call needs roots.
    pub fn new(policy: Policy, sources: Sources, support: Support) -> SessionRoots {
        let heard = Heard::Nothing;
        let current = CurrentRoots { generation: 1, ..decide(&policy, &sources, support, &heard, Named::Never) };
        SessionRoots {
            policy,
            sources,
            support,
            heard,
            named: Named::Never,
            progress: Progress::Stale,
            last_request: RequestNumber(0),
            last_asked: None,
            current,
            now: Duration::ZERO,
            wake_at: None,
        }
    }

    /// Handles `event` at `now` and returns the effects. `now` is the time since any fixed moment and never runs
    /// backwards.
    pub fn handle(&mut self, now: Duration, event: Event) -> Vec<Effect> {
        let now = self.now.max(now);
        self.now = now;
        let held_calls = self.holds_calls();
        let ticked = matches!(event, Event::Tick);
        let mut effects = Vec::new();
        // Before the event: an answer after the deadline is late even if the driver's timer fires later.
        self.give_up_when_due(&mut effects);
        match event {
            Event::Needed { arrived } => self.needed(arrived, &mut effects),
            Event::ListChanged => self.list_changed(&mut effects),
            // SECURITY: a disk that is slower than the timeout must not cause a fallback for a client that named its
            // roots (test: roots_that_are_looked_up_too_slowly_still_count_as_named)
            Event::Named { request } if self.is_awaited(request) => self.named = Named::Once,
            Event::Answered { request, roots } => self.answered(request, roots, &mut effects),
            Event::Failed { request, reason } => {
                if self.is_awaited(request) {
                    self.failed(Failure::Error(reason), &mut effects);
                }
            }
            Event::LookedAgain { request, roots } => self.looked_again(request, roots, &mut effects),
            Event::Invalidate => self.invalidate(&mut effects),
            Event::SourcesChanged(sources) => {
                self.sources = sources;
                self.update_current(&mut effects);
            }
            Event::RestrictionsChanged => self.renumber(&mut effects),
            Event::Named { .. } | Event::Tick => {}
        }
        // After the event: another `list_changed` extends a burst rather than overtaking a new question.
        self.ask_when_quiet(&mut effects);
        if held_calls && !self.holds_calls() {
            effects.push(Effect::Settled);
        }
        let wake_at = self.due();
        if wake_at != self.wake_at || ticked {
            effects.extend(wake_at.map(Effect::WakeAt));
        }
        self.wake_at = wake_at;
        effects
    }

    /// What a call does at `now` if it arrived at `arrived` and needs roots. Handle [`Event::Needed`] for it first.
    pub fn standing(&self, arrived: Duration, now: Duration) -> Standing<'_> {
        if !self.holds_calls() && !self.is_outlived(arrived) {
            return Standing::Proceed(&self.current);
        }
        let until = arrived.saturating_add(self.policy.timeout);
        if now < until { Standing::Wait { until } } else { Standing::Overdue }
    }

    /// The current roots, for guards and for display. Calls use [`SessionRoots::standing`]: after `list_changed` they
    /// wait, while these roots stay until the client has answered.
    pub fn current(&self) -> &CurrentRoots {
        &self.current
    }

    /// The client's state.
    pub fn state(&self) -> State {
        if self.holds_calls() { State::Pending } else { state(&self.policy, &self.sources, self.support, &self.heard) }
    }

    /// When to send [`Event::Tick`]: the time of the last [`Effect::WakeAt`], if it is still valid.
    pub fn wakes_at(&self) -> Option<Duration> {
        self.wake_at
    }

    /// Why the client's roots are unknown, if the state is `failed`.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.heard {
            Heard::Failed(failure) => Some(failure),
            _ => None,
        }
    }

    /// The settings of the session.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What the client declared.
    pub fn support(&self) -> Support {
        self.support
    }

    /// The roots as the client named them, before the ceiling, and the question they answer, for
    /// [`Event::LookedAgain`].
    pub fn client_roots(&self) -> Option<(RequestNumber, &RootSet)> {
        match &self.heard {
            Heard::List { request, roots, .. } => Some((*request, roots)),
            _ => None,
        }
    }

    fn needed(&mut self, arrived: Duration, effects: &mut Vec<Effect>) {
        if !self.can_ask() {
            return;
        }
        match self.progress {
            Progress::Stale => self.ask(Calls::Wait, effects),
            Progress::Idle if self.is_outlived(arrived) => self.ask(Calls::Wait, effects),
            Progress::Idle if matches!(self.heard, Heard::Failed(_)) && self.may_retry() => {
                self.ask(Calls::GoOn, effects);
            }
            Progress::Idle | Progress::Bursting { .. } | Progress::Asked { .. } => {}
        }
    }

    fn list_changed(&mut self, effects: &mut Vec<Effect>) {
        // A client without the capability has no list to change. If the client was never asked, there is no list to
        // invalidate.
        if !self.can_ask() || (self.progress == Progress::Stale && self.heard == Heard::Nothing) {
            return;
        }
        let first = match self.progress {
            Progress::Bursting { first, .. } => first,
            Progress::Asked { request, .. } => {
                // SECURITY: the answer may predate the change and name a root that is gone
                // (test: a_change_overtakes_the_answer_under_way)
                effects.push(Effect::Cancel { request });
                self.now
            }
            Progress::Idle | Progress::Stale => self.now,
        };
        self.progress = Progress::Bursting { first, last: self.now };
    }

    fn answered(&mut self, request: RequestNumber, roots: RootSet, effects: &mut Vec<Effect>) {
        // SECURITY: accept only the answer to the current question; a late answer to an older one would restore what a
        // newer one removed (test: answers_in_reverse_order)
        if !self.is_awaited(request) {
            return;
        }
        self.progress = Progress::Idle;
        self.heard = if roots.names_any() {
            self.named = Named::Once;
            Heard::List { request, roots, at: self.now }
        } else {
            Heard::Empty { at: self.now }
        };
        self.update_current(effects);
    }

    fn failed(&mut self, failure: Failure, effects: &mut Vec<Effect>) {
        self.progress = Progress::Idle;
        self.heard = Heard::Failed(failure);
        self.update_current(effects);
    }

    /// Looking at the disk again does not renew the list's lifetime, and does not end what is in progress.
    fn looked_again(&mut self, request: RequestNumber, found: RootSet, effects: &mut Vec<Effect>) {
        if let Heard::List { request: held, roots, .. } = &mut self.heard
            && *held == request
        {
            *roots = found;
            self.update_current(effects);
        }
    }

    fn invalidate(&mut self, effects: &mut Vec<Effect>) {
        match self.progress {
            Progress::Idle => self.progress = Progress::Stale,
            Progress::Stale | Progress::Bursting { .. } => {}
            Progress::Asked { request, .. } => {
                effects.push(Effect::Cancel { request });
                self.ask(Calls::Wait, effects);
            }
        }
    }

    fn ask(&mut self, calls: Calls, effects: &mut Vec<Effect>) {
        let request = RequestNumber(self.last_request.0 + 1);
        self.last_request = request;
        self.last_asked = Some(self.now);
        self.progress = Progress::Asked { request, until: self.now.saturating_add(self.policy.timeout), calls };
        effects.push(Effect::Ask { request });
    }

    fn give_up_when_due(&mut self, effects: &mut Vec<Effect>) {
        if let Progress::Asked { request, .. } = self.progress
            && self.is_due()
        {
            effects.push(Effect::Cancel { request });
            self.failed(Failure::TimedOut, effects);
        }
    }

    fn ask_when_quiet(&mut self, effects: &mut Vec<Effect>) {
        if matches!(self.progress, Progress::Bursting { .. }) && self.is_due() {
            self.ask(Calls::Wait, effects);
        }
    }

    fn is_due(&self) -> bool {
        self.due().is_some_and(|due| self.now >= due)
    }

    /// When the next timed action is due.
    fn due(&self) -> Option<Duration> {
        match self.progress {
            Progress::Bursting { first, last } => {
                let quiet = last.saturating_add(self.policy.debounce);
                Some(quiet.min(first.saturating_add(self.policy.debounce_limit)))
            }
            Progress::Asked { until, .. } => Some(until),
            Progress::Idle | Progress::Stale => None,
        }
    }

    /// Compares by value, including objects on disk: the same list gets a new generation if a link has moved.
    fn update_current(&mut self, effects: &mut Vec<Effect>) {
        let new = decide(&self.policy, &self.sources, self.support, &self.heard, self.named);
        let same = new.roots == self.current.roots && new.reach == self.current.reach;
        let generation = self.current.generation + u64::from(!same);
        self.current = CurrentRoots { generation, ..new };
        if !same {
            effects.push(Effect::Changed { generation });
        }
    }

    /// The same roots with a new generation.
    fn renumber(&mut self, effects: &mut Vec<Effect>) {
        self.current.generation += 1;
        effects.push(Effect::Changed { generation: self.current.generation });
    }

    fn can_ask(&self) -> bool {
        self.support != Support::No && self.policy.follow.listens()
    }

    fn is_awaited(&self, answered: RequestNumber) -> bool {
        matches!(self.progress, Progress::Asked { request, .. } if request == answered)
    }

    /// Whether every call waits.
    fn holds_calls(&self) -> bool {
        let settled = matches!(self.progress, Progress::Idle | Progress::Asked { calls: Calls::GoOn, .. });
        self.can_ask() && !settled
    }

    /// Whether the list had expired when a call arrived at `arrived`.
    fn is_outlived(&self, arrived: Duration) -> bool {
        let lifetime = match self.support {
            Support::Announced => self.policy.lifetime_announced,
            Support::No | Support::Listed => self.policy.lifetime,
        };
        match (&self.heard, lifetime) {
            (Heard::List { at, .. } | Heard::Empty { at }, Some(lifetime)) => arrived > at.saturating_add(lifetime),
            _ => false,
        }
    }

    fn may_retry(&self) -> bool {
        self.last_asked.is_none_or(|asked| self.now >= asked.saturating_add(self.policy.retry_after))
    }
}
