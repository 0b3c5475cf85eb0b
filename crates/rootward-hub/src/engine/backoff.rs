//! When to restart a server that ended.

use std::time::Duration;

/// The pause after the first early exit; it doubles with each further one.
const FIRST: Duration = Duration::from_millis(100);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(30);
/// A server that runs this long counts as healthy.
const WELL: Duration = Duration::from_secs(30);

/// How often a server ended soon after its start, and when the next start is due.
#[derive(Clone, Debug, Default)]
pub(super) struct Backoff {
    ends: u32,
    due: Option<Duration>,
}

impl Backoff {
    /// A server has ended after running for `lived`.
    pub(super) fn failed(&mut self, now: Duration, lived: Duration) {
        self.ends = if lived >= WELL { 0 } else { self.ends + 1 };
        let pause = match self.ends {
            // A healthy server is restarted at once.
            0 | 1 => Duration::ZERO,
            ends => FIRST.saturating_mul(1 << (ends - 2).min(16)).min(LONGEST),
        };
        self.due = Some(now + pause);
    }

    /// When the next start is due, if that is in the future.
    pub(super) fn not_before(&self, now: Duration) -> Option<Duration> {
        self.due.filter(|due| *due > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_with_each_early_end_and_a_long_life_ends_that() {
        let mut backoff = Backoff::default();
        let mut pauses = Vec::new();
        for _ in 0..13 {
            backoff.failed(Duration::ZERO, Duration::from_secs(1));
            pauses.push(backoff.not_before(Duration::ZERO).unwrap_or_default().as_millis());
        }
        assert_eq!(pauses, [0, 100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000]);
        backoff.failed(Duration::ZERO, WELL);
        assert_eq!(backoff.not_before(Duration::ZERO), None);
    }
}
