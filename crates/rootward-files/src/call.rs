//! A running call: its worker thread, cancellation and progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{RequestContext, RoleServer};
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;
use crate::server::Surroundings;

/// The interval between progress reports.
const BETWEEN_REPORTS: Duration = Duration::from_millis(500);

/// A running call.
#[derive(Debug)]
pub(crate) struct Call {
    context: RequestContext<RoleServer>,
    surroundings: Arc<Surroundings>,
}

/// Work on its own thread, so that it does not block other calls.
#[derive(Debug)]
pub(crate) struct Work {
    done: AtomicU64,
    stopped: CancellationToken,
}

impl Work {
    /// Counts work done. Returns an error if the client cancelled the call, so that the work stops.
    pub(crate) fn did(&self, count: u64) -> Result<(), Failure> {
        self.done.fetch_add(count, Ordering::Relaxed);
        if self.stopped.is_cancelled() { Err(Failure::Stopped) } else { Ok(()) }
    }
}

#[cfg(test)]
impl Work {
    /// Work that somebody waits for.
    pub(crate) fn under_way() -> Work {
        Work { done: AtomicU64::new(0), stopped: CancellationToken::new() }
    }

    /// Work of a cancelled call.
    pub(crate) fn taken_back() -> Work {
        let work = Work::under_way();
        work.stopped.cancel();
        work
    }

    pub(crate) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }
}

impl Call {
    pub(crate) fn new(context: RequestContext<RoleServer>, surroundings: Arc<Surroundings>) -> Call {
        Call { context, surroundings }
    }

    /// The operator's options.
    pub(crate) fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// Returns an error if the client cancelled the call.
    pub(crate) fn goes_on(&self) -> Result<(), Failure> {
        if self.context.ct.is_cancelled() { Err(Failure::Stopped) } else { Ok(()) }
    }

    /// Runs long work on its own thread. Reports progress to the client in `unit`s, if the client asked for it.
    pub(crate) async fn apart<T: Send + 'static>(
        &self,
        unit: &str,
        work: impl FnOnce(&Work) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let stopped = self.context.ct.child_token();
        // Dropping this call also stops its work.
        let _stops = stopped.clone().drop_guard();
        let shared = Arc::new(Work { done: AtomicU64::new(0), stopped });
        let mut working = tokio::task::spawn_blocking({
            let shared = Arc::clone(&shared);
            move || work(&shared)
        });
        let Some(token) = self.context.meta.get_progress_token() else { return finished(working.await) };
        let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + BETWEEN_REPORTS, BETWEEN_REPORTS);
        let mut told = 0;
        loop {
            tokio::select! {
                result = &mut working => return finished(result),
                _ = ticks.tick() => {}
            }
            let done = shared.done.load(Ordering::Relaxed);
            if done > told {
                told = done;
                self.tell(token.clone(), done, unit).await;
            }
        }
    }

    async fn tell(&self, token: ProgressToken, done: u64, unit: &str) {
        #[expect(clippy::cast_precision_loss, reason = "the protocol counts in floating point")]
        let progress = ProgressNotificationParam::new(token, done as f64).with_message(format!("{done} {unit}"));
        // Ignore a client that is gone; its call ends by itself.
        let _ = self.context.peer.notify_progress(progress).await;
    }
}

fn finished<T>(result: Result<Result<T, Failure>, tokio::task::JoinError>) -> Result<T, Failure> {
    result.unwrap_or_else(|error| Err(Failure::said(format!("this call failed unexpectedly: {error}"))))
}
