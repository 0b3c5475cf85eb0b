//! JSON with or without comments, as manifests and editors write it.

use jsonc_parser::{JsonObject, JsonValue, ParseOptions, parse_to_value};

/// Parses a text as an object; `None` if it is anything else, or is nested deeper than 512.
pub(super) fn object(text: &str) -> Option<JsonObject<'_>> {
    match parse_to_value(text, &ParseOptions::default()) {
        Ok(Some(JsonValue::Object(object))) => Some(object),
        _ => None,
    }
}

/// The key `name`, which most manifests have.
pub(super) fn name<'o>(object: &'o JsonObject<'_>) -> Option<&'o str> {
    object.get_string("name").map(AsRef::as_ref)
}

/// The strings in the list under this key.
pub(super) fn strings<'o>(object: &'o JsonObject<'_>, key: &str) -> Option<Vec<&'o str>> {
    let array = object.get_array(key)?;
    let string = |value: &'o JsonValue<'_>| match value {
        JsonValue::String(text) => Some(text.as_ref()),
        _ => None,
    };
    Some(array.iter().filter_map(string).collect())
}
