//! The file as a tree: JSON with comments, each node with its position in the text.
//!
//! A duplicate key is an error anywhere in the file, because two readers may disagree on which one they take.

use std::collections::HashSet;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use rootward_core::{Shown, parser_message};

use super::error::ConfigError;

/// The largest file that is read, in bytes. Some clients keep their whole history in this file.
pub const LONGEST: usize = 8 << 20;

/// How similar two names must be to suggest one for the other.
const ALIKE: f64 = 0.8;

/// JSON with comments and trailing commas, but no other JSON5 extensions.
const JSON: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Parses a text and passes the root node to `read`. The parser rejects more than 512 levels.
pub(super) fn with_top<T>(
    text: &str,
    read: impl FnOnce(&Node<'_, '_>) -> Result<T, ConfigError>,
) -> Result<T, ConfigError> {
    if text.len() > LONGEST {
        let says = format!("the file is larger than {} MiB", LONGEST >> 20);
        return Err(ConfigError::at(text, 0, says, "keep the servers in a file of their own"));
    }
    // Some Windows editors write a byte order mark, which JSON does not allow.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = parse_to_ast(text, &CollectOptions::default(), &JSON).map_err(|error| {
        let says = parser_message::json(&error.kind().to_string());
        ConfigError::at(
            text,
            error.range().start,
            says,
            "the file must be JSON; comments and trailing commas are allowed",
        )
    })?;
    let Some(value) = parsed.value else {
        return Err(ConfigError::at(text, 0, "the file is empty", r#"write `{"mcpServers": {}}` for no servers"#));
    };
    // SECURITY: readers differ in which of two duplicate keys they take, so the reviewed value might not be the one
    // used
    // (test: duplicate_keys_are_refused_everywhere)
    refuse_duplicates(text, &value)?;
    read(&Node { value: &value, text, key: String::new() })
}

fn refuse_duplicates(text: &str, value: &Value<'_>) -> Result<(), ConfigError> {
    match value {
        Value::Object(object) => {
            let mut seen = HashSet::new();
            for property in &object.properties {
                let name = property.name.as_str();
                if !seen.insert(name) {
                    let says = format!("duplicate key `{}`", Shown::new(name));
                    return Err(ConfigError::at(text, property.range.start, says, "keep one of the two"));
                }
                refuse_duplicates(text, &property.value)?;
            }
            Ok(())
        }
        Value::Array(list) => list.elements.iter().try_for_each(|element| refuse_duplicates(text, element)),
        _ => Ok(()),
    }
}

/// A value with its position and its full key for messages: `rootward.tools.allow`.
#[derive(Clone, Debug)]
pub(super) struct Node<'n, 't> {
    value: &'n Value<'t>,
    text: &'n str,
    key: String,
}

impl<'n, 't> Node<'n, 't> {
    /// An error at this value.
    pub(super) fn wrong(&self, says: impl Into<String>, hint: impl Into<String>) -> ConfigError {
        ConfigError::at(self.text, self.value.range().start, says, hint)
    }

    pub(super) fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self.value, Value::NullKeyword(_))
    }

    pub(super) fn is_object(&self) -> bool {
        matches!(self.value, Value::Object(_))
    }

    fn kind(&self) -> &'static str {
        match self.value {
            Value::StringLit(_) => "a string",
            Value::NumberLit(_) => "a number",
            Value::BooleanLit(_) => "a boolean",
            Value::Object(_) => "an object",
            Value::Array(_) => "a list",
            Value::NullKeyword(_) => "`null`",
        }
    }

    /// The value has the wrong type.
    pub(super) fn mistyped(&self, expected: &str) -> ConfigError {
        let found = self.kind();
        let says = match self.key.as_str() {
            "" => format!("expected {expected}, found {found}"),
            key => format!("`{}`: expected {expected}, found {found}", Shown::new(key)),
        };
        let hint = match self.value {
            Value::NullKeyword(_) => "remove the key to use the default".to_owned(),
            Value::NumberLit(_) | Value::BooleanLit(_) if expected == "a string" => "put it in quotes".to_owned(),
            Value::StringLit(_) if expected == "a list" => "put it in brackets: `[\"…\"]`".to_owned(),
            _ => format!("write {expected}"),
        };
        self.wrong(says, hint)
    }

    pub(super) fn section(&self) -> Result<Section<'n, 't>, ConfigError> {
        match self.value {
            Value::Object(object) => Ok(Section { object, text: self.text, key: self.key.clone() }),
            _ => Err(self.mistyped("an object")),
        }
    }

    pub(super) fn string(&self) -> Result<&'n str, ConfigError> {
        match self.value {
            Value::StringLit(string) => Ok(&string.value),
            _ => Err(self.mistyped("a string")),
        }
    }

    /// A string, or a number as written.
    pub(super) fn string_or_number(&self) -> Result<&'n str, ConfigError> {
        match self.value {
            Value::NumberLit(number) => Ok(number.value),
            _ => self.string(),
        }
    }

    pub(super) fn boolean(&self) -> Result<bool, ConfigError> {
        match self.value {
            Value::BooleanLit(boolean) => Ok(boolean.value),
            _ => Err(self.mistyped("a boolean")),
        }
    }

    /// An integer from 1 to `most`.
    pub(super) fn count(&self, most: u64) -> Result<u64, ConfigError> {
        let Value::NumberLit(number) = self.value else { return Err(self.mistyped("a number")) };
        let is_plain = number.value.bytes().all(|byte| byte.is_ascii_digit());
        let read = number.value.parse().ok().filter(|count| is_plain && (1..=most).contains(count));
        read.ok_or_else(|| {
            let says = format!("`{}`: `{}` is out of range", Shown::new(&self.key), number.value);
            self.wrong(says, format!("write a whole number from 1 to {most}"))
        })
    }

    pub(super) fn list(&self) -> Result<Vec<Node<'n, 't>>, ConfigError> {
        let Value::Array(list) = self.value else { return Err(self.mistyped("a list")) };
        Ok(list.elements.iter().map(|value| Node { value, text: self.text, key: self.key.clone() }).collect())
    }

    /// One of a set of words.
    pub(super) fn word<T: Copy>(&self, words: &[(T, &str)]) -> Result<T, ConfigError> {
        let string = self.string()?;
        match words.iter().find(|(_, word)| *word == string) {
            Some((value, _)) => Ok(*value),
            None => {
                let says = format!("`{}`: unknown value `{}`", Shown::new(&self.key), Shown::new(string));
                let known: Vec<&str> = words.iter().map(|(_, word)| *word).collect();
                Err(self.wrong(says, offered(string, "use", &known)))
            }
        }
    }
}

/// An object.
#[derive(Clone, Debug)]
pub(super) struct Section<'n, 't> {
    object: &'n Object<'t>,
    text: &'n str,
    key: String,
}

impl<'n, 't> Section<'n, 't> {
    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<Node<'n, 't>> {
        let property = self.object.properties.iter().find(|property| property.name.as_str() == key)?;
        Some(Node { value: &property.value, text: self.text, key: self.below(key) })
    }

    /// The value of a key that clients also write: `null` counts as absent.
    pub(super) fn given(&self, key: &str) -> Option<Node<'n, 't>> {
        self.get(key).filter(|node| !node.is_null())
    }

    /// All keys with their values.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'n str, Node<'n, 't>)> {
        self.object.properties.iter().map(|property| {
            let name = property.name.as_str();
            (name, Node { value: &property.value, text: self.text, key: self.below(name) })
        })
    }

    pub(super) fn len(&self) -> usize {
        self.object.properties.len()
    }

    /// An error at a key of this object.
    pub(super) fn wrong_key(&self, key: &str, says: impl Into<String>, hint: impl Into<String>) -> ConfigError {
        let property = self.object.properties.iter().find(|property| property.name.as_str() == key);
        let offset = property.map_or(self.object.range.start, |property| property.range.start);
        ConfigError::at(self.text, offset, says, hint)
    }

    /// An error about the object as a whole.
    pub(super) fn wrong(&self, says: impl Into<String>, hint: impl Into<String>) -> ConfigError {
        ConfigError::at(self.text, self.object.range.start, says, hint)
    }

    /// Rejects all other keys.
    pub(super) fn allow_only(&self, known: &[&str]) -> Result<(), ConfigError> {
        match self.entries().find(|(name, _)| !known.contains(name)) {
            None => Ok(()),
            Some((name, node)) => {
                let says = format!("unknown key `{}`", Shown::new(node.key()));
                Err(self.wrong_key(name, says, offered(name, "known keys:", known)))
            }
        }
    }

    /// Rejects a misspelling of this key, which would otherwise be ignored as a client's own key.
    pub(super) fn refuse_misspelt(&self, key: &str) -> Result<(), ConfigError> {
        let is_close = |name: &str| {
            let name = name.to_lowercase();
            strsim::osa_distance(&name, key) <= 2
        };
        match self.entries().find(|(name, _)| *name != key && is_close(name)) {
            None => Ok(()),
            Some((name, _)) => {
                let says = format!("unknown key `{}`", Shown::new(name));
                Err(self.wrong_key(name, says, format!("did you mean `{key}`?")))
            }
        }
    }

    fn below(&self, key: &str) -> String {
        if self.key.is_empty() { key.to_owned() } else { format!("{}.{key}", self.key) }
    }

    /// The same object under another key in messages.
    pub(super) fn called(self, key: &str) -> Section<'n, 't> {
        Section { key: key.to_owned(), ..self }
    }
}

/// A hint that lists the known names and suggests the closest one.
fn offered(wanted: &str, verb: &str, known: &[&str]) -> String {
    let wanted = wanted.get(..64).unwrap_or(wanted).to_lowercase();
    let likeness = |name: &str| strsim::jaro_winkler(&wanted, &name.to_lowercase());
    let nearest = known.iter().map(|name| (likeness(name), *name)).max_by(|one, other| one.0.total_cmp(&other.0));
    let all = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match nearest {
        Some((likeness, name)) if likeness >= ALIKE => format!("did you mean `{name}`? {verb} {all}"),
        _ => format!("{verb} {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(with_top(text, |_| Ok(())).unwrap_err().to_string(), expect, "{text}");
    }

    #[test]
    fn a_syntax_error_has_its_position() {
        check("", "line 1, column 1: the file is empty");
        check("// nothing\n", "line 1, column 1: the file is empty");
        check("{\n  \"ä\": 'x'}", "line 2, column 8: single-quoted strings are not allowed");
        check("{\"a\" 1}", "line 1, column 6: expected colon after the string or word in object property");
        check("{} {}", "line 1, column 4: text cannot contain more than one JSON value");
        check("{a: 1}", "line 1, column 2: expected string for object property");
    }

    #[test]
    fn duplicate_keys_are_refused_everywhere() {
        check("{\"a\": 1,\n \"a\": 2}", "line 2, column 2: duplicate key `a`");
        check(r#"{"a": 1, "\u0061": 2}"#, "line 1, column 10: duplicate key `a`");
        check(r#"{"projects": [{"x": {"b": 1, "b": 1}}]}"#, "line 1, column 30: duplicate key `b`");
        check(r#"{"a\u001b": 1, "a\u001b": 2}"#, "line 1, column 16: duplicate key `a\\u{1b}`");
    }

    #[test]
    fn hostile_texts_end_in_an_error() {
        for text in ["[".repeat(1 << 20), "{\"a\":".repeat(1 << 18), "[".repeat(600) + &"]".repeat(600)] {
            let error = with_top(&text, |_| Ok(())).unwrap_err();
            assert_eq!(error.says, "maximum nesting depth exceeded");
        }
        let large = " ".repeat(LONGEST + 1);
        assert_eq!(with_top(&large, |_| Ok(())).unwrap_err().says, "the file is larger than 8 MiB");
    }

    #[test]
    fn the_nearest_name_is_offered() {
        assert_eq!(
            offered("isolaton", "known keys:", &["roots", "isolation"]),
            "did you mean `isolation`? known keys: `roots`, `isolation`"
        );
        assert_eq!(offered("zzz", "use", &["roots", "none"]), "use `roots`, `none`");
    }
}
