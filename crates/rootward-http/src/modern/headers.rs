//! Compares the headers of a modern request with its body.
//!
//! Intermediaries route and filter by the headers, but the backend acts on the body, so a request in which they
//! differ is refused. This checks `MCP-Protocol-Version`, `Mcp-Method`, `Mcp-Name`, and each `Mcp-Param-*` header of
//! a tool whose schema is known. A header that no schema names is ignored, as the specification requires.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::HeaderMap;
use http::header::AsHeaderName;
use rootward_protocol::frame::{Members, key};
use rootward_protocol::header;
use serde_json::value::RawValue;

use super::annotations::Annotation;

/// What is wrong with a header.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum HeaderError {
    #[error("header `{0}` is missing")]
    Missing(String),
    #[error("header `{0}` is duplicated")]
    Twice(String),
    #[error("header `{0}` has characters that are not allowed, or is not valid Base64")]
    Malformed(String),
    #[error("header `{0}` differs from the body")]
    Differs(String),
    #[error("header `{0}` is present, but the body has no such value")]
    Unexpected(String),
}

/// The only value of a header.
pub(crate) fn single(headers: &HeaderMap, name: impl AsHeaderName + ToString) -> Result<Option<&str>, HeaderError> {
    let shown = name.to_string();
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    // SECURITY: an intermediary may use the other value (test: headers_and_body_must_agree)
    if values.next().is_some() {
        return Err(HeaderError::Twice(shown));
    }
    value.to_str().map(Some).map_err(|_| HeaderError::Malformed(shown))
}

/// Compares `Mcp-Method` and `Mcp-Name` with the body.
pub(crate) fn check(headers: &HeaderMap, method: &str, params: Option<&Members<'_>>) -> Result<(), HeaderError> {
    let missing = |name: &str| HeaderError::Missing(name.to_owned());
    // SECURITY: the backend must do what intermediaries saw in the headers (test: headers_and_body_must_agree)
    if single(headers, header::METHOD)?.ok_or_else(|| missing(header::METHOD))? != method {
        return Err(HeaderError::Differs(header::METHOD.to_owned()));
    }
    let Some(member) = header::name_member(method) else { return Ok(()) };
    let given = single(headers, header::NAME)?;
    match (given, params.and_then(|params| params.text(member))) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(missing(header::NAME)),
        (Some(_), None) => Err(HeaderError::Unexpected(header::NAME.to_owned())),
        (Some(given), Some(named)) => {
            let given = decoded(given).ok_or_else(|| HeaderError::Malformed(header::NAME.to_owned()))?;
            // SECURITY: the backend must do what intermediaries saw in the headers
            // (test: headers_and_body_must_agree)
            if given == named { Ok(()) } else { Err(HeaderError::Differs(header::NAME.to_owned())) }
        }
    }
}

/// Compares the headers of arguments with the arguments.
pub(crate) fn check_arguments(
    headers: &HeaderMap,
    arguments: Option<&RawValue>,
    annotations: &[Annotation],
) -> Result<(), HeaderError> {
    for Annotation { path, header } in annotations {
        let name = || header.to_string();
        let given = single(headers, header)?;
        let value = match arguments {
            // SECURITY: with a duplicate key, the header could agree with one value while the backend uses the other
            // (test: arguments_and_their_headers_must_agree)
            Some(arguments) => {
                value_at(arguments, path).map_err(|DuplicateKey| HeaderError::Differs(name()))?.and_then(plain)
            }
            None => None,
        };
        match (given, value) {
            (None, None) => {}
            (None, Some(_)) => return Err(HeaderError::Missing(name())),
            (Some(_), None) => return Err(HeaderError::Unexpected(name())),
            (Some(given), Some(value)) => {
                let given = decoded(given).ok_or_else(|| HeaderError::Malformed(name()))?;
                // SECURITY: the backend must do what intermediaries saw in the headers
                // (test: arguments_and_their_headers_must_agree)
                if !value.is(&given) {
                    return Err(HeaderError::Differs(name()));
                }
            }
        }
    }
    Ok(())
}

/// A header value, decoded if it is encoded. `None` if it cannot be decoded.
fn decoded(value: &str) -> Option<String> {
    match value.strip_prefix(header::ENCODED).and_then(|value| value.strip_suffix(header::ENCODED_END)) {
        Some(encoded) => String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

/// An object with a duplicate key.
struct DuplicateKey;

/// The value that a path of keys leads to, if any.
fn value_at<'j>(object: &'j RawValue, path: &[String]) -> Result<Option<&'j RawValue>, DuplicateKey> {
    let mut value = object;
    for member in path {
        if !value.get().starts_with('{') {
            return Ok(None);
        }
        match Members::read(value).ok_or(DuplicateKey)?.get(member) {
            Some(next) => value = next,
            None => return Ok(None),
        }
    }
    Ok(Some(value))
}

/// A value that a header can carry.
enum Plain {
    Text(String),
    Number(Box<str>),
    Truth(&'static str),
}

impl Plain {
    fn is(&self, given: &str) -> bool {
        match self {
            Plain::Text(text) => text == given,
            // `42` and `42.0` are the same number.
            Plain::Number(number) => *key(given) == **number,
            Plain::Truth(truth) => *truth == given,
        }
    }
}

/// `None` for null and for anything that a header cannot carry.
fn plain(value: &RawValue) -> Option<Plain> {
    match value.get() {
        "true" => Some(Plain::Truth("true")),
        "false" => Some(Plain::Truth("false")),
        text if text.starts_with('"') => serde_json::from_str(text).ok().map(Plain::Text),
        number if number.starts_with(|first: char| first == '-' || first.is_ascii_digit()) => {
            Some(Plain::Number(key(number)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn headers(list: &[(&str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&str, &str)| {
            (HeaderName::try_from(*name).unwrap(), HeaderValue::from_bytes(value.as_bytes()).unwrap())
        };
        let mut headers = HeaderMap::new();
        for (name, value) in list.iter().map(pair) {
            headers.append(name, value);
        }
        headers
    }

    #[test]
    fn headers_and_body_must_agree() {
        let agree = |list: &[(&str, &str)], method: &str, params: &str, expect: &str| {
            let params: &RawValue = serde_json::from_str(params).unwrap();
            let said = check(&headers(list), method, Members::read(params).as_ref());
            let said = said.map_or_else(|error| error.to_string(), |()| "fine".to_owned());
            assert!(said.contains(expect), "{list:?} {method} {params}: {said}");
        };
        let (call, tool) = ("tools/call", r#"{"name":"a"}"#);
        agree(&[("Mcp-Method", call), ("Mcp-Name", "a")], call, tool, "fine");
        agree(&[("mcp-method", call), ("MCP-NAME", "=?base64?YQ==?=")], call, tool, "fine");
        agree(&[("Mcp-Method", "tools/list")], "tools/list", "{}", "fine");
        agree(&[("Mcp-Method", "resources/read"), ("Mcp-Name", "x:/y")], "resources/read", r#"{"uri":"x:/y"}"#, "fine");
        agree(&[("Mcp-Method", "tasks/get"), ("Mcp-Name", "t")], "tasks/get", r#"{"taskId":"t"}"#, "fine");
        agree(&[("Mcp-Method", call)], call, "{}", "fine");
        agree(&[("Mcp-Name", "a")], call, tool, "`mcp-method` is missing");
        agree(&[("Mcp-Method", "TOOLS/CALL"), ("Mcp-Name", "a")], call, tool, "`mcp-method` differs");
        agree(
            &[("Mcp-Method", call), ("Mcp-Method", call), ("Mcp-Name", "a")],
            call,
            tool,
            "`mcp-method` is duplicated",
        );
        agree(&[("Mcp-Method", call)], call, tool, "`mcp-name` is missing");
        agree(&[("Mcp-Method", call), ("Mcp-Name", "b")], call, tool, "`mcp-name` differs");
        agree(&[("Mcp-Method", call), ("Mcp-Name", "a"), ("Mcp-Name", "b")], call, tool, "`mcp-name` is duplicated");
        agree(&[("Mcp-Method", call), ("Mcp-Name", "a")], call, r#"{"name":7}"#, "no such value");
        agree(&[("Mcp-Method", call), ("Mcp-Name", "=?base64?!?=")], call, tool, "not valid Base64");
        agree(&[("Mcp-Method", call), ("Mcp-Name", "é")], call, tool, "characters that are not allowed");
    }

    #[test]
    fn arguments_and_their_headers_must_agree() {
        let check = |list: &[(&str, &str)], arguments: &str, expect: &str| {
            let annotation = |path: &[&str], name: &'static str| Annotation {
                path: path.iter().map(|member| (*member).to_owned()).collect(),
                header: HeaderName::from_static(name),
            };
            let annotations = [annotation(&["region"], "mcp-param-region"), annotation(&["in", "n"], "mcp-param-n")];
            let arguments: Option<&RawValue> = serde_json::from_str(arguments).unwrap();
            let said = check_arguments(&headers(list), arguments, &annotations);
            let said = said.map_or_else(|error| error.to_string(), |()| "fine".to_owned());
            assert!(said.contains(expect), "{list:?} {arguments:?}: {said}");
        };
        check(&[], "null", "fine");
        check(&[], "{}", "fine");
        check(&[], r#"{"region":null}"#, "fine");
        check(&[("Mcp-Param-Region", "eu"), ("Mcp-Param-Other", "x")], r#"{"region":"eu"}"#, "fine");
        check(&[("Mcp-Param-Region", "=?base64?w6k=?=")], r#"{"region":"é"}"#, "fine");
        check(&[("Mcp-Param-Region", "true")], r#"{"region":true}"#, "fine");
        check(&[("Mcp-Param-N", "42.0")], r#"{"in":{"n":42}}"#, "fine");
        check(&[("Mcp-Param-N", "-7")], r#"{"in":{"n":-7.0}}"#, "fine");
        check(&[("Mcp-Param-N", "9007199254740993")], r#"{"in":{"n":9007199254740992}}"#, "differs");
        check(&[("Mcp-Param-N", "43")], r#"{"in":{"n":42}}"#, "`mcp-param-n` differs");
        check(&[("Mcp-Param-Region", "us")], r#"{"region":"eu"}"#, "differs");
        check(&[("Mcp-Param-Region", "eu")], r#"{"region":null}"#, "no such value");
        check(&[("Mcp-Param-Region", "eu")], "{}", "no such value");
        check(&[], r#"{"region":"eu"}"#, "is missing");
        check(&[], r#"{"region":"eu","region":"us"}"#, "differs");
        check(&[("Mcp-Param-Region", "eu")], r#"{"region":"eu","region":"us"}"#, "differs");
        check(&[], "[7]", "fine");
        check(&[("Mcp-Param-Region", "eu"), ("Mcp-Param-Region", "eu")], r#"{"region":"eu"}"#, "duplicated");
        check(&[("Mcp-Param-Region", "=?base64?%?=")], r#"{"region":"eu"}"#, "not valid Base64");
    }
}
