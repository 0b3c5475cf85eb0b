//! Compares the scanner with a naive walk over parsed values that follows the same rules.

use proptest::prelude::*;
use rootward_hub::scan::{Call, KeySays, key_says, scan};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

/// Keys of all kinds.
pub(crate) fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "path", "filePaths", "FILE", "source", "uri", "content", "file_text", "json", "query", "name", "x", "data", "dir", "a\"b\\c", "é", "",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

/// Relevant strings, with all escapes.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "/",
        "..",
        ".",
        "~",
        "\\",
        "etc",
        "passwd",
        "%2f",
        "%2e",
        "$HOME",
        "${HOME}",
        "file:",
        "//",
        "http:",
        " ",
        "\t",
        "\n",
        "\0",
        "\"",
        "'",
        ",",
        ":",
        "=",
        "*",
        "{",
        "}",
        "[",
        "]",
        "C:",
        "é",
        "\u{ff0f}",
        "\u{1f600}",
        "a",
        "-",
        "@",
    ]);
    prop_oneof![
        8 => prop::collection::vec(pieces, 0..8).prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
    ]
}

/// Arguments of a call.
pub(crate) fn arguments() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![4 => text().prop_map(Value::from), 1 => any::<i32>().prop_map(Value::from), 1 => Just(Value::Null)];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(key(), inner, 0..5).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Every string, by recursion over values, that is a path by key or value alone under the simplest form of the rules.
pub(crate) fn expected(value: &Value, key: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => {
            let lines = text.trim().contains(['\n', '\r']);
            let looks =
                ["/", "~/", "./", "../", "\\\\", "file://", "C:/", "C:\\"].iter().any(|start| text.starts_with(start));
            // A list or object as text that leads nowhere: its contents are checked instead.
            let is_json = ["{", "["].iter().any(|start| text.trim().starts_with(start))
                && !["..", "%", "$"].iter().any(|climb| text.contains(climb))
                && serde_json::from_str::<Value>(text.trim()).is_ok();
            let is_path = !is_json
                && match key_says(key) {
                    KeySays::Path => true,
                    KeySays::Place => !lines,
                    KeySays::Nothing | KeySays::Document => !lines && looks,
                    KeySays::Text | KeySays::Pattern => false,
                };
            if is_path {
                found.push((key.to_owned(), text.clone()));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| expected(item, key, found)),
        Value::Object(members) => members.iter().for_each(|(key, member)| expected(member, key, found)),
        _ => {}
    }
}

/// What the scanner finds.
pub(crate) fn found(arguments: &Value) -> Vec<(String, String)> {
    let mut params = Map::new();
    params.insert("arguments".to_owned(), arguments.clone());
    params.insert("name".to_owned(), json!("tool"));
    let params = to_raw_value(&params).unwrap();
    let mut found = Vec::new();
    scan(&Call { method: "tools/call", params: Some(&params), tool: None }, &mut |candidate| {
        found.push((candidate.key.into_owned(), candidate.text.into_owned()));
    })
    .unwrap();
    found
}

/// Everything expected is found, in order. Anything else that is found is text that is not plain, or a key.
pub(crate) fn agrees(arguments: &Value) -> Result<(), TestCaseError> {
    let mut wanted = Vec::new();
    expected(arguments, "arguments", &mut wanted);
    let found = found(arguments);
    let mut rest = found.iter();
    for one in &wanted {
        prop_assert!(rest.any(|other| other == one), "{one:?} is missing in {found:?} of {arguments}");
    }
    Ok(())
}

proptest! {
    #[test]
    fn nothing_is_missed_that_a_naive_walk_finds(arguments in arguments()) {
        agrees(&arguments)?;
    }

    #[test]
    fn plain_text_under_plain_keys_is_never_found(arguments in prop::collection::btree_map("[m-o]{1,4}", "[a-z0-9 +:;,]{0,12}", 0..6)) {
        let arguments: Value = arguments.into_iter().collect();
        prop_assert_eq!(found(&arguments), vec![]);
    }
}
