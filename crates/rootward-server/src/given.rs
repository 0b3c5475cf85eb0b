//! What the operator and the user give, which may change while sessions run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rootward_core::session::Sources;
use rootward_core::{Restrictions, Validation};
use rootward_protocol::session::{Given, WeakTable};
use tokio::sync::watch;

use crate::session::{Session, WeakSession};
use crate::settings::{RootsService, Settings};

/// What is given now, and the sessions that are to hear of changes.
#[derive(Debug)]
pub(crate) struct GivenNow {
    now: watch::Sender<Arc<Given>>,
    sessions: Mutex<WeakTable<u64, WeakSession>>,
    /// Held by whoever changes it, so that all sessions hear of changes in one order.
    changing: Mutex<()>,
    /// When a missing fallback directory was last looked for.
    looked: Mutex<Option<Instant>>,
}

/// What was given when this was made, and what is given after that.
#[derive(Debug)]
pub(crate) struct Changes {
    pub(crate) now: Arc<Given>,
    next: watch::Receiver<Arc<Given>>,
}

impl Changes {
    /// Waits for a change. None when there can be no more.
    pub(crate) async fn next(&mut self) -> Option<Arc<Given>> {
        self.next.changed().await.ok()?;
        self.now = Arc::clone(&self.next.borrow_and_update());
        Some(Arc::clone(&self.now))
    }
}

/// How much time lies between two looks for a missing fallback directory.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

impl RootsService {
    /// Has the operator's and the user's roots, and the places that stay closed, be these from now on, for sessions that there are
    /// and for those to come. In force for the next call; calls under way finish with what they began with. Whoever subscribed to a
    /// session is told, and so is a modern client that listens.
    ///
    /// The client's own roots stay as they are. [`RootsService::settings`] has what was given at first.
    pub fn change(&self, sources: Sources, restrictions: Arc<Restrictions>) {
        self.ground().given.change(Given { sources, restrictions });
    }
}

impl GivenNow {
    pub(crate) fn new(settings: &Settings) -> GivenNow {
        let restrictions = Arc::clone(&settings.guard.restrictions);
        let given = Given { sources: settings.sources.clone(), restrictions };
        GivenNow {
            now: watch::Sender::new(Arc::new(given)),
            sessions: Mutex::default(),
            changing: Mutex::default(),
            looked: Mutex::default(),
        }
    }

    /// What is given now.
    pub(crate) fn now(&self) -> Arc<Given> {
        Arc::clone(&self.now.borrow())
    }

    /// What is given now, and all that will be.
    pub(crate) fn changes(&self) -> Changes {
        let mut next = self.now.subscribe();
        let now = Arc::clone(&next.borrow_and_update());
        Changes { now, next }
    }

    /// Looks for a fallback directory that did not exist, at most once a second: it counts once it exists.
    pub(crate) async fn look_for_fallback(&self, validation: &Validation) {
        let missing = self.now();
        if missing.sources.fallback.missing().next().is_none() {
            return;
        }
        {
            let mut looked = lock(&self.looked);
            if looked.is_some_and(|looked| looked.elapsed() < BETWEEN_LOOKS) {
                return;
            }
            *looked = Some(Instant::now());
        }
        let validation = validation.clone();
        let look = move || {
            let fallback = missing.sources.fallback.place_again_ambient(&validation);
            (fallback != missing.sources.fallback).then_some(fallback)
        };
        if let Ok(Some(fallback)) = tokio::task::spawn_blocking(look).await {
            self.change_with(|given| Given { sources: Sources { fallback, ..given.sources.clone() }, ..given.clone() });
        }
    }

    /// Has a session hear of changes from now on. Before it looks what is given: then it misses none.
    pub(crate) fn tell(&self, session: &Session) {
        lock(&self.sessions).insert(session.number(), session.downgrade());
    }

    fn change(&self, given: Given) {
        self.change_with(|_| given);
    }

    fn change_with(&self, change: impl FnOnce(&Given) -> Given) {
        let _one_at_a_time = lock(&self.changing);
        let before = self.now();
        let given = Arc::new(change(&before));
        self.now.send_replace(Arc::clone(&given));
        let sessions: Vec<Session> = lock(&self.sessions).values().filter_map(WeakSession::upgrade).collect();
        for session in sessions {
            session.hear_given(&given);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
