//! For `serve`: a thread that the system wakes.

use rootward_client::store::Store;
use rootward_client::watch::{Options, Watch};

use super::{Follower, Saved, tell};
use crate::ground::Ground;
use crate::message;

/// Follows the saved roots while it lives.
#[derive(Debug)]
pub(crate) struct Watched(Option<Watch>);

impl Watched {
    /// Follows them, for the client or server of this name. `on_change` runs in its own thread; it first gets the
    /// current state, and then every change.
    pub(crate) fn begin_ambient(
        ground: Ground,
        peer: Option<String>,
        mut on_change: impl FnMut(Saved) + Send + 'static,
    ) -> Watched {
        let Some(store) = Store::of(&ground.directories) else { return Watched(None) };
        let mut follower = Follower::new(ground, peer);
        let watch = Watch::begin_ambient(store, Options::default(), move |seen, news| {
            // Apply the change first, then report it.
            if let Some(saved) = follower.saved(seen) {
                on_change(saved);
            }
            tell(seen, news);
        });
        if let Err(error) = &watch {
            message::warning(&format!("changes to saved roots are not noticed: {error}"));
        }
        Watched(watch.ok())
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // Do not wait for a disk that does not answer.
        if let Some(watch) = self.0.take() {
            watch.leave();
        }
    }
}
