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
use super::published::{Published, Told};
use super::terms::Terms;
use crate::list::ClientList;
use crate::message::INVALID_PARAMS;
use crate::pages::{Pages, Turned};
use crate::refusal::Apart;
use crate::round::Said;
use crate::text::shortened;

/// How often a list is read again from its first page, because it changed while its pages were read.
const MOST_RESTARTS: u8 = 3;

/// How soon missing roots are looked for again at the soonest, whatever the policy says.
const SOONEST: Duration = Duration::from_millis(1);

/// How much of a client's reason is kept, in characters.
const LONGEST_REASON: usize = 200;

/// The roots of one session.
#[derive(Clone, Debug)]
pub struct SessionGuard {
    terms: Arc<Terms>,
    given: Arc<Given>,
    machine: SessionRoots,
    numbering: Numbering,
    published: Option<Published>,
    /// The question under way.
    reading: Option<Reading>,
    looking: Looking,
    /// Moves on with everything that a call which waits should look at.
    news: u64,
}

/// Something for the driver to do, in the order given.
#[derive(Debug)]
pub enum Order {
    /// Ask the client for its roots, or for the page of them that begins at `cursor`; report [`SessionGuard::answered`].
    Ask {
        /// What the answer is to be reported with.
        question: RequestNumber,
        /// Where the page begins; none for the first.
        cursor: Option<String>,
    },
    /// Tell the client that this answer is not awaited any more.
    Cancel {
        /// The question.
        question: RequestNumber,
    },
    /// Look roots up; report [`SessionGuard::placed`].
    Place(Placing),
}

/// What a call that needs roots does now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// It goes on, with what is published.
    GoOn,
    /// It waits, and looks again when something happens, at this time at the latest.
    Wait {
        /// When something happens by itself, or its patience ends.
        until: Duration,
    },
    /// It has waited long enough, and is refused as `roots_pending`.
    Overdue,
}

/// What a client answered in place of a list.
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

    /// No answer at all, or one that cannot be read.
    pub fn because(reason: impl Into<String>) -> NoList {
        NoList { code: None, reason: reason.into() }
    }
}

/// How what is in force is numbered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Numbering {
    /// One after the other, as a session goes on.
    Counted,
    /// By what they are: a request is too short to count. A cursor that one request was given must be stale in a request that names others.
    OfContent,
}

/// A question under way.
#[derive(Clone, Debug)]
struct Reading {
    question: RequestNumber,
    /// What came so far, where the list comes in pages.
    pages: Pages,
    restarts: u8,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// The client has it.
    Asked,
    /// It has answered, and its roots are looked up.
    Placing,
}

/// Looking for roots that were missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Looking {
    /// When they were last looked for.
    Done(Duration),
    /// Since when they are being looked for.
    Since(Duration),
}

impl SessionGuard {
    /// The roots of a legacy session whose client declares this. Nothing is asked until a call needs roots.
    pub fn new(terms: Arc<Terms>, given: Arc<Given>, support: Support) -> SessionGuard {
        SessionGuard::numbered(terms, given, support, Numbering::Counted)
    }

    /// The roots of one modern request, whose client declares this: [`SessionGuard::told`] has what it says of them.
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

    /// A call that arrived at `arrived` needs roots: said when it arrives, and again each time it looks where it stands.
    pub fn needed(&mut self, now: Duration, arrived: Duration) -> Vec<Order> {
        let mut orders = self.handle(now, [Event::Needed { arrived: self.clock(arrived) }]);
        orders.extend(self.look_again(now).map(Order::Place));
        orders
    }

    /// The client says that its roots changed. From now on calls that need roots wait until it was asked.
    pub fn list_changed(&mut self, now: Duration) -> Vec<Order> {
        self.handle(now, [Event::ListChanged])
    }

    /// Somebody does not trust the list any more: the next call asks again, and waits.
    pub fn invalidate(&mut self, now: Duration) -> Vec<Order> {
        self.handle(now, [Event::Invalidate])
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Duration) -> Vec<Order> {
        self.handle(now, [Event::Tick])
    }

    /// The operator's or the user's roots changed, or what is closed.
    pub fn given(&mut self, now: Duration, given: &Arc<Given>) -> Vec<Order> {
        let before = std::mem::replace(&mut self.given, Arc::clone(given));
        // SECURITY: roots that stay the same would keep the guard that leaves open what was closed
        // (test: what_is_closed_while_a_session_runs_is_closed)
        let closed = !Arc::ptr_eq(&before.restrictions, &given.restrictions);
        let closed = closed.then_some(Event::RestrictionsChanged);
        // All of it at once: new roots are never decided with what was closed for others.
        self.handle(now, [Event::SourcesChanged(given.sources.clone())].into_iter().chain(closed))
    }

    /// The client has answered a question: with a list, a page of it, or something else.
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

    /// A question could not be put, or will not be answered.
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

    /// What a modern request says of its roots. They are to be looked up.
    pub fn told(&mut self, now: Duration, said: Said) -> Option<Placing> {
        let answer = match said {
            Said::Nothing => return None,
            Said::List(list) => Ok(list),
            Said::Failed(reason) => Err(NoList::because(reason)),
            Said::Asked(_) => Err(NoList::because("the list is not whole")),
        };
        // It begins, asks, and is answered, all in one moment.
        let asked = self.needed(now, now).into_iter().find_map(|order| match order {
            Order::Ask { question, .. } => Some(question),
            _ => None,
        });
        self.answered(now, asked?, answer).into_iter().find_map(|order| match order {
            Order::Place(placing) => Some(placing),
            _ => None,
        })
    }

    /// What a call that arrived at `arrived` does now, after [`SessionGuard::needed`] was said for it.
    pub fn turn(&self, arrived: Duration, now: Duration) -> Turn {
        let (arrived, now) = (self.clock(arrived), self.clock(now));
        let patience = arrived.saturating_add(self.terms.policy.timeout);
        match self.machine.standing(arrived, now) {
            // The disk is being looked at. That is worth a wait, but one that does not answer costs no call more than its patience.
            Standing::InForce(_) if self.is_placing() && now < patience => Turn::Wait { until: patience },
            Standing::InForce(_) => match self.looking {
                Looking::Since(since) if now < since.saturating_add(self.terms.policy.timeout) && now < patience => {
                    Turn::Wait { until: patience.min(since.saturating_add(self.terms.policy.timeout)) }
                }
                _ => Turn::GoOn,
            },
            // What is due by now is looked at again at once.
            Standing::Wait { until } => {
                Turn::Wait { until: self.machine.wakes_at().map_or(until, |due| due.min(until)) }
            }
            Standing::Overdue => Turn::Overdue,
        }
    }

    /// The roots in force, once it is known what is: nothing may be, but that is known then. Calls look at [`SessionGuard::turn`] first:
    /// from `list_changed` on they wait, while these stay until the client has answered.
    pub fn published(&self) -> Option<&Published> {
        self.published.as_ref()
    }

    /// When something happens by itself, and [`SessionGuard::tick`] is to be said.
    pub fn wakes_at(&self) -> Option<Duration> {
        self.machine.wakes_at()
    }

    /// A number that moves on with everything that a call which waits should look at.
    pub fn news(&self) -> u64 {
        self.news
    }

    /// Whether a call that came now would not have to wait for the client. A look for missing roots is not waited for.
    pub fn is_settled(&self, now: Duration) -> bool {
        matches!(self.machine.standing(now, now), Standing::InForce(_)) && !self.is_placing()
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

    /// The roots to look up again, if one of them was missing: it may have appeared. Not more often than a client that failed is asked
    /// again, and never twice at a time: a disk that does not answer is not to take thread after thread.
    fn to_look_for(&self, now: Duration) -> Option<(RequestNumber, &RootSet)> {
        // A request is over before a root could appear.
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

    /// The time as the machine counts it. A request is one moment: its list comes with it, and cannot come too late or grow old.
    fn clock(&self, now: Duration) -> Duration {
        match self.numbering {
            Numbering::Counted => now,
            // SECURITY: where the disk takes long, the client has answered all the same, and nobody stands in for it
            // (test: the_list_of_a_request_counts_however_long_the_disk_takes)
            Numbering::OfContent => Duration::ZERO,
        }
    }

    /// Has the machine take notice; what is to be done.
    fn handle(&mut self, now: Duration, events: impl IntoIterator<Item = Event>) -> Vec<Order> {
        let now = self.clock(now);
        let mut orders = Vec::new();
        let mut changed = false;
        for event in events {
            let due = self.machine.wakes_at();
            for effect in self.machine.handle(now, event) {
                changed = true;
                // A time that is only said again is not news: a call that waits knows it already, and would say it once more.
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
                    // These follow from what is in force, and from the machine's own clock.
                    Effect::Changed { .. } | Effect::Settled | Effect::WakeAt(_) => {}
                }
            }
        }
        if changed {
            self.publish();
        }
        orders
    }

    /// Makes known what is in force, once anything is. The guard of before is kept while it is of the same number.
    fn publish(&mut self) {
        let in_force = self.machine.in_force();
        if in_force.why == Why::Unheard {
            return;
        }
        let generation = match self.numbering {
            Numbering::Counted => in_force.generation,
            Numbering::OfContent => number::of_content(in_force),
        };
        let guard = match &self.published {
            // SECURITY: the same roots are not decided as before where a place in them was closed
            // (test: what_is_closed_meanwhile_is_closed)
            Some(before)
                if before.generation() == generation
                    && Arc::ptr_eq(&before.guard().restrictions(), &self.given.restrictions) =>
            {
                before.guard().clone()
            }
            _ => self.terms.guard(in_force, &self.given, generation),
        };
        let sources = &self.given.sources;
        let client = self.machine.client_roots().map(|(_, roots)| roots);
        let left_out = client.map(|client| left_out(client, in_force, sources)).unwrap_or_default();
        let apart = client.filter(|_| in_force.why == Why::OutsideCeiling).map(|client| Apart::new(client, sources));
        let told = Told { way: self.terms.way, left_out, apart };
        self.published = Some(Published::new(in_force, self.machine.support(), guard, told));
    }
}

impl Reading {
    fn new(question: RequestNumber) -> Reading {
        Reading { question, pages: Pages::default(), restarts: 0, stage: Stage::Asked }
    }

    fn is_asked(&self, question: RequestNumber) -> bool {
        self.question == question && self.stage == Stage::Asked
    }

    /// Adds an answer to what came before.
    fn add(&mut self, answer: Result<Value, NoList>) -> Result<Turned, String> {
        match answer {
            // SECURITY: a page is not the list: a later page may name a root of less access below one on this page
            // (test: a_list_in_pages_is_read_whole_or_not_at_all)
            Ok(page) => self.pages.add(page).map_err(|error| error.to_string()),
            // The list changed while it was read, and its pages would not fit together.
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
