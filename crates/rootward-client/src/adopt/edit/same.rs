//! Whether two texts say the same, except for the intended changes.

use super::{Change, Document, EditError, Keys};
use crate::import::{CommandShape, Entry, Form, Node, Value, tree};

const OTHERWISE: EditError = EditError::Unclear("the edit would change more than its command");

/// Compares a text with its edited version.
pub(super) fn except_for(
    form: Form,
    old: &str,
    new: &str,
    changes: &[(&[String], Change<'_>)],
) -> Result<(), EditError> {
    let before = tree(form, old).map_err(|_| EditError::Damaged)?;
    let after = tree(form, new).map_err(|_| OTHERWISE)?;
    let places: Vec<&[String]> = changes.iter().map(|(place, _)| *place).collect();
    if !same(&before, &after, form, &mut Vec::new(), &places) {
        return Err(OTHERWISE);
    }
    let (before, after) = (Document::parse(form, old)?, Document::parse(form, new)?);
    for (place, change) in changes {
        let words = |document: &Document<'_>| Ok(document.entry(form, place)?.map(|entry| entry.words()));
        let (Some(old), Some(new)) = (words(&before)?, words(&after)?) else { return Err(OTHERWISE) };
        let is_as_wanted = match change {
            Change::Put(before) => {
                new.len() == before.len() + old.len() && new.starts_with(before) && new.ends_with(&old)
            }
            Change::Take(count, _) => old.get(*count..).is_some_and(|rest| rest == new),
        };
        if !is_as_wanted {
            return Err(OTHERWISE);
        }
    }
    Ok(())
}

pub(super) fn same(one: &Node, other: &Node, form: Form, at: &mut Vec<String>, places: &[&[String]]) -> bool {
    match (&one.value, &other.value) {
        (Value::Table(one), Value::Table(other)) => {
            let changed = changed_keys(form, one, at, places);
            let kept = |name: &str| !changed.contains(&name);
            let (mut one, mut other) =
                (one.iter().filter(|entry| kept(&entry.name)), other.iter().filter(|entry| kept(&entry.name)));
            loop {
                match (one.next(), other.next()) {
                    (None, None) => return true,
                    (Some(one), Some(other)) if one.name == other.name && one.again == other.again => {
                        at.push(one.name.clone());
                        let equal = same(&one.node, &other.node, form, at, places);
                        at.pop();
                        if !equal {
                            return false;
                        }
                    }
                    _ => return false,
                }
            }
        }
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other, form, at, &[]))
        }
        (Value::Text(one), Value::Text(other)) | (Value::Number(one), Value::Number(other)) => one == other,
        (Value::Boolean(one), Value::Boolean(other)) => one == other,
        (Value::Null, Value::Null) | (Value::Date, Value::Date) => true,
        _ => false,
    }
}

/// The keys of this table whose values may differ.
fn changed_keys(form: Form, table: &[Entry], at: &[String], places: &[&[String]]) -> Vec<&'static str> {
    let of = |keys: Keys| std::iter::once(keys.program).chain(keys.arguments).collect();
    let shape = form.command_shape();
    let is_table = |entry: &Entry| entry.name == "command" && matches!(entry.node.value, Value::Table(_));
    match at.split_last() {
        // Only parts of `command` may differ.
        _ if places.contains(&at) && shape == CommandShape::Table && table.iter().any(is_table) => Vec::new(),
        _ if places.contains(&at) => of(Keys::of(shape, false)),
        Some((last, above)) if shape == CommandShape::Table && last == "command" && places.contains(&above) => {
            of(Keys::TABLE)
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_that_changes_more_is_refused() {
        let place = ["mcpServers".to_owned(), "a".to_owned()];
        let before = ["rootward".to_owned(), "wrap".to_owned(), "--".to_owned()];
        let old = r#"{"x": [1, true, null], "mcpServers": {"a": {"command": "y", "env": {"K": "v"}}, "b": {"command": "z"}}}"#;
        let good = old.replace(r#""y""#, r#""rootward", "args": ["wrap", "--", "y"]"#);
        let check = |new: &str| except_for(Form::Cursor, old, new, &[(&place, Change::Put(&before))]).is_ok();
        assert!(check(&good));
        for (from, to) in [
            ("[1,", "[2,"),
            ("true", "false"),
            ("null", "\"\""),
            (", null]", "]"),
            (r#""K": "v""#, r#""K": "w""#),
            (r#""K": "v""#, ""),
            (r#""b": {"#, r#""b": {"more": 1, "#),
            (r#""b""#, r#""c""#),
            (r#""z""#, r#""other""#),
            (r#""--", "y""#, r#""--", "other""#),
            (r#""wrap", "#, ""),
            (r#""a": {"#, r#""a": {"command": "twice", "#),
            ("}", ""),
        ] {
            assert!(!check(&good.replacen(from, to, 1)), "{from} {to}");
        }
        // In a table of Zed, only the path and the arguments may differ.
        let place = ["context_servers".to_owned(), "a".to_owned()];
        let old = r#"{"context_servers": {"a": {"command": {"path": "y", "env": {"K": "v"}}}}}"#;
        let good = old.replace(r#""y""#, r#""rootward", "args": ["wrap", "--", "y"]"#);
        let check = |new: &str| except_for(Form::Zed, old, new, &[(&place, Change::Put(&before))]).is_ok();
        assert!(check(&good) && !check(&good.replace("\"v\"", "\"w\"")));
    }
}
