//! The roots of the wrapped server: the core's machine, fed by the client, and the guard over what it says.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rootward_core::session::{Effect, Event, Reach, RequestNumber, SessionRoots, Standing, State, Support, Why};
use rootward_core::{Code, Denial, Guard, GuardOptions, Origin, PlacedRoot, Root, RootSet};
use rootward_peer::{ClientList, Pages, Turned};
use serde_json::Value;

use super::answer::INVALID_PARAMS;
use super::rules::Rules;

/// How much time lies between two looks for a root that was missing.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What a call that needs roots does now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    GoOn,
    Wait,
    /// It has waited long enough.
    Overdue,
}

/// How often a list is read again from its first page, because it changed while its pages were read.
const MOST_RESTARTS: u8 = 3;

/// Something to be sent to the client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Question {
    Ask(RequestNumber),
    /// Ask for the page that begins at this cursor.
    Page(RequestNumber, String),
    Cancel(RequestNumber),
}

/// What a client answered in place of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct NoList {
    /// The JSON-RPC error code, if there is one.
    pub(super) code: Option<i64>,
    pub(super) reason: String,
}

impl From<String> for NoList {
    fn from(reason: String) -> NoList {
        NoList { code: None, reason }
    }
}

/// The pages of the answer that is being read.
#[derive(Debug)]
struct Reading {
    request: RequestNumber,
    pages: Pages,
    restarts: u8,
}

/// The roots in force, and how they came about.
#[derive(Debug)]
pub(super) struct Roots {
    machine: SessionRoots,
    guard: Guard,
    reach: Reach,
    /// When missing roots were last looked for.
    looked: Duration,
    /// The question that the client is answering.
    reading: Option<Reading>,
}

impl Roots {
    /// The roots of a client that declares this.
    pub(super) fn new(rules: &Rules, support: Support) -> Roots {
        let machine = SessionRoots::new(rules.policy.clone(), rules.sources.clone(), support);
        let mut roots =
            Roots { machine, guard: nothing(rules), reach: Reach::Roots, looked: Duration::ZERO, reading: None };
        roots.publish(rules);
        roots
    }

    /// What is in force for one request of a modern client, which carries what it says of its roots with it: the whole result of
    /// `roots/list` or why there is none, or nothing where it was not asked yet.
    pub(super) fn of_request(
        rules: &Rules,
        before: Option<Roots>,
        now: Duration,
        support: Support,
        said: Option<Result<&Value, &str>>,
    ) -> Roots {
        let mut roots = Roots::new(rules, support);
        let asked = roots.handle(rules, now, Event::Needed { arrived: now });
        if let (Some(said), Some(Question::Ask(request))) = (said, asked.first()) {
            let said = said.cloned().map_err(|reason| NoList::from(reason.to_owned()));
            roots.answered(rules, now, *request, said);
        }
        // The same roots keep their guard and its number, so that the child that runs in them fits.
        if let Some(before) = before
            && (!roots.is_known() || before.guard.root_set() == roots.guard.root_set())
        {
            roots.guard = before.guard;
        }
        roots
    }

    /// Whether it is known what is in force: nothing may be, but that is known then.
    pub(super) fn is_known(&self) -> bool {
        self.machine.in_force().why != Why::Unheard
    }

    pub(super) fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Why these, and which: none, where nothing bounds what is allowed.
    pub(super) fn in_force(&self) -> (Why, &[PlacedRoot]) {
        let list = if self.reach == Reach::Roots { self.guard.roots() } else { &[] };
        (self.machine.in_force().why, list)
    }

    /// When something is due.
    pub(super) fn wakes_at(&self) -> Option<Duration> {
        self.machine.wakes_at()
    }

    /// The operator's or the user's roots are those of the rules from now on, and so is what is closed.
    pub(super) fn given(&mut self, rules: &Rules, now: Duration) -> Vec<Question> {
        let questions = self.handle(rules, now, Event::SourcesChanged(rules.sources.clone()));
        self.publish(rules);
        questions
    }

    /// Whether the guard closes what the rules close.
    fn closes_as(&self, rules: &Rules) -> bool {
        Arc::ptr_eq(&self.guard.restrictions(), &rules.guard.restrictions)
    }

    /// Takes notice of an event; what is to be sent.
    pub(super) fn handle(&mut self, rules: &Rules, now: Duration, event: Event) -> Vec<Question> {
        let effects = self.machine.handle(now, event);
        if effects.is_empty() {
            return Vec::new();
        }
        self.publish(rules);
        let mut questions = Vec::new();
        for effect in effects {
            match effect {
                Effect::Ask { request } => {
                    self.reading = Some(Reading { request, pages: Pages::default(), restarts: 0 });
                    questions.push(Question::Ask(request));
                }
                Effect::Cancel { request } => questions.push(Question::Cancel(request)),
                // These follow from what is in force, and from the machine's own clock.
                Effect::Changed { .. } | Effect::Settled | Effect::WakeAt(_) => {}
            }
        }
        questions
    }

    /// The client's answer to a question: the list, or a page of it.
    pub(super) fn answered(
        &mut self,
        rules: &Rules,
        now: Duration,
        request: RequestNumber,
        result: Result<Value, NoList>,
    ) -> Vec<Question> {
        let home = rules.guard.home.as_deref();
        let whole = match self.read_page(request, result) {
            Ok(Turned::Next) => return self.next_page(),
            Ok(Turned::Whole(whole)) => ClientList::read(&whole, home).map_err(|error| error.to_string()),
            Err(reason) => Err(reason),
        };
        let event = match whole {
            Ok(list) => {
                self.looked = now;
                Event::Answered { request, roots: list.place_ambient(&rules.validation) }
            }
            Err(reason) => Event::Failed { request, reason },
        };
        self.handle(rules, now, event)
    }

    /// Adds a page to those of the same question.
    fn read_page(&mut self, request: RequestNumber, result: Result<Value, NoList>) -> Result<Turned, String> {
        let Some(reading) = self.reading.as_mut().filter(|reading| reading.request == request) else {
            return Err("the answer is to an older question".to_owned());
        };
        match result {
            // SECURITY: a page is not the list: a later page may name a root of less access below one on this page
            // (test: a_list_in_pages_is_read_whole_or_not_at_all)
            Ok(page) => reading.pages.add(page).map_err(|error| error.to_string()),
            // The list changed while it was read, and its pages would not fit together.
            Err(NoList { code: Some(code), .. })
                if code == i64::from(INVALID_PARAMS)
                    && reading.pages.cursor().is_some()
                    && reading.restarts < MOST_RESTARTS =>
            {
                (reading.pages, reading.restarts) = (Pages::default(), reading.restarts + 1);
                Ok(Turned::Next)
            }
            Err(error) => Err(error.reason),
        }
    }

    /// The question for the next page, or for the first one again.
    fn next_page(&self) -> Vec<Question> {
        let question = |reading: &Reading| match reading.pages.cursor() {
            Some(cursor) => Question::Page(reading.request, cursor.to_owned()),
            None => Question::Ask(reading.request),
        };
        self.reading.iter().map(question).collect()
    }

    /// Looks again for roots that were missing, if it is time to.
    pub(super) fn look_again_ambient(&mut self, rules: &Rules, now: Duration) -> Vec<Question> {
        let heard = self.machine.client_roots().filter(|(_, roots)| roots.missing().next().is_some());
        let (Some((request, heard)), true) = (heard, now >= self.looked + LOOK_AGAIN) else { return Vec::new() };
        let roots = heard.place_again_ambient(&rules.validation);
        self.looked = now;
        self.handle(rules, now, Event::LookedAgain { request, roots })
    }

    /// What a call does that arrived at `arrived`, after [`Event::Needed`] was handled for it.
    pub(super) fn turn(&self, arrived: Duration, now: Duration) -> Turn {
        match self.machine.standing(arrived, now) {
            Standing::InForce(_) => Turn::GoOn,
            Standing::Wait { .. } => Turn::Wait,
            Standing::Overdue => Turn::Overdue,
        }
    }

    /// Where nothing is in force because the client could not be asked, the refusal says so.
    pub(super) fn told(&self, denial: &Denial) -> Denial {
        match (denial.code(), self.machine.in_force().state) {
            (Code::NoRoots, State::Failed) => Denial::new(Code::RootsFailed, denial.path(), denial.access()),
            _ => denial.clone(),
        }
    }

    /// Makes a new guard where other roots are in force, or other places closed.
    fn publish(&mut self, rules: &Rules) {
        let in_force = self.machine.in_force();
        let set = match in_force.reach {
            Reach::Roots => in_force.roots.clone(),
            Reach::AllowAll => everything_ambient(rules),
        };
        self.reach = in_force.reach;
        // SECURITY: the same roots are not decided as before where a place in them was closed
        // (test: what_is_closed_meanwhile_is_closed)
        if *self.guard.root_set() != set || !self.closes_as(rules) {
            self.guard = guard(rules, set);
        }
    }
}

/// A guard with a number that no other has had: a child fits the roots by it.
fn guard(rules: &Rules, set: RootSet) -> Guard {
    // SECURITY: where numbers came again, a child that was started in wider roots would pass for one in these
    // (test: a_child_that_was_started_in_wider_roots_is_replaced)
    static LAST: AtomicU64 = AtomicU64::new(0);
    let generation = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    Guard::new(set, GuardOptions { generation, ..rules.guard.clone() })
}

/// The whole disk, for those who set `no-roots` to `allow-all`. Restrictions still hold.
fn everything_ambient(rules: &Rules) -> RootSet {
    let root = Root::from_path("/", Origin::Fallback).ok();
    RootSet::place_ambient(root, &rules.validation)
}

/// The guard over nothing, for a server whose roots are not known yet. Its generation is that of no other.
pub(super) fn nothing(rules: &Rules) -> Guard {
    Guard::new(RootSet::default(), GuardOptions { generation: 0, ..rules.guard.clone() })
}
