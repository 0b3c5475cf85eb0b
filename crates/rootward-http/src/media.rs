//! What a client accepts and sends, by `Accept` and `Content-Type`.

use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE};

/// The content type of a message.
pub(crate) const JSON: &str = "application/json";
/// The content type of a stream of messages.
pub(crate) const EVENTS: &str = "text/event-stream";

/// Whether a client accepts answers of this type. Without the header it accepts none: MCP requires it.
pub(crate) fn accepts(headers: &HeaderMap, wanted: &str) -> bool {
    let ranges =
        headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).flat_map(|list| list.split(','));
    let mut accepted = false;
    for range in ranges {
        let mut parts = range.split(';').map(str::trim);
        let range = parts.next().unwrap_or_default();
        let refused = parts.any(|part| {
            let quality = part.strip_prefix("q=").or_else(|| part.strip_prefix("Q="));
            quality.is_some_and(|quality| quality.trim().parse::<f32>().is_ok_and(|quality| quality <= 0.0))
        });
        if range.eq_ignore_ascii_case(wanted) {
            // The exact type takes precedence over a wildcard.
            return !refused;
        }
        let kind = wanted.split_once('/').map(|(kind, _)| kind);
        let whole_kind = range
            .strip_suffix("/*")
            .filter(|range| *range == "*" || kind.is_some_and(|kind| range.eq_ignore_ascii_case(kind)));
        accepted |= whole_kind.is_some() && !refused;
    }
    accepted
}

/// Whether a request's body is declared as JSON.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (Some(kind), None) = (types.next(), types.next()) else { return false };
    let kind = kind.to_str().unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(JSON))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn what_clients_accept() {
        let check = |header: &'static str, json: bool, events: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(header));
            assert_eq!((accepts(&headers, JSON), accepts(&headers, EVENTS)), (json, events), "{header}");
        };
        check("application/json, text/event-stream", true, true);
        check("text/event-stream,application/json;q=0.5", true, true);
        check("Application/JSON", true, false);
        check("text/event-stream", false, true);
        check("*/*", true, true);
        check("application/*", true, false);
        check("text/*;q=0.1", false, true);
        check("*/*, text/event-stream;q=0", true, false);
        check("text/html", false, false);
        check("application/json-patch", false, false);
        check("", false, false);
        assert!(!accepts(&HeaderMap::new(), JSON));
    }

    #[test]
    fn what_clients_send() {
        let check = |header: &'static str, expect: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(header));
            assert_eq!(is_json(&headers), expect, "{header}");
        };
        check("application/json", true);
        check("Application/Json; charset=utf-8", true);
        check("application/json-patch+json", false);
        check("text/plain", false);
        check("", false);
        assert!(!is_json(&HeaderMap::new()));
    }
}
