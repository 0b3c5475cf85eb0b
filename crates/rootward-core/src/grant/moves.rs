//! While a directory is moved nothing is created, and the other way round.
//!
//! Creating a name is allowed by the place of its directory; a directory that is moved at that moment, by another grant,
//! would take the new name along to a place where it is not allowed. One lock for the whole process: moving directories is
//! rare, and guards share the disk. Other processes are not held by it.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static MOVES: RwLock<()> = RwLock::new(());

/// No directory is moved while this is held. Not to be taken twice by one thread.
pub(super) fn nothing_moves() -> RwLockReadGuard<'static, ()> {
    MOVES.read().unwrap_or_else(PoisonError::into_inner)
}

/// Nothing is created while this is held.
pub(super) fn a_directory_moves() -> RwLockWriteGuard<'static, ()> {
    MOVES.write().unwrap_or_else(PoisonError::into_inner)
}
