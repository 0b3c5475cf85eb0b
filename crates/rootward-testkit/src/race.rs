//! Races: attackers that swap the target of a path while a door works on it.
//!
//! A door with check and open as two steps loses within a few dozen attempts. Each attempt is one act through the door
//! while another thread swaps. It is an escape if it reveals [`SECRET`] or a name from outside, or if anything outside
//! appears, changes or disappears. A test with [`crate::naive::Naive`] proves that the attack works.

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
    /// Exchanges a directory with a link that leads out, atomically (renameat2(2)).
    DirectoryForLink,
    /// Exchanges a file with a link to a file outside, atomically.
    FileForLink,
    /// Moves a directory out of the root and back, while the path goes down into it and up again with `..`.
    ParentAway,
    /// Like [`Swap::DirectoryForLink`], four levels above the file.
    DeepParentForLink,
}

/// One kind of race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Race {
    /// What the attacker swaps.
    pub swap: Swap,
}

/// The result of a race.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RaceReport {
    /// The requests to the door.
    pub attempts: u64,
    /// How many the door did.
    pub allowed: u64,
    /// How many the door refused.
    pub refused: u64,
    /// How many failed with a system error.
    pub failed: u64,
    /// How often a request revealed or changed something outside.
    pub escapes: u64,
    /// The attacker's swaps.
    pub swaps: u64,
    /// A description of the first escapes.
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

    /// The acts that a race tries, in turn.
    pub const ACTS: [Act; 6] = [Act::Read, Act::Put, Act::CreateNew, Act::Rename, Act::Remove, Act::List];

    /// Sends the door `attempts` requests while an attacker swaps, in a new tree.
    pub fn run(self, door: &dyn Door, attempts: u64) -> io::Result<RaceReport> {
        self.run_until(door, attempts, |_| false)
    }

    /// [`Race::run`] that stops once `enough` returns true.
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
            // Dropped even if the door panics; otherwise the attacker would never stop.
            let _stopping = Stopping(&stop);
            scope.spawn(|| swap::attack(&arena, &swaps, &stop));
            attempt_all(door, &arena, attempts, &swaps, enough)
        })?;
        report.swaps = swaps.into_inner();
        Ok(report)
    }
}

/// Runs all races one after the other, each with an equal share of `attempts`.
pub fn run_all(door: &dyn Door, attempts: u64) -> io::Result<Vec<(Swap, RaceReport)>> {
    let share = attempts.div_ceil(Race::ALL.len() as u64);
    Race::ALL.into_iter().map(|race| Ok((race.swap, race.run(door, share)?))).collect()
}

/// The number of attempts of a test: 20,000, or a million if `ROOTWARD_LONG` is `1`.
pub fn attempts() -> u64 {
    if std::env::var_os("ROOTWARD_LONG").is_some_and(|value| value == "1") { 1_000_000 } else { 20_000 }
}

/// The number of attempts between two snapshots of everything outside.
const INTERVAL: u64 = 500;

/// After this many attempts, wait for a swap.
const STRIDE: u64 = 4;

/// The number of escapes that a report describes.
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

/// Waits for the attacker: on a busy machine, thousands of attempts could otherwise pass between two swaps.
///
/// Gives up after a while, so that a race always ends. A report without swaps is not clean.
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

/// Says whether an answer reveals something outside.
fn shown(outcome: &Outcome) -> Option<String> {
    let secret = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
    match outcome {
        Outcome::Done { content, entries, .. } => {
            let read = content.as_deref().is_some_and(secret);
            let listed = entries.iter().flatten().any(|name| secret(name.as_bytes()));
            (read || listed).then(|| "the answer reveals something outside".to_owned())
        }
        Outcome::Denied { message, .. } | Outcome::Failed { message, .. } => {
            secret(message.as_bytes()).then(|| "the message reveals something outside".to_owned())
        }
        Outcome::Unsupported => None,
    }
}

impl RaceReport {
    /// Asserts that nothing escaped and that there was a race: the attacker swapped, and some requests but not all succeeded.
    ///
    /// # Panics
    ///
    /// If not.
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
        assert!(cores > 1, "this test needs two cores: on one, nothing happens between check and open");
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
    fn a_door_that_refuses_everything_loses_none() {
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
