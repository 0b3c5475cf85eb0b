//! The roots of one legacy session: the core's state machine, driven over rmcp.
//!
//! The machine says what to do; this carries it out, always inside the task of a call that needs roots. A request to
//! the client from a task of its own would leave on the stand-alone stream of the HTTP transport, which many clients
//! do not open. So there is no task here: of the calls that wait one leads, sends the question and polls the answer, and
//! when it goes away the next one leads. What is under way is kept in the session, never in the leader.

use std::ffi::OsStr;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, RoleServer};
use rootward_core::Access;
use rootward_core::session::{Effect, Event, SessionRoots, Standing, Why};
use thiserror::Error;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::flight::{Flight, Landed};
use crate::roots::Roots;
use crate::settings::Ground;
use crate::wire;

/// The roots of one session. Cheap to clone; all clones are the same session.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

struct Inner {
    ground: Arc<Ground>,
    started: Instant,
    state: Mutex<State>,
    /// Held by the call that moves the flight along.
    leader: tokio::sync::Mutex<()>,
    /// Counts what happened: calls that wait look again.
    turns: watch::Sender<u64>,
    /// The roots in force, for those who want to be told.
    in_force: watch::Sender<Option<Roots>>,
}

#[derive(Default)]
struct State {
    /// Made when the client's capabilities are known.
    machine: Option<SessionRoots>,
    roots: Option<Roots>,
    flight: Option<Flight>,
    /// Questions whose end the client is to be told.
    to_cancel: Vec<RequestHandle<RoleServer>>,
    wake_at: Option<Duration>,
    /// When missing roots were last looked for.
    looked: Duration,
}

/// The roots are not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum NotKnown {
    /// The client has not named its roots in time.
    #[error("the client has not named its roots yet")]
    Pending,
}

/// What a call does.
enum Turn {
    GoOn(Roots),
    Wait(Duration),
    GiveUp,
}

impl Session {
    pub(crate) fn new(ground: Arc<Ground>) -> Session {
        Session(Arc::new(Inner {
            ground,
            started: Instant::now(),
            state: Mutex::default(),
            leader: tokio::sync::Mutex::default(),
            turns: watch::Sender::new(0),
            in_force: watch::Sender::new(None),
        }))
    }

    /// The roots in force now. The client is asked where need be, and the call waits for it, at most the timeout.
    ///
    /// Call it in the task of the request that needs roots: what is sent to the client belongs to that request.
    pub async fn roots(&self, peer: &Peer<RoleServer>) -> Result<Roots, NotKnown> {
        let arrived = self.now();
        self.begin(peer);
        let mut turns = self.0.turns.subscribe();
        self.land().await;
        self.look_again().await;
        loop {
            turns.borrow_and_update();
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
                        _ = turns.changed() => {}
                        () = tokio::time::sleep_until(self.0.started + until) => {}
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
            Standing::InForce(_) => state.roots.clone(),
            Standing::Wait { .. } | Standing::Overdue => None,
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

    /// Tells of every change of the roots in force, once they are known. Changes are learned when a call needs roots.
    pub fn subscribe(&self) -> watch::Receiver<Option<Roots>> {
        self.0.in_force.subscribe()
    }

    /// Makes the machine, now that the client has said what it can.
    pub(crate) fn begin(&self, peer: &Peer<RoleServer>) {
        let mut state = self.state();
        if state.machine.is_none() {
            let settings = &self.0.ground.settings;
            let support = wire::support(peer.peer_info().as_deref().map(|info| &info.capabilities));
            state.machine = Some(SessionRoots::new(settings.policy.clone(), settings.sources.clone(), support));
            self.publish(&mut state);
        }
    }

    /// Looks the client's roots up again if one of them was missing: it may have appeared. Not more often than a client that
    /// failed is asked again.
    pub(crate) async fn look_again(&self) {
        let ground = &self.0.ground;
        let now = self.now();
        let (request, roots) = {
            let mut guard = self.state();
            let state = &mut *guard;
            let listed = state.machine.as_ref().and_then(SessionRoots::client_roots);
            let Some((request, roots)) = listed.filter(|(_, roots)| roots.missing().next().is_some()) else {
                return;
            };
            if now < state.looked.saturating_add(ground.settings.policy.retry_after) {
                return;
            }
            state.looked = now;
            (request, roots.clone())
        };
        let ground = Arc::clone(ground);
        let looking = tokio::task::spawn_blocking(move || roots.place_again_ambient(&ground.settings.validation));
        // A look that fails changes nothing.
        if let Ok(roots) = looking.await {
            self.handle(Event::LookedAgain { request, roots });
        }
    }

    fn needed(&self, arrived: Duration) -> Turn {
        self.handle(Event::Needed { arrived });
        let now = self.now();
        let state = self.state();
        let standing = state.machine.as_ref().map(|machine| machine.standing(arrived, now));
        match (standing, &state.roots) {
            (Some(Standing::InForce(_)), Some(roots)) => Turn::GoOn(roots.clone()),
            (Some(Standing::Wait { until }), _) => {
                Turn::Wait(state.wake_at.filter(|wake_at| *wake_at > now).map_or(until, |wake_at| wake_at.min(until)))
            }
            _ => Turn::GiveUp,
        }
    }

    /// Has the machine take notice, and notes what is to be done.
    fn handle(&self, event: Event) {
        let now = self.now();
        let mut guard = self.state();
        let state = &mut *guard;
        let Some(machine) = &mut state.machine else {
            return;
        };
        let effects = machine.handle(now, event);
        if effects.is_empty() {
            return;
        }
        for effect in effects {
            match effect {
                Effect::Ask { request } => state.flight = Some(Flight::new(request)),
                Effect::Cancel { request } => {
                    let flight = state.flight.take_if(|flight| flight.request() == request);
                    state.to_cancel.extend(flight.and_then(Flight::into_asked));
                }
                Effect::WakeAt(time) => state.wake_at = Some(time),
                // Both follow from what is in force, which is looked at below.
                Effect::Changed { .. } | Effect::Settled => {}
            }
        }
        self.publish(state);
        drop(guard);
        self.0.turns.send_modify(|turn| *turn += 1);
    }

    /// Makes known what is in force, if anything is.
    fn publish(&self, state: &mut State) {
        let Some(machine) = &state.machine else {
            return;
        };
        let in_force = machine.in_force();
        if in_force.why == Why::Unheard {
            return;
        }
        let roots = Roots::of(in_force, &self.0.ground, state.roots.as_ref());
        state.roots = Some(roots.clone());
        self.0.in_force.send_if_modified(|told| {
            let news = told.as_ref().is_none_or(|told| told.generation() != roots.generation());
            *told = Some(roots);
            news
        });
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

    /// Takes notice of an answer that came while no call waited.
    async fn land(&self) {
        let Ok(_leader) = self.0.leader.try_lock() else {
            return;
        };
        let landed = std::future::poll_fn(|context| {
            let mut state = self.state();
            let Some(flight) = state.flight.as_mut().filter(|flight| flight.is_sent()) else {
                return Poll::Ready(Landed::Nothing);
            };
            match flight.poll(context, &self.0.ground) {
                // Looking roots up takes no client, so it is waited for.
                Poll::Pending if flight.is_being_placed() => Poll::Pending,
                Poll::Pending => Poll::Ready(Landed::Nothing),
                Poll::Ready(Landed::Nothing) => {
                    context.waker().wake_by_ref();
                    Poll::Pending
                }
                ready @ Poll::Ready(_) => ready,
            }
        });
        if let Some(event) = landed.await.event() {
            self.finish(event);
        }
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
        let request = match &self.state().flight {
            Some(flight) if !flight.is_sent() => flight.request(),
            _ => return,
        };
        match peer.send_cancellable_request(wire::list_roots(), PeerRequestOptions::default()).await {
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

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("roots", &self.state().roots).finish_non_exhaustive()
    }
}
