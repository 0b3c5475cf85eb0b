//! JSON with or without comments, as manifests and editors write it.

use jsonc_parser::{JsonObject, JsonValue, ParseOptions, parse_to_value};

/// The object that a text is; none where it is none. Nested deeper than 512 it is no object, either.
pub(super) fn object(text: &str) -> Option<JsonObject<'_>> {
    match parse_to_value(text, &ParseOptions::default()) {
        Ok(Some(JsonValue::Object(object))) => Some(object),
        _ => None,
    }
}

/// The name that most manifests have.
pub(super) fn name<'o>(object: &'o JsonObject<'_>) -> Option<&'o str> {
    object.get_string("name").map(AsRef::as_ref)
}

/// The strings of a list of that key.
pub(super) fn strings<'o>(object: &'o JsonObject<'_>, key: &str) -> Option<Vec<&'o str>> {
    let array = object.get_array(key)?;
    let string = |value: &'o JsonValue<'_>| match value {
        JsonValue::String(text) => Some(text.as_ref()),
        _ => None,
    };
    Some(array.iter().filter_map(string).collect())
}
