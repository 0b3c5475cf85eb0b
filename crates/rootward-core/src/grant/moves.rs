//! A lock that keeps moving a directory and creating entries apart.
//!
//! The guard allows a new name based on the place of its directory. If another grant moved the directory at that
//! moment, the new name would end up where it is not allowed. There is one lock for the whole process: moving
//! directories is rare, and guards share the disk. Other processes do not respect it.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static MOVES: RwLock<()> = RwLock::new(());

/// While this is held, no directory moves. A thread must not take it twice.
pub(super) fn nothing_moves() -> RwLockReadGuard<'static, ()> {
    MOVES.read().unwrap_or_else(PoisonError::into_inner)
}

/// While this is held, nothing is created.
pub(super) fn a_directory_moves() -> RwLockWriteGuard<'static, ()> {
    MOVES.write().unwrap_or_else(PoisonError::into_inner)
}
