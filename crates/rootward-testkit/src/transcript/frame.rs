//! A frame as a transcript writes it: JSON with names, and in server frames with wildcards.
//!
//! Inside a string, `$NAME` is replaced by a directory or by a bound string; `$$` is a `$`. Outside a string, `$name` is a whole
//! value. In a server frame, a name that is not bound yet takes the actual value, `_` matches any value, and `...` in an object
//! matches any further members.

use std::collections::BTreeMap;

use serde_json::Value;

/// Placeholders for wildcards inside a JSON pattern. No string of a real frame begins with them.
pub(super) const ANY: &str = "\u{0}any";
pub(super) const REST: &str = "\u{0}rest";
pub(super) const BIND: &str = "\u{0}bind ";

/// Values by name: directories, in capitals, and bound values.
pub(super) type Names = BTreeMap<String, Value>;

/// A frame with names in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Frame(String);

/// Who sends a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// Every name must have a value.
    Client,
    /// Wildcards and names that are not bound yet are allowed.
    Server,
}

impl Frame {
    pub(super) fn new(text: &str) -> Frame {
        Frame(text.to_owned())
    }

    /// The line to send. The text is not parsed and printed again, which could change numbers and the order of members.
    pub(super) fn to_send(&self, names: &Names) -> Result<String, String> {
        let text = filled_in(&self.0, names, Side::Client)?;
        let _: Value = serde_json::from_str(&text).map_err(|error| format!("not JSON: {error}"))?;
        Ok(text)
    }

    /// The pattern that a received frame must match.
    pub(super) fn to_expect(&self, names: &Names) -> Result<Value, String> {
        let text = filled_in(&self.0, names, Side::Server)?;
        serde_json::from_str(&text).map_err(|error| format!("not JSON: {error}"))
    }

    /// The names that it binds, given the names that already have values.
    pub(super) fn binds(&self, names: &Names) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        collect(&self.to_expect(names)?, &mut found);
        Ok(found)
    }
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.extend(text.strip_prefix(BIND).map(str::to_owned)),
        Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
        Value::Object(members) => members.values().for_each(|value| collect(value, found)),
        _ => {}
    }
}

fn filled_in(text: &str, names: &Names, side: Side) -> Result<String, String> {
    let mut out = String::with_capacity(text.len() + 64);
    let mut rest = text;
    let mut in_text = false;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        if let Some(tail) = rest.strip_prefix("$$").filter(|_| in_text) {
            out.push('$');
            rest = tail;
        } else if c == '$' {
            let end = after.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(after.len());
            let (name, tail) = after.split_at(end);
            out.push_str(&named(name, names, side, in_text)?);
            rest = tail;
        } else if in_text && c == '\\' {
            let escaped = after.chars().next().ok_or("the frame ends in `\\`")?;
            out.extend([c, escaped]);
            rest = &after[escaped.len_utf8()..];
        } else if let Some(tail) = rest.strip_prefix("...").filter(|_| !in_text) {
            out.push_str(&wildcard(side, &format!("{}:null", quoted(REST)))?);
            rest = tail;
        } else if c == '_' && !in_text {
            out.push_str(&wildcard(side, &quoted(ANY))?);
            rest = after;
        } else {
            in_text ^= c == '"';
            out.push(c);
            rest = after;
        }
    }
    Ok(out)
}

fn named(name: &str, names: &Names, side: Side, in_text: bool) -> Result<String, String> {
    match (names.get(name), in_text) {
        _ if name.is_empty() => Err("`$` without a name; write `$$` for a `$`".to_owned()),
        (Some(Value::String(text)), true) => Ok(quoted(text).trim_matches('"').to_owned()),
        (Some(_), true) => Err(format!("`${name}` is not a string")),
        (Some(value), false) => Ok(value.to_string()),
        (None, false) if side == Side::Server && name.starts_with(|c: char| c.is_ascii_lowercase()) => {
            Ok(quoted(&format!("{BIND}{name}")))
        }
        (None, _) => Err(format!("unknown name `${name}`")),
    }
}

fn wildcard(side: Side, placeholder: &str) -> Result<String, String> {
    match side {
        Side::Server => Ok(placeholder.to_owned()),
        Side::Client => Err("a client frame cannot have wildcards".to_owned()),
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names() -> Names {
        Names::from([("A".to_owned(), json!("/t/a\"b")), ("id".to_owned(), json!(7))])
    }

    #[test]
    fn what_a_client_sends() {
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(Frame::new(text).to_send(&names()).ok().as_deref(), expect, "{text}");
        };
        check(r#"{"id": $id, "uri": "file://$A/x"}"#, Some(r#"{"id": 7, "uri": "file:///t/a\"b/x"}"#));
        check(r#"[$A, "$$5", "\"$$", "\\"]"#, Some(r#"["/t/a\"b", "$5", "\"$", "\\"]"#));
        check(r#"{"id": 18446744073709551615, "a_b": "..."}"#, Some(r#"{"id": 18446744073709551615, "a_b": "..."}"#));
        for wrong in [r#"{"id": $new}"#, r#"{"id": _}"#, "{...}", r#"{"id": "$id"}"#, r#"{"id": "$"}"#, "{", "$"] {
            check(wrong, None);
        }
    }

    #[test]
    fn what_a_server_must_send() {
        let check = |text: &str, expect: Option<Value>| {
            assert_eq!(Frame::new(text).to_expect(&names()).ok(), expect, "{text}");
        };
        check(
            r#"{"id": $id, "x": $new, "y": _, ...}"#,
            Some(json!({"id": 7, "x": "\0bind new", "y": ANY, REST: null})),
        );
        // Directories are never bound, and `...` is not valid in an array.
        check(r#"{"x": $NEW}"#, None);
        check("[...]", None);
        check(r#"{"x": "$new"}"#, None);
        assert_eq!(Frame::new(r#"[{"a": $x}, $y, $id]"#).binds(&names()), Ok(vec!["x".to_owned(), "y".to_owned()]));
    }
}
