//! Where an entry's words are in JSON, with or without comments.

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};

use super::{EditError, Entry, Keys, Word, Written};
use crate::import::{CommandShape, JSON};

/// A parsed text; none where it is empty.
pub(in crate::adopt) struct Parsed<'t>(Option<Value<'t>>);

impl<'t> Parsed<'t> {
    pub(super) fn read(text: &'t str) -> Result<Parsed<'t>, EditError> {
        let parsed = parse_to_ast(text, &CollectOptions::default(), &JSON).map_err(|_| EditError::Damaged)?;
        Ok(Parsed(parsed.value))
    }
}

pub(super) fn literal(word: &str) -> String {
    serde_json::Value::from(word).to_string()
}

pub(super) fn entry(
    text: &str,
    parsed: &Parsed<'_>,
    place: &[String],
    shape: CommandShape,
) -> Result<Option<Entry>, EditError> {
    let Some(mut value) = parsed.0.as_ref() else { return Ok(None) };
    for key in place {
        let Value::Object(object) = value else { return Ok(None) };
        let Some(property) = property(object, key)? else { return Ok(None) };
        value = &property.value;
    }
    let Value::Object(mut object) = value.clone() else { return Ok(None) };
    let mut is_table = false;
    if shape == CommandShape::Table
        && let Some(ObjectProp { value: Value::Object(table), .. }) = property(&object, "command")?
    {
        object = table.clone();
        is_table = true;
    }
    of_object(text, &object, Keys::of(shape, is_table))
}

fn of_object(text: &str, object: &Object<'_>, keys: Keys) -> Result<Option<Entry>, EditError> {
    let Some(program) = property(object, keys.program)? else { return Ok(None) };
    let range = program.value.range();
    let Some(arguments) = keys.arguments else {
        let Value::Array(list) = &program.value else { return Ok(None) };
        let arguments = Written::List { range: range.start..range.end, items: items(list)? };
        return Ok(Some(Entry { program: None, arguments, property: None, addition: (0, String::new()) }));
    };
    let Value::StringLit(word) = &program.value else { return Ok(None) };
    let (arguments, cut) = match property(object, arguments)? {
        None => (Written::Missing, None),
        Some(ObjectProp { value: Value::NullKeyword(null), .. }) => {
            (Written::Null(null.range.start..null.range.end), None)
        }
        Some(written @ ObjectProp { value: Value::Array(list), .. }) => {
            let range = list.range.start..list.range.end;
            (Written::List { range, items: items(list)? }, without(text, object, written))
        }
        Some(_) => return Err(EditError::Unclear("`args` is not a list")),
    };
    let start = program.range.start;
    let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let addition = if line > 0 && text[line..start].chars().all(char::is_whitespace) {
        let newline = if text[..line].ends_with("\r\n") { "\r\n" } else { "\n" };
        format!(",{newline}{}\"args\": ", &text[line..start])
    } else {
        ", \"args\": ".to_owned()
    };
    Ok(Some(Entry {
        program: Some((range.start..range.end, word.value.to_string())),
        arguments,
        property: cut,
        addition: (range.end, addition),
    }))
}

/// The property of this name.
fn property<'o, 't>(object: &'o Object<'t>, key: &str) -> Result<Option<&'o ObjectProp<'t>>, EditError> {
    let mut found = object.properties.iter().filter(|property| property.name.as_str() == key);
    let first = found.next();
    // SECURITY: clients differ in which of two equal keys they read: the other one would start unheld
    // (test: duplicate_keys_are_left_alone)
    if found.next().is_some() {
        return Err(EditError::Duplicate(key.to_owned()));
    }
    Ok(first)
}

fn items(list: &Array<'_>) -> Result<Vec<Word>, EditError> {
    let item = |value: &Value<'_>| match value {
        Value::StringLit(word) => Ok((word.range.start..word.range.end, word.value.to_string())),
        _ => Err(EditError::Unclear("an argument is not a string")),
    };
    list.elements.iter().map(item).collect()
}

/// What is cut out of an object to be without a property: the comma before it, too, or the one behind it.
fn without(text: &str, object: &Object<'_>, cut: &ObjectProp<'_>) -> Option<std::ops::Range<usize>> {
    let position = object.properties.iter().position(|property| property.range == cut.range)?;
    let next = object.properties.get(position + 1);
    match (position.checked_sub(1).map(|before| &object.properties[before]), next) {
        (Some(before), _) if !text[before.range.end..cut.range.start].contains('/') => {
            Some(before.range.end..cut.range.end)
        }
        // A comment stands between them.
        (_, Some(next)) if !text[cut.range.end..next.range.start].contains('/') => {
            Some(cut.range.start..next.range.start)
        }
        (_, Some(_)) => None,
        (_, None) => Some(cut.range.start..cut.range.end),
    }
}
