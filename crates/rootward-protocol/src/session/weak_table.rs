//! A table of weak references. An entry is removed some time after its target is dropped.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// A weak reference.
pub trait Weakly {
    /// Whether the target was dropped.
    fn is_gone(&self) -> bool;
}

/// Weak references by key. Dead ones are removed as the table grows, so that it stays within twice the number in use.
#[derive(Debug)]
pub struct WeakTable<K, W> {
    entries: HashMap<K, W>,
    /// The number of entries at which dead ones are removed.
    sweep_at: usize,
}

impl<K, W> Default for WeakTable<K, W> {
    fn default() -> WeakTable<K, W> {
        WeakTable { entries: HashMap::new(), sweep_at: 0 }
    }
}

impl<K: Hash + Eq, W: Weakly> WeakTable<K, W> {
    /// The reference for this key.
    pub fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&W>
    where
        K: Borrow<Q>,
    {
        self.entries.get(key)
    }

    /// All references.
    pub fn values(&self) -> impl Iterator<Item = &W> {
        self.entries.values()
    }

    /// Adds a reference.
    pub fn insert(&mut self, key: K, way: W) {
        if self.entries.len() >= self.sweep_at {
            self.entries.retain(|_, way| !way.is_gone());
            self.sweep_at = self.entries.len() * 2 + 16;
        }
        self.entries.insert(key, way);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Weak};

    use super::*;

    impl Weakly for Weak<u32> {
        fn is_gone(&self) -> bool {
            self.strong_count() == 0
        }
    }

    #[test]
    fn dead_entries_are_removed() {
        let mut table = WeakTable::default();
        let kept: Vec<Arc<u32>> = (0..20).map(Arc::new).collect();
        for number in &kept {
            table.insert(**number, Arc::downgrade(number));
        }
        for number in 20..1000 {
            table.insert(number, Arc::downgrade(&Arc::new(number)));
        }
        assert!(table.entries.len() <= 56, "{}", table.entries.len());
        assert!(kept.iter().all(|number| table.get(&**number).is_some_and(|way| !way.is_gone())));
    }
}
