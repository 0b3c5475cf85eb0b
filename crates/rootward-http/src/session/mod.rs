//! A legacy session: its streams, and the task that forwards the backend's messages to them.

mod log;
mod reader;
mod streams;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use smallvec::SmallVec;
use tokio::sync::{Notify, mpsc};

pub(crate) use self::log::Next;
pub(crate) use self::reader::{Reader, ReaderId};
pub(crate) use self::streams::{Heading, OpenRequest, StreamError, Streams};
use crate::config::Limits;
use crate::event::EventId;
use crate::frames;
use crate::session_id::SessionId;
use crate::sessions::Slot;
use crate::wire::PrincipalId;

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) principal: PrincipalId,
    pub(crate) revision: Revision,
    limits: Arc<Limits>,
    state: Mutex<State>,
    /// Milliseconds from `began` to the client's last activity.
    seen: AtomicU64,
    began: Instant,
    stopped: Notify,
    _slot: Slot,
}

#[derive(Debug)]
struct State {
    streams: Streams,
    /// `None` when the session has ended.
    sender: Option<mpsc::Sender<Bytes>>,
}

/// What the negotiated revision changes in the front.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Revision {
    /// Whether its clients send batches.
    pub(crate) has_batches: bool,
    /// Whether its clients support events without data.
    pub(crate) has_priming: bool,
}

/// Why a message did not reach the backend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SendError {
    /// The session has ended.
    Ended,
    /// The backend accepts no messages.
    Busy,
}

impl Session {
    pub(crate) fn new(
        id: SessionId,
        slot: Slot,
        revision: Revision,
        limits: Arc<Limits>,
        sender: mpsc::Sender<Bytes>,
        streams: Streams,
    ) -> Session {
        Session {
            id,
            principal: slot.principal(),
            revision,
            limits,
            state: Mutex::new(State { streams, sender: Some(sender) }),
            seen: AtomicU64::new(0),
            began: Instant::now(),
            stopped: Notify::new(),
            _slot: slot,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records activity of the client.
    pub(crate) fn touch(&self) {
        let passed = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.seen.store(passed, Ordering::Relaxed);
    }

    /// Whether the client was inactive for the idle time and reads no stream.
    pub(crate) fn is_idle(&self, now: Instant) -> bool {
        let seen = self.began + Duration::from_millis(self.seen.load(Ordering::Relaxed));
        now.saturating_duration_since(seen) >= self.limits.session_idle && !self.state().streams.has_reader()
    }

    /// Sends a message to the backend. Messages arrive in the order of these calls.
    pub(crate) async fn send(&self, message: Bytes) -> Result<(), SendError> {
        let sender = self.state().sender.clone().ok_or(SendError::Ended)?;
        match sender.try_send(message) {
            Ok(()) => Ok(()),
            Err(mpsc::error::TrySendError::Closed(_)) => Err(SendError::Ended),
            Err(mpsc::error::TrySendError::Full(message)) => {
                sender.send_timeout(message, self.limits.backend_time).await.map_err(|error| match error {
                    mpsc::error::SendTimeoutError::Timeout(_) => SendError::Busy,
                    mpsc::error::SendTimeoutError::Closed(_) => SendError::Ended,
                })
            }
        }
    }

    /// Opens a stream for these requests; without requests, a GET stream.
    pub(crate) fn open(
        &self,
        requests: SmallVec<[OpenRequest; 1]>,
        connection: Arc<Notify>,
    ) -> Result<ReaderId, StreamError> {
        self.state().streams.open(requests, |id| Reader::new(id, connection), &self.limits, Instant::now())
    }

    /// Resumes a stream. `None` if it is no longer kept.
    pub(crate) fn resume(&self, after: EventId, connection: Arc<Notify>) -> Option<ReaderId> {
        self.state().streams.resume(after, |id| Reader::new(id, connection))
    }

    /// The next message of a stream.
    pub(crate) fn poll_next(&self, id: ReaderId, context: &Context<'_>) -> Poll<Option<(u64, Bytes)>> {
        match self.next(id, context.waker()) {
            Next::Message(position, message) => Poll::Ready(Some((position, message))),
            Next::End => Poll::Ready(None),
            Next::Pending => Poll::Pending,
        }
    }

    fn next(&self, id: ReaderId, waker: &Waker) -> Next {
        self.state().streams.next(id, waker, &self.limits)
    }

    /// Whether all answers of a stream have been read.
    pub(crate) fn is_done(&self, id: ReaderId) -> bool {
        self.state().streams.is_done(id)
    }

    pub(crate) fn leave(&self, id: ReaderId) {
        self.touch();
        self.state().streams.leave(id, &self.limits, Instant::now());
    }

    pub(crate) fn forget(&self, id: ReaderId) {
        self.touch();
        self.state().streams.forget(id);
    }

    pub(crate) fn cancel(&self, key: &str) {
        self.state().streams.cancel(key, Instant::now());
    }

    pub(crate) fn sweep(&self, now: Instant) {
        self.state().streams.sweep(&self.limits, now);
    }

    /// Ends the session: waiting requests get an error, streams end, the wire is dropped.
    pub(crate) fn end(&self, says: &str) {
        let mut state = self.state();
        state.sender = None;
        state.streams.end(says);
        self.stopped.notify_one();
    }

    /// Forwards the backend's messages to the streams, until one side ends the session.
    pub(crate) async fn run(self: Arc<Session>, mut receiver: mpsc::Receiver<Bytes>) {
        loop {
            let frame = tokio::select! {
                biased;
                () = self.stopped.notified() => return,
                frame = receiver.recv() => frame,
            };
            let Some(frame) = frame else { return };
            for reply in self.take(&crate::event::in_one_line(frame)) {
                // A question that nobody receives gets an error if the backend accepts it; otherwise it times out
                // there.
                let sender = self.state().sender.clone();
                let _ = sender.map(|sender| sender.try_send(reply));
            }
        }
    }

    fn take(&self, frame: &Bytes) -> SmallVec<[Bytes; 1]> {
        let mut replies = SmallVec::new();
        route(&mut self.state().streams, frame, &self.limits, &mut replies);
        replies
    }
}

/// Routes each message of a frame, which is one line, to its stream.
pub(crate) fn route(streams: &mut Streams, frame: &Bytes, limits: &Limits, replies: &mut SmallVec<[Bytes; 1]>) {
    frames::each(frame, |envelope, message| {
        if let Some(heading) = Heading::of(envelope) {
            replies.extend(streams.route(message, &heading, limits, Instant::now()));
        }
    });
}
