//! What servers that run follow: the saved roots, as they are changed, and as they come and go on disk.

use std::io;
use std::sync::Arc;

use rootward_client::store::Store;
use rootward_client::watch::{News, Options, Seen, Watch, Watching};
use rootward_core::{Restrictions, RootSet};

use crate::ground::Ground;
use crate::message;

/// What was saved, for one who asks.
#[derive(Clone, Debug)]
pub(crate) struct Saved {
    pub(crate) roots: RootSet,
    /// What is closed, also by others than saved roots. The same value as before where that did not change.
    pub(crate) restrictions: Arc<Restrictions>,
}

/// Follows them, for the client or server of this name. None where there is no place for saved roots. `on_change` runs in a thread of
/// its own and is told what there is, and then of every change.
pub(crate) fn follow_ambient(
    ground: Ground,
    peer: Option<String>,
    mut on_change: impl FnMut(Saved) + Send + 'static,
) -> io::Result<Option<Watch>> {
    let Some(store) = Store::of(&ground.directories) else { return Ok(None) };
    let mut following = Following { restrictions: ground.guard_options(None).restrictions, ground, peer, last: None };
    let watch = Watch::begin_ambient(store, Options::default(), move |seen, news| {
        // First what counts, then what is said about it.
        if let Some(saved) = following.saved(seen) {
            on_change(saved);
        }
        if seen.version == 1 {
            following.tell_first(seen);
        }
        news.iter().for_each(tell);
    })?;
    Ok(Some(watch))
}

struct Following {
    ground: Ground,
    peer: Option<String>,
    restrictions: Arc<Restrictions>,
    last: Option<Seen>,
}

impl Following {
    /// What is in force from now on; none where that cannot be told, so that what was stays.
    fn saved(&mut self, seen: &Seen) -> Option<Saved> {
        // SECURITY: a store that could never be read takes back and opens nothing of what the program read at its start
        // (test: a_damaged_store_takes_nothing_and_opens_nothing)
        seen.kept.as_ref()?;
        let roots = seen.set(self.peer.as_deref());
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
    fn tell_first(&self, seen: &Seen) {
        if let (Some(trouble), None) = (&seen.trouble, self.ground.saved.trouble()) {
            tell(&News::Damaged(Arc::clone(trouble)));
        }
        tell_watching(&seen.watching);
    }
}

/// Tells the operator what is not as it should be. What the user does is no news to the user.
fn tell(news: &News) {
    match news {
        News::Damaged(trouble) => {
            let trouble = message::causes(&**trouble);
            message::line_in_passing(&format!("warning: {trouble}; what was read before stays in force"));
        }
        News::Repaired => message::line_in_passing("saved roots can be read again"),
        News::Watching(how) => tell_watching(how),
        News::Added(_) | News::Removed(_) | News::Changed { .. } | News::Became { .. } => {}
    }
}

fn tell_watching(how: &Watching) {
    if *how != Watching::Events {
        message::line_in_passing(&format!("warning: {how}"));
    }
}
