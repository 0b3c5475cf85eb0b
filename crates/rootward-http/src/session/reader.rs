//! The reader of a stream: the body of one HTTP response.

use std::sync::Arc;
use std::task::Waker;

use tokio::sync::Notify;

/// Identifies a reader of a stream, uniquely within a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ReaderId {
    pub(crate) stream: u32,
    pub(crate) reader: u32,
}

/// The reader of a stream.
#[derive(Debug)]
pub(crate) struct Reader {
    pub(crate) id: ReaderId,
    waker: Option<Waker>,
    /// Ends the connection: a client that does not read would not see the stream end.
    connection: Arc<Notify>,
}

impl Reader {
    pub(crate) fn new(id: ReaderId, connection: Arc<Notify>) -> Reader {
        Reader { id, waker: None, connection }
    }

    /// Signals that there may be something to read.
    pub(super) fn wake(&self) {
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }

    /// Ends its connection.
    pub(super) fn cut(&self) {
        self.connection.notify_one();
        self.wake();
    }

    /// Sets the task to wake.
    pub(super) fn wait(&mut self, waker: &Waker) {
        match &mut self.waker {
            Some(known) => known.clone_from(waker),
            None => self.waker = Some(waker.clone()),
        }
    }
}
