//! Modern requests: each has its own wire, and nothing is kept between them.

pub(crate) mod annotations;
pub(crate) mod answers;
pub(crate) mod headers;
pub(crate) mod place;

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use rootward_protocol::frame::{Envelope, Members, Message};
use rootward_protocol::message::{HEADER_MISMATCH, request};
use rootward_protocol::{keys, method};
use serde_json::value::RawValue;
use tokio::time::timeout;

use self::annotations::Annotations;
use self::answers::{Answers, Said};
use self::place::Place;
use crate::body::Body;
use crate::front::Front;
use crate::reply::{self, Rejection};
use crate::wire::{Backend, PrincipalId, Purpose};

/// How long the backend may take to list its tools before a call proceeds without the list.
const LIST_TIME: Duration = Duration::from_secs(10);

/// How many pages of tools are read.
const MOST_PAGES: usize = 50;

/// Serves a modern request whose standard headers have been checked.
pub(crate) async fn serve<B: Backend>(
    front: &Front<B>,
    principal: PrincipalId,
    headers: &HeaderMap,
    envelope: &Envelope<'_>,
    message: Bytes,
) -> Result<Response<Body>, Rejection> {
    let id = envelope.id().map_or("null", |id| id.as_str());
    let called = envelope.method().unwrap_or_default();
    if called == method::CALL_TOOL {
        check_arguments(front, principal, headers, envelope).await.map_err(|rejection| rejection.for_id(Some(id)))?;
    }
    let mut answers = open(front, principal, id, called, message).await?;
    let interval = front.limits.keep_alive;
    match timeout(interval, poll_fn(|context| answers.poll_next(context))).await {
        Ok(Said::Last(answer)) => Ok(match answers::status(&answer) {
            StatusCode::OK if front.limits.answer_wait.is_zero() => {
                reply::events(Body::request(answers, Some(&answer), interval))
            }
            status => reply::json(status, answer),
        }),
        Ok(Said::Before(first)) => Ok(reply::events(Body::request(answers, Some(&first), interval))),
        Ok(Said::Full) => Err(too_many(id)),
        Ok(Said::Nothing) => Err(Rejection::unavailable("the server is shutting down")),
        Err(_) => Ok(reply::events(Body::request(answers, None, interval))),
    }
}

fn too_many(id: &str) -> Rejection {
    Rejection::unavailable("too many requests are open").for_id(Some(id))
}

/// Opens a wire and sends a request.
async fn open<B: Backend>(
    front: &Front<B>,
    principal: PrincipalId,
    id: &str,
    called: &str,
    message: Bytes,
) -> Result<Answers, Rejection> {
    let guest = &front.guests[principal.0];
    let place = Place::take(&guest.requests, front.limits.requests).ok_or_else(|| too_many(id))?;
    let wire = front.backend.open(principal, Purpose::Request).await;
    let wire = wire.map_err(|error| Rejection::unavailable(error.to_string()).for_id(Some(id)))?;
    let gone = |_| Rejection::unavailable("the server does not accept the request").for_id(Some(id));
    wire.sender.send_timeout(message, front.limits.backend_time).await.map_err(gone)?;
    Ok(Answers::new(wire, id, called, Arc::clone(&guest.annotations), place))
}

/// Compares the headers of arguments with the arguments, if the tool's schema is known or the backend sends it in
/// time.
async fn check_arguments<B: Backend>(
    front: &Front<B>,
    principal: PrincipalId,
    headers: &HeaderMap,
    envelope: &Envelope<'_>,
) -> Result<(), Rejection> {
    let Some(params) = envelope.params().and_then(Members::read) else { return Ok(()) };
    let Some(tool) = params.text("name") else { return Ok(()) };
    let annotations = &front.guests[principal.0].annotations;
    if lock(annotations).ask(&tool, Instant::now()) {
        let meta = params.get(keys::META).map_or("{}", RawValue::get);
        // Without the list, the call proceeds: only the backend knows which headers its tools use.
        let _ = timeout(LIST_TIME, list_tools(front, principal, meta)).await;
    }
    let annotations = lock(annotations);
    let Some(annotations) = annotations.of(&tool) else { return Ok(()) };
    headers::check_arguments(headers, params.get("arguments"), annotations)
        .map_err(|error| Rejection::new(StatusCode::BAD_REQUEST, HEADER_MISMATCH, error.to_string()))
}

fn lock(annotations: &Mutex<Annotations>) -> std::sync::MutexGuard<'_, Annotations> {
    annotations.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks the backend for its tools, with the client's metadata. The answer is learned as it passes.
async fn list_tools<B: Backend>(front: &Front<B>, principal: PrincipalId, meta: &str) -> Result<(), Rejection> {
    let mut cursor = None;
    for _ in 0..MOST_PAGES {
        let cursor_member =
            cursor.map(|cursor: serde_json::Value| format!(r#","cursor":{cursor}"#)).unwrap_or_default();
        let params = format!(r#"{{"{}":{meta}{cursor_member}}}"#, keys::META);
        let message = Bytes::from(request("0", method::LIST_TOOLS, Some(&params)));
        let mut answers = open(front, principal, "0", method::LIST_TOOLS, message).await?;
        let answer = loop {
            match poll_fn(|context| answers.poll_next(context)).await {
                Said::Before(_) => {}
                Said::Last(answer) => break answer,
                Said::Full | Said::Nothing => return Ok(()),
            }
        };
        let Ok(Message::Single(envelope)) = Message::parse(&answer) else { return Ok(()) };
        cursor = envelope.result().and_then(Members::read).and_then(|result| result.text("nextCursor")).map(Into::into);
        if cursor.is_none() {
            return Ok(());
        }
    }
    Ok(())
}
