//! The roots of one legacy session: the core's state machine, driven over rmcp.
//!
//! The machine says what to do; this carries it out, always inside the task of a call that needs roots. A request to
//! the client from a task of its own would leave on the stand-alone stream of the HTTP transport, which many clients
//! do not open. So there is no task here: of the calls that wait one leads, sends the question and polls the answer, and
//! when it goes away the next one leads. What is under way is kept in the session, never in the leader.

use std::ffi::OsStr;
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Poll;
use std::time::Duration;

use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, RoleServer};
use rootward_core::session::State::Pending;
use rootward_core::session::{Effect, Event, RequestNumber, SessionRoots, Standing, Why};
use rootward_core::{Access, RootSet};
use thiserror::Error;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::flight::{Flight, Landed};
use crate::given::Given;
use crate::roots::Roots;
use crate::settings::Ground;
use crate::wire;

/// The roots of one session. Cheap to clone; all clones are the same session.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

struct Inner {
    ground: Arc<Ground>,
    number: u64,
    started: Instant,
    state: Mutex<State>,
    /// Whether HTTP's name for it is known.
    named: std::sync::atomic::AtomicBool,
    /// Held by the call that moves the flight along.
    leader: tokio::sync::Mutex<()>,
    /// Something happened: calls that wait look again.
    turn: Notify,
    /// The roots in force, once somebody wants to be told.
    in_force: OnceLock<watch::Sender<Option<Roots>>>,
}

/// A session that is kept by others, or gone.
#[derive(Debug)]
pub(crate) struct WeakSession(std::sync::Weak<Inner>);

impl WeakSession {
    pub(crate) fn upgrade(&self) -> Option<Session> {
        self.0.upgrade().map(Session)
    }
}

#[derive(Default)]
struct State {
    /// Whose session it is, from the first call on.
    peer: Option<Peer<RoleServer>>,
    /// Made when the client's capabilities are known.
    machine: Option<SessionRoots>,
    /// What the machine was given, and what is closed with it.
    given: Option<Arc<Given>>,
    roots: Option<Roots>,
    flight: Option<Flight>,
    /// Questions whose end the client is to be told.
    to_cancel: Vec<RequestHandle<RoleServer>>,
    /// When missing roots were last looked for.
    looked: Duration,
    /// They are being looked for.
    looking: bool,
}

impl State {
    /// The roots to look up again, if one of them was missing: it may have appeared. Not more often than a client that failed
    /// is asked again, and never twice at a time: a disk that does not answer is not to take thread after thread.
    fn to_look_up(&self, now: Duration, ground: &Ground) -> Option<(RequestNumber, RootSet)> {
        let (request, roots) = self.machine.as_ref()?.client_roots()?;
        let is_due = !self.looking && now >= self.looked.saturating_add(ground.settings.policy.retry_after);
        (is_due && roots.missing().next().is_some()).then(|| (request, roots.clone()))
    }

    /// Whether the client has answered, and its roots are being looked up.
    fn is_placing(&self) -> bool {
        self.flight.as_ref().is_some_and(Flight::is_being_placed)
    }
}

/// The roots are not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum NotKnown {
    /// The client has not named its roots in time.
    #[error("the client has not named its roots yet")]
    Pending,
    /// The session is of another client than the one that calls.
    #[error(
        "the session belongs to another client: call `RootsService::install` for each session, and share no handler that it \
         returned"
    )]
    OfAnother,
}

/// What a call does.
enum Turn {
    GoOn(Roots),
    Wait(Duration),
    GiveUp,
}

impl Session {
    pub(crate) fn new(ground: Arc<Ground>) -> Session {
        let session = Session(Arc::new(Inner {
            number: ground.number(),
            ground,
            started: Instant::now(),
            state: Mutex::default(),
            named: std::sync::atomic::AtomicBool::new(false),
            leader: tokio::sync::Mutex::default(),
            turn: Notify::new(),
            in_force: OnceLock::new(),
        }));
        session.0.ground.given.tell(&session);
        session
    }

    /// The roots in force now. The client is asked where need be, and the call waits for it, at most the timeout.
    ///
    /// Call it in the task of the request that needs roots: what is sent to the client belongs to that request.
    pub async fn roots(&self, peer: &Peer<RoleServer>) -> Result<Roots, NotKnown> {
        let arrived = self.now();
        self.begin(peer)?;
        self.land().await;
        self.look_again().await;
        loop {
            let mut woken = pin!(self.0.turn.notified());
            // From here on nothing is missed.
            woken.as_mut().enable();
            let turn = self.needed(arrived);
            self.tell_cancelled().await;
            match turn {
                Turn::GoOn(roots) => {
                    self.send_without_waiting(peer).await;
                    return Ok(roots);
                }
                Turn::GiveUp => return Err(NotKnown::Pending),
                Turn::Wait(until) => {
                    tokio::select! {
                        () = self.lead(peer) => {}
                        () = woken => {}
                        () = tokio::time::sleep(until.saturating_sub(self.now())) => {}
                    }
                }
            }
        }
    }

    /// The same, for a call that its client may stop. Then it must not lead: over HTTP, what it asks would leave on a stream
    /// that nobody reads, and the calls after it would wait for that.
    pub(crate) async fn roots_unless_stopped(
        &self,
        peer: &Peer<RoleServer>,
        stopped: &CancellationToken,
    ) -> Result<Roots, NotKnown> {
        tokio::select! {
            biased;
            () = stopped.cancelled() => Err(NotKnown::Pending),
            roots = self.roots(peer) => roots,
        }
    }

    /// Stays with a change until the client has said what is new, or has not: asks it once it is quiet, and no more than once.
    pub(crate) async fn follow(&self, peer: &Peer<RoleServer>) {
        loop {
            let mut woken = pin!(self.0.turn.notified());
            woken.as_mut().enable();
            self.handle(Event::Tick);
            self.tell_cancelled().await;
            let Some(until) = self.unsettled_until() else {
                return;
            };
            tokio::select! {
                () = self.lead(peer) => {}
                () = woken => {}
                () = tokio::time::sleep(until.saturating_sub(self.now())) => {}
            }
        }
    }

    /// When something happens by itself, while calls wait for it.
    fn unsettled_until(&self) -> Option<Duration> {
        let state = self.state();
        state.machine.as_ref().filter(|machine| machine.state() == Pending)?.wakes_at()
    }

    /// The roots last known, without waiting; none if they were never known. For showing: while the client says that they
    /// changed, these are still the old ones, and decisions go through [`Session::roots`].
    pub fn roots_cached(&self) -> Option<Roots> {
        self.state().roots.clone()
    }

    /// The roots in force, if a call that came now would not have to wait for them.
    pub fn roots_settled(&self) -> Option<Roots> {
        let now = self.now();
        let state = self.state();
        match state.machine.as_ref()?.standing(now, now) {
            Standing::InForce(_) if !state.is_placing() => state.roots.clone(),
            Standing::InForce(_) | Standing::Wait { .. } | Standing::Overdue => None,
        }
    }

    /// Whether `path` lies in the roots in force; `None` where that is not known yet. An answer to show: to use the path,
    /// take a grant.
    pub fn path_in_roots(&self, path: impl AsRef<OsStr>) -> Option<bool> {
        Some(self.roots_settled()?.check(path, Access::NONE).is_ok())
    }

    /// Asks the client anew, whatever is known.
    pub async fn refresh(&self, peer: &Peer<RoleServer>) -> Result<Roots, NotKnown> {
        self.invalidate();
        self.roots(peer).await
    }

    /// Trusts the list no more: the next call asks again, and waits.
    pub fn invalidate(&self) {
        self.handle(Event::Invalidate);
    }

    /// The client says that its roots changed. From now on calls that need roots wait, until it was asked.
    pub async fn list_changed(&self) {
        self.hear_list_changed();
        self.tell_cancelled().await;
    }

    /// The same, where nothing can be sent: [`Session::tell_cancelled`] is still to be done.
    pub(crate) fn hear_list_changed(&self) {
        self.handle(Event::ListChanged);
    }

    /// Tells of every change of the roots in force, once they are known: on a connection of its own as soon as the client says that
    /// they changed, over HTTP with the next call that needs roots.
    pub fn subscribe(&self) -> watch::Receiver<Option<Roots>> {
        // Under the lock, so that no change falls between the two.
        let state = self.state();
        self.0.in_force.get_or_init(|| watch::Sender::new(state.roots.clone())).subscribe()
    }

    /// A way back to this session that does not keep it.
    pub(crate) fn downgrade(&self) -> WeakSession {
        WeakSession(Arc::downgrade(&self.0))
    }

    /// Whether nobody asked this before.
    pub(crate) fn is_named_first(&self) -> bool {
        !self.0.named.swap(true, std::sync::atomic::Ordering::Relaxed)
    }

    /// A number that tells this session from others of its service, on record.
    pub fn number(&self) -> u64 {
        self.0.number
    }

    /// Makes the machine, now that the client has said what it can.
    pub(crate) fn begin(&self, peer: &Peer<RoleServer>) -> Result<(), NotKnown> {
        let mut state = self.state();
        // SECURITY: whoever shares a handler between clients would give all of them the roots of the first
        // (test: a_handler_that_clients_share_serves_one_of_them)
        if !is_same(state.peer.get_or_insert_with(|| peer.clone()), peer) {
            return Err(NotKnown::OfAnother);
        }
        if state.machine.is_none() {
            let settings = &self.0.ground.settings;
            let support = wire::support(peer.peer_info().as_deref().map(|info| &info.capabilities));
            let given = self.0.ground.given.now();
            state.machine = Some(SessionRoots::new(settings.policy.clone(), given.sources.clone(), support));
            state.given = Some(given);
            self.publish(&mut state);
        }
        Ok(())
    }

    /// Whether the next call that needs roots looks for missing ones first.
    pub(crate) fn is_look_due(&self) -> bool {
        self.state().to_look_up(self.now(), &self.0.ground).is_some()
    }

    /// Looks for roots that were missing, if it is time to. A disk that does not answer costs the call the timeout; what is
    /// found later still counts.
    async fn look_again(&self) {
        let now = self.now();
        let (request, roots) = {
            let mut state = self.state();
            let Some(due) = state.to_look_up(now, &self.0.ground) else {
                return;
            };
            (state.looked, state.looking) = (now, true);
            due
        };
        let ground = Arc::clone(&self.0.ground);
        let timeout = ground.settings.policy.timeout;
        let session = Arc::downgrade(&self.0);
        let looking = tokio::task::spawn_blocking(move || {
            let roots = ground.shared.set(roots.place_again_ambient(&ground.settings.validation));
            if let Some(session) = session.upgrade().map(Session) {
                session.state().looking = false;
                session.handle(Event::LookedAgain { request, roots });
            }
        });
        let _ = tokio::time::timeout(timeout, looking).await;
    }

    fn needed(&self, arrived: Duration) -> Turn {
        self.handle(Event::Needed { arrived });
        let now = self.now();
        let patience = arrived.saturating_add(self.0.ground.settings.policy.timeout);
        let state = self.state();
        let Some(machine) = &state.machine else {
            return Turn::GiveUp;
        };
        match (machine.standing(arrived, now), &state.roots) {
            // The client was slow, and has answered: what it named is worth a look at the disk.
            (Standing::InForce(_), Some(_)) if state.is_placing() && now < patience => Turn::Wait(patience),
            (Standing::InForce(_), Some(roots)) => Turn::GoOn(roots.clone()),
            // What is due by now is looked at again at once.
            (Standing::Wait { until }, _) => Turn::Wait(machine.wakes_at().map_or(until, |due| due.min(until))),
            _ => Turn::GiveUp,
        }
    }

    /// The operator's or the user's roots changed, or what is closed.
    pub(crate) fn hear_given(&self, given: &Arc<Given>) {
        let mut state = self.state();
        let Some(before) = state.given.replace(Arc::clone(given)) else {
            // Whoever makes the machine looks what is given.
            state.given = None;
            return;
        };
        // SECURITY: roots that stay the same would keep the guard that leaves open what was closed
        // (test: what_is_closed_while_a_session_runs_is_closed)
        let closed = !Arc::ptr_eq(&before.restrictions, &given.restrictions);
        let closed = closed.then_some(Event::RestrictionsChanged);
        // All of it at once: new roots are never decided with what was closed for others.
        self.take_notice(state, [Event::SourcesChanged(given.sources.clone())].into_iter().chain(closed));
    }

    /// Has the machine take notice, and notes what is to be done.
    fn handle(&self, event: Event) {
        self.take_notice(self.state(), [event]);
    }

    fn take_notice(&self, mut guard: MutexGuard<'_, State>, events: impl IntoIterator<Item = Event>) {
        let now = self.now();
        let state = &mut *guard;
        let Some(machine) = &mut state.machine else {
            return;
        };
        let before = machine.wakes_at();
        let effects: Vec<Effect> = events.into_iter().flat_map(|event| machine.handle(now, event)).collect();
        if effects.is_empty() {
            return;
        }
        // A time that is only said again is no news: whoever waits knows it, and would say it once more.
        let news = effects.iter().any(|effect| match effect {
            Effect::WakeAt(time) => before.is_none_or(|before| *time < before),
            _ => true,
        });
        for effect in effects {
            match effect {
                Effect::Ask { request } => state.flight = Some(Flight::new(request)),
                Effect::Cancel { request } => {
                    let flight = state.flight.take_if(|flight| flight.request() == request);
                    state.to_cancel.extend(flight.and_then(Flight::into_asked));
                }
                // These follow from what is in force, which is looked at below, and from the machine's own clock.
                Effect::WakeAt(_) | Effect::Changed { .. } | Effect::Settled => {}
            }
        }
        self.publish(state);
        drop(guard);
        if news {
            self.0.turn.notify_waiters();
        }
    }

    /// Makes known what is in force, if anything is.
    fn publish(&self, state: &mut State) {
        let (Some(machine), Some(given)) = (&state.machine, &state.given) else {
            return;
        };
        let in_force = machine.in_force();
        if in_force.why == Why::Unheard {
            return;
        }
        let support = machine.support();
        let roots = Roots::of(in_force, support, self.0.number, (&self.0.ground, given), state.roots.as_ref());
        state.roots = Some(roots.clone());
        if let Some(told) = self.0.in_force.get() {
            told.send_if_modified(|told| {
                let news = told.as_ref().is_none_or(|told| told.generation() != roots.generation());
                *told = Some(roots);
                news
            });
        }
    }

    /// Moves the flight along until it is over; without one, waits for ever.
    async fn lead(&self, peer: &Peer<RoleServer>) {
        let _leader = self.0.leader.lock().await;
        loop {
            self.send(peer).await;
            let landed = std::future::poll_fn(|context| match &mut self.state().flight {
                Some(flight) => flight.poll(context, &self.0.ground),
                None => Poll::Pending,
            });
            if let Some(event) = landed.await.event() {
                self.finish(event);
                return;
            }
        }
    }

    /// Takes notice of an answer that came while no call waited. Waits for nothing: most calls need no roots.
    pub(crate) async fn land(&self) {
        let Ok(_leader) = self.0.leader.try_lock() else {
            return;
        };
        let landed = std::future::poll_fn(|context| {
            let mut state = self.state();
            loop {
                let Some(flight) = state.flight.as_mut().filter(|flight| flight.is_sent()) else {
                    return Poll::Ready(Landed::Nothing);
                };
                match flight.poll(context, &self.0.ground) {
                    Poll::Pending => return Poll::Ready(Landed::Nothing),
                    Poll::Ready(Landed::Nothing) => {}
                    ready @ Poll::Ready(_) => return ready,
                }
            }
        });
        if let Some(event) = landed.await.event() {
            self.finish(event);
        }
    }

    /// Asks a client that failed once more, if it is time to; nothing is waited for.
    pub(crate) async fn ask_again(&self, peer: &Peer<RoleServer>) {
        self.handle(Event::Needed { arrived: self.now() });
        self.tell_cancelled().await;
        self.send_without_waiting(peer).await;
    }

    /// A question that no call waits for: it leaves with this call all the same.
    async fn send_without_waiting(&self, peer: &Peer<RoleServer>) {
        if self.state().flight.as_ref().is_some_and(|flight| !flight.is_sent())
            && let Ok(_leader) = self.0.leader.try_lock()
        {
            self.send(peer).await;
            // rmcp's loop takes questions and results from two queues: it is to see the question before this call's
            // result ends the stream that the question would leave on.
            tokio::task::yield_now().await;
        }
    }

    /// Sends the question, if one is to be sent. Only for the leader, so that it is sent once.
    async fn send(&self, peer: &Peer<RoleServer>) {
        let (request, cursor) = match &self.state().flight {
            Some(flight) if !flight.is_sent() => (flight.request(), flight.cursor()),
            _ => return,
        };
        let question = wire::list_roots(cursor.as_deref());
        match peer.send_cancellable_request(question, PeerRequestOptions::default()).await {
            Ok(handle) => {
                let mut state = self.state();
                match &mut state.flight {
                    Some(flight) if flight.request() == request => flight.sent(handle),
                    // Overtaken while it was being sent.
                    _ => state.to_cancel.push(handle),
                }
            }
            Err(error) => self.finish(Event::Failed { request, reason: error.to_string() }),
        }
    }

    fn finish(&self, event: Event) {
        if let Event::Failed { request, .. } | Event::Answered { request, .. } = &event {
            self.state().flight.take_if(|flight| flight.request() == *request);
        }
        self.handle(event);
    }

    /// Tells the client which answers are not awaited any more.
    pub(crate) async fn tell_cancelled(&self) {
        loop {
            let next = self.state().to_cancel.pop();
            let Some(handle) = next else {
                return;
            };
            // A client that is gone needs no telling.
            let _ = handle.cancel(Some("the answer is not awaited any more".to_owned())).await;
        }
    }

    fn now(&self) -> Duration {
        self.0.started.elapsed()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether two are ends of one connection: then both have what the client said of itself in common, in memory. Without
/// that no client was ever asked.
fn is_same(one: &Peer<RoleServer>, other: &Peer<RoleServer>) -> bool {
    match (one.peer_info(), other.peer_info()) {
        (Some(one), Some(other)) => Arc::ptr_eq(&one, &other),
        (None, None) => true,
        _ => false,
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("roots", &self.state().roots).finish_non_exhaustive()
    }
}
