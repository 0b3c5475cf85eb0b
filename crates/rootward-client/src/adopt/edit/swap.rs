//! Replaces some entries of a table with others: servers with a hub, and back. The rest of the text stays as it is.

use super::{Document, EditError, is_same, json, spliced, toml};
use crate::import::{Entry, Form, Node, Value, tree};

pub(super) const NO_TABLE: EditError = EditError::Unclear("its servers are not in a table of their own");
pub(super) const NO_ENTRY: EditError = EditError::Unclear("there is no such entry");
pub(super) const INSEPARABLE: EditError =
    EditError::Unclear("it cannot be removed without touching what is next to it");
const OTHERWISE: EditError = EditError::Unclear("the edit would change more than these entries");

/// These entries of a table, as a text of the same format that contains nothing else.
pub(in crate::adopt) fn taken(form: Form, text: &str, table: &[String], names: &[String]) -> Result<String, EditError> {
    match Document::parse(form, text)? {
        Document::Json(text, parsed) => json::taken(text, &parsed, table, names),
        Document::Toml(text, _) => toml::taken(text, table, names),
    }
}

/// The text with the entries `gone` of a table replaced by those of `new`, a text of the same format. If the table
/// has another entry with a name of `new`, that entry wins.
pub(in crate::adopt) fn swap(
    form: Form,
    text: &str,
    table: &[String],
    gone: &[String],
    new: &str,
) -> Result<String, EditError> {
    let edited = match Document::parse(form, text)? {
        Document::Json(text, parsed) => spliced(text, json::swapped(text, &parsed, table, gone, new)?)?,
        Document::Toml(text, _) => toml::swapped(text, table, gone, new)?,
    };
    check(form, [text, &edited, new], table, gone)?;
    Ok(edited)
}

/// Parses the new text again: it must say the same as the old one, except for these entries.
fn check(form: Form, texts: [&str; 3], table: &[String], gone: &[String]) -> Result<(), EditError> {
    let [before, after, new] = texts.map(|text| tree(form, text));
    let (mut before, mut after) = (before.map_err(|_| EditError::Damaged)?, after.map_err(|_| OTHERWISE)?);
    let new = new.map_err(|_| EditError::Damaged)?;
    let (Some(old), Some(found), Value::Table(new)) =
        (entries(&mut before, table), entries(&mut after, table), &new.value)
    else {
        return Err(OTHERWISE);
    };
    old.retain(|entry| !gone.contains(&entry.name));
    for entry in new.iter().filter(|entry| !old.iter().any(|kept| kept.name == entry.name)) {
        let position = found.iter().position(|found| found.name == entry.name).ok_or(OTHERWISE)?;
        let found = found.remove(position);
        if found.again || !is_same(form, &found.node, &entry.node) {
            return Err(OTHERWISE);
        }
    }
    if is_same(form, &before, &after) { Ok(()) } else { Err(OTHERWISE) }
}

/// The entries of the table at a place.
fn entries<'n>(top: &'n mut Node, place: &[String]) -> Option<&'n mut Vec<Entry>> {
    let Value::Table(entries) = &mut top.value else { return None };
    match place.split_first() {
        None => Some(entries),
        Some((key, rest)) => {
            let entry = entries.iter_mut().find(|entry| entry.name == *key)?;
            self::entries(&mut entry.node, rest)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Swapped, and swapped back if nothing else changed.
    #[track_caller]
    fn check(form: Form, text: &str, gone: &[&str], new: &str, expect: &str) {
        let table = [form.servers_key().unwrap().to_owned()];
        let gone: Vec<String> = gone.iter().map(|name| (*name).to_owned()).collect();
        let old = taken(form, text, &table, &gone).unwrap();
        let edited = swap(form, text, &table, &gone, new).unwrap();
        assert_eq!(edited, expect, "{text}");
        let back = swap(form, &edited, &table, &["h".to_owned()], &old).unwrap();
        let [mut one, mut other] = [text, &back].map(|text| tree(form, text).unwrap());
        for tree in [&mut one, &mut other] {
            entries(tree, &table).unwrap().sort_by(|one, other| one.name.cmp(&other.name));
        }
        assert!(is_same(form, &one, &other), "{text}: {back}");
    }

    #[test]
    fn json_in_every_style() {
        let new = r#"{"h": {"command": "r"}}"#;
        let check = |text: &str, gone: &[&str], expect: &str| check(Form::Cursor, text, gone, new, expect);
        check(
            r#"{"mcpServers": {"a": {"x": 1}}, "z": 1}"#,
            &["a"],
            r#"{"mcpServers": {"h": {"command": "r"}}, "z": 1}"#,
        );
        check(
            r#"{"mcpServers":{"a":{"x":1},"web":{},"b":{},"c":{}}}"#,
            &["a", "b", "c"],
            r#"{"mcpServers":{"h": {"command": "r"},"web":{}}}"#,
        );
        check(
            "{\n  \"mcpServers\": {\n    \"web\": {},\r\n    \"a\": {\n      \"x\": 1 // mine\n    },\n    \"b\": {},\n  }\n}\n",
            &["b", "a"],
            "{\n  \"mcpServers\": {\n    \"web\": {},\r\n    \"h\": {\"command\": \"r\"},\n  }\n}\n",
        );
        // Comments beside the entries stay.
        check(
            "{\"mcpServers\": {\n  // one,\n  \"a\": {}, // two,\n  /* three, */ \"b\": {} // four\n}}",
            &["a", "b"],
            "{\"mcpServers\": {\n  // one,\n  \"h\": {\"command\": \"r\"} // two,\n  /* three, */  // four\n}}",
        );
    }

    #[test]
    fn toml_in_every_style() {
        let new = "[h]\ncommand = 'r'\n";
        let check = |text: &str, gone: &[&str], expect: &str| check(Form::Codex, text, gone, new, expect);
        check(
            "model = 'x' # mine\n\n# Servers.\n[mcp_servers.a]\ncommand = 'x'\n\n[mcp_servers.a.env]\nA = '1'\n\n[mcp_servers.web]\nurl = 'y'\n\n[mcp_servers.b]\ncommand = 'z'\n\n[p]\nq = 1 # mine\n",
            &["a", "b"],
            "model = 'x' # mine\n\n# Servers.\n[mcp_servers.h]\ncommand = 'r'\n\n[mcp_servers.web]\nurl = 'y'\n\n[p]\nq = 1 # mine\n",
        );
        check(
            "[mcp_servers]\r\na = { command = 'x' }\r\n\r\n[p]\r\nq = 1\r\n",
            &["a"],
            "[mcp_servers]\r\n\r\n[mcp_servers.h]\r\ncommand = 'r'\r\n\r\n[p]\r\nq = 1\r\n",
        );
    }

    #[test]
    fn what_is_there_counts_more() {
        let table = ["mcpServers".to_owned()];
        let swap = |text: &str, new: &str| swap(Form::Cursor, text, &table, &["h".to_owned()], new);
        let text = r#"{"mcpServers": {"h": {}, "a": {"mine": 1}}}"#;
        assert_eq!(
            swap(text, r#"{"a": {"old": 1}, "b": {}}"#).unwrap(),
            r#"{"mcpServers": {"b": {}, "a": {"mine": 1}}}"#
        );
        assert_eq!(swap(text, r#"{"a": {"old": 1}}"#).unwrap(), r#"{"mcpServers": {"a": {"mine": 1}}}"#);
        for (text, why) in [
            (r#"{"mcpServers": {"h": {}, "h": {}}}"#, "duplicate key `h`"),
            (r#"{"mcpServers": {}}"#, "there is no such entry"),
            (r#"{"mcpServers": []}"#, "its servers are not in a table of their own"),
        ] {
            assert_eq!(swap(text, r#"{"a": {}}"#).unwrap_err().to_string(), why);
        }
    }
}
