//! The handle of the system: watches on directories, and what cannot be watched.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use notify::{Config, RecommendedWatcher, RecursiveMode, Watcher};

use super::bell::Bell;
use super::plan::Plan;
use super::seen::{Unwatched, Watching};

/// Watches, for as long as this value lives.
#[derive(Debug)]
pub(super) struct Watches {
    /// None where the system gives none.
    _handle: Option<RecommendedWatcher>,
    pub(super) plan: Plan,
    pub(super) watching: Watching,
}

impl Watches {
    /// Sets all watches of a plan anew. A watch belongs to a directory, not to its path: one that was set before stays with the
    /// directory that was moved away.
    pub(super) fn set_ambient(plan: Plan, bell: &Arc<Bell>, poll: Duration) -> Watches {
        let heard = Arc::clone(bell);
        let for_events = plan.clone();
        let handler = move |event: notify::Result<notify::Event>| {
            // What went wrong is found by looking.
            if event.map_or(true, |event| for_events.concerns(&event)) {
                heard.ring();
            }
        };
        let most = plan.directories.len();
        let mut unwatched = vec![Unwatched::Bound(most); plan.left_out];
        let mut handle = match RecommendedWatcher::new(handler, Config::default()) {
            Ok(handle) => Some(handle),
            Err(error) => {
                unwatched.extend(std::iter::repeat_n(why(&error), most));
                None
            }
        };
        if let Some(handle) = &mut handle {
            let mut covered: HashSet<&Path> = HashSet::new();
            for directory in &plan.directories {
                match handle.watch(directory, RecursiveMode::NonRecursive) {
                    Ok(()) => {
                        covered.insert(directory);
                    }
                    // Whoever makes it is noticed where it is made.
                    Err(error)
                        if is_missing(&error) && directory.parent().is_some_and(|above| covered.contains(above)) =>
                    {
                        covered.insert(directory);
                    }
                    Err(error) => unwatched.push(why(&error)),
                }
            }
        }
        let watching = match unwatched.as_slice() {
            [] => Watching::Events,
            [why, ..] => Watching::Polling { every: poll, places: unwatched.len(), why: *why },
        };
        Watches { _handle: handle, plan, watching }
    }
}

fn is_missing(error: &notify::Error) -> bool {
    matches!(error.kind, notify::ErrorKind::PathNotFound)
        || matches!(system_kind(error), Some(ErrorKind::NotFound | ErrorKind::NotADirectory))
}

fn why(error: &notify::Error) -> Unwatched {
    match (&error.kind, system_kind(error)) {
        (notify::ErrorKind::MaxFilesWatch, _) => Unwatched::SystemBound,
        (notify::ErrorKind::PathNotFound, _) => Unwatched::System(ErrorKind::NotFound),
        (_, kind) => Unwatched::System(kind.unwrap_or(ErrorKind::Other)),
    }
}

fn system_kind(error: &notify::Error) -> Option<ErrorKind> {
    match &error.kind {
        notify::ErrorKind::Io(error) => Some(error.kind()),
        _ => None,
    }
}
