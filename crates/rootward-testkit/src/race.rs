//! Races: attackers that swap what a path leads to while a door is at work on it.
//!
//! A check and an open that are two steps lose within a few dozen tries, so each attempt here is one act through the
//! door while another thread swaps. An attempt is an escape if it shows [`SECRET`] or a name from outside, or if
//! anything outside appears, changes or goes. A control with [`crate::naive::Naive`] shows that the attack works.

use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::door::{Door, Outcome, Request};
use crate::escape::Act;
use crate::tree::SECRET;

mod arena;
#[cfg(test)]
mod beneath;
mod swap;

use arena::Arena;

/// What the attacker swaps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Swap {
    /// A directory and a link that leads out, exchanged in one step (renameat2(2)).
    DirectoryForLink,
    /// A file and a link to a file outside, exchanged in one step.
    FileForLink,
    /// A directory is moved out of the root and back, while the path goes down into it and up again by `..`.
    ParentAway,
    /// As the first, four levels above the file.
    DeepParentForLink,
}

/// One kind of race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Race {
    /// What is swapped.
    pub swap: Swap,
}

/// What came of a race.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RaceReport {
    /// How often the door was asked.
    pub attempts: u64,
    /// How often it did what was asked.
    pub allowed: u64,
    /// How often it refused.
    pub refused: u64,
    /// How often the system refused.
    pub failed: u64,
    /// How often something outside was seen or changed.
    pub escapes: u64,
    /// How often the attacker swapped.
    pub swaps: u64,
    /// The first escapes, in words.
    pub examples: Vec<String>,
}

impl Race {
    /// All kinds.
    pub const ALL: [Race; 4] = [
        Race { swap: Swap::DirectoryForLink },
        Race { swap: Swap::FileForLink },
        Race { swap: Swap::ParentAway },
        Race { swap: Swap::DeepParentForLink },
    ];

    /// What is tried through the door, in turn.
    pub const ACTS: [Act; 6] = [Act::Read, Act::Put, Act::CreateNew, Act::Rename, Act::Remove, Act::List];

    /// Asks the door `attempts` times while an attacker swaps, in a tree of its own.
    pub fn run(self, door: &dyn Door, attempts: u64) -> io::Result<RaceReport> {
        self.run_until(door, attempts, |_| false)
    }

    /// [`Race::run`] that ends early once `enough` says so.
    pub fn run_until(
        self,
        door: &dyn Door,
        attempts: u64,
        enough: impl Fn(&RaceReport) -> bool,
    ) -> io::Result<RaceReport> {
        let arena = Arena::new(self.swap)?;
        let swaps = AtomicU64::new(0);
        let stop = AtomicBool::new(false);
        let mut report = thread::scope(|scope| {
            // Dropped also when the door panics, or the attacker would swap for ever.
            let _stopping = Stopping(&stop);
            scope.spawn(|| swap::attack(&arena, &swaps, &stop));
            attempt_all(door, &arena, attempts, &swaps, enough)
        })?;
        report.swaps = swaps.into_inner();
        Ok(report)
    }
}

/// All races one after the other, sharing `attempts` evenly.
pub fn run_all(door: &dyn Door, attempts: u64) -> io::Result<Vec<(Swap, RaceReport)>> {
    let share = attempts.div_ceil(Race::ALL.len() as u64);
    Race::ALL.into_iter().map(|race| Ok((race.swap, race.run(door, share)?))).collect()
}

/// How many attempts a test makes in all: 20,000, or a million where `ROOTWARD_LONG` is `1`.
pub fn attempts() -> u64 {
    if std::env::var_os("ROOTWARD_LONG").is_some_and(|value| value == "1") { 1_000_000 } else { 20_000 }
}

/// How many attempts pass between two looks at everything outside.
const INTERVAL: u64 = 500;

/// How many attempts are made at most without a swap in between.
const STRIDE: u64 = 4;

/// How many escapes are told in words.
const EXAMPLES: usize = 5;

fn attempt_all(
    door: &dyn Door,
    arena: &Arena,
    attempts: u64,
    swaps: &AtomicU64,
    enough: impl Fn(&RaceReport) -> bool,
) -> io::Result<RaceReport> {
    let mut report = RaceReport::default();
    let mut seen = 0;
    while report.attempts < attempts && !enough(&report) {
        if report.attempts.is_multiple_of(STRIDE) {
            seen = await_swap(swaps, seen);
        }
        let act = Race::ACTS[usize::try_from(report.attempts).unwrap_or(0) % Race::ACTS.len()];
        let request = arena.prepare(act)?;
        let outcome = door.act(&request);
        report.attempts += 1;
        match outcome {
            Outcome::Done { .. } => report.allowed += 1,
            Outcome::Denied { .. } => report.refused += 1,
            Outcome::Failed { .. } | Outcome::Unsupported => report.failed += 1,
        }
        let harm = match arena.harm(act)? {
            Some(harm) => Some(harm),
            None => shown(&outcome),
        };
        if let Some(harm) = harm {
            report.escape(&request, &harm);
            arena.restore_outside()?;
        }
        if report.attempts.is_multiple_of(INTERVAL) || report.attempts == attempts {
            for harm in arena.harm_anywhere()? {
                report.escape(&request, &harm);
            }
            arena.restore_outside()?;
        }
    }
    Ok(report)
}

/// Lets the attacker go first: on a busy machine thousands of attempts would else pass between two swaps.
///
/// Gives up after a while, so that a race always ends; a report without swaps is not clean.
fn await_swap(swaps: &AtomicU64, seen: u64) -> u64 {
    let start = Instant::now();
    loop {
        let now = swaps.load(Ordering::Relaxed);
        if now != seen || start.elapsed() > Duration::from_millis(50) {
            return now;
        }
        thread::yield_now();
    }
}

/// What of the outside shows in an answer.
fn shown(outcome: &Outcome) -> Option<String> {
    let secret = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
    match outcome {
        Outcome::Done { content, entries, .. } => {
            let read = content.as_deref().is_some_and(secret);
            let listed = entries.iter().flatten().any(|name| secret(name.as_bytes()));
            (read || listed).then(|| "the answer shows what lies outside".to_owned())
        }
        Outcome::Denied { message, .. } | Outcome::Failed { message, .. } => {
            secret(message.as_bytes()).then(|| "the message shows what lies outside".to_owned())
        }
        Outcome::Unsupported => None,
    }
}

impl RaceReport {
    /// That there was no escape, and that it was a race: the attacker swapped, and the door both did and did not.
    ///
    /// # Panics
    ///
    /// Otherwise.
    pub fn assert_clean(&self) {
        assert_eq!(self.escapes, 0, "{self}");
        assert!(self.swaps > 0 && self.allowed > 0 && self.allowed < self.attempts, "no race took place: {self}");
    }

    fn escape(&mut self, request: &Request, harm: &str) {
        self.escapes += 1;
        if self.examples.len() < EXAMPLES {
            let path = String::from_utf8_lossy(&request.path);
            self.examples.push(format!("{:?} of `{path}`: {harm}", request.act));
        }
    }
}

impl fmt::Display for RaceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RaceReport { attempts, allowed, refused, failed, escapes, swaps, examples } = self;
        write!(f, "{attempts} attempts: {allowed} done, {refused} refused, {failed} failed; ")?;
        write!(f, "{swaps} swaps, {escapes} escapes")?;
        examples.iter().try_for_each(|example| write!(f, "\n  {example}"))
    }
}

struct Stopping<'a>(&'a AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive::Naive;

    #[test]
    fn the_naive_door_loses_every_race() {
        let cores = thread::available_parallelism().unwrap().get();
        assert!(cores > 1, "on one core nothing happens between a check and an open; this control needs two");
        for race in Race::ALL {
            let report = race.run_until(&Naive, 500_000, |report| report.escapes >= 3).unwrap();
            assert!(report.escapes >= 3, "{:?}: {report}", race.swap);
            assert!(report.swaps > 0, "{:?}: {report}", race.swap);
        }
    }

    #[test]
    fn a_door_that_resolves_in_one_step_loses_none() {
        for (swap, report) in run_all(&beneath::Beneath, attempts()).unwrap() {
            assert_eq!(report.escapes, 0, "{swap:?}: {report}");
            report.assert_clean();
        }
    }

    #[test]
    fn a_door_that_does_nothing_loses_none() {
        struct Shut;
        impl Door for Shut {
            fn act(&self, _request: &Request) -> Outcome {
                Outcome::denied("outside_roots", "no")
            }
        }
        for (swap, report) in run_all(&Shut, 4_000).unwrap() {
            assert_eq!((report.escapes, report.refused), (0, report.attempts), "{swap:?}: {report}");
            assert!(report.attempts == 1_000 && report.swaps > 0, "{swap:?}: {report}");
        }
    }
}
