//! Finds entries and their words in JSON, with or without comments.

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};

use super::swap::{INSEPARABLE, NO_ENTRY, NO_TABLE};
use super::{EditError, Entry, Keys, Splice, Word, Written};
use crate::import::{CommandShape, JSON};

/// A parsed text; `None` if it is empty.
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
    let Some(mut object) = object(parsed, place)?.cloned() else { return Ok(None) };
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
    let addition = format!("{}\"args\": ", between(text, program.range.start));
    Ok(Some(Entry {
        program: Some((range.start..range.end, word.value.to_string())),
        arguments,
        property: cut,
        addition: (range.end, addition),
    }))
}

/// The object at a path of keys.
fn object<'p, 't>(parsed: &'p Parsed<'t>, place: &[String]) -> Result<Option<&'p Object<'t>>, EditError> {
    let Some(mut value) = parsed.0.as_ref() else { return Ok(None) };
    for key in place {
        let Value::Object(object) = value else { return Ok(None) };
        let Some(property) = property(object, key)? else { return Ok(None) };
        value = &property.value;
    }
    match value {
        Value::Object(object) => Ok(Some(object)),
        _ => Ok(None),
    }
}

/// The separator between the property that starts here and a new one after it: a new line if this one has its own
/// line.
fn between(text: &str, start: usize) -> String {
    let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    if line == 0 || !text[line..start].chars().all(char::is_whitespace) {
        return ", ".to_owned();
    }
    let newline = if text[..line].ends_with("\r\n") { "\r\n" } else { "\n" };
    format!(",{newline}{}", &text[line..start])
}

/// These entries of a table, as an object of their own.
pub(super) fn taken(text: &str, parsed: &Parsed<'_>, table: &[String], names: &[String]) -> Result<String, EditError> {
    let object = object(parsed, table)?.ok_or(NO_TABLE)?;
    let one = |name: &String| property(object, name)?.ok_or(NO_ENTRY).map(|found| written(text, found));
    let taken = names.iter().map(one).collect::<Result<Vec<&str>, EditError>>()?;
    Ok(format!("{{{}}}", taken.join(",\n")))
}

/// Replaces some entries of a table with those of the object `new`.
pub(super) fn swapped(
    text: &str,
    parsed: &Parsed<'_>,
    table: &[String],
    gone: &[String],
    new: &str,
) -> Result<Vec<Splice>, EditError> {
    let table = object(parsed, table)?.ok_or(NO_TABLE)?;
    let found = gone.iter().map(|name| property(table, name)?.ok_or(NO_ENTRY));
    let mut found = found.collect::<Result<Vec<&ObjectProp<'_>>, EditError>>()?;
    found.sort_by_key(|property| property.range.start);
    let Some((first, others)) = found.split_first() else { return Err(NO_ENTRY) };
    let added = Parsed::read(new)?;
    let added = object(&added, &[])?.ok_or(NO_TABLE)?;
    let mut texts = Vec::new();
    for property in &added.properties {
        let name = property.name.as_str();
        let is_kept = |known: &ObjectProp<'_>| known.name.as_str() == name && !gone.iter().any(|gone| gone == name);
        if !table.properties.iter().any(is_kept) {
            texts.push(written(new, property));
        }
    }
    let cut = |range: std::ops::Range<usize>| Splice { range, with: String::new() };
    let mut splices = vec![match texts[..] {
        [] => cut(without(text, table, first).ok_or(INSEPARABLE)?),
        _ => Splice { range: first.range.start..first.range.end, with: texts.join(&between(text, first.range.start)) },
    }];
    for property in others {
        let (start, end) = (property.range.start, property.range.end);
        let before = table.properties.iter().map(|other| other.range.end).filter(|end| *end <= start).max();
        let before = before.ok_or(INSEPARABLE)?;
        if text[before..start].contains('/') {
            // Keep a comment between the two, and the comma before it, if another comma can be cut.
            let next = table.properties.iter().find(|other| other.range.start >= end);
            let behind = match next {
                Some(next) if gone.iter().any(|gone| gone == next.name.as_str()) => None,
                next => comma(text, end, next.map_or(table.range.end, |next| next.range.start)),
            };
            let at = behind.or_else(|| comma(text, before, start)).ok_or(INSEPARABLE)?;
            splices.extend([cut(at..at + 1), cut(start..end)]);
        } else {
            splices.push(cut(before..end));
        }
    }
    Ok(splices)
}

fn written<'t>(text: &'t str, property: &ObjectProp<'_>) -> &'t str {
    &text[property.range.start..property.range.end]
}

/// The position of the comma between two properties. Comments may contain commas, too.
fn comma(text: &str, start: usize, end: usize) -> Option<usize> {
    let mut position = start;
    loop {
        let rest = text.get(position..end)?;
        position += match rest.chars().next()? {
            ',' => return Some(position),
            '/' if rest.starts_with("//") => rest.find('\n')?,
            '/' => rest.find("*/")? + 2,
            other => other.len_utf8(),
        };
    }
}

/// The property of this name.
fn property<'o, 't>(object: &'o Object<'t>, key: &str) -> Result<Option<&'o ObjectProp<'t>>, EditError> {
    let mut found = object.properties.iter().filter(|property| property.name.as_str() == key);
    let first = found.next();
    // SECURITY: clients differ in which of two duplicate keys they read, so the other one would start unconfined
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

/// What to cut to remove a property from an object: including the comma before or after it.
fn without(text: &str, object: &Object<'_>, cut: &ObjectProp<'_>) -> Option<std::ops::Range<usize>> {
    let position = object.properties.iter().position(|property| property.range == cut.range)?;
    let next = object.properties.get(position + 1);
    match (position.checked_sub(1).map(|before| &object.properties[before]), next) {
        (Some(before), _) if !text[before.range.end..cut.range.start].contains('/') => {
            Some(before.range.end..cut.range.end)
        }
        // There is a comment between them.
        (_, Some(next)) if !text[cut.range.end..next.range.start].contains('/') => {
            Some(cut.range.start..next.range.start)
        }
        (_, Some(_)) => None,
        (_, None) => Some(cut.range.start..cut.range.end),
    }
}
