//! What becomes of saved roots while a program runs: on disk, and in the store.
//!
//! Roots that vanish, come back, are replaced by a link or another directory, or that the system no longer lets one into, are
//! noticed, and so is every change of the store. The system tells that something happened (inotify on Linux); a second later this looks
//! what that was. An event is never believed: what it says may be old by then, or be about something else.
//!
//! Where the system does not tell, this looks every two seconds, and says so: [`Watching::Polling`]. What no system tells of, as
//! a disk that is mounted over a root or a change on another machine, is found within a minute.
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
//! // The first is what there is.
//! let (seen, news) = receiver.recv()?;
//! assert_eq!((seen.version, seen.roots.len(), news), (1, 0, 0));
//! drop(watch);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Layout
//!
//! Pure, with time passed in: `timing.rs`, when to look; `plan.rs`, what to watch and which events matter; `seen.rs`, what differs.
//! On disk: `looking.rs` and `state.rs`, one look; `watches.rs`, the system's handle; this file, the thread that has it.

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

/// How many directories are watched at the most. Every directory on the way to a root is, once; Linux lets a user watch 8,192 at the
/// least, all programs together.
pub const MOST_WATCHES: usize = 512;

/// How often the watches are set anew within one look, where what is seen keeps changing which.
const MOST_ROUNDS: usize = 4;

/// How changes are noticed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// How long after the first event it is looked.
    pub debounce: Duration,
    /// How often it is looked where something cannot be watched.
    pub poll: Duration,
    /// How often it is looked whatever happened.
    pub anyway: Duration,
    /// How many directories are watched at the most.
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

/// Watching, for as long as this value lives.
#[derive(Debug)]
pub struct Watch {
    bell: Arc<Bell>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Begins. `on_change` is told what there is, and then of every change, one after the other, in a thread of their own; while it
    /// works, nothing is looked at.
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

    /// Ends without waiting for a look that is under way: a disk may not answer. For whoever ends the program.
    pub fn leave(mut self) {
        self.thread = None;
    }
}

/// Waits for the look that is under way.
impl Drop for Watch {
    fn drop(&mut self) {
        self.bell.end();
        if let Some(thread) = self.thread.take() {
            // It does not panic; if it did, it would be over all the same.
            let _ = thread.join();
        }
    }
}

/// The same without a thread, for programs that may have but one: looks whenever it is asked to.
#[derive(Debug)]
pub struct Asked(Looking);

impl Asked {
    /// Begins with the first look.
    pub fn begin_ambient(store: Store) -> Asked {
        Asked(Looking::new_ambient(store))
    }

    /// What there is, and what is new, unless that is what it said last.
    pub fn look_ambient(&mut self) -> Option<(&Seen, Vec<News>)> {
        self.0.look_ambient(&Watching::Asked);
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
            // A match may come anywhere: its directories are not watched.
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

/// Whether what is watched is what has to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Settled {
    Yes,
    /// What is on disk changes as fast as it is looked at.
    No,
}

/// One look, and another where what was seen has to be watched elsewhere: between the two nothing is missed.
fn look_ambient(look: Look, most: usize, looking: &mut Looking, watches: &mut Watches) -> Settled {
    let mut anew = look == Look::Anew;
    for _ in 0..MOST_ROUNDS {
        let plan = looking.plan_ambient(most);
        if anew || !watches.are(&plan) {
            watches.set_ambient(&plan);
        }
        anew = false;
        looking.look_ambient(watches.watching());
        if watches.are(&looking.plan_ambient(most)) {
            return Settled::Yes;
        }
    }
    Settled::No
}
