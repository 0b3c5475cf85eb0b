//! A session: one client, its era, its roots, its open questions, the messages that wait for a server, and the
//! pending output.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rootward_core::session::RequestNumber;
use rootward_protocol::frame::{Found, Line};
use rootward_protocol::session::{Given, LeftOutNews, Placed, SessionGuard, Terms, Turn};
use rootward_protocol::{Era, HostLimits, shown};

use super::child::{Child, ChildId, Phase};
use super::failure::{Failure, Hope};
use super::gate::Decided;
use super::link::Link;
use super::memory::Learned;
use super::modern::Modern;
use super::outlet::Outlet;
use super::rounds::{Round, Rounds};
use super::{Effect, Event, MessageNumber, OnRecord, Place, ServerId, SessionId};
use crate::principal::Party;

/// How long a request for a list waits for a client that owes its roots, before it is answered without a server.
pub(super) const LISTS_WITHOUT_ROOTS: Duration = Duration::from_secs(1);

/// How long it waits for a server that is starting with its roots: hosts give up on a list after five seconds.
pub(super) const LISTS_WITHOUT_SERVER: Duration = Duration::from_secs(4);

/// How long a message waits for a server that is starting: as long as clients commonly wait for an answer.
const STARTS_WITHIN: Duration = Duration::from_mins(1);

/// The longest message to the operator, in characters: room for two paths of any length.
const LONGEST_SAID: usize = 10_000;

/// What is known about the client.
#[derive(Debug)]
pub(super) enum Client {
    /// It has sent nothing that shows its era.
    Silent,
    /// It began with `initialize`.
    Legacy(Legacy),
    /// It states its capabilities in every request.
    Modern,
}

/// A client of the legacy era.
#[derive(Debug)]
pub(super) struct Legacy {
    /// Its params of `initialize` with Rootward's own roots capability, for greeting children.
    pub(super) params: String,
    /// The revision that it asked for.
    pub(super) revision: Option<String>,
    /// The answer that it got.
    pub(super) promised: Option<Box<str>>,
    /// Whether it sent `initialized`.
    pub(super) initialized: bool,
}

/// An open question to the client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Asked {
    /// Rootward's own request for its roots.
    Roots(RequestNumber),
    /// A child's.
    Child {
        child: ChildId,
        /// The id that the child used.
        id: Box<str>,
        /// The progress token of the question.
        token: Option<Box<str>>,
    },
}

/// A client message that cannot be forwarded yet.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) text: Box<str>,
    pub(super) id: Option<Box<str>>,
    pub(super) way: Way,
}

/// The progress of a message.
#[derive(Debug)]
pub(super) struct Way {
    pub(super) number: MessageNumber,
    /// The link that it belongs to.
    pub(super) link: usize,
    pub(super) arrived: Duration,
    /// Whether it turned out to need roots.
    pub(super) needs_roots: bool,
    /// Whether it waits only for earlier messages, so that it does not overtake them.
    pub(super) behind: bool,
    /// The contents of a modern request.
    pub(super) modern: Option<Box<Modern>>,
    /// The limits of the client's own sandbox, if it sent any.
    pub(super) limits: Option<Box<HostLimits>>,
    /// The decision about it, until it is audited.
    pub(super) decided: Option<Box<Decided>>,
    /// How often it was audited.
    pub(super) recorded: u8,
}

/// Whether a message is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Done {
    Yes,
    /// It waits for roots, for a child, or for the audit log.
    NotYet,
}

/// Which waiting messages an event may release. Checking all of them for every line would be too slow if many wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Releases {
    Nobody,
    One(MessageNumber),
    All,
}

/// An event, as a session sees it.
#[derive(Debug)]
pub(super) enum SessionEvent<'e> {
    Line(Line<'e>),
    Closed,
    Left,
    ChildLine(ChildId, Found<'e>),
    ChildEnded(ChildId, &'e Failure),
    NotStarted(ChildId, &'e Failure, Hope),
    Gone(ChildId),
    Placed(Option<MessageNumber>, Placed),
    Recorded(MessageNumber, OnRecord),
    Given(&'e Arc<Given>),
    /// Only time passed.
    Nothing,
}

#[derive(Debug)]
pub(crate) struct Session {
    pub(super) id: SessionId,
    /// The owner.
    pub(super) party: Party,
    pub(super) terms: Arc<Terms>,
    pub(super) given: Arc<Given>,
    pub(super) client: Client,
    /// The key for caching what servers tell this client about themselves.
    pub(super) fingerprint: Option<String>,
    /// The client's name, for the audit log. In the modern era, from the last request.
    pub(super) client_name: Option<String>,
    /// The owner of its roots; `None` until the client has stated its capabilities. In the modern era, that of the
    /// last request.
    pub(super) roots: Option<SessionGuard>,
    /// Which unused roots were reported to the operator; `None` if the hub reports them.
    pub(super) left_out: Option<LeftOutNews>,
    pub(super) links: Vec<Link>,
    pub(super) asked: HashMap<Box<str>, Asked>,
    pub(super) waiting: VecDeque<Waiting>,
    /// The state between two rounds of modern calls.
    pub(super) rounds: Rounds<Round>,
    /// Pending output to the client.
    pub(super) out: Outlet,
    /// Whether the client has closed its end.
    pub(super) closed: bool,
    pub(super) now: Duration,
    pub(super) longest: usize,
    /// Whether something happened since the timers were last computed. If not, `due` is valid.
    is_changed: bool,
    due: Option<Duration>,
    effects: Vec<Effect>,
    learned: Vec<(ServerId, Learned)>,
    own_ids: u64,
    messages: u64,
}

impl<'e> SessionEvent<'e> {
    /// The session that an event concerns, and what it means there.
    pub(super) fn of(event: Event<'e>) -> (SessionId, SessionEvent<'e>) {
        match event {
            Event::ClientLine(session, line) => (session, SessionEvent::Line(line)),
            Event::ClientClosed(session) => (session, SessionEvent::Closed),
            Event::Left(session) => (session, SessionEvent::Left),
            Event::ChildLine(child, line) => (child.session, SessionEvent::ChildLine(child, line)),
            Event::ChildEnded(child, how) => (child.session, SessionEvent::ChildEnded(child, how)),
            Event::NotStarted(child, why, hope) => (child.session, SessionEvent::NotStarted(child, why, hope)),
            Event::Gone(child) => (child.session, SessionEvent::Gone(child)),
            Event::Placed(Place::Session(session), placed) => (session, SessionEvent::Placed(None, placed)),
            Event::Placed(Place::Request(session, message), placed) => {
                (session, SessionEvent::Placed(Some(message), placed))
            }
            Event::Recorded(session, message, on_record) => (session, SessionEvent::Recorded(message, on_record)),
            // These concern all sessions or none.
            Event::Given(..) | Event::Tick | Event::Placed(Place::Client(_), _) => {
                (SessionId(0), SessionEvent::Nothing)
            }
        }
    }
}

impl Session {
    pub(super) fn new(
        id: SessionId,
        party: Party,
        (terms, given): (Arc<Terms>, Arc<Given>),
        longest: usize,
        links: Vec<Link>,
    ) -> Session {
        Session {
            id,
            terms,
            given: party.limited(&given),
            party,
            client: Client::Silent,
            fingerprint: None,
            client_name: None,
            roots: None,
            left_out: Some(LeftOutNews::default()),
            links,
            asked: HashMap::new(),
            waiting: VecDeque::new(),
            rounds: Rounds::default(),
            out: Outlet::default(),
            closed: false,
            now: Duration::ZERO,
            longest,
            is_changed: true,
            due: None,
            effects: Vec::new(),
            learned: Vec::new(),
            own_ids: 0,
            messages: 0,
        }
    }

    /// Advances the session by one event.
    pub(super) fn step(&mut self, now: Duration, event: SessionEvent<'_>, effects: &mut Vec<Effect>) {
        self.now = now.max(self.now);
        self.is_changed = !matches!(event, SessionEvent::Nothing);
        match self.handle(event) {
            Releases::Nobody => {}
            Releases::One(message) => self.release_one(message),
            Releases::All => {
                self.settle();
                self.arrange();
                self.release();
            }
        }
        self.sweep();
        self.tell_left_out();
        if !self.is_changed {
            self.due = self.wakes_at();
        }
        effects.append(&mut self.effects);
    }

    /// Whether the passing of time can change anything: a hub has many sessions, and most of them are idle.
    pub(crate) fn is_due(&self, now: Duration) -> bool {
        // A retired child ends once it has read its input, and no event reports that.
        let lets_go = || self.children().any(|(_, child)| child.phase == Phase::Retired);
        self.is_changed || self.due.is_some_and(|due| due <= now) || lets_go()
    }

    /// When time next matters.
    pub(crate) fn due(&self) -> Option<Duration> {
        if self.is_changed { self.wakes_at() } else { self.due }
    }

    /// Handles an event. Returns which waiting messages may be released.
    fn handle(&mut self, event: SessionEvent<'_>) -> Releases {
        match event {
            SessionEvent::Line(line) => return self.client_line(&line),
            SessionEvent::ChildLine(child, line) => return self.child_line(child, line),
            SessionEvent::Placed(Some(message), placed) => {
                self.placed_for(message, placed);
                return Releases::One(message);
            }
            SessionEvent::Recorded(message, on_record) => {
                self.recorded(message, on_record);
                return Releases::One(message);
            }
            SessionEvent::Placed(None, placed) => self.report(|roots, now| roots.placed(now, placed)),
            SessionEvent::Closed => self.client_closed(),
            SessionEvent::Left => self.give_up(),
            SessionEvent::ChildEnded(child, how) => self.ended(child, how),
            SessionEvent::NotStarted(child, why, hope) => self.not_started(child, why, hope),
            SessionEvent::Gone(child) => self.gone(child),
            SessionEvent::Given(given) => self.take_given(given),
            SessionEvent::Nothing => {}
        }
        Releases::All
    }

    /// Does what is due by now.
    fn settle(&mut self) {
        let due = self.roots.as_ref().and_then(SessionGuard::wakes_at).is_some_and(|due| due <= self.now);
        if due && self.era() == Era::Legacy {
            self.report(SessionGuard::tick);
        }
        // The last one is enough: a list that is too old for one call is also too old for later ones.
        let last = self.waiting.iter().rev().map(|waiting| &waiting.way).find(|way| way.needs_roots);
        if let Some(arrived) = last.map(|way| way.arrived).filter(|_| self.era() == Era::Legacy) {
            self.report(|roots, now| roots.needed(now, arrived));
        }
        self.note_silence();
        self.end_revoked();
        self.end_idle();
        self.go_on_learning();
    }

    /// Forwards waiting messages as far as possible.
    fn release(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        for mut waiting in std::mem::take(&mut self.waiting) {
            waiting.way.behind &= self.is_recording(waiting.way.link);
            if waiting.way.behind || self.pass_text(&waiting.text, &mut waiting.way) == Done::NotYet {
                self.waiting.push_back(waiting);
            }
        }
    }

    /// Like `release`, for one message and those that wait only because of it.
    fn release_one(&mut self, message: MessageNumber) {
        let Some(position) = self.waiting.iter().position(|waiting| waiting.way.number == message) else {
            // It was cancelled, so those behind it no longer have to wait.
            if self.waiting.iter().any(|waiting| waiting.way.behind) {
                self.release();
            }
            return;
        };
        while let Some(mut waiting) = self.waiting.remove(position) {
            waiting.way.behind = false;
            if self.pass_text(&waiting.text, &mut waiting.way) == Done::NotYet {
                return self.waiting.insert(position, waiting);
            }
            if !self.waiting.get(position).is_some_and(|next| next.way.behind) {
                return;
            }
        }
    }

    /// Whether a message of this link will leave once it is audited.
    pub(super) fn is_recording(&self, link: usize) -> bool {
        let mut ways = self.waiting.iter().map(|waiting| &waiting.way);
        ways.any(|way| way.link == link && way.decided.is_some())
    }

    /// How long a message may wait now. A starting server gets more time than a silent client, because it may have to
    /// be fetched first.
    pub(super) fn patience(&self) -> Duration {
        let timeout = self.terms.policy.timeout;
        let comes = self.links.iter().any(|link| link.is_coming(self.now));
        if comes { timeout.max(STARTS_WITHIN) } else { timeout }
    }

    fn wakes_at(&self) -> Option<Duration> {
        let later = |due: &Duration| *due > self.now;
        let roots = self.roots.as_ref().and_then(SessionGuard::wakes_at).filter(|_| self.era() == Era::Legacy);
        let patience = self.patience();
        let arrived = || self.waiting.iter().map(|waiting| waiting.way.arrived);
        let patience = arrived().map(|arrived| arrived + patience).find(later);
        let lists = [LISTS_WITHOUT_ROOTS, LISTS_WITHOUT_SERVER];
        let lists = lists.into_iter().filter_map(|wait| arrived().map(|arrived| arrived + wait).find(later)).min();
        let needs = self.waiting.iter().filter(|waiting| waiting.way.needs_roots);
        let looks = needs.filter_map(|waiting| match self.roots.as_ref()?.turn(waiting.way.arrived, self.now) {
            Turn::Wait { until } => Some(until).filter(later),
            Turn::GoOn | Turn::Overdue => None,
        });
        let settles = self.waiting.iter().filter_map(|waiting| {
            self.links.get(waiting.way.link)?.current().map(|child| child.settles_at).filter(later)
        });
        let again = self.links.iter().filter(|link| link.coming.is_none());
        let again = again.filter_map(|link| link.backoff.not_before(self.now)).min();
        let lessons = self.lessons_end_at();
        let idle = (0..self.links.len()).filter_map(|link| self.idle_at(link)).min().filter(later);
        let due = [roots, patience, lists, looks.min(), settles.min(), again, self.revoked_at(), lessons, idle];
        due.into_iter().flatten().min()
    }

    pub(super) fn era(&self) -> Era {
        if matches!(self.client, Client::Modern) { Era::Modern } else { Era::Legacy }
    }

    /// Queues a message for the client.
    pub(super) fn tell_client(&mut self, message: &str) {
        self.out.push(message);
    }

    pub(super) fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Tells the operator.
    pub(super) fn say(&mut self, text: impl AsRef<str>) {
        // SECURITY: method names and errors are a peer's text, and this goes to a terminal
        // (test: nothing_that_a_peer_says_reaches_the_terminal_raw)
        self.effects.push(Effect::Say(shown(text.as_ref(), LONGEST_SAID)));
    }

    /// An id that no client and no server uses.
    pub(super) fn own_id(&mut self, what: &str) -> String {
        self.own_ids += 1;
        format!(r#""rootward-{what}-{}""#, self.own_ids)
    }

    /// The initial progress of a new message.
    pub(super) fn new_way(&mut self, link: usize) -> Way {
        self.messages += 1;
        let number = MessageNumber(self.messages);
        Way {
            number,
            link,
            arrived: self.now,
            needs_roots: false,
            behind: false,
            modern: None,
            limits: None,
            decided: None,
            recorded: 0,
        }
    }

    pub(super) fn way_of(&mut self, number: MessageNumber) -> Option<&mut Way> {
        self.waiting.iter_mut().map(|waiting| &mut waiting.way).find(|way| way.number == number)
    }

    pub(super) fn child_mut(&mut self, child: ChildId) -> Option<&mut Child> {
        self.links.get_mut(child.link)?.children.get_mut(&child.number)
    }

    /// All children, with their ids.
    pub(super) fn children(&self) -> impl Iterator<Item = (ChildId, &Child)> {
        self.links.iter().enumerate().flat_map(move |(link, of)| {
            of.children.iter().map(move |(number, child)| (self.child_id(link, *number), child))
        })
    }

    /// Whether this session uses the server.
    pub(super) fn is_with(&self, server: ServerId) -> bool {
        self.links.iter().any(|link| link.server == server)
    }

    pub(super) fn server_of(&self, child: ChildId) -> Option<ServerId> {
        self.links.get(child.link).map(|link| link.server)
    }

    pub(super) fn child_id(&self, link: usize, number: u64) -> ChildId {
        ChildId { session: self.id, link, number }
    }

    /// Stores what was learned about a server.
    pub(super) fn learn(&mut self, link: usize) {
        let remembered = self.links.get(link).and_then(|of| of.remembered.clone());
        if let (Some(fingerprint), Some(remembered)) = (self.fingerprint.clone(), remembered) {
            self.learn_that(link, Learned::Answers { fingerprint, remembered });
        }
    }

    pub(super) fn learn_that(&mut self, link: usize, learned: Learned) {
        if let Some(of) = self.links.get(link) {
            self.learned.push((of.server, learned));
        }
    }

    pub(super) fn take_learned(&mut self) -> Vec<(ServerId, Learned)> {
        std::mem::take(&mut self.learned)
    }

    /// Pending output to the client.
    pub(super) fn outlet(&mut self) -> &mut Outlet {
        &mut self.out
    }

    /// The size of waiting messages plus the output that the client has not read.
    pub(crate) fn held_bytes(&self) -> usize {
        let carried = |Waiting { way, .. }: &Waiting| {
            way.modern.as_ref().map_or(0, |modern| modern.bytes())
                + way.limits.as_ref().map_or(0, |limits| limits.bytes())
        };
        let held = self.waiting.iter().map(|waiting| waiting.text.len() + carried(waiting));
        held.sum::<usize>() + self.out.waiting().len()
    }

    /// The paths of the current roots, once known.
    pub(crate) fn places(&self) -> Option<Vec<PathBuf>> {
        Some(self.published()?.list().iter().map(|placed| placed.place.clone()).collect())
    }

    /// The server's own names for directories, for people; `None` if it has none.
    pub(crate) fn names(&self) -> Option<String> {
        let map = self.links.first()?.rules.paths.map(self.guard()?)?;
        Some(map.to_string())
    }

    /// How many processes run for it.
    pub(crate) fn count_running(&self) -> usize {
        self.children().filter(|(_, child)| child.phase == Phase::Running).count()
    }

    /// Whether this child is still needed.
    pub(crate) fn wants(&self, child: ChildId) -> bool {
        self.links.get(child.link).is_some_and(|link| link.children.contains_key(&child.number))
    }

    /// The number of bytes that the client has not read.
    pub(crate) fn unread_bytes(&self) -> usize {
        self.out.waiting().len()
    }

    /// The number of bytes that a child has not read.
    pub(crate) fn unread_by(&self, child: ChildId) -> usize {
        let child = self.links.get(child.link).and_then(|link| link.children.get(&child.number));
        child.map_or(0, |child| child.input.waiting().len())
    }

    /// The number of bytes that the slowest child has not read.
    pub(crate) fn most_unread(&self) -> usize {
        self.children().map(|(_, child)| child.input.waiting().len()).max().unwrap_or(0)
    }
}
