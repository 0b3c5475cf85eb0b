//! Compares the machine with a stateless model: the model reads the whole log of a random session, finds the outcome of
//! each question, and looks up the rest in the tables of the design.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::access::Access;
use crate::root::Origin;
use crate::set::examples::{directory, of, refused};
use crate::set::{Mode, WhyRefused};

use super::*;

/// One event, its time, and its effects.
struct Entry {
    now: Duration,
    event: Event,
    effects: Vec<Effect>,
}

struct Log {
    policy: Policy,
    support: Support,
    sources: Sources,
    entries: Vec<Entry>,
}

/// The outcome of a question, and the entry that decided it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Open,
    Overtaken,
    Answered(usize),
    Failed(usize),
    TimedOut(usize),
}

/// The outcome of the last question that ended.
struct Outcome {
    /// The entry that ended it.
    end: usize,
    /// The list, as last looked up; `None` for a failure.
    list: Option<RootSet>,
}

impl Log {
    fn asks(&self) -> BTreeMap<RequestNumber, usize> {
        let asked = |(index, entry): (usize, &Entry)| {
            let asked = entry.effects.iter().filter_map(|effect| match effect {
                Effect::Ask { request } => Some(*request),
                _ => None,
            });
            asked.map(|request| (request, index)).collect::<Vec<_>>()
        };
        self.entries.iter().enumerate().flat_map(asked).collect()
    }

    fn fate(&self, request: RequestNumber, asked: usize) -> Fate {
        let deadline = self.entries[asked].now + self.policy.timeout;
        for (index, entry) in self.entries.iter().enumerate().skip(asked + 1) {
            if entry.now >= deadline {
                return Fate::TimedOut(index);
            }
            match &entry.event {
                Event::ListChanged | Event::Invalidate => return Fate::Overtaken,
                Event::Answered { request: answered, .. } if *answered == request => return Fate::Answered(index),
                Event::Failed { request: answered, .. } if *answered == request => return Fate::Failed(index),
                _ => {}
            }
        }
        Fate::Open
    }

    fn outcome(&self) -> Option<Outcome> {
        let ended = |(request, asked): (RequestNumber, usize)| match self.fate(request, asked) {
            Fate::Open | Fate::Overtaken => None,
            Fate::Failed(end) | Fate::TimedOut(end) => Some(Outcome { end, list: None }),
            Fate::Answered(end) => Some(Outcome { end, list: Some(self.list(request, end)) }),
        };
        self.asks().into_iter().rev().find_map(ended)
    }

    /// The list that answered `request`, as last looked up.
    fn list(&self, request: RequestNumber, end: usize) -> RootSet {
        let looked = self.entries[end..].iter().rev().find_map(|entry| match &entry.event {
            Event::LookedAgain { request: looked, roots } if *looked == request => Some(roots.clone()),
            _ => None,
        });
        match (&self.entries[end].event, looked) {
            // A list without entries has nothing to look up.
            (Event::Answered { roots, .. }, Some(looked)) if roots.names_any() => looked,
            (Event::Answered { roots, .. }, _) => roots.clone(),
            _ => unreachable!("not an answer"),
        }
    }

    fn client_ever_named(&self) -> bool {
        self.asks().into_iter().any(|(request, asked)| match self.fate(request, asked) {
            Fate::Answered(end) => {
                matches!(&self.entries[end].event, Event::Answered { roots, .. } if roots.names_any())
            }
            _ => false,
        })
    }

    fn current_sources(&self) -> &Sources {
        let changed = self.entries.iter().rev().find_map(|entry| match &entry.event {
            Event::SourcesChanged(sources) => Some(sources),
            _ => None,
        });
        changed.unwrap_or(&self.sources)
    }

    fn listens(&self) -> bool {
        self.support != Support::No && matches!(self.policy.follow, Follow::Client | Follow::Strict)
    }

    /// Changes that were announced, or lists that were invalidated, since `outcome`.
    fn changes_since(&self, outcome: &Outcome) -> impl Iterator<Item = &Entry> {
        // The entry that ended the question may itself be a change that arrived after the deadline.
        let later = self.entries[outcome.end..].iter();
        later.filter(|entry| matches!(entry.event, Event::ListChanged | Event::Invalidate))
    }

    /// The replacement for the client's roots: other roots, or everything.
    fn replacement(&self) -> (RootSet, Reach) {
        let sources = self.current_sources();
        if self.policy.follow == Follow::Strict {
            return (RootSet::default(), Reach::Roots);
        }
        for set in [&sources.ceiling, &sources.saved, &sources.fallback] {
            if set.names_any() {
                return (set.clone(), Reach::Roots);
            }
        }
        let everything = self.policy.no_roots == NoRoots::AllowAll;
        (RootSet::default(), if everything { Reach::AllowAll } else { Reach::Roots })
    }

    /// The state of a client that is ignored.
    fn unheard(&self) -> State {
        if self.support == Support::No { State::Unsupported } else { State::Ignored }
    }

    /// The expected values according to the tables.
    fn expected(&self) -> (State, RootSet, Reach) {
        let sources = self.current_sources();
        match self.policy.follow {
            Follow::IgnoreClient => return (self.unheard(), sources.ceiling.clone(), Reach::Roots),
            Follow::FallbackOnly => return (self.unheard(), sources.fallback.clone(), Reach::Roots),
            Follow::Client | Follow::Strict => {}
        }
        let (replacement, reach) = self.replacement();
        if self.support == Support::No {
            return (State::Unsupported, replacement, reach);
        }
        let Some(outcome) = self.outcome() else { return (State::Pending, RootSet::default(), Reach::Roots) };
        let named = self.client_ever_named();
        match outcome.list {
            Some(list) if !list.is_empty() => {
                (State::Ready, RootSet::combine(self.policy.mode, &list, &sources.ceiling), Reach::Roots)
            }
            Some(list) if list.names_any() => (State::Unusable, list, Reach::Roots),
            Some(_) if named => (State::Empty, RootSet::default(), Reach::Roots),
            Some(_) => (State::Empty, replacement, reach),
            None if named => (State::Failed, RootSet::default(), Reach::Roots),
            None => (State::Failed, replacement, reach),
        }
    }

    /// Whether a call that arrived at `arrived` waits.
    fn waits(&self, arrived: Duration) -> bool {
        if !self.listens() {
            return false;
        }
        let Some(outcome) = self.outcome() else { return true };
        if self.changes_since(&outcome).next().is_some() {
            return true;
        }
        let lifetime = match self.support {
            Support::Announced => self.policy.lifetime_announced,
            _ => self.policy.lifetime,
        };
        let asked_since = self.asks().into_iter().any(|(request, asked)| self.fate(request, asked) == Fate::Open);
        let outlived = lifetime.is_some_and(|lifetime| arrived > self.entries[outcome.end].now + lifetime);
        outcome.list.is_some() && (asked_since || outlived)
    }

    /// Checks the questions of the last entry: one at a time, not too early, not too often.
    fn check_last_question(&self) -> Result<(), TestCaseError> {
        let asks = self.asks();
        let open = asks.iter().filter(|(request, asked)| self.fate(**request, **asked) == Fate::Open);
        prop_assert!(open.count() <= 1, "two questions at a time");
        let last = self.entries.len() - 1;
        let Some((request, asked)) = asks.last_key_value() else { return Ok(()) };
        if *asked != last {
            return Ok(());
        }
        prop_assert!(self.listens());
        let now = self.entries[last].now;
        let previous = asks.range(..request).next_back().map(|(_, asked)| *asked);
        let Some(previous) = previous else { return Ok(()) };
        let since = |kind: fn(&Event) -> bool| {
            self.entries[previous + 1..].iter().filter(move |entry| kind(&entry.event)).map(|entry| entry.now)
        };
        let changes: Vec<Duration> = since(|event| matches!(event, Event::ListChanged)).collect();
        let invalidated = since(|event| matches!(event, Event::Invalidate)).next().is_some();
        if let (Some(first), Some(latest), false) = (changes.first(), changes.last(), invalidated) {
            let due = (*latest + self.policy.debounce).min(*first + self.policy.debounce_limit);
            prop_assert!(now >= due, "asked at {now:?}, due at {due:?}");
        }
        let failed = self.outcome().is_some_and(|outcome| outcome.list.is_none());
        if failed && changes.is_empty() && !invalidated {
            prop_assert!(now >= self.entries[previous].now + self.policy.retry_after, "asked too often");
        }
        Ok(())
    }

    /// Whether a question failed in the last entry.
    fn failure_in_last_entry(&self) -> bool {
        let last = self.entries.len() - 1;
        self.asks()
            .into_iter()
            .any(|(request, asked)| [Fate::Failed(last), Fate::TimedOut(last)].contains(&self.fate(request, asked)))
    }

    fn settled_before_last_entry(&self) -> bool {
        let last = self.entries.len() - 1;
        self.asks().into_iter().any(|(request, asked)| match self.fate(request, asked) {
            Fate::Answered(end) | Fate::Failed(end) | Fate::TimedOut(end) => end < last,
            Fate::Open | Fate::Overtaken => false,
        })
    }
}

/// Whether `less` gives no access that `more` does not, at the places of the sets below and beneath them.
fn within(less: &CurrentRoots, more: &CurrentRoots) -> bool {
    let access = |current: &CurrentRoots, place: &Path| match current.reach {
        Reach::AllowAll => Access::ALL,
        Reach::Roots => current.roots.governing(place).map(|root| root.root.access).unwrap_or_default(),
    };
    ["/", "/a", "/a/b", "/a/b/c", "/a/x", "/c", "/c/d", "/s", "/f"]
        .into_iter()
        .all(|place| access(more, Path::new(place)).contains(access(less, Path::new(place))))
}

fn client_list() -> impl Strategy<Value = RootSet> {
    let root = |place| directory(place, Access::READ_WRITE, Origin::Client);
    prop_oneof![
        Just(RootSet::default()),
        Just(RootSet::new([], [refused("!", WhyRefused::Special)])),
        Just(of([root("/a")])),
        Just(of([root("/a/b"), root("/c")])),
        Just(RootSet::new([root("/c/d")], [refused("!", WhyRefused::Missing)])),
    ]
}

fn sources() -> impl Strategy<Value = Sources> {
    let choice = |place: &'static str, origin| {
        prop_oneof![
            Just(RootSet::default()),
            Just(RootSet::new([], [refused("gone", WhyRefused::Missing)])),
            Just(of([directory(place, Access::READ, origin)])),
        ]
    };
    (choice("/a", Origin::Flag), choice("/s", Origin::Store), choice("/f", Origin::Fallback))
        .prop_map(|(ceiling, saved, fallback)| Sources { ceiling, saved, fallback, bound: None })
}

fn policy() -> impl Strategy<Value = Policy> {
    let follow = prop_oneof![
        5 => Just(Follow::Client),
        2 => Just(Follow::Strict),
        1 => Just(Follow::IgnoreClient),
        1 => Just(Follow::FallbackOnly),
    ];
    let lifetime = || prop_oneof![Just(None), (0..30_u64).prop_map(|time| Some(Duration::from_millis(time)))];
    let no_roots = prop_oneof![Just(NoRoots::Deny), Just(NoRoots::AllowAll)];
    let lifetimes = (lifetime(), lifetime());
    let all = (follow, prop::sample::select(&Mode::ALL[..]), no_roots, lifetimes);
    all.prop_map(|(follow, mode, no_roots, (lifetime, lifetime_announced))| Policy {
        mode,
        follow,
        no_roots,
        timeout: Duration::from_millis(10),
        debounce: Duration::from_millis(3),
        debounce_limit: Duration::from_millis(7),
        lifetime,
        lifetime_announced,
        retry_after: Duration::from_millis(4),
        revoked_grace: Duration::from_millis(5),
    })
}

/// An event; the question it is about is counted back from the last one.
#[derive(Clone, Debug)]
enum Plan {
    Needed { ago: u64 },
    ListChanged,
    Answered { back: u64, roots: RootSet },
    Failed { back: u64 },
    LookedAgain { back: u64, roots: RootSet },
    Invalidate,
    SourcesChanged(Sources),
    RestrictionsChanged,
    Tick,
}

fn plan() -> impl Strategy<Value = Plan> {
    // Mostly the last question, sometimes an older one.
    let back = || prop_oneof![4 => Just(0_u64), 1 => 1..3_u64];
    let entries = client_list().prop_filter("the same entries, so at least one", RootSet::names_any);
    prop_oneof![
        5 => (0..12_u64).prop_map(|ago| Plan::Needed { ago }),
        3 => Just(Plan::ListChanged),
        5 => (back(), client_list()).prop_map(|(back, roots)| Plan::Answered { back, roots }),
        2 => back().prop_map(|back| Plan::Failed { back }),
        1 => (back(), entries).prop_map(|(back, roots)| Plan::LookedAgain { back, roots }),
        1 => Just(Plan::Invalidate),
        1 => sources().prop_map(Plan::SourcesChanged),
        1 => Just(Plan::RestrictionsChanged),
        3 => Just(Plan::Tick),
    ]
}

impl Plan {
    fn event(self, now: Duration, last_request: u64) -> Event {
        let request = |back: u64| RequestNumber(last_request.saturating_sub(back));
        match self {
            Plan::Needed { ago } => Event::Needed { arrived: now.saturating_sub(Duration::from_millis(ago)) },
            Plan::ListChanged => Event::ListChanged,
            Plan::Answered { back, roots } => Event::Answered { request: request(back), roots },
            Plan::Failed { back } => Event::Failed { request: request(back), reason: String::new() },
            Plan::LookedAgain { back, roots } => Event::LookedAgain { request: request(back), roots },
            Plan::Invalidate => Event::Invalidate,
            Plan::SourcesChanged(sources) => Event::SourcesChanged(sources),
            Plan::RestrictionsChanged => Event::RestrictionsChanged,
            Plan::Tick => Event::Tick,
        }
    }
}

fn support() -> impl Strategy<Value = Support> {
    prop_oneof![1 => Just(Support::No), 4 => Just(Support::Listed), 3 => Just(Support::Announced)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_machine_does_what_the_tables_say(
        policy in policy(),
        support in support(),
        sources in sources(),
        plans in vec((0..6_u64, plan()), 1..60),
    ) {
        let mut session = SessionRoots::new(policy.clone(), sources.clone(), support);
        let mut log = Log { policy, support, sources, entries: Vec::new() };
        let mut now = Duration::ZERO;
        let mut wake_at = None;
        for (passed, plan) in plans {
            now += Duration::from_millis(passed);
            let last_request = log.asks().last_key_value().map_or(0, |(request, _)| request.get());
            let event = plan.event(now, last_request);
            let before = session.current().clone();
            let effects = session.handle(now, event.clone());
            wake_at = effects.iter().rev().find_map(|effect| match effect {
                Effect::WakeAt(at) => Some(*at),
                _ => None,
            }).or(wake_at);
            log.entries.push(Entry { now, event: event.clone(), effects: effects.clone() });
            let after = session.current();

            // The tables.
            let (state, roots, reach) = log.expected();
            prop_assert_eq!((after.state, &after.roots, after.reach), (state, &roots, reach));
            for arrived in (0..=now.as_millis()).rev().take(15) {
                let arrived = Duration::from_millis(u64::try_from(arrived).unwrap_or_default());
                let standing = session.standing(arrived, now);
                let goes_on = matches!(standing, Standing::Proceed(current) if current == after);
                prop_assert_eq!(goes_on, !log.waits(arrived), "arrived {:?}, now {:?}", arrived, now);
                prop_assert!(goes_on || (standing == Standing::Overdue) == (now >= arrived + log.policy.timeout));
            }
            log.check_last_question()?;

            // Generations.
            let moved = (&before.roots, before.reach) != (&after.roots, after.reach);
            prop_assert!(!moved || after.generation > before.generation);
            // An old guard would allow access to what is now closed.
            let closed = matches!(event, Event::RestrictionsChanged);
            prop_assert!(!closed || after.generation > before.generation);
            let reported = effects.iter().rev().find_map(|effect| match effect {
                Effect::Changed { generation } => Some(*generation),
                _ => None,
            });
            prop_assert_eq!(reported.unwrap_or(before.generation), after.generation);

            // Losing roots narrows access: no failure adds to what was allowed before. Before the first answer nothing
            // was allowed, and a first failure falls back to the operator's roots, as for a client that cannot be
            // asked.
            let sources_changed = matches!(event, Event::SourcesChanged(_));
            if log.failure_in_last_entry() && !sources_changed {
                if log.settled_before_last_entry() {
                    prop_assert!(within(after, &before), "{:?} after {:?}", after, before);
                } else {
                    prop_assert_eq!((after.roots.clone(), after.reach), log.replacement());
                }
            } else if matches!(event, Event::Needed { .. } | Event::ListChanged | Event::Invalidate | Event::Tick) {
                prop_assert_eq!(after, &before);
            }
            // Once the client has named roots, there is no fallback for it.
            if log.client_ever_named() && log.listens() {
                prop_assert!(after.state == State::Ready || (after.roots.is_empty() && after.reach == Reach::Roots));
            }
        }

        // With a driver that only obeys `WakeAt` and a client that never answers again, calls still proceed in the end.
        now += Duration::from_millis(1);
        let arrived = now;
        session.handle(now, Event::Needed { arrived }).into_iter().for_each(|effect| {
            if let Effect::WakeAt(at) = effect { wake_at = Some(at); }
        });
        for _ in 0..3 {
            let Some(at) = wake_at.take() else { break };
            now = now.max(at);
            session.handle(now, Event::Tick).into_iter().for_each(|effect| {
                if let Effect::WakeAt(at) = effect { wake_at = Some(at); }
            });
        }
        prop_assert!(!matches!(session.state(), State::Pending), "calls wait forever");
    }
}
