//! Rate limit per principal: a token bucket.

use std::time::{Duration, Instant};

/// The bucket of one principal.
#[derive(Debug)]
pub(crate) struct Bucket {
    /// Thousandths of a token.
    level: u64,
    filled: Instant,
}

impl Bucket {
    pub(crate) fn new(burst: u32, now: Instant) -> Bucket {
        Bucket { level: u64::from(burst) * 1000, filled: now }
    }

    /// Takes one token. If there is none, returns the time until there is.
    pub(crate) fn take(&mut self, rate: u32, burst: u32, now: Instant) -> Result<(), Duration> {
        let rate = u64::from(rate.max(1));
        let passed = u64::try_from(now.saturating_duration_since(self.filled).as_micros()).unwrap_or(u64::MAX);
        let gained = passed.saturating_mul(rate) / 1000;
        if gained > 0 {
            self.level = self.level.saturating_add(gained).min(u64::from(burst) * 1000);
            self.filled = now;
        }
        match self.level.checked_sub(1000) {
            Some(level) => {
                self.level = level;
                Ok(())
            }
            None => Err(Duration::from_micros((1000 - self.level) * 1000 / rate)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_and_fills() {
        let start = Instant::now();
        let mut bucket = Bucket::new(3, start);
        let mut take = |after: u64| bucket.take(2, 3, start + Duration::from_millis(after)).is_ok();
        assert_eq!([take(0), take(0), take(0), take(0)], [true, true, true, false]);
        assert_eq!([take(400), take(500), take(500)], [false, true, false]);
        assert_eq!([take(60_000), take(60_000), take(60_000), take(60_000)], [true, true, true, false]);
    }

    #[test]
    fn an_empty_bucket_says_how_long_it_takes() {
        let start = Instant::now();
        let mut bucket = Bucket::new(1, start);
        assert_eq!(bucket.take(4, 1, start), Ok(()));
        assert_eq!(bucket.take(4, 1, start), Err(Duration::from_millis(250)));
        assert_eq!(bucket.take(4, 1, start + Duration::from_millis(200)), Err(Duration::from_millis(50)));
        assert_eq!(bucket.take(4, 1, start + Duration::from_millis(250)), Ok(()));
    }
}
