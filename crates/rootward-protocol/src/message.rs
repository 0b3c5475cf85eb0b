//! The messages that Rootward writes, as JSON.

use rootward_core::{PlacedRoot, RootSet};
use serde_json::{Value, json};

use crate::era::Era;
use crate::frame::{EnvelopeError, TooLong};
use crate::refusal::{Refusal, RefusalForm};
use crate::{keys, method};

/// JSON-RPC: the message is not JSON.
pub const PARSE_ERROR: i32 = -32700;
/// JSON-RPC: the message is not a valid request.
pub const INVALID_REQUEST: i32 = -32600;
/// JSON-RPC: the method does not exist.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// JSON-RPC: the params are wrong or refused.
pub const INVALID_PARAMS: i32 = -32602;
/// JSON-RPC: the server failed.
pub const INTERNAL_ERROR: i32 = -32603;

/// MCP, up to 2025-11-25: the resource does not exist.
pub const RESOURCE_NOT_FOUND: i32 = -32002;
/// MCP, in 2025-11-25 only: the user must visit a URL first.
pub const ADDRESS_REQUIRED: i32 = -32042;
/// MCP, from 2026-07-28: the server does not support this revision.
pub const UNSUPPORTED_VERSION: i32 = -32022;

/// MCP: an HTTP header is missing or differs from the body.
pub const HEADER_MISMATCH: i32 = -32020;
/// MCP: the client lacks a capability that the request needs.
pub const MISSING_CAPABILITY: i32 = -32021;

/// An answer with a result, which is already JSON.
pub fn result(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// An answer with an error.
pub fn error(id: &str, code: i32, message: &str, data: Option<&Value>) -> String {
    let mut error = json!({"code": code, "message": message});
    if let Some(data) = data {
        error["data"] = data.clone();
    }
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
}

/// A request; `params` is already JSON.
pub fn request(id: &str, method: &str, params: Option<&str>) -> String {
    let params = params.map(|params| format!(r#","params":{params}"#)).unwrap_or_default();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{params}}}"#)
}

/// A notification without params.
pub fn notification(method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#)
}

/// Tells a peer that its answer is no longer needed.
pub fn cancelled(id: &str, reason: &str) -> String {
    let reason = Value::from(reason);
    let method = method::CANCELLED;
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"requestId":{id},"reason":{reason}}}}}"#)
}

/// The request for roots, or for the page that begins at `cursor`.
pub fn list_roots(id: &str, cursor: Option<&str>) -> String {
    let params = cursor.map(|cursor| json!({"cursor": cursor}).to_string());
    request(id, method::LIST_ROOTS, params.as_deref())
}

/// Whether a tool has a schema for its structured results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Results {
    /// It does, and some clients apply it to errors, too: the TypeScript SDK 1.x does.
    Described,
    /// It does not.
    Free,
}

/// The answer for a refusal. A tool call gets a result that a model can read, unless the operator wants errors;
/// everything else gets an error.
pub fn refusal(id: &str, method: &str, era: Era, (form, results): (RefusalForm, Results), refusal: &Refusal) -> String {
    if method != method::CALL_TOOL || form == RefusalForm::ProtocolError {
        return error(id, INVALID_PARAMS, refusal.sentence(), Some(refusal.data()));
    }
    let mut content = json!({"content": [{"type": "text", "text": refusal.sentence()}], "isError": true});
    if era == Era::Modern {
        content[keys::RESULT_TYPE] = json!("complete");
    }
    match results {
        Results::Described => content[keys::META] = json!({keys::REFUSAL: refusal.data()}),
        Results::Free => content["structuredContent"] = refusal.data().clone(),
    }
    result(id, &content.to_string())
}

/// The result of `roots/list`.
pub fn roots(set: &RootSet) -> String {
    roots_as(set, |placed| Some(placed.root.uri()?.as_str().to_owned()))
}

/// The same for a peer that has its own names for the roots. A root without such a name is left out.
pub fn roots_as(set: &RootSet, uri: impl Fn(&PlacedRoot) -> Option<String>) -> String {
    let entry = |uri: &str, name: &str| json!({"uri": uri, "name": name});
    let roots = set.roots().iter().filter_map(|placed| {
        let (root, uri) = (&placed.root, uri(placed)?);
        // SECURITY: a peer with its own names must not see this machine's paths
        // (test: the_server_is_told_its_own_names)
        let is_own = root.uri().is_some_and(|own| own.as_str() == uri);
        let ending = || uri.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        let name = if is_own { root.title() } else { root.name.clone().unwrap_or_else(ending) };
        Some(entry(&uri, &name))
    });
    let others = set.others().iter().map(|other| entry(&other.uri, other.title()));
    json!({"roots": roots.chain(others).collect::<Vec<Value>>()}).to_string()
}

/// The result of a successful call: as text for models, and as data for programs.
pub fn structured(found: &Value) -> String {
    let text = serde_json::to_string_pretty(found).unwrap_or_default();
    json!({"content": [{"type": "text", "text": text}], "structuredContent": found}).to_string()
}

/// The result of a failed call, for a model to read.
pub fn failed_call(says: &str) -> String {
    json!({"content": [{"type": "text", "text": says}], "isError": true}).to_string()
}

/// The answer to a line that is not a message.
pub fn bad_frame(id: Option<&str>, reason: &EnvelopeError) -> String {
    let code = match reason {
        EnvelopeError::NotUtf8 | EnvelopeError::NotJson(_) => PARSE_ERROR,
        _ => INVALID_REQUEST,
    };
    error(id.unwrap_or("null"), code, &format!("the message is refused: {reason}"), None)
}

/// The answer to a line over the limit, if its sender may wait for one.
pub fn too_long(long: &TooLong, limit: usize) -> Option<String> {
    let id = long.awaited.id()?;
    let says = format!("the message has {} bytes, more than {limit}", long.length);
    Some(error(id, INVALID_REQUEST, &says, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_does_not_pass_for_a_result_of_a_tool_that_has_a_schema_for_it() {
        let check = |results: Results, place: &str, other: &str| {
            let said =
                refusal("1", method::CALL_TOOL, Era::Legacy, (RefusalForm::ToolError, results), &Refusal::pending());
            let said: Value = serde_json::from_str(&said).unwrap();
            assert_eq!(said["result"]["isError"], true, "{said}");
            assert_eq!(said.pointer(place), Some(Refusal::pending().data()), "{said}");
            assert_eq!(said.pointer(other), None, "{said}");
        };
        let (structured, meta) = ("/result/structuredContent", "/result/_meta");
        check(Results::Free, structured, meta);
        check(Results::Described, "/result/_meta/rootward.dev~1refusal", structured);
    }

    #[test]
    fn a_refusal_is_an_error_where_that_is_asked_for() {
        let form = (RefusalForm::ProtocolError, Results::Free);
        let said = refusal("1", method::CALL_TOOL, Era::Legacy, form, &Refusal::pending());
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!((&said["error"]["code"], &said["error"]["data"]), (&json!(-32602), Refusal::pending().data()));
    }
}
