//! The pinned handles of a guard's roots: opened when first needed, verified, and limited in number.
//!
//! Ten thousand roots must not mean ten thousand open files. At the limit, a handle that was not used recently is
//! dropped (the clock algorithm); code that still uses it keeps it open until done. If there are no more roots than
//! allowed handles, nothing is dropped, and taking a handle costs no atomic operation.

use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arc_swap::ArcSwapOption;

use crate::tree::RootIndex;

#[derive(Debug)]
pub(crate) enum Handles {
    /// Every root can keep its handle.
    Kept(Box<[OnceLock<OwnedFd>]>),
    /// There are more roots than allowed handles.
    Bounded(Bounded),
}

/// A root's handle while it is used.
#[derive(Debug)]
pub(crate) enum Handle<'h> {
    /// Kept as long as the guard exists.
    Kept(&'h OwnedFd),
    /// The guard may drop its own copy meanwhile.
    Shared(Arc<OwnedFd>),
}

impl Deref for Handle<'_> {
    type Target = OwnedFd;

    fn deref(&self) -> &OwnedFd {
        match self {
            Handle::Kept(handle) => handle,
            Handle::Shared(handle) => handle,
        }
    }
}

impl Handles {
    /// Space for `roots` roots, with at most `most` handles open at a time.
    pub(crate) fn new(roots: usize, most: usize) -> Handles {
        if roots <= most {
            Handles::Kept((0..roots).map(|_| OnceLock::new()).collect())
        } else {
            Handles::Bounded(Bounded::new(roots, most))
        }
    }

    /// The handle of a root; calls `open` if there is none.
    #[inline]
    pub(crate) fn get<E>(&self, root: RootIndex, open: impl FnOnce() -> Result<OwnedFd, E>) -> Result<Handle<'_>, E> {
        match self {
            Handles::Kept(slots) => {
                let slot = &slots[root as usize];
                if let Some(handle) = slot.get() {
                    return Ok(Handle::Kept(handle));
                }
                // Two concurrent callers may open it twice; the second handle is closed again.
                let opened = open()?;
                Ok(Handle::Kept(slot.get_or_init(|| opened)))
            }
            Handles::Bounded(bounded) => bounded.get(root, open).map(Handle::Shared),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Bounded {
    slots: Box<[Slot]>,
    clock: Mutex<Clock>,
    most: usize,
}

#[derive(Debug, Default)]
struct Slot {
    handle: ArcSwapOption<OwnedFd>,
    used: AtomicBool,
}

#[derive(Debug, Default)]
struct Clock {
    held: Vec<RootIndex>,
    hand: usize,
}

impl Bounded {
    fn new(roots: usize, most: usize) -> Bounded {
        let slots = (0..roots).map(|_| Slot::default()).collect();
        Bounded { slots, clock: Mutex::default(), most: most.max(1) }
    }

    fn get<E>(&self, root: RootIndex, open: impl FnOnce() -> Result<OwnedFd, E>) -> Result<Arc<OwnedFd>, E> {
        let slot = &self.slots[root as usize];
        if let Some(handle) = slot.handle.load_full() {
            if !slot.used.load(Ordering::Relaxed) {
                slot.used.store(true, Ordering::Relaxed);
            }
            return Ok(handle);
        }
        let handle = Arc::new(open()?);
        self.hold(root, &handle);
        Ok(handle)
    }

    fn hold(&self, root: RootIndex, handle: &Arc<OwnedFd>) {
        let mut clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = &self.slots[root as usize];
        if slot.handle.load().is_some() {
            return;
        }
        if clock.held.len() < self.most {
            clock.held.push(root);
        } else {
            let position = self.next_unused(&mut clock);
            let evicted = std::mem::replace(&mut clock.held[position], root);
            self.slots[evicted as usize].handle.store(None);
        }
        slot.used.store(true, Ordering::Relaxed);
        slot.handle.store(Some(Arc::clone(handle)));
    }

    /// Advances the hand to a handle that was not used since the last round.
    fn next_unused(&self, clock: &mut Clock) -> usize {
        loop {
            let position = clock.hand;
            clock.hand = (position + 1) % clock.held.len();
            if !self.slots[clock.held[position] as usize].used.swap(false, Ordering::Relaxed) {
                return position;
            }
        }
    }

    #[cfg(test)]
    fn held(&self) -> usize {
        self.slots.iter().filter(|slot| slot.handle.load().is_some()).count()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;

    use super::*;
    use crate::os;

    #[test]
    fn the_number_of_open_handles_is_bounded() {
        let handles = Bounded::new(100, 4);
        let opened = Cell::new(0);
        let get = |root| {
            let open = || {
                opened.set(opened.get() + 1);
                Ok::<_, Infallible>(os::pin_slash().unwrap())
            };
            handles.get(root, open).unwrap()
        };
        for root in 0..100 {
            get(root);
            get(root);
            assert!(handles.held() <= 4);
        }
        assert_eq!(opened.get(), 100);
        get(99);
        assert_eq!(opened.get(), 100, "a recently used handle is still held");
        get(0);
        assert_eq!(opened.get(), 101);
    }

    #[test]
    fn a_failure_is_not_remembered() {
        for roots in [1, 2] {
            let handles = Handles::new(roots, 1);
            assert_eq!(matches!(handles, Handles::Bounded(_)), roots == 2);
            assert_eq!(handles.get(0, || Err("no")).unwrap_err(), "no");
            assert!(handles.get(0, || Ok::<_, &str>(os::pin_slash().unwrap())).is_ok());
            assert!(handles.get(0, || Err("held by now")).is_ok());
        }
    }
}
