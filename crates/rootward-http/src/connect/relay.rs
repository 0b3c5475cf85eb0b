//! Handles all messages from the client, in order: requests run concurrently, everything else one after the other.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rootward_protocol::frame::{Envelope, Id, Kind, Members, Message};
use rootward_protocol::message::{self, INTERNAL_ERROR, INVALID_REQUEST};
use rootward_protocol::{Era, keys, method};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::exchange::{self, Outgoing, RequestKind};
use super::failure::Failure;
use super::http_client::{HttpClient, SetupError};
use super::listening;
use super::mirrored;
use super::open_requests::Wanted;
use super::session::{Says, Session};
use super::target::Target;
use crate::Wire;

/// How many requests may be open at a time.
const MOST_OPEN: usize = 512;
/// How long a server may take to accept a message that has no answer.
const ACCEPTS_WITHIN: Duration = Duration::from_secs(30);
/// How long ending a session may take.
const ENDS_WITHIN: Duration = Duration::from_millis(1500);

/// Why a relay ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ended {
    /// The client has closed its input or stopped reading.
    ByClient,
    /// The server no longer knows the session. Open requests get no answer; a new session begins with a new
    /// handshake.
    SessionGone,
}

/// Carries messages between a wire and a remote server until one side ends.
///
/// The wire's messages are JSON-RPC without line breaks. While the session lasts, every request is answered: by the
/// server, or with an error that tells the user what to do.
pub async fn relay(target: Target, wire: Wire, says: Says) -> Result<Ended, SetupError> {
    let target = Arc::new(target);
    let http = HttpClient::new(Arc::clone(&target))?;
    let Wire { sender, mut receiver } = wire;
    let closed = sender.clone();
    let session = Arc::new(Session::new(http, target, sender, says));
    let mut relay = Relay { session: Arc::clone(&session), tasks: JoinSet::new(), is_listening: false };
    let ended = loop {
        tokio::select! {
            () = session.lost() => break Ended::SessionGone,
            () = closed.closed() => break Ended::ByClient,
            message = receiver.recv() => match message {
                Some(message) => relay.take(message).await,
                None => break Ended::ByClient,
            },
            Some(_) = relay.tasks.join_next() => {}
        }
    };
    relay.tasks.shutdown().await;
    if ended == Ended::ByClient && session.state().session.is_some() {
        // Most servers do not need this. Do not wait for those that hang.
        let _ = tokio::time::timeout(ENDS_WITHIN, session.http.delete(session.legacy_headers())).await;
    }
    Ok(ended)
}

struct Relay {
    session: Arc<Session>,
    tasks: JoinSet<()>,
    is_listening: bool,
}

impl Relay {
    /// Handles a message from the client.
    async fn take(&mut self, bytes: Bytes) {
        match Message::parse(&bytes) {
            Ok(Message::Single(envelope)) => self.take_one(&envelope, bytes.clone()).await,
            // Later revisions have no batches, and a batch means the same as its members.
            Ok(Message::Batch(batch)) => {
                for member in batch.members() {
                    match member {
                        Ok(envelope) => {
                            self.take_one(&envelope, Bytes::copy_from_slice(envelope.text().as_bytes())).await;
                        }
                        Err(bad) => self.session.send(message::bad_frame(bad.id.as_deref(), &bad.reason)).await,
                    }
                }
            }
            Err(bad) => self.session.send(message::bad_frame(bad.id.as_deref(), &bad.reason)).await,
        }
    }

    async fn take_one(&mut self, envelope: &Envelope<'_>, body: Bytes) {
        match (envelope.kind(), envelope.id()) {
            (Kind::Request, Some(id)) => self.request(envelope, id, body).await,
            (Kind::Notification, _) if envelope.method() == Some(method::CANCELLED) => {
                if self.cancel(envelope) {
                    self.notify(envelope, body).await;
                }
            }
            _ => self.notify(envelope, body).await,
        }
    }

    /// Sends a request, and returns when it was written: later messages must not overtake it.
    async fn request(&mut self, envelope: &Envelope<'_>, id: Id<'_>, body: Bytes) {
        let name = envelope.method().unwrap_or_default();
        let revision = mirrored::modern_revision(envelope.params());
        let era = if revision.is_some() { Era::Modern } else { Era::Legacy };
        let key = id.key();
        let refused = {
            let open = &mut self.session.state().open;
            if open.len() >= MOST_OPEN {
                Some((INTERNAL_ERROR, "too many requests are open"))
            } else if open.open(id, name, era) {
                None
            } else {
                Some((INVALID_REQUEST, "a request with this id is open"))
            }
        };
        if let Some((code, says)) = refused {
            return self.session.send(message::error(id.as_str(), code, says, None)).await;
        }
        let kind = match name {
            method::INITIALIZE => RequestKind::Handshake,
            method::CALL_TOOL => RequestKind::Call,
            _ => RequestKind::Other,
        };
        let headers = match &revision {
            Some(revision) => mirrored::headers(envelope, revision, &self.session.state().annotations),
            // A handshake begins a session, so it is in none yet.
            None if kind == RequestKind::Handshake => http::HeaderMap::new(),
            None => self.session.legacy_headers(),
        };
        let (until_sent, sent) = oneshot::channel();
        let request = Outgoing { key: key.clone(), era, kind, headers, body };
        let task = self.tasks.spawn(exchange::exchange(Arc::clone(&self.session), request, until_sent));
        self.session.state().open.carried_by(&key, task);
        tokio::select! {
            _ = sent => {}
            () = self.session.lost() => {}
        }
    }

    /// The client cancels a request. Returns whether the server gets a message about it.
    fn cancel(&self, envelope: &Envelope<'_>) -> bool {
        let cancelled = envelope.params().and_then(Members::read).and_then(|params| params.get(keys::REQUEST_ID));
        let Some(key) = cancelled.map(|id| rootward_protocol::frame::key(id.get())) else { return false };
        let mut state = self.session.state();
        match state.open.get_mut(&key) {
            // Closing the connection cancels a modern request.
            Some(request) if request.era == Era::Modern => {
                if let Some(task) = request.task.take() {
                    task.abort();
                }
                state.open.close(&key);
                false
            }
            Some(request) => {
                request.wanted = Wanted::Cancelled;
                true
            }
            None => false,
        }
    }

    /// Posts a message that has no answer, and returns when the server has accepted it.
    async fn notify(&mut self, envelope: &Envelope<'_>, body: Bytes) {
        let posted = exchange::notify(&self.session, self.session.legacy_headers(), body);
        let accepted = tokio::select! {
            accepted = tokio::time::timeout(ACCEPTS_WITHIN, posted) => accepted,
            () = self.session.lost() => return,
        };
        match accepted {
            Ok(Ok(())) => {}
            Ok(Err(Failure::SessionGone)) => return self.session.lose(),
            Ok(Err(failure)) => {
                self.session.say(&format!("a message was not accepted: {}", self.session.told(&failure)));
            }
            Err(_) => self.session.say("a message was not accepted in time"),
        }
        if envelope.method() == Some(method::INITIALIZED) && !self.is_listening {
            self.is_listening = true;
            self.tasks.spawn(listening::listen(Arc::clone(&self.session)));
        }
    }
}
