//! What running servers follow: the saved roots, as the user changes them, and as they come and go on disk.

#[cfg(feature = "wrap")]
mod polling;
#[cfg(feature = "serve")]
mod watched;

use std::sync::Arc;

use rootward_client::store::StoreError;
use rootward_client::watch;
use rootward_core::{Base, Restrictions, RootSet};

use crate::ground::Ground;
use crate::message;

#[cfg(feature = "wrap")]
pub(crate) use polling::{Ceiling, PollingWatcher};
#[cfg(feature = "serve")]
pub(crate) use watched::Watched;

/// What was saved, for one client or server.
#[derive(Clone, Debug)]
pub(crate) struct Saved {
    pub(crate) roots: RootSet,
    /// What is closed, including by other sources than saved roots. The same value as before if nothing changed.
    pub(crate) restrictions: Arc<Restrictions>,
}

/// Turns what is seen into what is effective.
#[derive(Debug)]
struct Follower {
    ground: Ground,
    peer: Option<String>,
    restrictions: Arc<Restrictions>,
    last: Option<watch::Seen>,
}

impl Follower {
    fn new(ground: Ground, peer: Option<String>) -> Follower {
        Follower { restrictions: ground.guard_options(Base::FirstRoot).restrictions, ground, peer, last: None }
    }

    /// What is effective from now on; `None` if that is unknown, so that nothing changes.
    fn saved(&mut self, seen: &watch::Seen) -> Option<Saved> {
        // If the store could never be read, it neither revokes nor opens anything of what the program read at its
        // start.
        let roots = seen.set(self.peer.as_deref())?;
        if !self.last.as_ref().is_some_and(|last| last.closes_as(seen)) {
            let closed = seen.closed().ok()?;
            // The program read its initial state itself a moment ago: it is the same, unless somebody changed it
            // since.
            let unchanged = self.last.is_none() && closed.is_empty() && self.ground.saved.closes_nothing();
            if !unchanged {
                self.restrictions = self.ground.closed_with(closed);
            }
        }
        self.last = Some(seen.clone());
        Some(Saved { roots, restrictions: Arc::clone(&self.restrictions) })
    }
}

/// Tells the operator about problems. The user already knows about the user's own changes.
fn tell(seen: &watch::Seen, news: &[watch::News]) {
    // Nothing is new at the beginning, but this may still have failed since: the program itself could read the store
    // a moment ago.
    if seen.version == 1 {
        seen.trouble.iter().for_each(|trouble| tell_damage(trouble));
        tell_watching(&seen.watching);
    }
    for one in news {
        match one {
            watch::News::Damaged(trouble) => tell_damage(trouble),
            watch::News::Repaired => message::line_in_passing("saved roots can be read again"),
            watch::News::Watching(how) => tell_watching(how),
            watch::News::Added(_)
            | watch::News::Removed(_)
            | watch::News::Changed { .. }
            | watch::News::Became { .. } => {}
        }
    }
}

fn tell_damage(trouble: &StoreError) {
    let trouble = message::causes(trouble);
    message::line_in_passing(&format!("warning: {trouble}; what was read before stays current"));
}

fn tell_watching(how: &watch::Watching) {
    if let watch::Watching::Polling { .. } = how {
        message::line_in_passing(&format!("warning: {how}"));
    }
}
