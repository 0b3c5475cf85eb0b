//! Preserves the cursors of `roots/list` through an SDK whose types do not have them: copies them into `_meta`, which
//! SDKs keep.

use memchr::memmem;
use serde_json::{Map, Value, json};

use crate::{keys, method};

/// An answer (a line or a body) with its next cursor copied into `_meta`; `None` if there is nothing to do.
pub fn keep_next_cursor(frame: &[u8]) -> Option<Vec<u8>> {
    memmem::find(frame, b"nextCursor")?;
    let mut message: Value = serde_json::from_slice(frame).ok()?;
    let result = message.get_mut("result")?.as_object_mut()?;
    let cursor = result.get("nextCursor")?.clone();
    if !result.get("roots")?.is_array() {
        return None;
    }
    keep(result, keys::NEXT_CURSOR, cursor)?;
    serde_json::to_vec(&message).ok()
}

/// A question (a line without its newline) with its cursor copied into `_meta`; `None` if there is nothing to do.
pub fn keep_cursor(line: &[u8]) -> Option<Vec<u8>> {
    // Parse a line only if it contains both words. If an escape hides one, the sender only gets the first page.
    memmem::find(line, b"cursor")?;
    memmem::find(line, b"list")?;
    let mut message: Value = serde_json::from_slice(line).ok()?;
    if message.get("method")? != method::LIST_ROOTS {
        return None;
    }
    let params = message.get_mut("params")?.as_object_mut()?;
    let cursor = params.get("cursor")?.clone();
    keep(params, keys::CURSOR, cursor)?;
    serde_json::to_vec(&message).ok()
}

fn keep(object: &mut Map<String, Value>, key: &str, cursor: Value) -> Option<()> {
    let meta = object.entry(keys::META).or_insert_with(|| json!({})).as_object_mut()?;
    meta.insert(key.to_owned(), cursor);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(frame: &Value) -> Option<Value> {
        keep_next_cursor(frame.to_string().as_bytes()).map(|frame| serde_json::from_slice(&frame).unwrap())
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
        assert_eq!(keep_next_cursor(b"nextCursor {"), None);
    }
}
