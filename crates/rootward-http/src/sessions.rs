//! All sessions, by id and principal, and their limits.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::config::Limits;
use crate::session::Session;
use crate::session_id::SessionId;
use crate::wire::PrincipalId;

/// All sessions.
#[derive(Debug)]
pub(crate) struct Sessions {
    table: Mutex<HashMap<SessionId, Arc<Session>>>,
    counts: Arc<Counts>,
}

/// The number of sessions, including those being opened.
#[derive(Debug)]
struct Counts {
    all: AtomicUsize,
    by_principal: Vec<AtomicUsize>,
}

/// A slot for one session. It is released when this is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    principal: PrincipalId,
    counts: Arc<Counts>,
}

impl Slot {
    pub(crate) fn principal(&self) -> PrincipalId {
        self.principal
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.counts.all.fetch_sub(1, Ordering::Relaxed);
        self.counts.by_principal[self.principal.0].fetch_sub(1, Ordering::Relaxed);
    }
}

impl Sessions {
    pub(crate) fn new(principals: usize) -> Sessions {
        let by_principal = (0..principals).map(|_| AtomicUsize::new(0)).collect();
        Sessions { table: Mutex::default(), counts: Arc::new(Counts { all: AtomicUsize::new(0), by_principal }) }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Session>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a slot for a new session; `None` if all are in use.
    pub(crate) fn reserve(&self, principal: PrincipalId, limits: &Limits) -> Option<Slot> {
        let count = &self.counts.by_principal[principal.0];
        let is_free = |most: usize| move |count: usize| (count < most).then_some(count + 1);
        self.counts.all.try_update(Ordering::Relaxed, Ordering::Relaxed, is_free(limits.sessions)).ok()?;
        if count.try_update(Ordering::Relaxed, Ordering::Relaxed, is_free(limits.sessions_per_principal)).is_err() {
            self.counts.all.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Slot { principal, counts: Arc::clone(&self.counts) })
    }

    pub(crate) fn insert(&self, session: Arc<Session>) {
        self.table().insert(session.id, session);
    }

    /// The session with this id, if it belongs to this principal. Another's is treated as if it did not exist.
    pub(crate) fn find(&self, principal: PrincipalId, id: &[u8]) -> Option<Arc<Session>> {
        let session = self.table().get(&SessionId::read(id)?).cloned()?;
        // SECURITY: someone who learns the id of a session must not be able to use it
        // (test: a_session_of_another_principal_is_unknown)
        (session.principal == principal).then_some(session)
    }

    pub(crate) fn remove(&self, id: SessionId) -> Option<Arc<Session>> {
        self.table().remove(&id)
    }

    /// The number of open sessions.
    pub(crate) fn count(&self) -> usize {
        self.counts.all.load(Ordering::Relaxed)
    }

    /// Drops expired data of sessions, and ends idle ones.
    pub(crate) fn sweep(&self, now: Instant) {
        let all: Vec<Arc<Session>> = self.table().values().cloned().collect();
        for session in all {
            session.sweep(now);
            if session.is_idle(now) && self.remove(session.id).is_some() {
                tracing::debug!(session = ?session.id, "an idle session ends");
                session.end("the session was idle for too long");
            }
        }
    }

    /// Ends all sessions.
    pub(crate) fn end_all(&self, says: &str) {
        let all: Vec<Arc<Session>> = self.table().drain().map(|(_, session)| session).collect();
        for session in all {
            session.end(says);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;
    use crate::session::{Revision, Streams};

    fn insert(sessions: &Sessions, principal: usize, limits: &Arc<Limits>) -> Option<SessionId> {
        let slot = sessions.reserve(PrincipalId(principal), limits)?;
        let (sender, _) = mpsc::channel(1);
        let id = SessionId::random().unwrap();
        let session = Session::new(id, slot, Revision::default(), Arc::clone(limits), sender, Streams::default());
        sessions.insert(Arc::new(session));
        Some(id)
    }

    #[test]
    fn a_session_of_another_principal_is_unknown() {
        let sessions = Sessions::new(2);
        let id = insert(&sessions, 0, &Arc::default()).unwrap();
        assert!(sessions.find(PrincipalId(0), id.text().as_bytes()).is_some());
        assert!(sessions.find(PrincipalId(1), id.text().as_bytes()).is_none());
        assert!(sessions.find(PrincipalId(0), b"x").is_none());
    }

    #[test]
    fn sessions_are_limited() {
        let limits = Arc::new(Limits { sessions: 3, sessions_per_principal: 2, ..Limits::default() });
        let sessions = Sessions::new(3);
        let opened: Vec<bool> = [0, 0, 0, 1, 2].map(|who| insert(&sessions, who, &limits).is_some()).to_vec();
        assert_eq!(opened, [true, true, false, true, false]);
        assert_eq!(sessions.count(), 3);
        sessions.end_all("");
        assert_eq!(sessions.count(), 0);
        assert!(insert(&sessions, 2, &limits).is_some());
    }

    #[test]
    fn idle_sessions_end_and_others_do_not() {
        let limits = Arc::new(Limits { session_idle: std::time::Duration::from_mins(1), ..Limits::default() });
        let sessions = Sessions::new(1);
        let (idle, read) = (insert(&sessions, 0, &limits).unwrap(), insert(&sessions, 0, &limits).unwrap());
        let find = |id: SessionId| sessions.find(PrincipalId(0), id.text().as_bytes());
        let reader = find(read).unwrap().open(smallvec::SmallVec::new(), Arc::default()).unwrap();
        let now = Instant::now();
        sessions.sweep(now + std::time::Duration::from_secs(59));
        assert!(find(idle).is_some() && find(read).is_some());
        sessions.sweep(now + std::time::Duration::from_secs(61));
        assert!(find(idle).is_none() && find(read).is_some());
        find(read).unwrap().leave(reader);
        sessions.sweep(now + std::time::Duration::from_secs(62));
        assert!(find(read).is_none());
    }
}
