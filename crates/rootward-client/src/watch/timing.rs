//! When to look. Pure: time is passed in.

use std::time::Duration;

use super::{Options, Watching};

/// What a look begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Look {
    /// Reset the watches first: their paths may lead elsewhere by now.
    Reset,
    /// Keep the watches.
    Again,
}

/// The state of the timer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Timing {
    options: Options,
    /// When the first event arrived that no look has covered yet.
    event: Option<Duration>,
    /// When the last look ended; `None` before the first.
    looked: Option<Duration>,
    /// When the watches were last set.
    set: Duration,
    polling: bool,
}

impl Timing {
    pub(super) fn new(options: Options) -> Timing {
        Timing { options, event: None, looked: None, set: Duration::ZERO, polling: false }
    }

    /// Something happened. Only the first event counts: a burst of events does not delay the look.
    pub(super) fn event(&mut self, now: Duration) {
        self.event.get_or_insert(now);
    }

    /// When to look next.
    pub(super) fn due(&self) -> Duration {
        let Some(looked) = self.looked else { return Duration::ZERO };
        let event = self.event.map(|event| event.saturating_add(self.options.debounce));
        let poll = self.polling.then(|| looked.saturating_add(self.options.poll));
        let anyway = self.set.saturating_add(self.options.anyway);
        [event, poll].into_iter().flatten().fold(anyway, Duration::min)
    }

    /// The look that is due, if any. Later events are for the next one.
    pub(super) fn take(&mut self, now: Duration) -> Option<Look> {
        if now < self.due() {
            return None;
        }
        let event = self.event.take();
        let anyway = self.looked.is_none() || now >= self.set.saturating_add(self.options.anyway);
        Some(if event.is_some() || anyway { Look::Reset } else { Look::Again })
    }

    /// A look has ended.
    pub(super) fn looked(&mut self, now: Duration, look: Look, watching: &Watching) {
        self.looked = Some(now);
        if look == Look::Reset {
            self.set = now;
        }
        self.polling = *watching != Watching::Events;
    }

    /// Something must be polled because the system does not report it.
    pub(super) fn poll(&mut self) {
        self.polling = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Unwatched;
    use super::*;

    fn seconds(number: u64) -> Duration {
        Duration::from_secs(number)
    }

    fn timing() -> Timing {
        let mut timing = Timing::new(Options::default());
        assert_eq!(timing.take(Duration::ZERO), Some(Look::Reset));
        timing.looked(Duration::ZERO, Look::Reset, &Watching::Events);
        timing
    }

    #[test]
    fn a_storm_does_not_put_off_the_look() {
        let mut timing = timing();
        let mut looks = Vec::new();
        for number in 0..10_000_u64 {
            let now = seconds(5) + Duration::from_millis(number);
            timing.event(now);
            if let Some(look) = timing.take(now) {
                timing.looked(now, look, &Watching::Events);
                looks.push(now);
            }
        }
        assert_eq!(looks.len(), 9, "{looks:?}");
        assert!(timing.due() <= seconds(16));
    }

    #[test]
    fn one_event_is_one_look() {
        let mut timing = timing();
        timing.event(seconds(3));
        assert_eq!((timing.take(seconds(3)), timing.due()), (None, seconds(4)));
        assert_eq!(timing.take(seconds(4)), Some(Look::Reset));
        timing.looked(seconds(4), Look::Reset, &Watching::Events);
        assert_eq!((timing.take(seconds(63)), timing.due()), (None, seconds(64)));
        assert_eq!(timing.take(seconds(64)), Some(Look::Reset), "whatever happened");
    }

    #[test]
    fn unwatchable_places_are_polled() {
        let mut timing = timing();
        let polling = Watching::Polling { every: seconds(2), places: 1, why: Unwatched::SystemBound };
        timing.looked(seconds(1), Look::Reset, &polling);
        assert_eq!((timing.take(seconds(2)), timing.take(seconds(3))), (None, Some(Look::Again)));
        timing.looked(seconds(3), Look::Again, &polling);
        timing.event(seconds(3));
        assert_eq!((timing.due(), timing.take(seconds(4))), (seconds(4), Some(Look::Reset)), "an event is no later");
        timing.looked(seconds(4), Look::Reset, &Watching::Events);
        assert_eq!(timing.due(), seconds(64));
    }
}
