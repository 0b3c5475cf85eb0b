//! The JSON-RPC envelope: kind, method and id. The params and results are not parsed.
//!
//! A message that two parsers could read differently is refused, because one reading would be checked and the other
//! executed: a duplicate key, a key in another case (Go's `encoding/json` accepts `Method` for `method`), a request
//! that is also a response.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use thiserror::Error;

use super::Id;
use super::id_finder::IdFinder;
use crate::fold::is_same_but_for_case;

/// The contents of a line.
#[derive(Debug)]
pub enum Message<'f> {
    /// One message.
    Single(Envelope<'f>),
    /// Several messages in a list, as in revision 2025-03-26.
    Batch(Batch<'f>),
}

/// The members of a batch, parsed one by one, so that a broken one does not affect the others.
#[derive(Debug)]
pub struct Batch<'f>(Vec<&'f RawValue>);

/// One message with its envelope parsed.
#[derive(Clone, Debug)]
pub struct Envelope<'f> {
    text: &'f str,
    kind: Kind,
    id: Option<Id<'f>>,
    method: Option<Cow<'f, str>>,
    params: Option<&'f RawValue>,
    result: Option<&'f RawValue>,
    error: Option<&'f RawValue>,
}

/// The kind of a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A method and an id: the sender waits for an answer.
    Request,
    /// A method without an id.
    Notification,
    /// An answer with a result.
    Response,
    /// An answer with an error.
    ErrorResponse,
}

/// Why a line is not a message.
#[derive(Debug, Error)]
pub enum EnvelopeError {
    /// Bytes that are not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// Not JSON, or neither an object nor a list.
    #[error("not a JSON-RPC message: {0}")]
    NotJson(#[source] serde_json::Error),
    /// A duplicate key.
    #[error("duplicate key `{0}`")]
    DuplicateKey(&'static str),
    /// A key that some parsers read as another.
    #[error("a key that some parsers read as `{0}`")]
    SimilarKey(&'static str),
    /// A carriage return between two tokens.
    #[error("a carriage return, which some parsers treat as the end of a line")]
    CarriageReturn,
    /// Another protocol version.
    #[error("`jsonrpc` is not `2.0`")]
    Version,
    /// An id that is neither a string nor a number nor null.
    #[error("an id that is neither a string nor a number")]
    Id,
    /// A method that is not a string.
    #[error("a method that is not a string")]
    Method,
    /// A request and a response at once, or a result and an error at once.
    #[error("more than one of `method`, `result` and `error`")]
    SeveralKinds,
    /// Neither a request nor a response.
    #[error("none of `method`, `result` and `error`")]
    NoKind,
    /// A result without an id.
    #[error("an answer without an id")]
    NoId,
    /// A batch without members.
    #[error("an empty batch")]
    EmptyBatch,
}

/// A line that is not a message, and who waits for an answer.
#[derive(Debug, Error)]
#[error("{reason}")]
pub struct BadFrame {
    /// The reason.
    #[source]
    pub reason: EnvelopeError,
    /// The id as it was written, if it could be found.
    pub id: Option<Box<str>>,
    /// Whether it has a result or an error, so that somebody may wait for it.
    pub has_outcome: bool,
}

impl BadFrame {
    fn new(reason: EnvelopeError, line: &[u8]) -> BadFrame {
        let finder = IdFinder::over(line);
        BadFrame { reason, has_outcome: finder.has_outcome(), id: finder.found() }
    }
}

impl<'f> Message<'f> {
    /// Parses a line.
    pub fn parse(line: &'f [u8]) -> Result<Message<'f>, BadFrame> {
        let bad = |reason| BadFrame::new(reason, line);
        let text = simdutf8::basic::from_utf8(line).map_err(|_| bad(EnvelopeError::NotUtf8))?;
        if text.trim_start().starts_with('[') {
            let members: Vec<&'f RawValue> =
                serde_json::from_str(text).map_err(|error| bad(EnvelopeError::NotJson(error)))?;
            if members.is_empty() {
                return Err(bad(EnvelopeError::EmptyBatch));
            }
            return Ok(Message::Batch(Batch(members)));
        }
        Envelope::parse(text).map(Message::Single).map_err(bad)
    }
}

impl<'f> Batch<'f> {
    /// The members in order, each with its own text.
    pub fn members(&self) -> impl ExactSizeIterator<Item = Result<Envelope<'f>, BadFrame>> {
        self.0.iter().map(|member| {
            let text = member.get();
            Envelope::parse(text).map_err(|reason| BadFrame::new(reason, text.as_bytes()))
        })
    }
}

impl<'f> Envelope<'f> {
    fn parse(text: &'f str) -> Result<Envelope<'f>, EnvelopeError> {
        // SECURITY: universal newlines (Python), `readLine` (Java) and `ReadLine` (.NET) also end a line here, and
        // would execute what lies between two of them (test: ambiguous_messages_are_refused)
        if memchr::memchr(b'\r', text.as_bytes()).is_some() {
            return Err(EnvelopeError::CarriageReturn);
        }
        let parts: Parts<'f> = serde_json::from_str(text).map_err(EnvelopeError::NotJson)?;
        if let Some(problem) = parts.problem {
            return Err(problem);
        }
        let [version, id, method, params, result, error] = parts.values;
        if version.is_some_and(|version| string(version).as_deref() != Some("2.0")) {
            return Err(EnvelopeError::Version);
        }
        let id = match id {
            Some(id) => Some(Id::from_raw(id).ok_or(EnvelopeError::Id)?),
            None => None,
        };
        let method = match method {
            Some(method) => Some(string(method).ok_or(EnvelopeError::Method)?),
            None => None,
        };
        // JSON-RPC 1.0 wrote `null` for the other member, and every parser treats that as absent.
        let is_null = |value: Option<&RawValue>| value.is_some_and(|value| value.get() == "null");
        let (result, error) = match (is_null(result), is_null(error)) {
            (false, true) if result.is_some() => (result, None),
            (true, false) if error.is_some() => (None, error),
            _ => (result, error),
        };
        let kind = match (&method, result, error, id) {
            (Some(_), None, None, Some(_)) => Kind::Request,
            (Some(_), None, None, None) => Kind::Notification,
            (None, Some(_), None, Some(_)) => Kind::Response,
            // Without an id: the request could not be parsed.
            (None, None, Some(_), _) => Kind::ErrorResponse,
            (None, Some(_), None, None) => return Err(EnvelopeError::NoId),
            (None, None, None, _) => return Err(EnvelopeError::NoKind),
            // SECURITY: a parser that checks `result` first would treat a request as an answer
            // (test: ambiguous_messages_are_refused)
            _ => return Err(EnvelopeError::SeveralKinds),
        };
        Ok(Envelope { text, kind, id, method, params, result, error })
    }

    /// The message as received.
    pub fn text(&self) -> &'f str {
        self.text
    }

    /// The kind of message.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its id. Every request and response has one; an error response may not.
    pub fn id(&self) -> Option<Id<'f>> {
        self.id
    }

    /// The method of a request or notification.
    pub fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// The params as received.
    pub fn params(&self) -> Option<&'f RawValue> {
        self.params
    }

    /// The result as received.
    pub fn result(&self) -> Option<&'f RawValue> {
        self.result
    }

    /// The error as received.
    pub fn error(&self) -> Option<&'f RawValue> {
        self.error
    }

    /// Writes the message with another id and keeps all other bytes. A message without an id is written unchanged.
    pub fn write_with_id(&self, id: Id<'_>, to: &mut Vec<u8>) {
        self.write_with(self.id.map(Id::as_str), id.as_str(), to);
    }

    /// Writes the message with other params and keeps all other bytes. A message without params is written unchanged.
    pub fn write_with_params(&self, params: &RawValue, to: &mut Vec<u8>) {
        self.write_with(self.params.map(RawValue::get), params.get(), to);
    }

    /// Writes the message with another result and keeps all other bytes. A message without a result is written
    /// unchanged.
    pub fn write_with_result(&self, result: &RawValue, to: &mut Vec<u8>) {
        self.write_with(self.result.map(RawValue::get), result.get(), to);
    }

    /// Writes the message with `part` replaced, and keeps all other bytes. `part` must be a slice of [`Envelope::text`]
    /// itself; with any other text the message is written unchanged.
    pub fn write_replacing(&self, part: &str, new: &str, to: &mut Vec<u8>) {
        self.write_with(Some(part), new, to);
    }

    fn write_with(&self, old: Option<&str>, new: &str, to: &mut Vec<u8>) {
        let range = old.and_then(|old| {
            let start = (old.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize)?;
            let end = start + old.len();
            (self.text.get(start..end)? == old).then_some((start, end))
        });
        let Some((start, end)) = range else {
            to.extend_from_slice(self.text.as_bytes());
            return;
        };
        to.reserve(self.text.len() + new.len());
        to.extend_from_slice(&self.text.as_bytes()[..start]);
        to.extend_from_slice(new.as_bytes());
        to.extend_from_slice(&self.text.as_bytes()[end..]);
    }
}

/// The string in a JSON text, if it is one.
fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let json = raw.get();
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') { serde_json::from_str(json).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(inner)) }
}

/// The keys of an envelope, in the order of [`Parts::values`].
const KEYS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

struct Parts<'f> {
    values: [Option<&'f RawValue>; 6],
    problem: Option<EnvelopeError>,
}

impl<'de> Deserialize<'de> for Parts<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Parts<'de>, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Parts<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parts<'de>, A::Error> {
                let mut parts = Parts { values: [None; 6], problem: None };
                while let Some(key) = map.next_key::<Key>()? {
                    let value: &'de RawValue = map.next_value()?;
                    match key {
                        Key::Known(index) => {
                            // SECURITY: parsers differ in which duplicate they use
                            // (test: ambiguous_messages_are_refused)
                            if parts.values[index].replace(value).is_some() {
                                parts.problem.get_or_insert(EnvelopeError::DuplicateKey(KEYS[index]));
                            }
                        }
                        // SECURITY: some parsers ignore case (test: ambiguous_messages_are_refused)
                        Key::Like(index) => {
                            parts.problem.get_or_insert(EnvelopeError::SimilarKey(KEYS[index]));
                        }
                        Key::Other => {}
                    }
                }
                Ok(parts)
            }
        }

        deserializer.deserialize_map(Object)
    }
}

enum Key {
    Known(usize),
    Like(usize),
    Other,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
        struct Name;

        impl Visitor<'_> for Name {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_str<E>(self, name: &str) -> Result<Key, E> {
                if let Some(index) = KEYS.iter().position(|key| *key == name) {
                    return Ok(Key::Known(index));
                }
                let like = KEYS.iter().position(|key| is_same_but_for_case(name, key));
                Ok(like.map_or(Key::Other, Key::Like))
            }
        }

        deserializer.deserialize_str(Name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(text: &str) -> Envelope<'_> {
        match Message::parse(text.as_bytes()) {
            Ok(Message::Single(envelope)) => envelope,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn kinds() {
        let check = |text: &str, kind: Kind, id: Option<&str>, method: Option<&str>| {
            let envelope = single(text);
            assert_eq!((envelope.kind(), envelope.method()), (kind, method), "{text}");
            assert_eq!(envelope.id().map(Id::as_str), id, "{text}");
            assert_eq!(envelope.text(), text);
        };
        check(r#"{"jsonrpc":"2.0","id":1,"method":"a/b"}"#, Kind::Request, Some("1"), Some("a/b"));
        check(r#" { "method" : "a\/b" , "id" : 1.50 } "#, Kind::Request, Some("1.50"), Some("a/b"));
        check(r#"{"id":null,"method":"m"}"#, Kind::Request, Some("null"), Some("m"));
        check(r#"{"jsonrpc":"2.0","method":"m","params":{}}"#, Kind::Notification, None, Some("m"));
        check(r#"{"jsonrpc":"2.0","id":"x","result":null}"#, Kind::Response, Some(r#""x""#), None);
        check(r#"{"id":1,"result":{},"error":null}"#, Kind::Response, Some("1"), None);
        check(r#"{"id":1,"error":{"code":1},"result":null}"#, Kind::ErrorResponse, Some("1"), None);
        check(r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, Kind::ErrorResponse, Some("null"), None);
        check(r#"{"jsonrpc":"2.0","error":{}}"#, Kind::ErrorResponse, None, None);
        check(r#"{"id":1,"method":"m","new":{"id":2,"a":1,"a":2},"new":3}"#, Kind::Request, Some("1"), Some("m"));
    }

    #[test]
    fn params_keep_their_bytes() {
        let text = r#"{"id":1,"method":"m","params": {"b" : 1.0,"a":1e400,"b":"\/\u0041"} }"#;
        assert_eq!(single(text).params().map(RawValue::get), Some(r#"{"b" : 1.0,"a":1e400,"b":"\/\u0041"}"#));
        let deep = format!(r#"{{"id":1,"result":{}{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
        assert_eq!(single(&deep).kind(), Kind::Response);
    }

    #[test]
    fn ambiguous_messages_are_refused() {
        let check = |text: &str, says: &str, id: Option<&str>| {
            let bad = Message::parse(text.as_bytes()).unwrap_err();
            assert!(bad.to_string().contains(says), "{text}: {bad}");
            assert_eq!(bad.id.as_deref(), id, "{text}");
        };
        check(r#"{"id":1,"method":"a","method":"b"}"#, "duplicate key `method`", Some("1"));
        check(r#"{"id":1,"method":"a","m\u0065thod":"b"}"#, "duplicate key `method`", Some("1"));
        check(r#"{"id":1,"id":2,"method":"a"}"#, "duplicate key `id`", None);
        check(r#"{"id":1,"method":"a","params":{},"params":{}}"#, "duplicate key `params`", Some("1"));
        check(r#"{"id":1,"method":"a","Method":"b"}"#, "parsers read as `method`", Some("1"));
        check("{\"id\":1,\"method\":\"a\",\"param\u{17f}\":{}}", "parsers read as `params`", Some("1"));
        check(r#"{"id":1,"method":"a","result":{}}"#, "more than one", Some("1"));
        check(r#"{"id":1,"method":"a","result":null}"#, "more than one", Some("1"));
        check(r#"{"id":1,"result":{},"error":{}}"#, "more than one", Some("1"));
        check(r#"{"id":1,"result":null,"error":null}"#, "more than one", Some("1"));
        check(r#"{"id":1}"#, "none of", Some("1"));
        check(r#"{"result":1}"#, "without an id", None);
        check(r#"{"id":{},"method":"a"}"#, "neither a string", None);
        check(r#"{"id":1,"method":7}"#, "not a string", Some("1"));
        check(r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, "`2.0`", Some("1"));
        check("{\"id\":1,\"method\":\"a\0\"}", "not a JSON-RPC", Some("1"));
        check(r#"{"id":1,"method":"a"} {}"#, "not a JSON-RPC", Some("1"));
        check(r#"{"id":1,"method":"a",}"#, "not a JSON-RPC", Some("1"));
        check("{\"id\":1,\"method\":\"a\",\"x\":\r{\"id\":2,\"method\":\"b\"}\r}", "a carriage return", Some("1"));
        check("7", "not a JSON-RPC", None);
        check("[]", "empty batch", None);
        check("[1,]", "not a JSON-RPC", None);
        let bad = Message::parse(b"{\"id\":7,\"method\":\"\xff\"}").unwrap_err();
        assert!(matches!(bad.reason, EnvelopeError::NotUtf8) && bad.id.as_deref() == Some("7"));
    }

    #[test]
    fn the_members_of_a_batch_are_given_one_by_one() {
        let text = r#"[{"id":1,"method":"a"}, {"id":2,"method":"a","method":"b"} ,7,{"method":"n"}]"#;
        let Ok(Message::Batch(batch)) = Message::parse(text.as_bytes()) else { panic!("not a batch") };
        let members: Vec<_> = batch.members().collect();
        assert_eq!(members.len(), 4);
        assert_eq!(members[0].as_ref().unwrap().text(), r#"{"id":1,"method":"a"}"#);
        assert_eq!(members[1].as_ref().unwrap_err().id.as_deref(), Some("2"));
        assert!(members[2].is_err());
        assert_eq!(members[3].as_ref().unwrap().kind(), Kind::Notification);
    }

    #[test]
    fn another_id_leaves_the_rest_alone() {
        let check = |text: &str, expected: &str| {
            let mut written = Vec::new();
            single(text).write_with_id(Id::read(r#""h-7""#).unwrap(), &mut written);
            assert_eq!(String::from_utf8(written).unwrap(), expected);
        };
        check(r#" {"params":{"id":1}, "id" : 1 ,"method":"m"}"#, r#" {"params":{"id":1}, "id" : "h-7" ,"method":"m"}"#);
        check(r#"{"id":"a\"b","result":{"x":1.0}}"#, r#"{"id":"h-7","result":{"x":1.0}}"#);
        check(r#"{"method":"m"}"#, r#"{"method":"m"}"#);
    }
}
