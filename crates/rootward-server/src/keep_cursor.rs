//! Keeps the `nextCursor` of a list in pages: rmcp reads a result into its own type, which has no place for it.
//!
//! Where a client's answer passes here as bytes, the cursor is written into the result's `_meta` as well, which rmcp keeps.

use memchr::memmem;
use rootward_peer::keys;
use serde_json::{Value, json};

/// The same frame with its cursor where it is kept; none where there is nothing to do.
pub(crate) fn keep_cursor(frame: &[u8]) -> Option<Vec<u8>> {
    memmem::find(frame, b"nextCursor")?;
    let mut message: Value = serde_json::from_slice(frame).ok()?;
    let result = message.get_mut("result")?.as_object_mut()?;
    let cursor = result.get("nextCursor")?.clone();
    if !result.get("roots")?.is_array() {
        return None;
    }
    match result.entry("_meta").or_insert_with(|| json!({})) {
        Value::Object(meta) => meta.insert(keys::NEXT_CURSOR.to_owned(), cursor),
        _ => return None,
    };
    serde_json::to_vec(&message).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(frame: &Value) -> Option<Value> {
        keep_cursor(frame.to_string().as_bytes()).map(|frame| serde_json::from_slice(&frame).unwrap())
    }

    #[test]
    fn only_lists_of_roots_are_touched() {
        let list = json!({"jsonrpc": "2.0", "id": 7, "result": {"roots": [{"uri": "file:///a"}], "nextCursor": "c"}});
        let mut expect = list.clone();
        expect["result"]["_meta"] = json!({keys::NEXT_CURSOR: "c"});
        assert_eq!(kept(&list), Some(expect));
        for other in [
            json!({"id": 7, "result": {"roots": []}}),
            json!({"id": 7, "result": {"tools": [], "nextCursor": "c"}}),
            json!({"id": 7, "result": {"roots": "nextCursor"}}),
            json!({"id": 7, "result": {"roots": [], "nextCursor": "c", "_meta": 7}}),
            json!({"method": "tools/call", "params": {"nextCursor": "c", "roots": []}}),
            json!(["nextCursor"]),
        ] {
            assert_eq!(kept(&other), None, "{other}");
        }
        assert_eq!(keep_cursor(b"nextCursor {"), None);
    }
}
