//! The owner of a session's roots.

use std::sync::Arc;
use std::time::Duration;

use rootward_core::RootSet;
use rootward_core::session::{Effect, Event, RequestNumber, SessionRoots, Standing, State, Support, Why};
use serde_json::Value;

use super::given::Given;
use super::left_out::left_out;
use super::number;
use super::placing::{Found, Placed, Placing, What};
use super::published::{Published, RefusalContext};
use super::terms::Terms;
use crate::list::ClientList;
use crate::message::INVALID_PARAMS;
use crate::pages::{Pages, Turned};
use crate::refusal::DisjointRoots;
use crate::round::Said;
use crate::text::shortened;

/// How often to read a list again from its first page because it changed while its pages were read.
const MOST_RESTARTS: u8 = 3;

/// The minimum delay before looking for missing roots again, independent of the policy.
const SOONEST: Duration = Duration::from_millis(1);

/// The maximum length of a client's reason, in characters.
const LONGEST_REASON: usize = 200;

/// The roots of one session.
#[derive(Clone, Debug)]
pub struct SessionGuard {
    terms: Arc<Terms>,
    given: Arc<Given>,
    machine: SessionRoots,
    numbering: Numbering,
    published: Option<Published>,
    /// The current question.
    reading: Option<Reading>,
    looking: Looking,
    /// Increases with everything that a waiting call should react to.
    news: u64,
}

/// An action for the driver. Actions are carried out in order.
#[derive(Debug)]
pub enum Order {
    /// Ask the client for its roots, or for the page that begins at `cursor`; report [`SessionGuard::answered`].
    Ask {
        /// The question to report the answer for.
        question: RequestNumber,
        /// Where the page begins; `None` for the first.
        cursor: Option<String>,
    },
    /// Tell the client that this answer is no longer needed.
    Cancel {
        /// The question.
        question: RequestNumber,
    },
    /// Look up roots; report [`SessionGuard::placed`].
    Place(Placing),
}

/// What a call that needs roots does now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// Proceed with the published roots.
    GoOn,
    /// Wait for news, at most until this time, and check again.
    Wait {
        /// When the next timed action is due, or when the call stops waiting.
        until: Duration,
    },
    /// Refuse the call as `roots_pending`: it has waited long enough.
    Overdue,
}

/// A client's answer that is not a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoList {
    code: Option<i64>,
    reason: String,
}

impl NoList {
    /// A JSON-RPC error.
    pub fn error(code: Option<i64>, message: &str) -> NoList {
        let message = shortened(message, LONGEST_REASON);
        let reason = code.map_or_else(|| message.clone(), |code| format!("{message} ({code})"));
        NoList { code, reason }
    }

    /// No answer at all, or one that cannot be parsed.
    pub fn because(reason: impl Into<String>) -> NoList {
        NoList { code: None, reason: reason.into() }
    }
}

/// How the current roots are numbered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Numbering {
    /// Consecutively, in a session.
    Counted,
    /// By content, because a request is too short to count. A cursor from one request must be stale in a request with
    /// other roots.
    OfContent,
}

/// A question in progress.
#[derive(Clone, Debug)]
struct Reading {
    question: RequestNumber,
    /// The pages so far, if the list comes in pages.
    pages: Pages,
    restarts: u8,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// The client was asked.
    Asked,
    /// It has answered, and its roots are being looked up.
    Placing,
}

/// The search for missing roots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Looking {
    /// When they were last looked for.
    Done(Duration),
    /// The search has been running since this time.
    Since(Duration),
}

impl SessionGuard {
    /// The roots of a legacy session whose client declares this support. The client is not asked until a call needs
    /// roots.
    pub fn new(terms: Arc<Terms>, given: Arc<Given>, support: Support) -> SessionGuard {
        SessionGuard::numbered(terms, given, support, Numbering::Counted)
    }

    /// The roots of one modern request whose client declares this support. Pass what it says to [`SessionGuard::list_of_request`].
    pub fn of_request(terms: Arc<Terms>, given: Arc<Given>, support: Support) -> SessionGuard {
        SessionGuard::numbered(terms, given, support, Numbering::OfContent)
    }

    fn numbered(terms: Arc<Terms>, given: Arc<Given>, support: Support, numbering: Numbering) -> SessionGuard {
        let machine = SessionRoots::new(terms.policy.clone(), given.sources.clone(), support);
        let looking = Looking::Done(Duration::ZERO);
        let mut session =
            SessionGuard { terms, given, machine, numbering, published: None, reading: None, looking, news: 0 };
        session.publish();
        session
    }

    /// A call that arrived at `arrived` needs roots. Call this when it arrives, and again each time it checks its turn.
    pub fn needed(&mut self, now: Duration, arrived: Duration) -> Vec<Order> {
        let mut orders = self.handle(now, [Event::Needed { arrived: self.clock(arrived) }]);
        orders.extend(self.look_again(now).map(Order::Place));
        orders
    }

    /// The client says that its roots changed. Calls that need roots now wait until the client was asked.
    pub fn list_changed(&mut self, now: Duration) -> Vec<Order> {
        self.handle(now, [Event::ListChanged])
    }

    /// Somebody no longer trusts the list: the next call asks again and waits.
    pub fn invalidate(&mut self, now: Duration) -> Vec<Order> {
        self.handle(now, [Event::Invalidate])
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Duration) -> Vec<Order> {
        self.handle(now, [Event::Tick])
    }

    /// The operator's or the user's roots or restrictions changed.
    pub fn given(&mut self, now: Duration, given: &Arc<Given>) -> Vec<Order> {
        let before = std::mem::replace(&mut self.given, Arc::clone(given));
        // SECURITY: unchanged roots would keep a guard that leaves newly closed places open
        // (test: a_restriction_added_during_a_session_applies_to_the_next_call)
        let closed = !Arc::ptr_eq(&before.restrictions, &given.restrictions);
        let closed = closed.then_some(Event::RestrictionsChanged);
        // Apply both at once, so that new roots are never decided with old restrictions.
        self.handle(now, [Event::SourcesChanged(given.sources.clone())].into_iter().chain(closed))
    }

    /// The client has answered a question: with a list, a page, or something else.
    pub fn answered(&mut self, now: Duration, question: RequestNumber, answer: Result<Value, NoList>) -> Vec<Order> {
        let Some(reading) = self.reading.as_mut().filter(|reading| reading.is_asked(question)) else {
            return Vec::new();
        };
        let list = match reading.add(answer) {
            Ok(Turned::Next) => {
                let cursor = reading.pages.cursor().map(str::to_owned);
                return vec![Order::Ask { question, cursor }];
            }
            Ok(Turned::Whole(whole)) => {
                ClientList::read(&whole, self.terms.guard.home.as_deref()).map_err(|error| error.to_string())
            }
            Err(reason) => Err(reason),
        };
        match list {
            Ok(list) => {
                reading.stage = Stage::Placing;
                self.news += 1;
                let named = list.has_entries().then_some(Event::Named { request: question });
                let mut orders = self.handle(now, named);
                let terms = Arc::clone(&self.terms);
                orders.push(Order::Place(Placing { question, what: What::Answer(list), terms }));
                orders
            }
            Err(reason) => self.fail(now, question, reason),
        }
    }

    /// A question could not be sent, or will not be answered.
    pub fn failed(&mut self, now: Duration, question: RequestNumber, reason: impl Into<String>) -> Vec<Order> {
        if self.reading.as_ref().is_some_and(|reading| reading.question == question) {
            self.fail(now, question, reason.into())
        } else {
            Vec::new()
        }
    }

    fn fail(&mut self, now: Duration, question: RequestNumber, reason: String) -> Vec<Order> {
        self.reading = None;
        self.handle(now, [Event::Failed { request: question, reason }])
    }

    /// Roots were looked up.
    pub fn placed(&mut self, now: Duration, placed: Placed) -> Vec<Order> {
        match (&placed.found, self.looking) {
            (Found::Answer(_), looking) => {
                self.reading.take_if(|reading| reading.question == placed.question);
                if let Looking::Done(_) = looking {
                    self.looking = Looking::Done(now);
                }
            }
            (Found::Again(_), _) => self.looking = Looking::Done(now),
        }
        self.news += 1;
        self.handle(now, [placed.into_event()])
    }

    /// Takes what a modern request says about its roots. The result must be looked up.
    pub fn list_of_request(&mut self, now: Duration, said: Said) -> Option<Placing> {
        let answer = match said {
            Said::Nothing => return None,
            Said::List(list) => Ok(list),
            Said::Failed(reason) => Err(NoList::because(reason)),
            Said::Asked(_) => Err(NoList::because("the list is incomplete")),
        };
        // The call starts, asks and is answered in one moment.
        let asked = self.needed(now, now).into_iter().find_map(|order| match order {
            Order::Ask { question, .. } => Some(question),
            _ => None,
        });
        self.answered(now, asked?, answer).into_iter().find_map(|order| match order {
            Order::Place(placing) => Some(placing),
            _ => None,
        })
    }

    /// What a call that arrived at `arrived` does now. Call [`SessionGuard::needed`] for it first.
    pub fn turn(&self, arrived: Duration, now: Duration) -> Turn {
        let (arrived, now) = (self.clock(arrived), self.clock(now));
        let patience = arrived.saturating_add(self.terms.policy.timeout);
        match self.machine.standing(arrived, now) {
            // Roots are being looked up. The call waits, but a hanging disk never delays it beyond its timeout.
            Standing::Proceed(_) if self.is_placing() && now < patience => Turn::Wait { until: patience },
            Standing::Proceed(_) => match self.looking {
                Looking::Since(since) if now < since.saturating_add(self.terms.policy.timeout) && now < patience => {
                    Turn::Wait { until: patience.min(since.saturating_add(self.terms.policy.timeout)) }
                }
                _ => Turn::GoOn,
            },
            // If something is already due, check again at once.
            Standing::Wait { until } => {
                Turn::Wait { until: self.machine.wakes_at().map_or(until, |due| due.min(until)) }
            }
            Standing::Overdue => Turn::Overdue,
        }
    }

    /// The current roots, once they are known; they may be empty. Calls check [`SessionGuard::turn`] first: after
    /// `list_changed` they wait, while these roots stay until the client has answered.
    pub fn published(&self) -> Option<&Published> {
        self.published.as_ref()
    }

    /// When to call [`SessionGuard::tick`].
    pub fn wakes_at(&self) -> Option<Duration> {
        self.machine.wakes_at()
    }

    /// A number that increases with everything that a waiting call should react to.
    pub fn news(&self) -> u64 {
        self.news
    }

    /// Whether a call that arrived now would not have to wait for the client. A search for missing roots does not
    /// count.
    pub fn is_settled(&self, now: Duration) -> bool {
        matches!(self.machine.standing(now, now), Standing::Proceed(_)) && !self.is_placing()
    }

    /// Whether calls wait for the client.
    pub fn is_pending(&self) -> bool {
        self.machine.state() == State::Pending
    }

    /// Whether the client has answered, and its roots are being looked up.
    pub fn is_placing(&self) -> bool {
        self.reading.as_ref().is_some_and(|reading| reading.stage == Stage::Placing)
    }

    /// Whether the next call that needs roots looks for missing ones first.
    pub fn is_look_due(&self, now: Duration) -> bool {
        self.to_look_for(now).is_some()
    }

    /// The roots to look up again because one of them was missing and may have appeared. Limited like questions to a
    /// failed client, and never twice at a time: a hanging disk must not block one thread after another.
    fn to_look_for(&self, now: Duration) -> Option<(RequestNumber, &RootSet)> {
        // A request ends before a root could appear.
        let (Looking::Done(looked), Numbering::Counted) = (self.looking, self.numbering) else { return None };
        let is_due = now >= looked.saturating_add(self.terms.policy.retry_after.max(SOONEST));
        self.machine.client_roots().filter(|(_, roots)| is_due && roots.missing().next().is_some())
    }

    fn look_again(&mut self, now: Duration) -> Option<Placing> {
        let (question, roots) = self.to_look_for(now)?;
        let what = What::Again(roots.clone());
        self.looking = Looking::Since(now);
        self.news += 1;
        Some(Placing { question, what, terms: Arc::clone(&self.terms) })
    }

    /// The time for the machine. A request is one moment: its list comes with it, and can be neither late nor expired.
    fn clock(&self, now: Duration) -> Duration {
        match self.numbering {
            Numbering::Counted => now,
            // SECURITY: if the disk is slow, the client has answered nevertheless, and there is no fallback for it
            // (test: the_list_of_a_request_counts_however_long_the_disk_takes)
            Numbering::OfContent => Duration::ZERO,
        }
    }

    /// Passes events to the machine and collects the orders.
    fn handle(&mut self, now: Duration, events: impl IntoIterator<Item = Event>) -> Vec<Order> {
        let now = self.clock(now);
        let mut orders = Vec::new();
        let mut changed = false;
        for event in events {
            let due = self.machine.wakes_at();
            for effect in self.machine.handle(now, event) {
                changed = true;
                // An unchanged wake-up time is not news: a waiting call already knows it and would only ask again.
                let is_news = !matches!(effect, Effect::WakeAt(time) if due.is_some_and(|due| due <= time));
                self.news += u64::from(is_news);
                match effect {
                    Effect::Ask { request: question } => {
                        self.reading = Some(Reading::new(question));
                        orders.push(Order::Ask { question, cursor: None });
                    }
                    Effect::Cancel { request: question } => {
                        let given_up = self.reading.take_if(|reading| reading.question == question);
                        if given_up.is_some_and(|reading| reading.stage == Stage::Asked) {
                            orders.push(Order::Cancel { question });
                        }
                    }
                    // These follow from the current roots and from the machine's own clock.
                    Effect::Changed { .. } | Effect::Settled | Effect::WakeAt(_) => {}
                }
            }
        }
        if changed {
            self.publish();
        }
        orders
    }

    /// Publishes the current roots, once they are known. Reuses the previous guard if the generation is the same.
    fn publish(&mut self) {
        let current = self.machine.current();
        if current.why == Why::Unheard {
            return;
        }
        let generation = match self.numbering {
            Numbering::Counted => current.generation,
            Numbering::OfContent => number::of_content(current),
        };
        let guard = match &self.published {
            // SECURITY: the previous guard must not be reused if a place in its roots was closed
            // (test: a_path_closed_during_the_session_is_refused)
            Some(before)
                if before.generation() == generation
                    && Arc::ptr_eq(&before.guard().restrictions(), &self.given.restrictions) =>
            {
                before.guard().clone()
            }
            _ => self.terms.guard(current, &self.given, generation),
        };
        let sources = &self.given.sources;
        let client = self.machine.client_roots().map(|(_, roots)| roots);
        let left_out = client.map(|client| left_out(client, current, sources)).unwrap_or_default();
        let disjoint =
            client.filter(|_| current.why == Why::OutsideCeiling).map(|client| DisjointRoots::new(client, sources));
        let context = RefusalContext { way: self.terms.way, left_out, disjoint };
        self.published = Some(Published::new(current, self.machine.support(), guard, context));
    }
}

impl Reading {
    fn new(question: RequestNumber) -> Reading {
        Reading { question, pages: Pages::default(), restarts: 0, stage: Stage::Asked }
    }

    fn is_asked(&self, question: RequestNumber) -> bool {
        self.question == question && self.stage == Stage::Asked
    }

    /// Adds an answer to the previous ones.
    fn add(&mut self, answer: Result<Value, NoList>) -> Result<Turned, String> {
        match answer {
            // SECURITY: one page is not the list: a later page may name a root with less access below one on this page
            // (test: a_list_in_pages_is_read_whole_or_not_at_all)
            Ok(page) => self.pages.add(page).map_err(|error| error.to_string()),
            // The list changed while it was read, so its pages would not fit together.
            Err(NoList { code: Some(code), .. })
                if code == i64::from(INVALID_PARAMS)
                    && self.pages.cursor().is_some()
                    && self.restarts < MOST_RESTARTS =>
            {
                (self.pages, self.restarts) = (Pages::default(), self.restarts + 1);
                Ok(Turned::Next)
            }
            Err(NoList { reason, .. }) => Err(reason),
        }
    }
}
