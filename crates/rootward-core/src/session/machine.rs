//! The machine: what is under way between the session and its client, and what each event makes of it.

use std::time::Duration;

use crate::set::RootSet;

use super::in_force::{Failure, Heard, InForce, Named, State, decide, state};
use super::policy::{Policy, Sources, Support};
use super::{Effect, Event, RequestNumber, Standing};

/// The roots of one session. Dropped when the session is over.
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
    in_force: InForce,
    /// The latest time seen; time does not run backwards here.
    now: Duration,
    /// What the driver was last told.
    wake_at: Option<Duration>,
}

/// What is under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Progress {
    /// Nothing: what was heard holds.
    Idle,
    /// What was heard does not hold any more, if anything was; the next call asks.
    Stale,
    /// `list_changed` came; asked when it has been quiet.
    Bursting { first: Duration, last: Duration },
    /// Asked.
    Asked { request: RequestNumber, until: Duration, calls: Calls },
}

/// What calls do while the client is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Calls {
    Wait,
    GoOn,
}

impl SessionRoots {
    /// A session whose client's capabilities have just become known. Nothing is asked until a call needs roots.
    pub fn new(policy: Policy, sources: Sources, support: Support) -> SessionRoots {
        let heard = Heard::Nothing;
        let in_force = InForce { generation: 1, ..decide(&policy, &sources, support, &heard, Named::Never) };
        SessionRoots {
            policy,
            sources,
            support,
            heard,
            named: Named::Never,
            progress: Progress::Stale,
            last_request: RequestNumber(0),
            last_asked: None,
            in_force,
            now: Duration::ZERO,
            wake_at: None,
        }
    }

    /// Takes notice of `event` at `now` (since any fixed moment, never running backwards) and says what is to be done.
    pub fn handle(&mut self, now: Duration, event: Event) -> Vec<Effect> {
        let now = self.now.max(now);
        self.now = now;
        let held_calls = self.holds_calls();
        let ticked = matches!(event, Event::Tick);
        let mut effects = Vec::new();
        // Before the event: an answer that comes after its time is late even if the driver's timer is later still.
        self.give_up_when_due(&mut effects);
        match event {
            Event::Needed { arrived } => self.needed(arrived, &mut effects),
            Event::ListChanged => self.list_changed(&mut effects),
            // SECURITY: a disk that takes longer than the timeout is no reason to let others stand in for a client that named its roots
            // (test: roots_that_are_looked_up_too_slowly_are_named_all_the_same)
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
                self.put_in_force(&mut effects);
            }
            Event::RestrictionsChanged => self.renumber(&mut effects),
            Event::Named { .. } | Event::Tick => {}
        }
        // After it: one more `list_changed` prolongs a burst rather than overtake a question just put.
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

    /// What a call that arrived at `arrived` and needs roots does at `now`, after [`Event::Needed`] was handled for it.
    pub fn standing(&self, arrived: Duration, now: Duration) -> Standing<'_> {
        if !self.holds_calls() && !self.is_outlived(arrived) {
            return Standing::InForce(&self.in_force);
        }
        let until = arrived.saturating_add(self.policy.timeout);
        if now < until { Standing::Wait { until } } else { Standing::Overdue }
    }

    /// The roots in force, for guards and for showing. Calls look at [`SessionRoots::standing`]: from `list_changed` on
    /// they wait, while these stay until the client has answered.
    pub fn in_force(&self) -> &InForce {
        &self.in_force
    }

    /// The client's state.
    pub fn state(&self) -> State {
        if self.holds_calls() { State::Pending } else { state(&self.policy, &self.sources, self.support, &self.heard) }
    }

    /// When something happens by itself, and [`Event::Tick`] is to be sent: what [`Effect::WakeAt`] last said, if it still holds.
    pub fn wakes_at(&self) -> Option<Duration> {
        self.wake_at
    }

    /// Why the client's roots are not known, where the state is `failed`.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.heard {
            Heard::Failed(failure) => Some(failure),
            _ => None,
        }
    }

    /// What was decided before the session began.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What the client declared.
    pub fn support(&self) -> Support {
        self.support
    }

    /// The roots as the client named them, before the ceiling, and the question they answer: what
    /// [`Event::LookedAgain`] is about.
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
        // A client without the capability has no list to change; one that was never asked has none that is held.
        if !self.can_ask() || (self.progress == Progress::Stale && self.heard == Heard::Nothing) {
            return;
        }
        let first = match self.progress {
            Progress::Bursting { first, .. } => first,
            Progress::Asked { request, .. } => {
                // SECURITY: its answer may have been made before the change and name a root that is gone
                // (test: a_change_overtakes_the_answer_under_way)
                effects.push(Effect::Cancel { request });
                self.now
            }
            Progress::Idle | Progress::Stale => self.now,
        };
        self.progress = Progress::Bursting { first, last: self.now };
    }

    fn answered(&mut self, request: RequestNumber, roots: RootSet, effects: &mut Vec<Effect>) {
        // SECURITY: only the question under way can be answered; a late answer to an older one would bring back what a
        // newer one took away (test: answers_in_reverse_order)
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
        self.put_in_force(effects);
    }

    fn failed(&mut self, failure: Failure, effects: &mut Vec<Effect>) {
        self.progress = Progress::Idle;
        self.heard = Heard::Failed(failure);
        self.put_in_force(effects);
    }

    /// A look at the disk makes a list no younger, and does not end what is under way.
    fn looked_again(&mut self, request: RequestNumber, found: RootSet, effects: &mut Vec<Effect>) {
        if let Heard::List { request: held, roots, .. } = &mut self.heard
            && *held == request
        {
            *roots = found;
            self.put_in_force(effects);
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

    /// When something happens by itself.
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

    /// Compared by value, objects on disk included: the same list sent again gets a new number if a link has moved.
    fn put_in_force(&mut self, effects: &mut Vec<Effect>) {
        let new = decide(&self.policy, &self.sources, self.support, &self.heard, self.named);
        let same = new.roots == self.in_force.roots && new.reach == self.in_force.reach;
        let generation = self.in_force.generation + u64::from(!same);
        self.in_force = InForce { generation, ..new };
        if !same {
            effects.push(Effect::Changed { generation });
        }
    }

    /// The same roots under another number.
    fn renumber(&mut self, effects: &mut Vec<Effect>) {
        self.in_force.generation += 1;
        effects.push(Effect::Changed { generation: self.in_force.generation });
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

    /// Whether the list had outlived itself when a call arrived at `arrived`.
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
