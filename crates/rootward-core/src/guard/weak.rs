//! A weak reference to a guard.

use std::fmt;
use std::sync::{Arc, Weak};

use super::{Guard, Inner};

/// A guard that does not keep its handles open. A table of shared guards stores these, so that the handles close with
/// the last user.
#[derive(Clone)]
pub struct WeakGuard(Weak<Inner>);

impl WeakGuard {
    pub(super) fn new(inner: &Arc<Inner>) -> WeakGuard {
        WeakGuard(Arc::downgrade(inner))
    }

    /// The guard with this generation, if it still exists.
    pub fn upgrade(&self, generation: u64) -> Option<Guard> {
        Some(Guard(self.0.upgrade()?, generation))
    }

    /// Whether the guard no longer exists.
    pub fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }
}

impl fmt::Debug for WeakGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakGuard").field("gone", &self.is_gone()).finish()
    }
}
