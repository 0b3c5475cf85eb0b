//! Finds entries and their words in TOML.

use std::ops::Range;

use toml_edit::{Array, Decor, Document, DocumentMut, Item, Key, Table, TableLike, Value};

use super::swap::{NO_ENTRY, NO_TABLE};
use super::{EditError, Entry, Keys, Word, Written};
use crate::import::CommandShape;

/// A parsed text.
pub(in crate::adopt) struct Parsed<'t>(Document<&'t str>);

impl<'t> Parsed<'t> {
    pub(super) fn read(text: &'t str) -> Result<Parsed<'t>, EditError> {
        Document::parse(text).map(Parsed).map_err(|_| EditError::Damaged)
    }
}

pub(super) fn literal(word: &str) -> String {
    Value::from(word).to_string().trim().to_owned()
}

const NO_PLACE: EditError = EditError::Unclear("its position in the file is not known");

pub(super) fn entry(
    text: &str,
    parsed: &Parsed<'_>,
    place: &[String],
    shape: CommandShape,
) -> Result<Option<Entry>, EditError> {
    let mut item = parsed.0.as_item();
    for key in place {
        let Some(next) = item.as_table_like().and_then(|table| table.get(key)) else { return Ok(None) };
        item = next;
    }
    let Some(table) = item.as_table_like() else { return Ok(None) };
    let keys = Keys::of(shape, false);
    let Some((key, Item::Value(Value::String(program)))) = table.get_key_value(keys.program) else { return Ok(None) };
    let range = program.span().ok_or(NO_PLACE)?;
    let inline = item.is_inline_table();
    let arguments_key = keys.arguments.unwrap_or_default();
    let (arguments, cut) = match table.get_key_value(arguments_key) {
        None | Some((_, Item::None)) => (Written::Missing, None),
        Some((key, Item::Value(Value::Array(list)))) => {
            let range = list.span().ok_or(NO_PLACE)?;
            let key = key.span().ok_or(NO_PLACE)?;
            let cut = if inline { within_line(text, table, &key, &range) } else { line(text, &key, &range) };
            (Written::List { range, items: items(list)? }, cut)
        }
        Some(_) => return Err(EditError::Unclear("`args` is not a list")),
    };
    let addition = if inline { (range.end, ", args = ".to_owned()) } else { below(text, key, &range)? };
    Ok(Some(Entry { program: Some((range, program.value().clone())), arguments, property: cut, addition }))
}

fn items(list: &Array) -> Result<Vec<Word>, EditError> {
    let item = |value: &Value| match value {
        Value::String(word) => Ok((word.span().ok_or(NO_PLACE)?, word.value().clone())),
        _ => Err(EditError::Unclear("an argument is not a string")),
    };
    list.iter().map(item).collect()
}

/// A line for arguments below that of the program. Its key gets the same prefix as the program's: blanks, or dotted
/// keys.
fn below(text: &str, key: &Key, program: &Range<usize>) -> Result<(usize, String), EditError> {
    let key = key.span().ok_or(NO_PLACE)?;
    let start = line_start(text, key.start);
    let rest = text[program.end..].find('\n').unwrap_or(text.len() - program.end);
    let end = program.end + rest;
    let has_return = text[..end].ends_with('\r') && end < text.len();
    let (end, newline) = if has_return { (end - 1, "\r\n") } else { (end, "\n") };
    Ok((end, format!("{newline}{}args = ", &text[start..key.start])))
}

fn line_start(text: &str, position: usize) -> usize {
    text[..position].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The whole line of a key, including the preceding line ending.
fn line(text: &str, key: &Range<usize>, value: &Range<usize>) -> Option<Range<usize>> {
    let start = line_start(text, key.start);
    let before = text[..start].strip_suffix("\r\n").or_else(|| text[..start].strip_suffix('\n'));
    match before {
        Some(before) => Some(before.len()..value.end),
        None => {
            let end = text[value.end..].find('\n').map_or(text.len(), |newline| value.end + newline + 1);
            text[value.end..end].trim().is_empty().then_some(start..end)
        }
    }
}

/// A key in an inline table, with the comma before or after it.
fn within_line(text: &str, table: &dyn TableLike, key: &Range<usize>, value: &Range<usize>) -> Option<Range<usize>> {
    let names = table.iter().filter_map(|(name, _)| table.key(name)?.span());
    let ends = table.iter().filter_map(|(_, item)| item.span()).map(|span| span.end);
    let before = ends.filter(|end| *end <= key.start).max();
    let next = names.map(|span| span.start).filter(|start| *start >= value.end).min();
    let plain = |range: Range<usize>| (!text[range.clone()].contains('#')).then_some(range);
    match (before, next) {
        (Some(before), _) => plain(before..key.start).map(|_| before..value.end),
        (None, Some(next)) => plain(value.end..next).map(|_| key.start..next),
        (None, None) => Some(key.start..value.end),
    }
}

fn editable(text: &str) -> Result<DocumentMut, EditError> {
    text.parse().map_err(|_| EditError::Damaged)
}

/// The table at a place.
fn table<'d>(document: &'d mut DocumentMut, place: &[String]) -> Result<&'d mut Table, EditError> {
    let mut table = document.as_table_mut();
    for key in place {
        let Some(Item::Table(next)) = table.get_mut(key) else { return Err(NO_TABLE) };
        table = next;
    }
    Ok(table)
}

/// These entries of a table, as a document of their own.
pub(super) fn taken(text: &str, place: &[String], names: &[String]) -> Result<String, EditError> {
    let mut document = editable(text)?;
    let table = table(&mut document, place)?;
    let mut taken = DocumentMut::new();
    for name in names {
        taken.insert(name, table.remove(name).ok_or(NO_ENTRY)?);
    }
    Ok(taken.to_string())
}

/// The text with some entries of a table replaced by those of the document `new`.
pub(super) fn swapped(text: &str, place: &[String], gone: &[String], new: &str) -> Result<String, EditError> {
    let (mut document, added) = (editable(text)?, editable(new)?);
    let table = table(&mut document, place)?;
    let mut first: Option<(Option<isize>, Decor)> = None;
    for name in gone {
        let entry = table.remove(name).ok_or(NO_ENTRY)?;
        if let Item::Table(entry) = entry {
            first.get_or_insert_with(|| (entry.position(), entry.decor().clone()));
        }
    }
    let (position, mut decor) = first.map_or((None, None), |(position, decor)| (position, Some(decor)));
    for (name, entry) in added.iter() {
        if table.contains_key(name) {
            continue;
        }
        let mut entry = entry.clone();
        put_at(&mut entry, position);
        if let Item::Table(entry) = &mut entry {
            // Keep a comment above the removed entries, unless the new one has its own.
            let above = decor.take().unwrap_or_else(|| Decor::new("\n", ""));
            if entry.decor().prefix().and_then(|prefix| prefix.as_str()).is_none_or(str::is_empty) {
                *entry.decor_mut() = above;
            }
        }
        table.insert(name, entry);
    }
    let edited = document.to_string();
    // The writer uses one line ending everywhere.
    let is_dos = text.contains("\r\n");
    Ok(if is_dos { edited.replace("\r\n", "\n").replace('\n', "\r\n") } else { edited })
}

/// Moves tables to a position in the document.
fn put_at(item: &mut Item, position: Option<isize>) {
    if let Item::Table(table) = item {
        table.set_position(position);
        for (_, nested) in table.iter_mut() {
            put_at(nested, position);
        }
    }
}
