//! What a POST carries, and for which era, judging by its body and headers alone.

use http::{HeaderMap, StatusCode};
use rootward_protocol::era::{LEGACY_REVISIONS, MODERN_REVISIONS};
use rootward_protocol::frame::{Envelope, Id, Kind, Members, Message};
use rootward_protocol::message::{HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND, UNSUPPORTED_VERSION};
use rootward_protocol::{header, keys, method};
use serde_json::json;
use serde_json::value::RawValue;

use crate::modern::headers::{self, HeaderError};
use crate::reply::Rejection;

/// What a POST carries.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Posted {
    /// A legacy client begins.
    Initialize,
    /// Messages of a legacy session.
    Legacy,
    /// A modern request.
    Modern,
    /// A modern notification. The specification has none over HTTP, so it is ignored.
    ModernNotification,
}

impl Posted {
    /// Classifies a body, and refuses what no era allows.
    pub(crate) fn of(message: &Message<'_>, headers: &HeaderMap) -> Result<Posted, Rejection> {
        let Message::Single(envelope) = message else {
            return revision_of_session(headers).map(|_| Posted::Legacy);
        };
        let id = envelope.id().map(Id::as_str);
        Posted::of_one(envelope, headers).map_err(|rejection| rejection.for_id(id))
    }

    fn of_one(envelope: &Envelope<'_>, headers: &HeaderMap) -> Result<Posted, Rejection> {
        let is_request = envelope.kind() == Kind::Request;
        let named = named_revision(envelope);
        if is_request && envelope.method() == Some(method::INITIALIZE) {
            // The handshake is legacy, whatever revision it asks for. A request with modern metadata is modern, and
            // that era has no such method.
            return if named.as_deref().is_some_and(is_modern) {
                Err(Rejection::new(StatusCode::NOT_FOUND, METHOD_NOT_FOUND, "modern requests need no handshake"))
            } else {
                Ok(Posted::Initialize)
            };
        }
        let given = headers::single(headers, header::REVISION).map_err(|error| mismatch(&error))?;
        let is_modern = given.is_some_and(is_modern);
        let in_session = headers.contains_key(header::SESSION) && !is_modern;
        match (envelope.kind(), named) {
            // Revisions in the requests of a legacy session concern only the client and the backend.
            (Kind::Request, Some(named)) if !(in_session && LEGACY_REVISIONS.contains(&&*named)) => {
                modern_request(envelope, headers, given, &named)
            }
            (Kind::Request, _) if is_modern || (envelope.method() == Some(method::DISCOVER) && !in_session) => {
                let says = format!("`_meta` has no `{}`", keys::VERSION);
                Err(Rejection::new(StatusCode::BAD_REQUEST, INVALID_PARAMS, says))
            }
            (Kind::Notification, _) if is_modern => Ok(Posted::ModernNotification),
            (Kind::Response | Kind::ErrorResponse, _) if is_modern => {
                Err(Rejection::bad("a modern client sends no answers"))
            }
            _ => revision_of_session(headers).map(|_| Posted::Legacy),
        }
    }
}

/// Checks the revision that a request to a legacy session names, if any.
pub(crate) fn revision_of_session(headers: &HeaderMap) -> Result<Option<&str>, Rejection> {
    let given = headers::single(headers, header::REVISION).map_err(|error| Rejection::bad(error.to_string()))?;
    match given {
        Some(given) if !LEGACY_REVISIONS.contains(&given) => {
            Err(Rejection::bad(format!("`{}` names a revision that is not supported here", header::REVISION)))
        }
        given => Ok(given),
    }
}

/// Whether a revision is modern, known or not: revisions sort by date.
pub(crate) fn is_modern(revision: &str) -> bool {
    revision.len() == MODERN_REVISIONS[0].len() && revision >= MODERN_REVISIONS[0]
}

/// The revision that a request names in its `_meta`.
fn named_revision(envelope: &Envelope<'_>) -> Option<String> {
    let params = envelope.params()?;
    // Most requests to sessions have none. The search text has no slash, because some clients write it as `\/`.
    memchr::memmem::find(params.get().as_bytes(), keys::HANDSHAKE_VERSION.as_bytes())?;
    Members::read(params)?.object(keys::META)?.text(keys::VERSION)
}

fn mismatch(error: &HeaderError) -> Rejection {
    Rejection::new(StatusCode::BAD_REQUEST, HEADER_MISMATCH, error.to_string())
}

fn modern_request(
    envelope: &Envelope<'_>,
    headers: &HeaderMap,
    given: Option<&str>,
    named: &str,
) -> Result<Posted, Rejection> {
    let given = given.ok_or_else(|| mismatch(&HeaderError::Missing(header::REVISION.to_owned())))?;
    // SECURITY: the backend must do what intermediaries saw in the headers (test: every_kind_of_post_is_recognized)
    if given != named {
        return Err(mismatch(&HeaderError::Differs(header::REVISION.to_owned())));
    }
    if !MODERN_REVISIONS.contains(&named) {
        let supported: Vec<&str> = MODERN_REVISIONS.iter().chain(&LEGACY_REVISIONS).rev().copied().collect();
        let rejection = Rejection::new(StatusCode::BAD_REQUEST, UNSUPPORTED_VERSION, "unsupported protocol version");
        return Err(rejection.with_data(json!({"supported": supported, "requested": named})));
    }
    let params = envelope.params().and_then(Members::read);
    let capabilities = params.as_ref().and_then(|params| params.object(keys::META)?.get(keys::CAPABILITIES));
    if !capabilities.is_some_and(|capabilities: &RawValue| capabilities.get().starts_with('{')) {
        let says = format!("`_meta` has no `{}`", keys::CAPABILITIES);
        return Err(Rejection::new(StatusCode::BAD_REQUEST, INVALID_PARAMS, says));
    }
    headers::check(headers, envelope.method().unwrap_or_default(), params.as_ref())
        .map_err(|error| mismatch(&error))?;
    Ok(Posted::Modern)
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

    fn posted(headers: &[(&str, &str)], body: &str) -> String {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap()))
            .collect();
        let message = Message::parse(body.as_bytes()).unwrap();
        match Posted::of(&message, &headers) {
            Ok(posted) => format!("{posted:?}"),
            Err(rejection) => {
                format!("{} {} {:?}", rejection.status.as_u16(), rejection.code, rejection.id.as_deref().unwrap_or("-"))
            }
        }
    }

    #[test]
    fn every_kind_of_post_is_recognized() {
        let check = |headers: &[(&str, &str)], body: &str, expect: &str| {
            assert_eq!(posted(headers, body), expect, "{headers:?} {body}");
        };
        let modern = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")];
        let listing = format!(r#"{{"id":1,"method":"tools/list","params":{{{META}}}}}"#);
        let session = ("mcp-session-id", "x");
        let old = ("mcp-protocol-version", "2025-06-18");
        let plain = r#"{"id":1,"method":"tools/list"}"#;

        check(&[], r#"{"id":1,"method":"initialize","params":{}}"#, "Initialize");
        check(&[modern[0]], r#"{"id":1,"method":"initialize","params":{}}"#, "Initialize");
        check(&modern, &listing.replace("tools/list", "initialize"), r#"404 -32601 "1""#);
        check(&[], plain, "Legacy");
        check(&[old, session], plain, "Legacy");
        check(&[("mcp-protocol-version", "1999-01-01"), session], plain, r#"400 -32600 "1""#);
        check(&[old, old, session], plain, r#"400 -32020 "1""#);
        check(&[session], r#"{"method":"notifications/initialized"}"#, "Legacy");
        check(&[session], r#"[{"id":1,"method":"ping"}]"#, "Legacy");
        check(&[modern[0]], r#"[{"id":1,"method":"ping"}]"#, r#"400 -32600 "-""#);

        check(&modern, &listing, "Modern");
        check(&[modern[0], modern[1], session], &listing, "Modern");
        check(&modern, &listing.replace("l/p", "l\\/p"), "Modern");
        check(&modern[..1], &listing, r#"400 -32020 "1""#);
        check(&modern[1..], &listing, r#"400 -32020 "1""#);
        check(&[old, modern[1]], &listing, r#"400 -32020 "1""#);
        check(&modern, plain, r#"400 -32602 "1""#);
        check(&[], r#"{"id":1,"method":"server/discover"}"#, r#"400 -32602 "1""#);
        check(&[session], r#"{"id":1,"method":"server/discover"}"#, "Legacy");
        check(&modern, &listing.replace("clientCap", "clientCup"), r#"400 -32602 "1""#);
        let future = [("mcp-protocol-version", "2099-01-01"), modern[1]];
        check(&future, &listing.replace("2026-07-28", "2099-01-01"), r#"400 -32022 "1""#);
        let stateless = [old, modern[1]];
        check(&stateless, &listing.replace("2026-07-28", "2025-06-18"), r#"400 -32022 "1""#);
        check(&[old, session], &listing.replace("2026-07-28", "2025-06-18"), "Legacy");
        check(&modern, r#"{"method":"notifications/x"}"#, "ModernNotification");
        check(&modern, r#"{"id":1,"result":{}}"#, r#"400 -32600 "1""#);
    }

    #[test]
    fn a_duplicate_name_is_refused() {
        let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "a")];
        let body = format!(r#"{{"id":1,"method":"tools/call","params":{{{META},"name":"a","name":"b"}}}}"#);
        assert_eq!(posted(&headers, &body), r#"400 -32602 "1""#);
    }
}
