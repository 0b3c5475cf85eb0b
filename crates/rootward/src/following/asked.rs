//! For `wrap`: a look whenever it asks. It may have but one thread, because it starts confined servers from it.

use rootward_client::store::Store;
use rootward_client::watch;
use rootward_core::session::Sources;
use rootward_hub::wrap::{Given, Lookout};

use super::{Follower, tell};
use crate::ground::Ground;

/// The saved roots, looked at when that is asked for.
#[derive(Debug)]
pub(crate) struct Asked {
    follower: Follower,
    roots: watch::Asked,
    /// What was given at the beginning. The operator's roots are still what they were.
    sources: Sources,
}

impl Asked {
    /// For the client or server of this name; none where there is no place for saved roots.
    pub(crate) fn begin_ambient(ground: Ground, peer: Option<String>, sources: Sources) -> Option<Asked> {
        let roots = watch::Asked::begin_ambient(Store::of(&ground.directories)?);
        Some(Asked { follower: Follower::new(ground, peer), roots, sources })
    }
}

impl Lookout for Asked {
    fn look_ambient(&mut self) -> Option<Given> {
        let (seen, news) = self.roots.look_ambient()?;
        let saved = self.follower.saved(seen);
        tell(seen, &news);
        let saved = saved?;
        let sources = Sources { saved: saved.roots, ..self.sources.clone() };
        Some(Given { sources, restrictions: saved.restrictions })
    }
}
