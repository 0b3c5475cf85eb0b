//! The text inside a JSON value, at any depth.

use serde_json::Value;

/// All strings in a value, one per line. Strings that contain JSON are parsed as well, because hosts put results into strings.
pub(in super::super) fn words(value: &Value) -> String {
    let mut found = Vec::new();
    collect(value, &mut found);
    found.join("\n")
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ (Value::Object(_) | Value::Array(_))) => collect(&inner, found),
            _ => found.push(text.clone()),
        },
        Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
        Value::Object(members) => members.values().for_each(|value| collect(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strings_in_nested_json_are_found() {
        let check = |value: Value, expect: &str| assert_eq!(words(&value), expect, "{value}");
        check(json!("plain"), "plain");
        check(json!([{"text": "one"}, 2, null, "two"]), "one\ntwo");
        check(json!({"output": r#"{"content": [{"text": "a \"b\""}]}"#}), "a \"b\"");
        check(json!("12"), "12");
    }
}
