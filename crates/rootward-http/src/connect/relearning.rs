//! Handles a server that misses a header in a modern call: lists its tools again and resends the call.
//!
//! The hub caches lists, so a call can arrive before this process has seen any.

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use rootward_protocol::frame::{Envelope, Members, Message};
use rootward_protocol::{keys, message, method};
use serde_json::Value;
use serde_json::value::RawValue;

use super::LONGEST;
use super::annotations::Annotations;
use super::events::Events;
use super::mirrored;
use super::outbound::Outbound;
use super::session::Session;
use super::streaming::{is_event_stream, is_json};

/// The error of a server that misses a header, or finds that it differs from the body.
const HEADER_MISMATCH: i64 = -32020;
/// How many pages of a list are requested.
const MOST_PAGES: usize = 64;

/// What remains of a list.
enum Next {
    /// The page at this cursor; without one, the first.
    Page(Option<String>),
    Nothing,
}

/// Whether an error says that a header is missing or wrong.
pub(super) fn is_mismatch(error: &str) -> bool {
    let error: Option<Value> = serde_json::from_str(error).ok();
    error.is_some_and(|error| error.get("code").and_then(Value::as_i64) == Some(HEADER_MISMATCH))
}

/// Lists the tools of a server with the call's metadata. Returns the headers that the call should have.
pub(super) async fn relearn(session: &Session, call: &Bytes) -> Option<http::HeaderMap> {
    let Ok(Message::Single(envelope)) = Message::parse(call) else { return None };
    let revision = mirrored::modern_revision(envelope.params())?;
    let meta = Members::read(envelope.params()?)?.get(keys::META)?;
    let mut next = Next::Page(None);
    for _ in 0..MOST_PAGES {
        let Next::Page(cursor) = next else { break };
        next = page(session, &revision, meta, cursor.as_deref()).await?;
    }
    Some(mirrored::headers(&envelope, &revision, &session.state().annotations))
}

/// Learns from one page; `None` if it did not arrive.
async fn page(session: &Session, revision: &str, meta: &RawValue, cursor: Option<&str>) -> Option<Next> {
    let cursor = cursor.map(|cursor| format!(r#","cursor":{}"#, Value::from(cursor))).unwrap_or_default();
    let params = format!(r#"{{"{}":{}{cursor}}}"#, keys::META, meta.get());
    let body = Bytes::from(message::request("\"rootward-tools\"", method::LIST_TOOLS, Some(&params)));
    let Ok(Message::Single(envelope)) = Message::parse(&body) else { return None };
    let headers = mirrored::headers(&envelope, revision, &Annotations::default());
    let response = session.http.post(headers, Outbound::new(body.clone()), &body).await.ok()?;
    if is_json(response.headers()) {
        let body = Limited::new(response.into_body(), LONGEST).collect().await.ok()?.to_bytes();
        let Ok(Message::Single(answer)) = Message::parse(&body) else { return None };
        return learn(session, &answer);
    }
    if !is_event_stream(response.headers()) {
        return None;
    }
    let mut events = Events::new(LONGEST, None);
    let mut stream = response.into_body();
    loop {
        while let Some(found) = events.next().ok()? {
            if let Ok(Message::Single(answer)) = Message::parse(&found)
                && answer.id().is_some()
            {
                return learn(session, &answer);
            }
        }
        if let Some(chunk) = stream.frame().await?.ok()?.data_ref() {
            events.add(chunk);
        }
    }
}

fn learn(session: &Session, answer: &Envelope<'_>) -> Option<Next> {
    let result = answer.result()?;
    session.state().annotations.learn(result);
    let cursor = Members::read(result)?.text("nextCursor");
    Some(cursor.map_or(Next::Nothing, |cursor| Next::Page(Some(cursor))))
}
