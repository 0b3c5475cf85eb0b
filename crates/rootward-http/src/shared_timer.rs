//! A short wait that all requests share.
//!
//! Nearly every answer comes before the wait is over. With a timer per request, each request would wake the thread
//! that sleeps until the next timer. Here there is a single timer, which runs only while somebody waits.

use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;

/// How many ticks a wait has.
const TICKS: u32 = 2;

#[derive(Debug)]
pub(crate) struct SharedTimer {
    between: Duration,
    tick: Notify,
    wanted: Notify,
}

impl SharedTimer {
    /// A wait of this length, or up to half as much more.
    pub(crate) fn new(length: Duration) -> SharedTimer {
        SharedTimer { between: length / TICKS, tick: Notify::new(), wanted: Notify::new() }
    }

    /// Ticks while somebody waits. Never returns.
    pub(crate) async fn run(&self) {
        loop {
            self.wanted.notified().await;
            sleep(self.between).await;
            self.tick.notify_waiters();
        }
    }

    /// Waits. The first tick may come at once, so wait for one more.
    pub(crate) async fn passed(&self) {
        for _ in 0..=TICKS {
            let tick = self.tick.notified();
            let mut tick = std::pin::pin!(tick);
            tick.as_mut().enable();
            self.wanted.notify_one();
            tick.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::time::Instant;

    use super::*;

    #[tokio::test]
    async fn a_wait_is_at_least_as_long_as_it_says() {
        let timer = Arc::new(SharedTimer::new(Duration::from_millis(20)));
        let ticking = tokio::spawn({
            let timer = Arc::clone(&timer);
            async move { timer.run().await }
        });
        for offset in [0, 1, 5, 9, 10, 11, 19, 50] {
            sleep(Duration::from_millis(offset)).await;
            let began = Instant::now();
            tokio::join!(timer.passed(), timer.passed());
            let took = began.elapsed().as_millis();
            assert!(took >= 20, "{offset}: {took}");
        }
        ticking.abort();
    }
}
