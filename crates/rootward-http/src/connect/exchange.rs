//! One request: posts it and reads its answer, in either form.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use rootward_protocol::Era;
use rootward_protocol::frame::Message;
use tokio::sync::oneshot;

use super::LONGEST;
use super::events::Events;
use super::failure::Failure;
use super::outbound::Outbound;
use super::relearning;
use super::session::{SESSION, Session};
use super::streaming::{self, Purpose, content_type, is_event_stream, is_json};

/// Maximum size of an error body.
const LONGEST_ERROR: usize = 1 << 20;
/// How long such a body may take.
const ERROR_WITHIN: Duration = Duration::from_secs(10);

/// A request to be sent.
#[derive(Debug)]
pub(super) struct Outgoing {
    /// The key of its id.
    pub(super) key: Box<str>,
    pub(super) era: Era,
    pub(super) kind: RequestKind,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// What a request does to the session.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum RequestKind {
    /// It begins a legacy session.
    Handshake,
    /// It calls a tool.
    Call,
    Other,
}

impl Purpose for Outgoing {
    fn is_done(&self, session: &Session) -> bool {
        !session.is_open(&self.key)
    }
}

/// Sends a request and forwards its answer. Every request is answered, with one exception: if the session is gone,
/// the relay ends. `until_sent` is dropped once the request was written.
pub(super) async fn exchange(session: Arc<Session>, request: Outgoing, until_sent: oneshot::Sender<Infallible>) {
    let outcome = attempt(&session, &request, until_sent).await;
    match outcome.err().unwrap_or(Failure::NoAnswer) {
        // The end of the process is the answer. If an answer came first, the client's next request would go to this
        // process and be lost.
        Failure::SessionGone => session.lose(),
        failure => session.fail(&request.key, &failure).await,
    }
}

async fn attempt(
    session: &Session,
    request: &Outgoing,
    until_sent: oneshot::Sender<Infallible>,
) -> Result<(), Failure> {
    let body = Outbound::telling(request.body.clone(), Some(until_sent));
    let mut response = session.http.post(request.headers.clone(), body, &request.body).await?;
    if response.status() == StatusCode::BAD_REQUEST && request.era == Era::Modern && request.kind == RequestKind::Call {
        let refused = error_of(response, &request.key).await;
        if !refused.as_ref().is_some_and(|refused| relearning::is_mismatch(&refused.error)) {
            return answer_refused(session, request, refused, StatusCode::BAD_REQUEST).await;
        }
        let headers = relearning::relearn(session, &request.body).await;
        let Some(headers) = headers.filter(|headers| *headers != request.headers) else {
            return answer_refused(session, request, refused, StatusCode::BAD_REQUEST).await;
        };
        response = session.http.post(headers, Outbound::new(request.body.clone()), &request.body).await?;
    }
    let status = response.status();
    if status == StatusCode::NOT_FOUND && request.headers.contains_key(SESSION) {
        return Err(Failure::SessionGone);
    }
    if !status.is_success() {
        return refused(session, request, response).await;
    }
    if request.kind == RequestKind::Handshake {
        session.state().session = response.headers().get(SESSION).cloned();
    }
    if is_event_stream(response.headers()) {
        let mut events = Events::new(LONGEST, None);
        let ended = streaming::read(session, response, &mut events, request).await;
        return match request.era {
            _ if request.is_done(session) => Ok(()),
            // A modern stream cannot be resumed.
            Era::Modern => ended.and(Err(Failure::NoAnswer)),
            Era::Legacy => streaming::resume(session, events, request, ended).await,
        };
    }
    if !is_json(response.headers()) {
        return Err(Failure::ContentType(content_type(response.headers())));
    }
    let body = Limited::new(response.into_body(), LONGEST).collect().await;
    let body = body.map_err(|error| match error.downcast::<hyper::Error>() {
        Ok(error) => Failure::of_client(&*error, false),
        Err(_) => Failure::TooLong(format!("it is longer than {} MiB", LONGEST >> 20)),
    })?;
    session.deliver(body.to_bytes().to_vec()).await;
    Ok(())
}

/// Handles a status other than success. If the body is a JSON-RPC error, that is the answer.
async fn refused(session: &Session, request: &Outgoing, response: Response<Incoming>) -> Result<(), Failure> {
    let status = response.status();
    // The remedy is a header; the server does not know its name in the configuration.
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Err(Failure::Status(status));
    }
    let error = error_of(response, &request.key).await;
    answer_refused(session, request, error, status).await
}

async fn answer_refused(
    session: &Session,
    request: &Outgoing,
    refused: Option<Refused>,
    status: StatusCode,
) -> Result<(), Failure> {
    let refused = refused.ok_or(Failure::Status(status))?;
    if status == StatusCode::BAD_REQUEST && request.headers.contains_key(SESSION) && refused.is_about_session() {
        return Err(Failure::SessionGone);
    }
    session.answer_with_error(&request.key, &refused.error).await;
    Ok(())
}

/// The JSON-RPC error in a body.
struct Refused {
    error: String,
    /// Whether it names the request. A server that rejected it early names none.
    names_request: bool,
}

impl Refused {
    /// Whether the server does not know the session. The protocol uses 404 for that, but servers based on examples of
    /// the TypeScript and Python SDKs answer with 400 and `Bad Request: No valid session ID provided`.
    fn is_about_session(&self) -> bool {
        !self.names_request && self.error.to_ascii_lowercase().contains("session")
    }
}

/// The error in a response body.
async fn error_of(response: Response<Incoming>, key: &str) -> Option<Refused> {
    if !is_json(response.headers()) {
        return None;
    }
    let body = Limited::new(response.into_body(), LONGEST_ERROR).collect();
    let body = tokio::time::timeout(ERROR_WITHIN, body).await.ok()?.ok()?;
    error_in(&body.to_bytes(), key)
}

/// The error in a body, if it is about this request or names none.
fn error_in(body: &[u8], key: &str) -> Option<Refused> {
    let line: Vec<u8> = body.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect();
    let Ok(Message::Single(envelope)) = Message::parse(&line) else { return None };
    let id = envelope.id().filter(|id| !id.is_null());
    let is_about = id.is_none_or(|id| *id.key() == *key);
    let error = envelope.error().filter(|_| is_about)?.get().to_owned();
    Some(Refused { error, names_request: id.is_some() })
}

/// Posts a message that has no answer: a notification, or the client's answer.
pub(super) async fn notify(session: &Session, headers: HeaderMap, body: Bytes) -> Result<(), Failure> {
    let in_session = headers.contains_key(SESSION);
    let response = session.http.post(headers, Outbound::new(body.clone()), &body).await?;
    match response.status() {
        StatusCode::NOT_FOUND if in_session => Err(Failure::SessionGone),
        status if !status.is_success() => Err(Failure::Status(status)),
        _ => Ok(()),
    }
}
