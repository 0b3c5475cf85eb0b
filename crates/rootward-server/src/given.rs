//! The operator's and the user's roots and restrictions, which may change while sessions run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rootward_core::session::Sources;
use rootward_core::{Restrictions, Validation};
use rootward_protocol::session::{Given, WeakTable};
use tokio::sync::watch;

use crate::session::{Session, WeakSession};
use crate::settings::{RootsService, Settings};

/// The current sources, and the sessions to notify of changes.
#[derive(Debug)]
pub(crate) struct GivenNow {
    now: watch::Sender<Arc<Given>>,
    sessions: Mutex<WeakTable<u64, WeakSession>>,
    /// Held while changing them, so that all sessions see changes in the same order.
    changing: Mutex<()>,
    /// When a missing fallback directory was last looked for.
    looked: Mutex<Option<Instant>>,
}

/// A snapshot of the sources, and the changes after it.
#[derive(Debug)]
pub(crate) struct Changes {
    pub(crate) now: Arc<Given>,
    next: watch::Receiver<Arc<Given>>,
}

impl Changes {
    /// Waits for a change. Returns `None` if there can be no more.
    pub(crate) async fn next(&mut self) -> Option<Arc<Given>> {
        self.next.changed().await.ok()?;
        self.now = Arc::clone(&self.next.borrow_and_update());
        Some(Arc::clone(&self.now))
    }
}

/// The time between two checks for a missing fallback directory.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

impl RootsService {
    /// Replaces the operator's and the user's roots and the restrictions, for existing and future sessions. The next
    /// call sees the change; running calls finish with what they started with. Subscribers of a session are notified,
    /// and so are modern clients that listen.
    ///
    /// The client's own roots stay the same. [`RootsService::settings`] still returns the initial values.
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

    /// The current sources.
    pub(crate) fn now(&self) -> Arc<Given> {
        Arc::clone(&self.now.borrow())
    }

    /// The current sources and all later changes.
    pub(crate) fn changes(&self) -> Changes {
        let mut next = self.now.subscribe();
        let now = Arc::clone(&next.borrow_and_update());
        Changes { now, next }
    }

    /// Checks for a missing fallback directory, at most once a second: it counts as soon as it exists.
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

    /// Notifies a session of changes from now on. Call this before the session reads the current sources, so that it
    /// misses none.
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
