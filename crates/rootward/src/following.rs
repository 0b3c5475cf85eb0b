//! What servers that run follow: the saved roots, as they are changed, and as they come and go on disk.

use std::sync::Arc;

#[cfg(feature = "roots")]
use rootward_client::{store::Store, watch};
use rootward_core::{Restrictions, RootSet};

use crate::ground::Ground;
#[cfg(feature = "roots")]
use crate::message;

/// What was saved, for one who asks.
#[derive(Clone, Debug)]
pub(crate) struct Saved {
    pub(crate) roots: RootSet,
    /// What is closed, also by others than saved roots. The same value as before where that did not change.
    pub(crate) restrictions: Arc<Restrictions>,
}

/// The saved roots are followed while this lives.
#[derive(Debug)]
pub(crate) struct Following {
    #[cfg(feature = "roots")]
    watch: Option<watch::Watch>,
}

#[cfg(feature = "roots")]
impl Following {
    /// Follows them, for the client or server of this name. `on_change` runs in a thread of its own and is told what there is, and
    /// then of every change.
    pub(crate) fn begin_ambient(
        ground: Ground,
        peer: Option<String>,
        mut on_change: impl FnMut(Saved) + Send + 'static,
    ) -> Following {
        let Some(store) = Store::of(&ground.directories) else { return Following { watch: None } };
        let restrictions = ground.guard_options(None).restrictions;
        let mut follower = Follower { restrictions, ground, peer, last: None };
        let watch = watch::Watch::begin_ambient(store, watch::Options::default(), move |seen, news| {
            // First what counts, then what is said about it.
            if let Some(saved) = follower.saved(seen) {
                on_change(saved);
            }
            if seen.version == 1 {
                follower.tell_first(seen);
            }
            news.iter().for_each(tell);
        });
        if let Err(error) = &watch {
            message::warning(&format!("changes of saved roots are not noticed: {error}"));
        }
        Following { watch: watch.ok() }
    }

    /// Ends it. A disk that does not answer is not waited for.
    pub(crate) fn leave(self) {
        if let Some(watch) = self.watch {
            watch.leave();
        }
    }
}

#[cfg(not(feature = "roots"))]
impl Following {
    pub(crate) fn begin_ambient(_: Ground, _: Option<String>, _: impl FnMut(Saved) + Send + 'static) -> Following {
        Following {}
    }

    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(crate) fn leave(self) {}
}

#[cfg(feature = "roots")]
struct Follower {
    ground: Ground,
    peer: Option<String>,
    restrictions: Arc<Restrictions>,
    last: Option<watch::Seen>,
}

#[cfg(feature = "roots")]
impl Follower {
    /// What is in force from now on; none where that cannot be told, so that what was stays.
    fn saved(&mut self, seen: &watch::Seen) -> Option<Saved> {
        // A store that could never be read takes back and opens nothing of what the program read at its start.
        let roots = seen.set(self.peer.as_deref())?;
        if !self.last.as_ref().is_some_and(|last| last.closes_as(seen)) {
            let closed = seen.closed().ok()?;
            // What the program began with is what it read itself a moment ago: the same, unless somebody was quicker.
            let unchanged = self.last.is_none() && closed.is_empty() && self.ground.saved.closes_nothing();
            if !unchanged {
                self.restrictions = self.ground.closed_with(closed);
            }
        }
        self.last = Some(seen.clone());
        Some(Saved { roots, restrictions: Arc::clone(&self.restrictions) })
    }

    /// What is to be said of the beginning, where the program has not said it.
    fn tell_first(&self, seen: &watch::Seen) {
        // The program itself could read them a moment ago.
        if let Some(trouble) = &seen.trouble {
            tell(&watch::News::Damaged(Arc::clone(trouble)));
        }
        tell_watching(&seen.watching);
    }
}

/// Tells the operator what is not as it should be. What the user does is no news to the user.
#[cfg(feature = "roots")]
fn tell(news: &watch::News) {
    match news {
        watch::News::Damaged(trouble) => {
            let trouble = message::causes(&**trouble);
            message::line_in_passing(&format!("warning: {trouble}; what was read before stays in force"));
        }
        watch::News::Repaired => message::line_in_passing("saved roots can be read again"),
        watch::News::Watching(how) => tell_watching(how),
        watch::News::Added(_) | watch::News::Removed(_) | watch::News::Changed { .. } | watch::News::Became { .. } => {}
    }
}

#[cfg(feature = "roots")]
fn tell_watching(how: &watch::Watching) {
    if *how != watch::Watching::Events {
        message::line_in_passing(&format!("warning: {how}"));
    }
}
