//! Where an entry's words are in TOML.

use std::ops::Range;

use toml_edit::{Array, Document, Item, Key, TableLike, Value};

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

const NO_PLACE: EditError = EditError::Unclear("its place in the text is not known");

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

/// A line for arguments below that of the program. Before its last key comes what comes before the program's: blanks, or keys with dots.
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

/// The whole line of a key, with the end of the line before it.
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

/// A key in an inline table, with the comma before it, or the one behind it.
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
