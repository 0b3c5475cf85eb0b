//! Limits how many modern requests of one principal run at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The slot of one request. It is released when this is dropped.
#[derive(Debug)]
pub(crate) struct Place(Arc<AtomicUsize>);

impl Place {
    /// Takes a slot, unless all are in use.
    pub(crate) fn take(count: &Arc<AtomicUsize>, most: usize) -> Option<Place> {
        let is_free = |count: usize| (count < most).then_some(count + 1);
        count.try_update(Ordering::Relaxed, Ordering::Relaxed, is_free).ok()?;
        Some(Place(Arc::clone(count)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
