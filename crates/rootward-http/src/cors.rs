//! What a browser needs before it lets a web page talk to the front: only for pages whose origin the operator listed.
//!
//! A page sends its token itself, in a header. So no answer allows the browser's credentials, and none allows every
//! origin.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use rootward_protocol::header;

use crate::body::Body;
use crate::names::Names;
use crate::reply;

/// The headers that a page may send, in lower case. Headers of arguments (`Mcp-Param-*`) are also allowed.
const SENT: [&str; 10] = [
    "accept",
    "authorization",
    "content-type",
    header::LAST_EVENT,
    header::METHOD,
    header::NAME,
    header::REVISION,
    header::SESSION,
    "traceparent",
    "tracestate",
];

/// The response headers that a page may read.
const EXPOSED: &str = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After";

/// How long a browser may cache the preflight answer, in seconds.
const MAX_AGE: &str = "600";

/// A page whose origin the operator listed.
#[derive(Clone, Debug)]
pub(crate) struct Page(HeaderValue);

impl Page {
    /// The page that a request comes from, if the operator listed it.
    pub(crate) fn of(names: &Names, headers: &HeaderMap) -> Option<Page> {
        let mut origins = headers.get_all(ORIGIN).iter();
        let (Some(origin), None) = (origins.next(), origins.next()) else { return None };
        // SECURITY: otherwise any page could read the front's answers (test: only_named_pages_are_allowed_in)
        names.names_origin(origin.as_bytes()).then(|| Page(origin.clone()))
    }

    /// The answer to a browser's preflight request; `None` if it is not one.
    pub(crate) fn preflight(method: &Method, headers: &HeaderMap) -> Option<Response<Body>> {
        if method != Method::OPTIONS || !headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
            return None;
        }
        let mut response = reply::empty(StatusCode::NO_CONTENT);
        let answer = response.headers_mut();
        answer.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST, GET, DELETE"));
        if let Ok(allowed) = HeaderValue::try_from(allowed(headers)) {
            answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
        }
        answer.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
        Some(response)
    }

    /// Lets the page read an answer.
    pub(crate) fn mark(self, headers: &mut HeaderMap) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, self.0);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
        headers.append(VARY, HeaderValue::from_static("Origin"));
    }
}

/// The allowed headers among those that the page wants to send; if it names none, all allowed ones.
fn allowed(headers: &HeaderMap) -> String {
    let wanted = headers.get_all(ACCESS_CONTROL_REQUEST_HEADERS).iter().filter_map(|names| names.to_str().ok());
    let wanted = wanted.flat_map(|names| names.split(',')).map(|name| name.trim().to_ascii_lowercase());
    let is_argument = |name: &str| {
        let rest = name.strip_prefix(header::PARAM);
        rest.is_some_and(|rest| !rest.is_empty() && http::HeaderName::try_from(rest).is_ok())
    };
    let names: Vec<String> = wanted.filter(|name| SENT.contains(&name.as_str()) || is_argument(name)).collect();
    if names.is_empty() { SENT.join(", ") } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(origins: &[&str]) -> Option<Page> {
        let names = Names::new(&[], &["https://app.example.org".to_owned()]).unwrap();
        let mut headers = HeaderMap::new();
        for origin in origins {
            headers.append(ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        Page::of(&names, &headers)
    }

    #[test]
    fn only_named_pages_are_allowed_in() {
        assert!(page(&["https://app.example.org"]).is_some());
        for other in ["http://app.example.org", "https://example.org", "http://localhost:3000", "null", "*", ""] {
            assert!(page(&[other]).is_none(), "{other}");
        }
        assert!(page(&[]).is_none());
        assert!(page(&["https://app.example.org", "https://evil.example"]).is_none());
    }

    #[test]
    fn a_page_may_send_the_protocols_headers() {
        let check = |wanted: &'static str, expect: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCESS_CONTROL_REQUEST_HEADERS, HeaderValue::from_static(wanted));
            assert_eq!(allowed(&headers), expect, "{wanted}");
        };
        check("authorization,content-type", "authorization, content-type");
        check("Mcp-Session-Id, mcp-param-region, cookie, x-forwarded-for", "mcp-session-id, mcp-param-region");
        check("mcp-param-, mcp-param-a b, *", &SENT.join(", "));
        assert_eq!(allowed(&HeaderMap::new()), SENT.join(", "));
    }
}
