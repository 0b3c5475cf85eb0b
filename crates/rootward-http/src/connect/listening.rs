//! The stream of a legacy session for messages that the server sends on its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::LONGEST;
use super::events::Events;
use super::failure::Failure;
use super::session::Session;
use super::streaming::{self, MOST_FAILURES, Purpose, pause};

/// A stream that lasted this long did not fail: proxies close quiet ones.
const LASTED: Duration = Duration::from_secs(10);

/// The stream lasts as long as the session.
struct Always;

impl Purpose for Always {
    fn is_done(&self, _: &Session) -> bool {
        false
    }
}

/// Listens until the session ends, or the server turns out to have no such stream.
pub(super) async fn listen(session: Arc<Session>) {
    let mut last_id: Option<String> = None;
    let mut retry = None;
    let mut failures = 0;
    loop {
        let begun = Instant::now();
        match streaming::open(&session, last_id.as_deref()).await {
            Ok(response) => {
                let mut events = Events::new(LONGEST, last_id.clone());
                let ended = streaming::read(&session, response, &mut events, &Always).await;
                if let Err(failure @ Failure::TooLong(_)) = ended {
                    // It would happen again.
                    return session.say(&format!("closed its stream: {}", session.told(&failure)));
                }
                let went_on = events.last_id() != last_id.as_deref() || begun.elapsed() >= LASTED;
                failures = if went_on { 0 } else { failures + 1 };
                retry = events.retry().or(retry);
                last_id = events.last_id().map(str::to_owned);
            }
            Err(Failure::SessionGone) => return session.lose(),
            Err(Failure::Unreached(_) | Failure::Cut(_)) => failures += 1,
            Err(Failure::Status(status)) if status.is_server_error() && status.as_u16() != 501 => failures += 1,
            // 405, or another answer of a server without such a stream.
            Err(_) => return,
        }
        if failures >= MOST_FAILURES {
            return session.say("its stream ended too often and will not be reopened; answers to calls still arrive");
        }
        tokio::time::sleep(pause(retry, failures)).await;
    }
}
