//! The roots of one legacy session: their owner, [`SessionGuard`], driven over rmcp.
//!
//! The owner says what to do; this module does it, always inside the task of a call that needs roots. A request sent
//! from a separate task would go out on the stand-alone stream of the HTTP transport, which many clients do not open.
//! So this module spawns no task: one of the waiting calls leads, sends the question and polls for the answer. When the
//! leader goes away, the next call leads. The session, never the leader, holds the pending question.

use std::ffi::OsStr;
use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Poll;
use std::time::Duration;

use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, RoleServer};
use rootward_core::Access;
use rootward_protocol::session::{Given, LeftOutNews, Order, Placing, SessionGuard, Turn};
use thiserror::Error;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::flight::{Flight, Landed};
use crate::record::Parties;
use crate::roots::Roots;
use crate::settings::Ground;
use crate::wire;

/// The roots of one session. Cheap to clone; all clones are the same session.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

struct Inner {
    ground: Arc<Ground>,
    number: u64,
    /// Client, server and principal, once the client has sent its name.
    parties: OnceLock<Arc<Parties>>,
    /// The server's name in the audit log.
    server: Option<Arc<str>>,
    started: Instant,
    state: Mutex<State>,
    /// Whether the HTTP session id is known.
    named: AtomicBool,
    /// Whether the client is waiting for a notification.
    awake: Arc<AtomicBool>,
    /// Held by the call that drives the pending question.
    leader: tokio::sync::Mutex<()>,
    /// Wakes waiting calls when something has changed.
    turn: Notify,
    /// Sends the current roots to subscribers; created for the first of them.
    subscribers: OnceLock<watch::Sender<Option<Roots>>>,
}

/// A weak reference to a session.
#[derive(Debug)]
pub(crate) struct WeakSession(std::sync::Weak<Inner>);

impl WeakSession {
    pub(crate) fn upgrade(&self) -> Option<Session> {
        self.0.upgrade().map(Session)
    }
}

#[derive(Default)]
struct State {
    /// The session's client, from the first call on.
    peer: Option<Peer<RoleServer>>,
    /// Created when the client's capabilities are known.
    owner: Option<SessionGuard>,
    roots: Option<Roots>,
    /// Which excluded roots have been reported.
    left_out: LeftOutNews,
    flight: Option<Flight>,
    /// Questions whose cancellation the client has not been told yet.
    to_cancel: Vec<RequestHandle<RoleServer>>,
}

/// The roots are not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum NotKnown {
    /// The client has not listed its roots in time.
    #[error("the client has not named its roots yet")]
    Pending,
    /// The session belongs to a different client than the caller.
    #[error(
        "the session belongs to another client: call `RootsService::install` for each session, and share no handler that it \
         returned"
    )]
    OfAnother,
}

impl Session {
    pub(crate) fn new(ground: Arc<Ground>, server: Option<Arc<str>>) -> Session {
        let session = Session(Arc::new(Inner {
            number: ground.number(),
            parties: OnceLock::new(),
            server,
            ground,
            started: Instant::now(),
            state: Mutex::default(),
            named: AtomicBool::new(false),
            awake: Arc::default(),
            leader: tokio::sync::Mutex::default(),
            turn: Notify::new(),
            subscribers: OnceLock::new(),
        }));
        session.0.ground.given.tell(&session);
        session
    }

    /// The current roots. Asks the client if necessary; the call waits for the answer, up to the timeout.
    ///
    /// Call it in the task of the request that needs roots: messages to the client belong to that request.
    pub async fn roots(&self, peer: &Peer<RoleServer>) -> Result<Roots, NotKnown> {
        let arrived = self.now();
        self.begin(peer)?;
        self.land().await;
        loop {
            let mut woken = pin!(self.0.turn.notified());
            // From here on no notification is missed.
            woken.as_mut().enable();
            let turn = self.needed(arrived);
            self.tell_cancelled().await;
            match turn {
                (Turn::GoOn, Some(roots)) => {
                    self.send_without_waiting(peer).await;
                    return Ok(roots);
                }
                (Turn::GoOn | Turn::Overdue, _) => return Err(NotKnown::Pending),
                (Turn::Wait { until }, _) => {
                    tokio::select! {
                        () = self.lead(peer) => {}
                        () = woken => {}
                        () = tokio::time::sleep(until.saturating_sub(self.now())) => {}
                    }
                }
            }
        }
    }

    /// Like [`Session::roots`], for a call that its client may cancel. Such a call must not lead: over HTTP, its
    /// question would go out on a stream that nobody reads, and later calls would wait for it.
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

    /// Follows a root change until the client has answered or failed to. Waits until the client is quiet, then asks
    /// once.
    pub(crate) async fn follow(&self, peer: &Peer<RoleServer>) {
        loop {
            let mut woken = pin!(self.0.turn.notified());
            woken.as_mut().enable();
            self.report(SessionGuard::tick);
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

    /// When the next timer fires while calls wait.
    fn unsettled_until(&self) -> Option<Duration> {
        let state = self.state();
        state.owner.as_ref().filter(|owner| owner.is_pending())?.wakes_at()
    }

    /// The last known roots, without waiting. Returns `None` if they were never known, and while they are out of date:
    /// after the client reports a change until the new list arrives. A list past its lifetime is still returned;
    /// decisions use [`Session::roots`].
    pub fn roots_cached(&self) -> Option<Roots> {
        let state = self.state();
        let current = state.owner.as_ref().is_some_and(|owner| !owner.is_pending() && !owner.is_placing());
        // SECURITY: a root that was revoked must not look shared until the refresh is done
        // (test: after_a_change_the_cached_roots_are_unknown_until_the_refresh_is_done)
        state.roots.clone().filter(|_| current)
    }

    /// The current roots, if a call made now would not have to wait for them.
    pub fn roots_settled(&self) -> Option<Roots> {
        let now = self.now();
        let state = self.state();
        state.roots.clone().filter(|_| state.owner.as_ref().is_some_and(|owner| owner.is_settled(now)))
    }

    /// Whether `path` is inside the current roots; `None` if that is not known yet. For display only: to use the path,
    /// get a grant.
    pub fn path_in_roots(&self, path: impl AsRef<OsStr>) -> Option<bool> {
        Some(self.roots_settled()?.check(path, Access::NONE).is_ok())
    }

    /// Asks the client again, even if the roots are known.
    pub async fn refresh(&self, peer: &Peer<RoleServer>) -> Result<Roots, NotKnown> {
        self.invalidate();
        self.roots(peer).await
    }

    /// Discards the list: the next call asks again, and waits.
    pub fn invalidate(&self) {
        self.report(SessionGuard::invalidate);
    }

    /// The client reports that its roots changed. From now on, calls that need roots wait until it has been asked.
    pub async fn list_changed(&self) {
        self.hear_list_changed();
        self.tell_cancelled().await;
    }

    /// Like [`Session::list_changed`], if nothing can be sent: the caller must still call [`Session::tell_cancelled`].
    pub(crate) fn hear_list_changed(&self) {
        self.report(SessionGuard::list_changed);
    }

    /// Reports every change of the current roots, once they are known. On a dedicated connection this happens as soon
    /// as the client reports a change, over HTTP with the next call that needs roots.
    pub fn subscribe(&self) -> watch::Receiver<Option<Roots>> {
        // Under the lock, so that no change is lost in between.
        let state = self.state();
        self.0.subscribers.get_or_init(|| watch::Sender::new(state.roots.clone())).subscribe()
    }

    /// Sets whether the client is waiting for a notification. While it is, a session over channels does not rest, and
    /// the `Peer` of the current call stays open.
    pub fn keep_awake(&self, awake: bool) {
        self.0.awake.store(awake, Ordering::Relaxed);
    }

    pub(crate) fn awake(&self) -> &Arc<AtomicBool> {
        &self.0.awake
    }

    /// A weak reference to this session.
    pub(crate) fn downgrade(&self) -> WeakSession {
        WeakSession(Arc::downgrade(&self.0))
    }

    /// Whether this is the first call of this method.
    pub(crate) fn is_named_first(&self) -> bool {
        !self.0.named.swap(true, Ordering::Relaxed)
    }

    /// The number that identifies this session in the audit log.
    pub fn number(&self) -> u64 {
        self.0.number
    }

    /// Client, server and principal, as far as they are known.
    pub(crate) fn parties(&self) -> Arc<Parties> {
        self.0.parties.get().cloned().unwrap_or_else(|| Arc::new(self.parties_with(None)))
    }

    fn parties_with(&self, client: Option<String>) -> Parties {
        let principal = self.0.ground.settings.principal.name();
        Parties { session: self.0.number, principal, client, server: self.0.server.clone() }
    }

    /// Creates the owner, now that the client has declared its capabilities.
    pub(crate) fn begin(&self, peer: &Peer<RoleServer>) -> Result<(), NotKnown> {
        let mut state = self.state();
        // SECURITY: a handler shared between clients would give all of them the first client's roots
        // (test: a_handler_that_clients_share_serves_one_of_them)
        if !is_same(state.peer.get_or_insert_with(|| peer.clone()), peer) {
            return Err(NotKnown::OfAnother);
        }
        if state.owner.is_none() {
            let info = peer.peer_info();
            let support = wire::support(info.as_deref().map(|info| &info.capabilities));
            let ground = &self.0.ground;
            let client = ground.client_name(|| info.as_deref().map(|info| info.client_info.clone()));
            self.0.parties.get_or_init(|| Arc::new(self.parties_with(client)));
            state.owner = Some(SessionGuard::new(Arc::clone(&ground.terms), ground.given.now(), support));
            self.publish(&mut state);
        }
        Ok(())
    }

    /// Drops the client while it is silent. The next call must come from the same client. Only the code that serves the
    /// session can know that, so only it calls this.
    pub(crate) fn rest(&self) {
        self.state().peer = None;
    }

    /// Whether the next call that needs roots first looks for missing ones.
    pub(crate) fn is_look_due(&self) -> bool {
        let now = self.now();
        self.state().owner.as_ref().is_some_and(|owner| owner.is_look_due(now))
    }

    fn needed(&self, arrived: Duration) -> (Turn, Option<Roots>) {
        self.report(|owner, now| owner.needed(now, arrived));
        let now = self.now();
        let state = self.state();
        let turn = state.owner.as_ref().map_or(Turn::Overdue, |owner| owner.turn(arrived, now));
        (turn, state.roots.clone())
    }

    /// The operator's or the user's roots changed, or the restrictions did.
    pub(crate) fn hear_given(&self, given: &Arc<Given>) {
        // A session without an owner reads the current sources when it creates one.
        self.report(|owner, now| owner.given(now, given));
    }

    /// Reports an event to the owner and carries out its orders.
    fn report(&self, event: impl FnOnce(&mut SessionGuard, Duration) -> Vec<Order>) {
        let now = self.now();
        let mut guard = self.state();
        let state = &mut *guard;
        let Some(owner) = &mut state.owner else { return };
        let before = owner.news();
        let orders = event(owner, now);
        let news = owner.news() != before;
        for order in orders {
            match order {
                Order::Ask { question, cursor } => state.flight = Some(Flight::new(question, cursor)),
                Order::Cancel { question } => {
                    let flight = state.flight.take_if(|flight| flight.question() == question);
                    state.to_cancel.extend(flight.and_then(Flight::into_asked));
                }
                Order::Place(placing) => self.place(placing),
            }
        }
        self.publish(state);
        let left_out = state.left_out.take(state.owner.as_ref().and_then(SessionGuard::published));
        let generation = state.roots.as_ref().map_or(0, Roots::generation);
        drop(guard);
        self.0.ground.tell_left_out(&self.parties(), generation, &left_out);
        if news {
            self.0.turn.notify_waiters();
        }
    }

    /// Looks up roots on a thread that may block: a root can be on a file system that does not respond.
    fn place(&self, placing: Placing) {
        let session = self.downgrade();
        tokio::task::spawn_blocking(move || {
            let placed = placing.run_ambient();
            if let Some(session) = session.upgrade() {
                session.report(|owner, now| owner.placed(now, placed));
            }
        });
    }

    /// Publishes the current roots, if there are any.
    fn publish(&self, state: &mut State) {
        let Some(published) = state.owner.as_ref().and_then(SessionGuard::published) else { return };
        let roots = Roots::new(published.clone(), &self.parties(), &self.0.ground);
        state.roots = Some(roots.clone());
        if let Some(told) = self.0.subscribers.get() {
            told.send_if_modified(|told| {
                let news = told.as_ref().is_none_or(|told| told.generation() != roots.generation());
                *told = Some(roots);
                news
            });
        }
    }

    /// Drives the pending question to its end; without one, waits forever.
    async fn lead(&self, peer: &Peer<RoleServer>) {
        let _leader = self.0.leader.lock().await;
        loop {
            self.send(peer).await;
            let landed = std::future::poll_fn(|context| match &mut self.state().flight {
                Some(flight) => flight.poll(context),
                None => Poll::Pending,
            });
            if let Some(landed) = landed.await {
                self.landed(landed);
                return;
            }
        }
    }

    /// Processes an answer that arrived while no call was waiting. Does not wait: most calls need no roots.
    pub(crate) async fn land(&self) {
        let Ok(_leader) = self.0.leader.try_lock() else {
            return;
        };
        let landed = std::future::poll_fn(|context| {
            match self.state().flight.as_mut().filter(|flight| flight.is_sent()).map(|flight| flight.poll(context)) {
                None | Some(Poll::Pending) => Poll::Ready(None),
                Some(ready) => ready,
            }
        });
        if let Some(landed) = landed.await {
            self.landed(landed);
        }
    }

    /// Asks a client that failed again, if it is time to. Does not wait.
    pub(crate) async fn ask_again(&self, peer: &Peer<RoleServer>) {
        self.report(|owner, now| owner.needed(now, now));
        self.tell_cancelled().await;
        self.send_without_waiting(peer).await;
    }

    /// Sends a question that no call waits for along with this call.
    async fn send_without_waiting(&self, peer: &Peer<RoleServer>) {
        if self.state().flight.as_ref().is_some_and(|flight| !flight.is_sent())
            && let Ok(_leader) = self.0.leader.try_lock()
        {
            self.send(peer).await;
            // rmcp's loop takes questions and results from two queues. It must see the question before this call's
            // result ends the stream that carries the question.
            tokio::task::yield_now().await;
        }
    }

    /// Sends the question, if there is one to send. Only the leader calls this, so that it is sent once.
    async fn send(&self, peer: &Peer<RoleServer>) {
        let (question, cursor) = match &self.state().flight {
            Some(flight) if !flight.is_sent() => (flight.question(), flight.cursor().map(str::to_owned)),
            _ => return,
        };
        let request = wire::list_roots(cursor.as_deref());
        match peer.send_cancellable_request(request, PeerRequestOptions::default()).await {
            Ok(handle) => {
                let mut state = self.state();
                match &mut state.flight {
                    Some(flight) if flight.question() == question => flight.sent(handle),
                    // Superseded while it was being sent.
                    _ => state.to_cancel.push(handle),
                }
            }
            Err(error) => {
                self.state().flight.take_if(|flight| flight.question() == question);
                self.report(|owner, now| owner.failed(now, question, error.to_string()));
            }
        }
    }

    /// A question was answered, or never will be.
    fn landed(&self, Landed { question, answer }: Landed) {
        self.state().flight.take_if(|flight| flight.question() == question);
        self.report(|owner, now| owner.answered(now, question, answer));
    }

    /// Tells the client which answers are no longer needed.
    pub(crate) async fn tell_cancelled(&self) {
        loop {
            let next = self.state().to_cancel.pop();
            let Some(handle) = next else {
                return;
            };
            // The client may be gone.
            let _ = handle.cancel(Some("the answer is no longer needed".to_owned())).await;
        }
    }

    fn now(&self) -> Duration {
        self.0.started.elapsed()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether two peers are ends of one connection: then they share the client's info in memory. Without that info, no
/// client was ever asked.
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
