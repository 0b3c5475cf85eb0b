//! A way back to a guard for as long as somebody else keeps it.

use std::fmt;
use std::sync::{Arc, Weak};

use super::{Guard, Inner};

/// A guard that is kept by others, or gone. Whoever hands the same guard to many keeps these, so that the handles close with
/// the last of them.
#[derive(Clone)]
pub struct WeakGuard(Weak<Inner>);

impl WeakGuard {
    pub(super) fn new(inner: &Arc<Inner>) -> WeakGuard {
        WeakGuard(Arc::downgrade(inner))
    }

    /// The guard under this number, if anybody still has it.
    pub fn upgrade(&self, generation: u64) -> Option<Guard> {
        Some(Guard(self.0.upgrade()?, generation))
    }

    /// Whether it is gone.
    pub fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }
}

impl fmt::Debug for WeakGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakGuard").field("gone", &self.is_gone()).finish()
    }
}
