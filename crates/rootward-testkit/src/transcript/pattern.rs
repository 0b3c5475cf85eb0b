//! Compares a frame with the expected one: every member counts, unless the transcript says `...`.

use serde_json::Value;

use super::frame::{ANY, BIND, Names, REST};

/// Compares the two and binds the names that have no value yet. The error names the first difference by its JSON pointer.
pub(super) fn compare(expected: &Value, seen: &Value, names: &mut Names) -> Result<(), String> {
    at("", expected, seen, names)
}

fn at(place: &str, expected: &Value, seen: &Value, names: &mut Names) -> Result<(), String> {
    match (expected, seen) {
        (Value::String(text), _) if text == ANY => Ok(()),
        (Value::String(text), _) if text.starts_with(BIND) => {
            let name = &text[BIND.len()..];
            // A frame may use the same name twice.
            match names.get(name) {
                Some(bound) if bound != seen => Err(format!("`{place}`: `${name}` is {bound}, seen {seen}")),
                Some(_) => Ok(()),
                None => {
                    names.insert(name.to_owned(), seen.clone());
                    Ok(())
                }
            }
        }
        (Value::Object(expected), Value::Object(seen)) => {
            for (key, value) in expected.iter().filter(|(key, _)| *key != REST) {
                let place = format!("{place}/{key}");
                let seen = seen.get(key).ok_or_else(|| format!("`{place}` is missing"))?;
                at(&place, value, seen, names)?;
            }
            let extra = seen.keys().find(|key| !expected.contains_key(*key));
            match extra.filter(|_| !expected.contains_key(REST)) {
                Some(key) => Err(format!("`{place}/{key}` was not expected")),
                None => Ok(()),
            }
        }
        (Value::Array(expected), Value::Array(seen)) if expected.len() == seen.len() => expected
            .iter()
            .zip(seen)
            .enumerate()
            .try_for_each(|(position, (expected, seen))| at(&format!("{place}/{position}"), expected, seen, names)),
        (expected, seen) if expected == seen => Ok(()),
        _ => Err(format!("`{place}` differs")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_member_counts() {
        let check = |expected: Value, seen: Value, expect: Result<(), &str>| {
            let result = compare(&expected, &seen, &mut Names::new());
            assert_eq!(result, expect.map_err(str::to_owned), "{expected} {seen}");
        };
        check(json!({"a": 1}), json!({"a": 1}), Ok(()));
        check(json!({"a": 1}), json!({"a": 1, "params": {}}), Err("`/params` was not expected"));
        check(json!({"a": 1, REST: null}), json!({"a": 1, "params": {}}), Ok(()));
        check(json!({"a": 1, REST: null}), json!({}), Err("`/a` is missing"));
        check(json!({"a": {"b": 1}}), json!({"a": {"b": 1.0}}), Err("`/a/b` differs"));
        check(json!({"a": 1}), json!({"a": "1"}), Err("`/a` differs"));
        check(json!({"a": ANY}), json!({"a": [1, 2]}), Ok(()));
        check(json!({"a": ANY}), json!({}), Err("`/a` is missing"));
        check(json!([1, ANY]), json!([1]), Err("`` differs"));
        check(json!([1, 2]), json!([1, 3]), Err("`/1` differs"));
        check(json!(["\0bind x", "\0bind x"]), json!([1, 1]), Ok(()));
        check(json!(["\0bind x", "\0bind x"]), json!([1, 2]), Err("`/1`: `$x` is 1, seen 2"));
    }
}
