//! Legacy requests: the handshake that opens a session, messages to it, its GET stream, its end.

use std::future::poll_fn;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use rootward_protocol::era::{BATCH_REVISION, PRIMING_REVISION};
use rootward_protocol::frame::{Envelope, Id, Kind, Members, Message};
use rootward_protocol::message::bad_frame;
use rootward_protocol::{header, keys, method};
use smallvec::SmallVec;
use tokio::sync::Notify;

use crate::body::{Body, SessionReader};
use crate::event::{self, EventId, Pieces};
use crate::front::Front;
use crate::posted::{is_modern, revision_of_session};
use crate::reply::{self, Rejection};
use crate::session::{OpenRequest, Revision, SendError, Session, StreamError, Streams, route};
use crate::session_id::SessionId;
use crate::wire::{Backend, NO_ROOM, PrincipalId, Purpose};
use crate::{frames, media};

/// Opens a session, if the backend answers with success.
pub(crate) async fn initialize<B: Backend>(
    front: &Arc<Front<B>>,
    principal: PrincipalId,
    envelope: &Envelope<'_>,
    message: Bytes,
) -> Result<Response<Body>, Rejection> {
    let id = envelope.id().map(Id::as_str);
    let key = envelope.id().map(Id::key).unwrap_or_default();
    let refuse = |says: &str| Rejection::unavailable(says).for_id(id);
    let slot = front.sessions.reserve(principal, &front.limits).ok_or_else(|| refuse("too many sessions are open"))?;
    let opened = front.backend.open(principal, Purpose::Session).await;
    let mut wire = opened.map_err(|error| Rejection::unavailable(error.to_string()).for_id(id))?;
    let ended = || refuse("the server ended before it answered");
    wire.sender.send_timeout(message, front.limits.backend_time).await.map_err(|_| ended())?;
    let mut streams = Streams::default();
    let answer = loop {
        let frame = event::in_one_line(wire.receiver.recv().await.ok_or_else(ended)?);
        if frame == NO_ROOM {
            return Err(refuse("too many sessions are open"));
        }
        let mut answer = None;
        frames::each(&frame, |envelope, message| {
            if envelope.id().is_some_and(|id| id.key() == key) && envelope.method().is_none() {
                answer = Some((message, envelope.kind()));
            }
        });
        match answer {
            Some(answer) => break answer,
            // There is no stream yet, so it waits for the first one. A question that is dropped for lack of room
            // times out.
            None => route(&mut streams, &frame, &front.limits, &mut SmallVec::new()),
        }
    };
    let (answer, kind) = answer;
    if kind != Kind::Response {
        return Ok(reply::json(StatusCode::OK, answer));
    }
    let random = SessionId::random().map_err(|_| Rejection::unavailable("no random bytes").for_id(id))?;
    let limits = Arc::clone(&front.limits);
    let session = Arc::new(Session::new(random, slot, revision(&answer), limits, wire.sender, streams));
    front.sessions.insert(Arc::clone(&session));
    let (front, running) = (Arc::clone(front), Arc::clone(&session));
    tokio::spawn(async move {
        Arc::clone(&running).run(wire.receiver).await;
        // The backend has ended it, or it is already gone.
        front.sessions.remove(running.id);
        running.end("the server has ended");
    });
    let mut response = reply::json(StatusCode::OK, answer);
    let id = HeaderValue::try_from(session.id.text()).map_err(|_| Rejection::unavailable("no session id"))?;
    response.headers_mut().insert(header::SESSION, id);
    Ok(response)
}

/// The differences that the revision in an answer to `initialize` implies.
fn revision(answer: &Bytes) -> Revision {
    let Ok(Message::Single(envelope)) = Message::parse(answer) else { return Revision::default() };
    let named = envelope.result().and_then(Members::read).and_then(|result| result.text(keys::HANDSHAKE_VERSION));
    let named = named.unwrap_or_default();
    Revision { has_batches: named == BATCH_REVISION, has_priming: *named >= *PRIMING_REVISION }
}

/// The session that a request names.
fn session<B: Backend>(
    front: &Front<B>,
    principal: PrincipalId,
    headers: &HeaderMap,
) -> Result<Arc<Session>, Rejection> {
    let mut ids = headers.get_all(header::SESSION).iter();
    let (Some(id), None) = (ids.next(), ids.next()) else {
        return Err(Rejection::bad(format!("a `{}` header is required: send `initialize` first", header::SESSION)));
    };
    let session = front.sessions.find(principal, id.as_bytes()).ok_or_else(Rejection::unknown_session)?;
    session.touch();
    Ok(session)
}

/// Handles messages to a session. Requests are answered on their own stream, or at once.
pub(crate) async fn post<B: Backend>(
    front: &Front<B>,
    principal: PrincipalId,
    headers: &HeaderMap,
    message: &Message<'_>,
    frame: &Bytes,
    connection: &Arc<Notify>,
) -> Result<Response<Body>, Rejection> {
    let session = session(front, principal, headers)?;
    let members = members(message, &session)?;
    let requests: SmallVec<[OpenRequest; 1]> = members.iter().filter_map(open_request).collect();
    let first_id = members.first().and_then(Envelope::id).map(Id::as_str);
    if !requests.is_empty() && front.is_draining() {
        return Err(Rejection::unavailable("the server is shutting down").for_id(first_id));
    }
    let is_answered = !requests.is_empty();
    // Opened before the request is sent: the answer may come before the next line runs.
    let reader = if is_answered {
        Some(open(&session, requests, connection).map_err(|rejection| rejection.for_id(first_id))?)
    } else {
        None
    };
    for envelope in &members {
        if envelope.method() == Some(method::CANCELLED)
            && let Some(key) = frames::cancelled_key(envelope)
        {
            session.cancel(&key);
        }
        let sent = session.send(frame.slice_ref(envelope.text().trim().as_bytes())).await;
        if let Err(error) = sent {
            if let Some(reader) = &reader {
                session.forget(reader.id);
            }
            return Err(match error {
                SendError::Ended => Rejection::unknown_session(),
                SendError::Busy => Rejection::unavailable("the server does not accept messages").for_id(first_id),
            });
        }
    }
    let Some(reader) = reader else { return Ok(reply::empty(StatusCode::ACCEPTED)) };
    answer(front, reader, matches!(message, Message::Single(_))).await
}

/// The answer to requests: a document if it comes soon and alone, otherwise a stream.
async fn answer<B: Backend>(
    front: &Front<B>,
    reader: SessionReader,
    may_be_alone: bool,
) -> Result<Response<Body>, Rejection> {
    let SessionReader { session, id } = &reader;
    let mut pieces = Pieces::new();
    if session.revision.has_priming {
        pieces.push(event::priming(id.stream));
    }
    if front.limits.answer_wait.is_zero() {
        return Ok(reply::events(Body::session(reader, pieces, front.limits.keep_alive)));
    }
    let next = tokio::select! {
        biased;
        next = poll_fn(|context| session.poll_next(*id, context)) => Some(next),
        () = front.answer_timer.passed() => None,
    };
    match next {
        Some(None) => return Err(Rejection::unknown_session()),
        Some(Some((_, message))) if may_be_alone && session.is_done(*id) => {
            session.forget(*id);
            return Ok(reply::json(StatusCode::OK, message));
        }
        Some(Some((position, message))) => {
            pieces.extend(event::event(Some(EventId { stream: id.stream, position }), &message));
        }
        None => {}
    }
    Ok(reply::events(Body::session(reader, pieces, front.limits.keep_alive)))
}

/// The messages of a body.
fn members<'f>(message: &Message<'f>, session: &Session) -> Result<SmallVec<[Envelope<'f>; 1]>, Rejection> {
    let batch = match message {
        Message::Single(envelope) => return Ok(SmallVec::from_iter([envelope.clone()])),
        Message::Batch(batch) => batch,
    };
    if !session.revision.has_batches {
        return Err(Rejection::bad("this revision of the protocol has no batches"));
    }
    let mut members = SmallVec::new();
    for member in batch.members() {
        let member = member.map_err(|bad| {
            let says = bad_frame(bad.id.as_deref(), &bad.reason);
            tracing::debug!(%says, "a batch is refused");
            Rejection::bad(format!("a member of the batch is refused: {}", bad.reason)).for_id(bad.id.as_deref())
        })?;
        if member.method() == Some(method::INITIALIZE) {
            return Err(Rejection::bad("`initialize` cannot be part of a batch"));
        }
        members.push(member);
    }
    Ok(members)
}

fn open_request(envelope: &Envelope<'_>) -> Option<OpenRequest> {
    let id = envelope.id().filter(|_| envelope.kind() == Kind::Request)?;
    Some(OpenRequest { key: id.key(), token: frames::asked_token(envelope), cancelled: None })
}

fn open(
    session: &Arc<Session>,
    requests: SmallVec<[OpenRequest; 1]>,
    connection: &Arc<Notify>,
) -> Result<SessionReader, Rejection> {
    let id = session.open(requests, Arc::clone(connection)).map_err(|error| match error {
        StreamError::Ended => Rejection::unknown_session(),
        StreamError::TooMany => {
            Rejection::later(StatusCode::TOO_MANY_REQUESTS, 1, "too many streams of this session are open")
        }
        StreamError::SameId => Rejection::bad("a request with this id is already waiting for its answer"),
    })?;
    Ok(SessionReader { session: Arc::clone(session), id })
}

/// The checks that GET and DELETE have in common. Returns the session.
fn of_session<B: Backend>(
    front: &Front<B>,
    principal: PrincipalId,
    headers: &HeaderMap,
) -> Result<Arc<Session>, Rejection> {
    let given = headers.get(header::REVISION).and_then(|value| value.to_str().ok());
    if given.is_some_and(is_modern) {
        return Err(Rejection::method_not_allowed("POST"));
    }
    revision_of_session(headers)?;
    session(front, principal, headers)
}

/// A stream for messages that belong to no request, or the rest of a broken stream.
pub(crate) fn get<B: Backend>(
    front: &Front<B>,
    principal: PrincipalId,
    headers: &HeaderMap,
    connection: &Arc<Notify>,
) -> Result<Response<Body>, Rejection> {
    if !media::accepts(headers, media::EVENTS) {
        return Err(Rejection::refused(StatusCode::NOT_ACCEPTABLE, "`Accept` must include `text/event-stream`"));
    }
    let session = of_session(front, principal, headers)?;
    if front.is_draining() {
        return Err(Rejection::unavailable("the server is shutting down"));
    }
    let last = match headers.get(header::LAST_EVENT) {
        None => None,
        Some(last) => {
            let last = last.to_str().ok().and_then(EventId::read);
            Some(last.ok_or_else(|| Rejection::bad(format!("`{}` is not from this server", header::LAST_EVENT)))?)
        }
    };
    let resumed = last.and_then(|last| session.resume(last, Arc::clone(connection)));
    let mut pieces = Pieces::new();
    let reader = match resumed {
        Some(id) => SessionReader { session: Arc::clone(&session), id },
        None => open(&session, SmallVec::new(), connection)?,
    };
    if resumed.is_none() && session.revision.has_priming {
        pieces.push(event::priming(reader.id.stream));
    }
    Ok(reply::events(Body::session(reader, pieces, front.limits.keep_alive)))
}

/// Ends a session.
pub(crate) fn delete<B: Backend>(
    front: &Front<B>,
    principal: PrincipalId,
    headers: &HeaderMap,
) -> Result<Response<Body>, Rejection> {
    let session = of_session(front, principal, headers)?;
    front.sessions.remove(session.id);
    session.end("the client has ended the session");
    Ok(reply::empty(StatusCode::NO_CONTENT))
}
