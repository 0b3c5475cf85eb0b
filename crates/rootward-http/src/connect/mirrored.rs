//! What a modern request repeats in its headers, so that intermediaries need not read bodies.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue};
use rootward_protocol::frame::{Envelope, Members};
use rootward_protocol::{keys, method};
use serde_json::Value;
use serde_json::value::RawValue;

use super::annotations::Annotations;

/// The revision that a connection speaks.
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The first modern revision.
const MODERN: &str = "2026-07-28";

/// The markers around a value that a header cannot carry unencoded.
const BASE64: (&str, &str) = ("=?base64?", "?=");

/// The revision that a modern request states; `None` for a legacy request.
pub(super) fn modern_revision(params: Option<&RawValue>) -> Option<String> {
    let revision = Members::read(params?)?.object(keys::META)?.text(keys::VERSION)?;
    (revision.as_str() >= MODERN).then_some(revision)
}

/// The headers of a modern request.
pub(super) fn headers(request: &Envelope<'_>, revision: &str, annotations: &Annotations) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let method = request.method().unwrap_or_default();
    let mut add = |name: &HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(&encoded(value)) {
            headers.insert(name, value);
        }
    };
    add(&VERSION, revision);
    add(&METHOD, method);
    let params = request.params().and_then(Members::read);
    let Some(params) = params else { return headers };
    let name = named_by(method).and_then(|key| params.text(key));
    if let Some(name) = &name {
        add(&NAME, name);
    }
    if let (method::CALL_TOOL, Some(tool)) = (method, name) {
        let arguments: Option<Value> =
            params.get("arguments").and_then(|arguments| serde_json::from_str(arguments.get()).ok());
        for (header, value) in annotations.of_call(&tool, arguments.as_ref().unwrap_or(&Value::Null)) {
            add(header, &value);
        }
    }
    headers
}

/// The parameter that names the target of a request.
fn named_by(method: &str) -> Option<&'static str> {
    match method {
        method::CALL_TOOL | method::GET_PROMPT => Some("name"),
        method::READ_RESOURCE | method::SUBSCRIBE | method::UNSUBSCRIBE => Some("uri"),
        method::GET_TASK | method::UPDATE_TASK | method::CANCEL_TASK => Some(keys::TASK_ID),
        _ => None,
    }
}

/// Encodes a value for a header.
fn encoded(value: &str) -> String {
    let (before, after) = BASE64;
    let is_visible = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let is_padded = value.starts_with(' ') || value.ends_with(' ');
    let looks_encoded = value.starts_with(before) && value.ends_with(after);
    if is_visible && !is_padded && !looks_encoded {
        value.to_owned()
    } else {
        format!("{before}{}{after}", BASE64_STANDARD.encode(value))
    }
}

#[cfg(test)]
mod tests {
    use rootward_protocol::frame::Message;
    use serde_json::json;

    use super::*;

    #[test]
    fn values_that_a_header_cannot_carry_are_encoded() {
        for (value, expect) in [
            ("us-west1", "us-west1"),
            ("", ""),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("a\tb", "=?base64?YQli?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encoded(value), expect, "{value:?}");
        }
    }

    #[test]
    fn a_modern_request_names_itself() {
        let check = |method: &str, params: Value, name: Option<&str>| {
            let text = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
            let Ok(Message::Single(request)) = Message::parse(text.as_bytes()) else { panic!("{text}") };
            let headers = headers(&request, "2026-07-28", &Annotations::default());
            assert_eq!(headers["mcp-method"], method);
            assert_eq!(headers["mcp-protocol-version"], "2026-07-28");
            assert_eq!(headers.get("mcp-name").map(|name| name.to_str().unwrap()), name, "{text}");
        };
        check("tools/call", json!({"name": "t"}), Some("t"));
        check("resources/read", json!({"uri": "file:///x", "name": "n"}), Some("file:///x"));
        check("tasks/get", json!({"taskId": "7"}), Some("7"));
        check("tools/list", json!({"name": "t"}), None);
    }

    #[test]
    fn the_revision_tells_the_era() {
        let revision = |version: Value| {
            let params = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": version}}).to_string();
            modern_revision(Some(serde_json::from_str(&params).unwrap()))
        };
        assert_eq!(revision(json!("2026-07-28")).as_deref(), Some("2026-07-28"));
        assert_eq!(revision(json!("2027-01-01")).as_deref(), Some("2027-01-01"));
        assert_eq!(revision(json!("2025-11-25")), None);
        assert_eq!(revision(json!(7)), None);
        assert_eq!(modern_revision(None), None);
    }
}
