//! What all parts of a connection to a remote server share: its session, its open requests, the channel to the
//! client.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use rootward_protocol::frame::{Envelope, Id, Kind, Message};
use rootward_protocol::message::{self, INTERNAL_ERROR};
use rootward_protocol::offer::Offer;
use rootward_protocol::{Era, method};
use tokio::sync::{mpsc, watch};

use super::annotations::Annotations;
use super::failure::{Failure, Told};
use super::http_client::HttpClient;
use super::mirrored::VERSION;
use super::open_requests::{OpenRequests, Wanted};
use super::target::Target;

/// The session that a legacy server opened.
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The last event that the client has seen.
pub(super) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// Shows a message to the operator.
pub type Says = Arc<dyn Fn(&str) + Send + Sync>;

/// A connection to a remote server.
pub(super) struct Session {
    pub(super) http: HttpClient,
    target: Arc<Target>,
    to_client: mpsc::Sender<Bytes>,
    state: Mutex<State>,
    gone: watch::Sender<bool>,
    says: Says,
}

/// The mutable state.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) open: OpenRequests,
    /// The session id, if the server opened a session.
    pub(super) session: Option<HeaderValue>,
    /// The revision from a legacy handshake.
    revision: Option<HeaderValue>,
    pub(super) annotations: Annotations,
}

impl Session {
    pub(super) fn new(http: HttpClient, target: Arc<Target>, to_client: mpsc::Sender<Bytes>, says: Says) -> Session {
        Session { http, target, to_client, state: Mutex::default(), gone: watch::Sender::new(false), says }
    }

    /// Locks the state.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows the operator a message about this server.
    pub(super) fn say(&self, text: &str) {
        (self.says)(&format!("server at `{}`: {text}", self.target.shown()));
    }

    /// The headers of a legacy session.
    pub(super) fn legacy_headers(&self) -> HeaderMap {
        let state = self.state();
        let mut headers = HeaderMap::new();
        headers.extend(state.session.clone().map(|id| (SESSION, id)));
        headers.extend(state.revision.clone().map(|revision| (VERSION, revision)));
        headers
    }

    /// The server no longer knows the session, so the session is useless.
    pub(super) fn lose(&self) {
        self.gone.send_replace(true);
    }

    /// Resolves when the session is lost.
    pub(super) async fn lost(&self) {
        let mut gone = self.gone.subscribe();
        let _ = gone.wait_for(|gone| *gone).await;
    }

    /// Sends a line to the client.
    pub(super) async fn send(&self, line: impl Into<Bytes>) {
        // If nobody reads, the relay ends.
        let _ = self.to_client.send(line.into()).await;
    }

    /// Forwards what the server sent: one message, or a batch.
    pub(super) async fn deliver(&self, mut bytes: Vec<u8>) {
        // In valid JSON these are only between tokens. The client reads one message per line.
        for byte in bytes.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
        match Message::parse(&bytes) {
            Ok(Message::Single(envelope)) => self.deliver_one(&envelope).await,
            Ok(Message::Batch(batch)) => {
                for member in batch.members() {
                    match member {
                        Ok(envelope) => self.deliver_one(&envelope).await,
                        Err(bad) => self.say(&format!("dropped an invalid message in a batch: {bad}")),
                    }
                }
            }
            Err(bad) => self.say(&format!("dropped an invalid message: {bad}")),
        }
    }

    async fn deliver_one(&self, envelope: &Envelope<'_>) {
        let line = match envelope.kind() {
            Kind::Request | Kind::Notification => envelope.text().as_bytes().to_vec(),
            Kind::Response | Kind::ErrorResponse => match self.answered(envelope) {
                Some(line) => line,
                None => return self.say("dropped an answer to an unknown request"),
            },
        };
        self.send(line).await;
    }

    /// An answer in the form for the client; `None` if no request waits for it.
    fn answered(&self, envelope: &Envelope<'_>) -> Option<Vec<u8>> {
        let mut state = self.state();
        let request = state.open.close(&envelope.id()?.key())?;
        let mut line = Vec::new();
        match (&*request.method, request.era, envelope.result()) {
            (method::INITIALIZE, Era::Legacy, Some(result)) => {
                let revision = Offer::read(result).revision();
                state.revision = revision.and_then(|revision| HeaderValue::from_str(&revision).ok());
            }
            (method::LIST_TOOLS, Era::Modern, Some(result)) => {
                let learned = state.annotations.learn(result);
                for rejected in &learned.rejected {
                    self.say(&format!("hid a tool with invalid annotations: {rejected}"));
                }
                if let Some(result) = learned.result {
                    return Some(message::result(&request.id, &result).into_bytes());
                }
            }
            _ => {}
        }
        // With the id as the client wrote it.
        match Id::read(&request.id) {
            Some(id) => envelope.write_with_id(id, &mut line),
            None => line.extend_from_slice(envelope.text().as_bytes()),
        }
        Some(line)
    }

    /// Answers a request with an error that the server sent without naming the request.
    pub(super) async fn answer_with_error(&self, key: &str, error: &str) {
        let Some(request) = self.state().open.close(key) else { return };
        self.send(format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, request.id)).await;
    }

    /// Answers a request that the server did not answer.
    pub(super) async fn fail(&self, key: &str, failure: &Failure) {
        let Some(request) = self.state().open.close(key) else { return };
        if request.wanted == Wanted::Cancelled {
            return;
        }
        let says = self.told(failure);
        self.send(message::error(&request.id, INTERNAL_ERROR, &says, None)).await;
    }

    /// A failure as text.
    pub(super) fn told(&self, failure: &Failure) -> String {
        Told { address: self.target.shown(), failure }.to_string()
    }

    /// Whether a request has no answer yet.
    pub(super) fn is_open(&self, key: &str) -> bool {
        self.state().open.is_open(key)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("target", &self.target).finish_non_exhaustive()
    }
}
