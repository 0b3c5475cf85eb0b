//! The system's handle: watches on directories, and what cannot be watched.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use notify::{Config, RecommendedWatcher, RecursiveMode, Watcher};
use rustix::io::Errno;

use super::bell::Bell;
use super::plan::Plan;
use super::seen::{Unwatched, Watching};

/// Watches as long as this value lives.
#[derive(Debug)]
pub(super) struct Watches {
    bell: Arc<Bell>,
    poll: Duration,
    /// `None` if the system provides none.
    handle: Option<RecommendedWatcher>,
    /// What is watched; `None` before the first time. The event handler reads it, too.
    plan: Arc<Mutex<Option<Plan>>>,
    watching: Watching,
}

impl Watches {
    pub(super) fn new(bell: Arc<Bell>, poll: Duration) -> Watches {
        Watches { bell, poll, handle: None, plan: Arc::default(), watching: Watching::Events }
    }

    /// Whether this plan is already being watched.
    pub(super) fn are(&self, plan: &Plan) -> bool {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(plan)
    }

    pub(super) fn watching(&self) -> &Watching {
        &self.watching
    }

    /// Sets all watches of a plan again: a watch belongs to a directory, not to its path, and follows a directory
    /// that is moved away. The look that follows finds what happens before they are set.
    pub(super) fn set_ambient(&mut self, plan: &Plan) {
        let old = self.plan.lock().unwrap_or_else(PoisonError::into_inner).replace(plan.clone());
        if let Some(handle) = &mut self.handle {
            for directory in old.iter().flat_map(|old| &old.directories) {
                // It may be gone, and the watch with it.
                let _ = handle.unwatch(directory);
            }
        }
        let most = plan.directories.len();
        let mut unwatched = vec![Unwatched::Bound(most); plan.left_out];
        match self.handle_ambient() {
            Ok(handle) => watch_ambient(handle, plan, &mut unwatched),
            Err(why) => unwatched.extend(std::iter::repeat_n(why, most)),
        }
        self.watching = match unwatched.as_slice() {
            [] => Watching::Events,
            [why, ..] => Watching::Polling { every: self.poll, places: unwatched.len(), why: *why },
        };
    }

    fn handle_ambient(&mut self) -> Result<&mut RecommendedWatcher, Unwatched> {
        if self.handle.is_none() {
            let (bell, plan) = (Arc::clone(&self.bell), Arc::clone(&self.plan));
            let on_event = move |event: notify::Result<notify::Event>| {
                let plan = plan.lock().unwrap_or_else(PoisonError::into_inner);
                // Errors also trigger a look.
                if event.map_or(true, |event| plan.as_ref().is_none_or(|plan| plan.concerns(&event))) {
                    bell.ring();
                }
            };
            self.handle = Some(RecommendedWatcher::new(on_event, Config::default()).map_err(|error| why(&error))?);
        }
        self.handle.as_mut().ok_or(Unwatched::System(ErrorKind::Other))
    }
}

fn watch_ambient(handle: &mut RecommendedWatcher, plan: &Plan, unwatched: &mut Vec<Unwatched>) {
    let mut covered: HashSet<&Path> = HashSet::new();
    for directory in &plan.directories {
        let is_covered_above = directory.parent().is_some_and(|above| covered.contains(above));
        match handle.watch(directory, RecursiveMode::NonRecursive) {
            Ok(()) => {
                covered.insert(directory);
            }
            // Its creation is noticed in its parent.
            Err(error) if is_missing(&error) && is_covered_above => {
                covered.insert(directory);
            }
            Err(error) => unwatched.push(why(&error)),
        }
    }
}

fn is_missing(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        _ => false,
    }
}

fn why(error: &notify::Error) -> Unwatched {
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => Unwatched::SystemBound,
        notify::ErrorKind::PathNotFound => Unwatched::System(ErrorKind::NotFound),
        // Too many watchers rather than too many watches (inotify_init(2)).
        notify::ErrorKind::Io(error) if error.raw_os_error() == Some(Errno::MFILE.raw_os_error()) => {
            Unwatched::SystemBound
        }
        notify::ErrorKind::Io(error) => Unwatched::System(error.kind()),
        _ => Unwatched::System(ErrorKind::Other),
    }
}
