//! What the operator and the user give, which may change while sessions run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rootward_core::Restrictions;
use rootward_core::session::Sources;
use rootward_protocol::session::{Given, WeakTable};

use crate::session::{Session, WeakSession};
use crate::settings::{RootsService, Settings};

/// What is given now, and the sessions that are to hear of changes.
#[derive(Debug)]
pub(crate) struct GivenNow {
    now: Mutex<Arc<Given>>,
    sessions: Mutex<WeakTable<u64, WeakSession>>,
    /// Held by whoever changes it, so that all sessions hear of changes in one order.
    changing: Mutex<()>,
}

impl RootsService {
    /// Has the operator's and the user's roots, and the places that stay closed, be these from now on, for sessions that there are
    /// and for those to come. In force for the next call; calls under way finish with what they began with. Whoever subscribed to a
    /// session is told.
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
        GivenNow { now: Mutex::new(Arc::new(given)), sessions: Mutex::default(), changing: Mutex::default() }
    }

    /// What is given now.
    pub(crate) fn now(&self) -> Arc<Given> {
        Arc::clone(&lock(&self.now))
    }

    /// Has a session hear of changes from now on. Before it looks what is given: then it misses none.
    pub(crate) fn tell(&self, session: &Session) {
        lock(&self.sessions).insert(session.number(), session.downgrade());
    }

    fn change(&self, given: Given) {
        let _one_at_a_time = lock(&self.changing);
        let given = Arc::new(given);
        *lock(&self.now) = Arc::clone(&given);
        let sessions: Vec<Session> = lock(&self.sessions).values().filter_map(WeakSession::upgrade).collect();
        for session in sessions {
            session.hear_given(&given);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
