//! Reads as little of passing messages' envelopes as needed.

use bytes::Bytes;
use memchr::memmem;
use rootward_protocol::frame::{Envelope, Kind, Members, Message, key, outline};
use rootward_protocol::keys;

/// Messages of at least this size are read by their outline.
const LARGE: usize = 1 << 14;

/// Calls `take` with each message of a frame: one, or the members of a batch. Anything else is skipped.
pub(crate) fn each(frame: &Bytes, mut take: impl FnMut(&Envelope<'_>, Bytes)) {
    if frame.len() >= LARGE
        && let Some(short) = outline(frame)
        && let Ok(Message::Single(envelope)) = Message::parse(short.as_bytes())
        // An outline empties long strings, including ids.
        && envelope.id().is_none_or(|id| id.as_str() != r#""""#)
    {
        return take(&envelope, frame.clone());
    }
    match Message::parse(frame) {
        Ok(Message::Single(envelope)) => take(&envelope, frame.clone()),
        Ok(Message::Batch(batch)) => {
            for envelope in batch.members().flatten() {
                take(&envelope, frame.slice_ref(envelope.text().as_bytes()));
            }
        }
        Err(error) => tracing::warn!(%error, "the backend sent something that is not a message"),
    }
}

/// The id of a frame that is a single request, as written.
pub(crate) fn question_id(frame: &Bytes) -> Option<Box<str>> {
    let mut found = None;
    each(frame, |envelope, _| {
        found = envelope.id().filter(|_| envelope.kind() == Kind::Request).map(|id| id.as_str().into());
    });
    found
}

/// The key of a request's progress token.
pub(crate) fn asked_token(envelope: &Envelope<'_>) -> Option<Box<str>> {
    let params = envelope.params()?;
    // Most requests have none, and searching the text is cheaper than parsing the params.
    memmem::find(params.get().as_bytes(), keys::PROGRESS_TOKEN.as_bytes())?;
    let meta = Members::read(params)?.object(keys::META)?;
    Some(key(meta.get(keys::PROGRESS_TOKEN)?.get()))
}

/// The key of the token in a progress notification.
pub(crate) fn told_token(envelope: &Envelope<'_>) -> Option<Box<str>> {
    Some(key(Members::read(envelope.params()?)?.get(keys::PROGRESS_TOKEN)?.get()))
}

/// The key of the request that a notification cancels.
pub(crate) fn cancelled_key(envelope: &Envelope<'_>) -> Option<Box<str>> {
    Some(key(Members::read(envelope.params()?)?.get(keys::REQUEST_ID)?.get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_of_a_frame_is_visited() {
        let check = |frame: String, expect: &[&str]| {
            let mut given = Vec::new();
            each(&Bytes::from(frame), |envelope, bytes| {
                given.push(format!("{} {}", envelope.id().map_or("-", |id| id.as_str()), bytes.len()));
            });
            assert_eq!(given, expect);
        };
        check(r#"{"id":1,"result":{}}"#.to_owned(), &["1 20"]);
        check(r#"[{"id":1,"result":{}}, {"method":"n"}]"#.to_owned(), &["1 20", "- 14"]);
        check("7".to_owned(), &[]);
        let long = "x".repeat(LARGE);
        check(format!(r#"{{"id":1,"result":"{long}"}}"#), &[&format!("1 {}", LARGE + 20)]);
        check(format!(r#"{{"id":"{long}","result":1}}"#), &[&format!(r#""{long}" {}"#, LARGE + 20)]);
    }

    #[test]
    fn tokens_are_found_where_they_belong() {
        let read = |text: &str, find: fn(&Envelope<'_>) -> Option<Box<str>>| {
            let Ok(Message::Single(envelope)) = Message::parse(text.as_bytes()) else { panic!("{text}") };
            find(&envelope).map(String::from)
        };
        let asks = r#"{"id":1,"method":"m","params":{"_meta":{"progressToken":"t"}}}"#;
        assert_eq!(read(asks, asked_token).as_deref(), Some(r#""t""#));
        assert_eq!(read(r#"{"id":1,"method":"m","params":{"progressToken":1}}"#, asked_token), None);
        assert_eq!(read(r#"{"method":"n","params":{"progressToken":1.0}}"#, told_token).as_deref(), Some("1"));
        assert_eq!(read(r#"{"method":"n","params":{"requestId":7}}"#, cancelled_key).as_deref(), Some("7"));
        assert_eq!(read(r#"{"method":"n"}"#, cancelled_key), None);
    }
}
