//! The messages that are Rootward's own.

use rootward_core::{PlacedRoot, Shown};
use rootward_peer::{Refusal, shortened};
use serde_json::{Value, json};

use crate::frame::{EnvelopeError, TooLong};
use crate::scan::Tool;

/// JSON-RPC: what came is no JSON.
pub(super) const PARSE_ERROR: i32 = -32700;
/// JSON-RPC: what came is no request.
pub(super) const INVALID_REQUEST: i32 = -32600;
/// JSON-RPC: the params are wrong, or refused.
pub(super) const INVALID_PARAMS: i32 = -32602;
/// JSON-RPC: the server cannot do it.
pub(super) const INTERNAL_ERROR: i32 = -32603;

/// Which revisions of the protocol a client speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Era {
    Legacy,
    Modern,
}

/// A peer's text, cut off where it is longer than this many characters, without anything that a terminal would obey.
pub(super) fn shown(text: &str, longest: usize) -> String {
    Shown::new(&shortened(text, longest)).to_string()
}

/// An answer with a result that is written already.
pub(super) fn result(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// An answer with an error.
pub(super) fn error(id: &str, code: i32, message: &str, data: Option<&Value>) -> String {
    let mut error = json!({"code": code, "message": message});
    if let Some(data) = data {
        error["data"] = data.clone();
    }
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
}

/// A question.
pub(super) fn request(id: &str, method: &str, params: Option<&str>) -> String {
    let params = params.map(|params| format!(r#","params":{params}"#)).unwrap_or_default();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{params}}}"#)
}

/// A notification without params.
pub(super) fn notification(method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#)
}

/// Tells a peer that its question is not awaited any more.
pub(super) fn cancelled(id: &str, reason: &str) -> String {
    let reason = Value::from(reason);
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":{reason}}}}}"#)
}

/// Where the data of a refusal stands that is no structured content.
const REFUSAL: &str = "rootward.dev/refusal";

/// How a refusal reaches a client: a tool call has a result that a model can read, everything else an error.
pub(super) fn refusal(id: &str, method: &str, era: Era, tool: Option<&Tool>, refusal: &Refusal) -> String {
    if method != "tools/call" {
        return error(id, INVALID_PARAMS, refusal.sentence(), Some(refusal.data()));
    }
    let mut content = json!({"content": [{"type": "text", "text": refusal.sentence()}], "isError": true});
    if era == Era::Modern {
        content["resultType"] = json!("complete");
    }
    // Where the tool has a schema for structured content, clients hold errors to it, too: the TypeScript SDK 1.x does.
    if tool.is_some_and(Tool::has_structured_results) {
        content["_meta"] = json!({REFUSAL: refusal.data()});
    } else {
        content["structuredContent"] = refusal.data().clone();
    }
    result(id, &content.to_string())
}

/// The result of `roots/list`.
pub(super) fn roots(list: &[PlacedRoot]) -> String {
    let roots: Vec<Value> = list
        .iter()
        .filter_map(|placed| {
            let mut root = json!({"uri": placed.root.uri()?.as_str()});
            if let Some(name) = &placed.root.name {
                root["name"] = json!(name);
            }
            Some(root)
        })
        .collect();
    json!({"roots": roots}).to_string()
}

/// What is said of a line that is no message.
pub(super) fn bad_frame(id: Option<&str>, reason: &EnvelopeError) -> String {
    let code = match reason {
        EnvelopeError::NotUtf8 | EnvelopeError::NotJson(_) => PARSE_ERROR,
        _ => INVALID_REQUEST,
    };
    error(id.unwrap_or("null"), code, &format!("the message is refused: {reason}"), None)
}

/// What is said of a line that was too long.
pub(super) fn too_long(long: &TooLong, limit: usize) -> String {
    let says = format!("the message has {} bytes, more than {limit}", long.length);
    error(long.id.as_deref().unwrap_or("null"), INVALID_REQUEST, &says, None)
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::*;

    #[test]
    fn a_refusal_does_not_pass_for_a_result_of_a_tool_that_has_a_schema_for_it() {
        let tool = |listed: Value| Tool::from_listing(&to_raw_value(&listed).unwrap()).unwrap();
        let said = |tool: Option<&Tool>| -> Value {
            serde_json::from_str(&refusal("1", "tools/call", Era::Legacy, tool, &Refusal::pending())).unwrap()
        };
        let check = |tool: Option<&Tool>, place: &str, other: &str| {
            let said = said(tool);
            assert_eq!(said["result"]["isError"], true, "{said}");
            assert_eq!(said.pointer(place), Some(Refusal::pending().data()), "{said}");
            assert_eq!(said.pointer(other), None, "{said}");
        };
        let (structured, meta) = ("/result/structuredContent", "/result/_meta");
        check(None, structured, meta);
        check(Some(&tool(json!({"name": "read"}))), structured, meta);
        let schema = json!({"name": "read", "outputSchema": {"type": "object", "required": ["content"]}});
        check(Some(&tool(schema)), "/result/_meta/rootward.dev~1refusal", structured);
    }
}
