//! The interface between the front and its backend: messages in both directions.

use bytes::Bytes;
use tokio::sync::mpsc;

/// A principal, as an index into the configuration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PrincipalId(pub usize);

/// What a wire is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Purpose {
    /// A legacy session: its first message is `initialize`, and it lasts until one side drops it.
    Session,
    /// One modern request: all messages that come back belong to it, and the last one is its answer.
    Request,
}

/// One end of a wire. Each item is one JSON message (or a batch) without a trailing line break. Dropping the sender
/// closes this direction.
#[derive(Debug)]
pub struct Wire {
    /// Messages to the other side.
    pub sender: mpsc::Sender<Bytes>,
    /// Messages from the other side.
    pub receiver: mpsc::Receiver<Bytes>,
}

/// Sent by a backend instead of its first message if it cannot accept more sessions or requests; then it drops its
/// end. It is not JSON, so no server can have sent it.
pub const NO_ROOM: &[u8] = b"full";

/// Both ends of a new wire that holds up to `most` messages each way.
pub fn wire(most: usize) -> (Wire, Wire) {
    let (to_server, from_client) = mpsc::channel(most);
    let (to_client, from_server) = mpsc::channel(most);
    (Wire { sender: to_server, receiver: from_server }, Wire { sender: to_client, receiver: from_client })
}

/// Answers MCP messages.
pub trait Backend: Send + Sync + 'static {
    /// Opens a wire for a principal.
    fn open(&self, principal: PrincipalId, purpose: Purpose) -> impl Future<Output = Result<Wire, OpenError>> + Send;

    /// Its own metrics, in Prometheus text format, for the end of `/metrics`.
    fn metrics(&self) -> impl Future<Output = String> + Send {
        async { String::new() }
    }

    /// Whether it can accept sessions now.
    fn is_ready(&self) -> impl Future<Output = bool> + Send {
        async { true }
    }
}

/// Why no wire was opened.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OpenError {
    /// The maximum number is open.
    #[error("too many sessions are open")]
    Full,
    /// The backend has ended or is ending.
    #[error("the server is shutting down")]
    Gone,
}
