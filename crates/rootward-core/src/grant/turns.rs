//! Changes to one file happen one after another within this process.
//!
//! Several verbs take two system calls: check the version, then rename; open, then append. Another verb between the two
//! would be lost. The kernel has no call that does both, so each verb waits for its turn at the place it changes. Other
//! processes do not wait.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use super::Grant;

/// Places share locks by hash: memory stays bounded, and a write that hangs blocks few other places.
static LOCKS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];

/// The turn at a place, until dropped. Take it before the lock in `moves.rs`, and never twice in one thread.
pub(super) type Turn = MutexGuard<'static, ()>;

impl Grant {
    /// Waits for the turn at this place.
    pub(super) fn turn(&self) -> Turn {
        wait(self.lock_number())
    }

    /// Waits for the turn at both places.
    pub(super) fn turn_with(&self, other: &Grant) -> (Turn, Option<Turn>) {
        let (one, two) = (self.lock_number(), other.lock_number());
        // Always in the same order, or two threads could deadlock.
        (wait(one.min(two)), (one != two).then(|| wait(one.max(two))))
    }

    fn lock_number(&self) -> usize {
        let mut hasher = DefaultHasher::new();
        self.path().as_os_str().as_bytes().hash(&mut hasher);
        usize::try_from(hasher.finish() % LOCKS.len() as u64).unwrap_or_default()
    }
}

fn wait(number: usize) -> Turn {
    match LOCKS[number].try_lock() {
        Ok(turn) => turn,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => {
            #[cfg(test)]
            super::between::waits_for_a_turn();
            LOCKS[number].lock().unwrap_or_else(PoisonError::into_inner)
        }
    }
}
