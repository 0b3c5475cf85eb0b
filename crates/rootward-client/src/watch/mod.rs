//! Watches saved roots while a program runs: on disk, and in the store.
//!
//! It notices roots that disappear, come back, are replaced by a link or another directory, or can no longer be
//! entered, and every change to the store. The system reports that something happened (inotify on Linux); a second
//! later this looks at what it was. Events are never trusted: their content may be outdated or about something else.
//!
//! If the system does not report events, this polls every two seconds, and says so: [`Watching::Polling`]. Changes
//! that no system reports, such as a disk mounted over a root or a change on another machine, are found within a
//! minute.
//!
//! ```
//! use std::sync::mpsc::channel;
//! use rootward_client::store::Store;
//! use rootward_client::watch::{Options, Watch};
//!
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path();
//! let store = Store::new(directory.join("roots.toml"), None);
//! let (sender, receiver) = channel();
//! let watch = Watch::begin_ambient(store, Options::default(), move |seen, news| {
//!     let _ = sender.send((seen.clone(), news.len()));
//! })?;
//! // The first call has the current state.
//! let (seen, news) = receiver.recv()?;
//! assert_eq!((seen.version, seen.roots.len(), news), (1, 0, 0));
//! drop(watch);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Layout
//!
//! Pure, with time passed in: `timing.rs`, when to look; `plan.rs`, what to watch and which events matter;
//! `seen.rs`, what differs. On disk: `looking.rs` and `state.rs`, one look; `watches.rs`, the system's handle; this
//! file, its thread.

mod bell;
mod looking;
#[cfg(test)]
mod model;
mod plan;
mod seen;
mod state;
mod timing;
mod watches;

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::store::Store;
use bell::{Bell, Rung};
use looking::Looking;
use timing::{Look, Timing};
use watches::Watches;

pub use seen::{News, Seen, Unwatched, Watching};
pub use state::{SeenRoot, State};

/// The maximum number of watched directories. Every directory on the path to a root is watched, once; Linux lets a
/// user watch at least 8,192, in all programs together.
pub const MOST_WATCHES: usize = 512;

/// How often to reset the watches within one look, if what is seen keeps changing.
const MOST_ROUNDS: usize = 4;

/// How changes are noticed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Delay from the first event to the look.
    pub debounce: Duration,
    /// How often to look if something cannot be watched.
    pub poll: Duration,
    /// How often to look in any case.
    pub anyway: Duration,
    /// The maximum number of watched directories.
    pub most_watches: usize,
}

/// A second, two seconds, a minute, [`MOST_WATCHES`].
impl Default for Options {
    fn default() -> Options {
        Options {
            debounce: Duration::from_secs(1),
            poll: Duration::from_secs(2),
            anyway: Duration::from_mins(1),
            most_watches: MOST_WATCHES,
        }
    }
}

/// Watches as long as this value lives.
#[derive(Debug)]
pub struct Watch {
    bell: Arc<Bell>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts watching. `on_change` gets the current state, and then every change, one at a time, on its own thread;
    /// while it runs, nothing is scanned.
    pub fn begin_ambient(
        store: Store,
        options: Options,
        mut on_change: impl FnMut(&Seen, &[News]) + Send + 'static,
    ) -> io::Result<Watch> {
        let bell = Arc::new(Bell::new());
        let rung = Arc::clone(&bell);
        let watch = move || follow_ambient(store, options, &rung, &mut on_change);
        let thread = std::thread::Builder::new().name("roots watch".to_owned()).spawn(watch)?;
        Ok(Watch { bell, thread: Some(thread) })
    }

    /// Ends without waiting for a running look: a disk may not answer. For programs that are about to exit.
    pub fn leave(mut self) {
        self.thread = None;
    }
}

/// Waits for a running look.
impl Drop for Watch {
    fn drop(&mut self) {
        self.bell.end();
        if let Some(thread) = self.thread.take() {
            // It does not panic; even if it did, it has ended.
            let _ = thread.join();
        }
    }
}

/// The same without a thread, for programs that must be single-threaded: looks only when asked.
#[derive(Debug)]
pub struct ManualWatch(Looking);

impl ManualWatch {
    /// Starts with the first look.
    pub fn begin_ambient(store: Store) -> ManualWatch {
        ManualWatch(Looking::new_ambient(store))
    }

    /// The current state and what is new, unless nothing changed.
    pub fn look_ambient(&mut self) -> Option<(&Seen, Vec<News>)> {
        self.0.look_ambient(&Watching::Manual);
        self.0.tell()
    }
}

fn follow_ambient(store: Store, options: Options, bell: &Arc<Bell>, on_change: &mut dyn FnMut(&Seen, &[News])) {
    let begun = Instant::now();
    let mut timing = Timing::new(options);
    let mut looking = Looking::new_ambient(store);
    let mut watches = Watches::new(Arc::clone(bell), options.poll);
    loop {
        if let Some(look) = timing.take(begun.elapsed()) {
            if look_ambient(look, options.most_watches, &mut looking, &mut watches) == Settled::No {
                bell.ring();
            }
            if let Some((seen, news)) = looking.tell() {
                on_change(seen, &news);
            }
            timing.looked(begun.elapsed(), look, watches.watching());
            // Matches may appear anywhere, and their directories are not watched.
            if looking.has_patterns() {
                timing.poll();
            }
        }
        match bell.wait(timing.due().saturating_sub(begun.elapsed())) {
            Rung::Nothing => {}
            Rung::Event => timing.event(begun.elapsed()),
            Rung::End => return,
        }
    }
}

/// Whether the right directories are watched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Settled {
    Yes,
    /// The disk changes as fast as it is looked at.
    No,
}

/// Looks once, and again if what was seen requires other watches, so that nothing in between is missed.
fn look_ambient(look: Look, most: usize, looking: &mut Looking, watches: &mut Watches) -> Settled {
    let mut reset = look == Look::Reset;
    for _ in 0..MOST_ROUNDS {
        let plan = looking.plan_ambient(most);
        if reset || !watches.are(&plan) {
            watches.set_ambient(&plan);
        }
        reset = false;
        looking.look_ambient(watches.watching());
        if watches.are(&looking.plan_ambient(most)) {
            return Settled::Yes;
        }
    }
    Settled::No
}
