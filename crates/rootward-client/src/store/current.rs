//! The store for a running process: the last good state stays current, whatever happens to the file.

use std::sync::Arc;

use super::{Changes, Kept, Store, StoreError};

/// The store's content when it could last be read.
#[derive(Clone, Debug)]
pub struct Current {
    store: Store,
    good: Option<Arc<Kept>>,
}

impl Current {
    /// Knows nothing until it is refreshed.
    pub(crate) fn unread(store: Store) -> Current {
        Current { store, good: None }
    }

    /// Starts with the store's current content. If it cannot be read, nothing is known, and the error says why.
    pub fn begin_ambient(store: Store) -> (Current, Result<(), StoreError>) {
        let mut current = Current::unread(store);
        let read = current.refresh_ambient().map(drop);
        (current, read)
    }

    /// The last good state; `None` if there was none. Unknown is not the same as nothing saved: a fallback for "no
    /// saved roots" must not apply because the file is damaged.
    pub fn kept(&self) -> Option<&Arc<Kept>> {
        self.good.as_ref()
    }

    /// Reads the store again: returns what changed, or why it cannot be read. In that case the last good state
    /// stays.
    pub fn refresh_ambient(&mut self) -> Result<Changes, StoreError> {
        let new = self.store.load_ambient()?;
        let none = Kept::default();
        let changes = Changes::between(self.good.as_deref().unwrap_or(&none), &new);
        if self.good.is_none() || !changes.is_empty() || self.good.as_deref() != Some(&new) {
            self.good = Some(Arc::new(new));
        }
        Ok(changes)
    }

    /// Where it comes from.
    pub fn store(&self) -> &Store {
        &self.store
    }
}
