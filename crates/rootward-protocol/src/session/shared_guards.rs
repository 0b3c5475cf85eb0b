//! Guards that several sessions share.
//!
//! Clients of one user mostly share the same directories. Their sessions then use one guard with one set of handles,
//! however many sessions there are. The guard is dropped with the last session.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rootward_core::{Guard, Restrictions, RootSet, WeakGuard};

use super::weak_table::{WeakTable, Weakly};

/// The guards in use, by their roots.
#[derive(Debug, Default)]
pub(super) struct SharedGuards {
    hasher: RandomState,
    table: Mutex<WeakTable<u64, WeakGuard>>,
}

impl Weakly for WeakGuard {
    fn is_gone(&self) -> bool {
        WeakGuard::is_gone(self)
    }
}

impl SharedGuards {
    /// The guard for `set` with these restrictions; created if it does not exist.
    pub(super) fn guard(
        &self,
        set: RootSet,
        restrictions: &Arc<Restrictions>,
        generation: u64,
        make: impl FnOnce(RootSet) -> Guard,
    ) -> Guard {
        let key = self.hasher.hash_one(&set);
        // SECURITY: another session may hold these roots with older restrictions
        // (test: guards_are_shared_by_equal_restrictions_only)
        let closes = |guard: &Guard| Arc::ptr_eq(&guard.restrictions(), restrictions);
        if let Some(guard) = self.find(key, &set, generation).filter(closes) {
            return guard;
        }
        // Outside the lock: if two threads create the same guard at once, one is dropped.
        let guard = make(set);
        self.table().insert(key, guard.downgrade());
        guard
    }

    /// The equal set of a guard in use, so that equal sets share memory.
    pub(super) fn set(&self, set: RootSet) -> RootSet {
        let key = self.hasher.hash_one(&set);
        self.find(key, &set, 0).map_or(set, |guard| guard.root_set().clone())
    }

    fn find(&self, key: u64, set: &RootSet, generation: u64) -> Option<Guard> {
        // SECURITY: compare the sets as well: two clients' sets may have the same hash
        // (test: guards_are_shared_by_equal_roots_only)
        self.table().get(&key)?.upgrade(generation).filter(|guard| guard.root_set() == set)
    }

    fn table(&self) -> MutexGuard<'_, WeakTable<u64, WeakGuard>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use rootward_core::{GuardOptions, Origin, Root, Validation};

    use super::*;

    fn roots(path: &std::path::Path) -> RootSet {
        let root = Root::from_path(path, Origin::Flag).unwrap();
        RootSet::place_ambient([root], &Validation::new(None))
    }

    fn guard(shared: &SharedGuards, set: RootSet) -> Guard {
        let options = GuardOptions { generation: 7, ..GuardOptions::default() };
        shared.guard(set, &options.restrictions.clone(), 7, |set| Guard::new(set, options))
    }

    #[test]
    fn guards_are_shared_by_equal_roots_only() {
        let shared = SharedGuards::default();
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let first = guard(&shared, roots(a.path()));
        let again = shared.guard(roots(a.path()), &first.restrictions(), 9, |_| panic!("made twice"));
        assert_eq!((again.generation(), again.root_set()), (9, first.root_set()));
        let other = guard(&shared, roots(b.path()));
        assert_ne!(other.root_set(), first.root_set());
        // As if two sets had the same hash.
        let set = roots(b.path());
        let key = shared.hasher.hash_one(&set);
        shared.table().insert(key, first.downgrade());
        assert_eq!(guard(&shared, set.clone()).root_set(), &set);
    }

    #[test]
    fn guards_are_shared_by_equal_restrictions_only() {
        let shared = SharedGuards::default();
        let directory = tempfile::tempdir().unwrap();
        let first = guard(&shared, roots(directory.path()));
        let closed = Arc::new(Restrictions::none());
        let options = GuardOptions { restrictions: Arc::clone(&closed), ..GuardOptions::default() };
        let other = shared.guard(roots(directory.path()), &closed, 7, |set| Guard::new(set, options));
        assert!(Arc::ptr_eq(&other.restrictions(), &closed));
        assert!(!Arc::ptr_eq(&first.restrictions(), &closed));
    }

    #[test]
    fn a_guard_is_dropped_with_its_last_holder() {
        let shared = SharedGuards::default();
        let directory = tempfile::tempdir().unwrap();
        let set = roots(directory.path());
        let key = shared.hasher.hash_one(&set);
        let guard = guard(&shared, set);
        assert!(!Weakly::is_gone(shared.table().get(&key).unwrap()));
        drop(guard);
        assert!(Weakly::is_gone(shared.table().get(&key).unwrap()));
    }
}
