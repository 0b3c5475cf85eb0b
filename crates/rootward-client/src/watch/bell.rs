//! Wakes the looking thread: one bit, for any number of events.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Why it rang.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rung {
    /// Only time passed.
    Nothing,
    /// Something happened.
    Event,
    /// It is over.
    End,
}

/// The bell. At most one event waits in it.
#[derive(Debug)]
pub(super) struct Bell {
    rung: Mutex<Rung>,
    heard: Condvar,
}

impl Bell {
    pub(super) fn new() -> Bell {
        Bell { rung: Mutex::new(Rung::Nothing), heard: Condvar::new() }
    }

    pub(super) fn ring(&self) {
        let mut rung = self.rung();
        if *rung == Rung::Nothing {
            *rung = Rung::Event;
            self.heard.notify_one();
        }
    }

    pub(super) fn end(&self) {
        *self.rung() = Rung::End;
        self.heard.notify_one();
    }

    /// Waits for at most this long. The end stays rung.
    pub(super) fn wait(&self, time: Duration) -> Rung {
        let waiting = self.heard.wait_timeout_while(self.rung(), time, |rung| *rung == Rung::Nothing);
        let (mut rung, _) = waiting.unwrap_or_else(PoisonError::into_inner);
        let heard = *rung;
        if heard == Rung::Event {
            *rung = Rung::Nothing;
        }
        heard
    }

    fn rung(&self) -> MutexGuard<'_, Rung> {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
