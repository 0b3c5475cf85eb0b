//! An event stream: read until it ends, and resumed if a legacy server allows it.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::LONGEST;
use super::events::Events;
use super::failure::Failure;
use super::session::{LAST_EVENT, SESSION, Session};

/// How many times in a row reopening a stream may fail.
pub(super) const MOST_FAILURES: u32 = 8;
/// The pause before a stream is reopened, if the server requests none; it grows.
const PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How long a stream may continue after its request is answered. Most end at once, and the connection can be reused.
const AFTER_ANSWER: Duration = Duration::from_secs(1);

/// What a stream is read for.
pub(super) trait Purpose {
    /// Whether everything has arrived.
    fn is_done(&self, session: &Session) -> bool;
}

/// Reads a stream to its end and forwards its messages. Returns an error if the stream was cut.
pub(super) async fn read(
    session: &Session,
    body: Response<Incoming>,
    events: &mut Events,
    purpose: &impl Purpose,
) -> Result<(), Failure> {
    let mut body = body.into_body();
    loop {
        while let Some(message) = events.next().map_err(|long| Failure::TooLong(long.to_string()))? {
            session.deliver(message).await;
        }
        let next = if purpose.is_done(session) {
            match tokio::time::timeout(AFTER_ANSWER, body.frame()).await {
                Ok(next) => next,
                Err(_) => return Ok(()),
            }
        } else {
            body.frame().await
        };
        match next {
            None => return Ok(()),
            Some(Err(error)) => return Err(Failure::of_client(&error, false)),
            Some(Ok(frame)) => {
                if let Some(chunk) = frame.data_ref() {
                    events.add(chunk);
                }
            }
        }
    }
}

/// Opens a stream of a legacy session, after the last event that was seen.
pub(super) async fn open(session: &Session, last_id: Option<&str>) -> Result<Response<Incoming>, Failure> {
    let mut headers: HeaderMap = session.legacy_headers();
    let in_session = headers.contains_key(SESSION);
    headers.extend(last_id.and_then(|id| HeaderValue::from_str(id).ok()).map(|id| (LAST_EVENT, id)));
    let response = session.http.get(headers).await?;
    match response.status() {
        StatusCode::NOT_FOUND if in_session => Err(Failure::SessionGone),
        status if !status.is_success() => Err(Failure::Status(status)),
        _ if !is_event_stream(response.headers()) => Err(Failure::ContentType(content_type(response.headers()))),
        _ => Ok(response),
    }
}

/// Resumes a stream that ended too early, as long as the server allows it. `first` is why it ended, if it was cut.
pub(super) async fn resume(
    session: &Session,
    mut events: Events,
    purpose: &impl Purpose,
    first: Result<(), Failure>,
) -> Result<(), Failure> {
    let mut ended = first;
    let mut failures = 0;
    while !purpose.is_done(session) {
        let Some(last_id) = events.last_id().map(str::to_owned) else { return ended.and(Err(Failure::NoAnswer)) };
        if let Err(failure @ (Failure::TooLong(_) | Failure::SessionGone)) = ended {
            return Err(failure);
        }
        if failures >= MOST_FAILURES {
            return ended.and(Err(Failure::NoAnswer));
        }
        tokio::time::sleep(pause(events.retry(), failures)).await;
        // A server that requests a pause may end a stream as often as it likes.
        let polls = events.retry().is_some();
        ended = match open(session, Some(&last_id)).await {
            Ok(response) => {
                let retry = events.retry();
                events = Events::new(LONGEST, Some(last_id.clone())).asking(retry);
                let ended = read(session, response, &mut events, purpose).await;
                let went_on = events.last_id() != Some(&last_id) || (ended.is_ok() && polls);
                failures = if went_on { 0 } else { failures + 1 };
                ended
            }
            Err(failure @ (Failure::Unreached(_) | Failure::Cut(_))) => {
                failures += 1;
                Err(failure)
            }
            Err(Failure::Status(status)) if status.is_server_error() => {
                failures += 1;
                Err(Failure::Status(status))
            }
            Err(Failure::SessionGone) => return Err(Failure::SessionGone),
            // It cannot be resumed. The reason why it ended is more useful.
            Err(_) => return ended.and(Err(Failure::NoAnswer)),
        };
    }
    Ok(())
}

/// How long to wait before a stream is reopened.
pub(super) fn pause(asked: Option<Duration>, failures: u32) -> Duration {
    let growing = PAUSE.saturating_mul(2_u32.saturating_pow(failures)).min(LONGEST_PAUSE);
    match asked {
        Some(asked) if failures == 0 => asked.max(Duration::from_millis(10)),
        Some(asked) => asked.max(growing),
        None => growing,
    }
}

pub(super) fn is_event_stream(headers: &HeaderMap) -> bool {
    media_type(headers) == "text/event-stream"
}

pub(super) fn is_json(headers: &HeaderMap) -> bool {
    media_type(headers) == "application/json"
}

/// The type of a body, for people.
pub(super) fn content_type(headers: &HeaderMap) -> String {
    let found = media_type(headers);
    if found.is_empty() { "a body without a type".to_owned() } else { found.chars().take(100).collect() }
}

fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
