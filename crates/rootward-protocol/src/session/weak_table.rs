//! A table of what others keep: an entry goes some time after the last of them let go.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// A way back to something that this does not keep.
pub trait Weakly {
    /// Whether nobody keeps it any more.
    fn is_gone(&self) -> bool;
}

/// Ways back by their keys. Those that lead nowhere are taken out as the table grows, so that it stays within twice of what is
/// in use.
#[derive(Debug)]
pub struct WeakTable<K, W> {
    entries: HashMap<K, W>,
    /// How many entries there may be before those that are gone are taken out.
    sweep_at: usize,
}

impl<K, W> Default for WeakTable<K, W> {
    fn default() -> WeakTable<K, W> {
        WeakTable { entries: HashMap::new(), sweep_at: 0 }
    }
}

impl<K: Hash + Eq, W: Weakly> WeakTable<K, W> {
    /// The way back under this key.
    pub fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&W>
    where
        K: Borrow<Q>,
    {
        self.entries.get(key)
    }

    /// All ways back.
    pub fn values(&self) -> impl Iterator<Item = &W> {
        self.entries.values()
    }

    /// Adds one.
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
    fn what_nobody_holds_goes() {
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
