//! For `wrap` and the hub: checks when polled. They must stay single-threaded, because they start confined servers from
//! their only thread.

use std::fmt;
use std::sync::Arc;

use rootward_client::store::Store;
use rootward_client::watch;
use rootward_core::session::Sources;
use rootward_core::{Restrictions, RootSet};
use rootward_hub::wrap::{Given, SourceWatcher};

use super::{Follower, tell};
use crate::ground::Ground;
use crate::patterns::Patterns;

/// The saved roots, checked on request.
#[derive(Debug)]
pub(crate) struct PollingWatcher {
    follower: Follower,
    roots: watch::ManualWatch,
    /// The current sources. The operator's roots do not change, unless they are patterns.
    sources: Sources,
    restrictions: Arc<Restrictions>,
    ceiling: Ceiling,
}

/// Resolves the ceiling; `None` if that fails, so that nothing changes.
type LookUp = Box<dyn Fn(&Ground) -> Option<RootSet>>;

/// The operator's roots, to be resolved again.
pub(crate) struct Ceiling {
    pub(crate) patterns: Patterns,
    /// Returns the current ceiling.
    pub(crate) look_ambient: LookUp,
}

impl fmt::Debug for Ceiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ceiling").field("patterns", &self.patterns).finish_non_exhaustive()
    }
}

impl PollingWatcher {
    /// For the client or server of this name; `None` if there is no place for saved roots.
    pub(crate) fn begin_ambient(
        ground: Ground,
        peer: Option<String>,
        sources: Sources,
        ceiling: Ceiling,
    ) -> Option<PollingWatcher> {
        let roots = watch::ManualWatch::begin_ambient(Store::of(&ground.directories)?);
        let follower = Follower::new(ground, peer);
        let restrictions = Arc::clone(&follower.restrictions);
        Some(PollingWatcher { follower, roots, sources, restrictions, ceiling })
    }

    /// Expands the operator's patterns again; returns whether the ceiling changed.
    fn look_at_ceiling_ambient(&mut self) -> bool {
        if !self.ceiling.patterns.changed_ambient() {
            return false;
        }
        let Some(ceiling) = (self.ceiling.look_ambient)(&self.follower.ground) else { return false };
        self.sources.ceiling = ceiling;
        true
    }

    /// Looks for a fallback directory that did not exist; returns whether it exists now.
    fn find_fallback_ambient(&mut self) -> bool {
        if self.sources.fallback.missing().next().is_none() {
            return false;
        }
        let found = self.follower.ground.fallback().set;
        let is_news = found != self.sources.fallback;
        self.sources.fallback = found;
        is_news
    }
}

impl SourceWatcher for PollingWatcher {
    fn look_ambient(&mut self) -> Option<Given> {
        let saved = self.roots.look_ambient().and_then(|(seen, news)| {
            let saved = self.follower.saved(seen);
            tell(seen, &news);
            saved
        });
        let has_ceiling = self.look_at_ceiling_ambient();
        let has_fallback = self.find_fallback_ambient();
        let is_news = saved.is_some() || has_ceiling || has_fallback;
        if let Some(saved) = saved {
            (self.sources.saved, self.restrictions) = (saved.roots, saved.restrictions);
        }
        is_news.then(|| Given { sources: self.sources.clone(), restrictions: Arc::clone(&self.restrictions) })
    }
}
