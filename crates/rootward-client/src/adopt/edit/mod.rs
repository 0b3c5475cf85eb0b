//! Edits the words of servers' commands in a file's text, or replaces servers with others (`swap.rs`), and changes
//! nothing else.
//!
//! JSON and TOML only differ in how the words are found; the edit is the same for both. Afterwards the new text is
//! parsed again: it must say the same as the old one, except for the intended changes.

mod json;
mod same;
mod swap;
mod toml;

use std::ops::Range;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::import::{CommandShape, Form, Node};

pub(super) use swap::{swap, taken};

/// Why an entry cannot be edited.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum EditError {
    /// Duplicate key; clients differ in which one they read.
    #[error("duplicate key `{0}`")]
    Duplicate(String),
    /// It is not written in a way that can be edited.
    #[error("{0}")]
    Unclear(&'static str),
    /// The text is not of its format.
    #[error("not readable")]
    Damaged,
}

/// How an entry wrote its arguments before it was wrapped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arguments {
    /// As a list.
    List,
    /// Not at all.
    Missing,
    /// As `null`.
    Null,
}

/// What to do with an entry's words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change<'c> {
    /// Insert these before them.
    Put(&'c [String]),
    /// Remove this many from the start; write the arguments as they were before.
    Take(usize, Arguments),
}

/// A range of the text and the string that it encodes.
type Word = (Range<usize>, String);

/// An entry's words, and where they are in the text.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Entry {
    /// The program; `None` if it is the first of the list.
    program: Option<Word>,
    arguments: Written,
    /// What to cut to remove the arguments.
    property: Option<Range<usize>>,
    /// Where to add arguments, and the text before their list.
    addition: (usize, String),
}

/// The arguments in the text.
#[derive(PartialEq, Eq, Debug)]
enum Written {
    List { range: Range<usize>, items: Vec<Word> },
    Null(Range<usize>),
    Missing,
}

impl Entry {
    /// The program and its arguments.
    pub(super) fn words(&self) -> Vec<String> {
        let program = self.program.iter().map(|(_, program)| program.clone());
        program.chain(self.items().iter().map(|(_, item)| item.clone())).collect()
    }

    /// How the arguments are written.
    pub(super) fn arguments(&self) -> Arguments {
        match self.arguments {
            Written::List { .. } => Arguments::List,
            Written::Null(_) => Arguments::Null,
            Written::Missing => Arguments::Missing,
        }
    }

    fn items(&self) -> &[Word] {
        match &self.arguments {
            Written::List { items, .. } => items,
            Written::Null(_) | Written::Missing => &[],
        }
    }

    /// What to cut from the text, and what to put there instead.
    fn splices(&self, text: &str, change: Change<'_>, literal: Literal) -> Result<Vec<Splice>, EditError> {
        match (change, &self.program) {
            (Change::Put(before), Some((range, _))) => {
                let [first, rest @ ..] = before else { return Ok(Vec::new()) };
                // Move the program as it is written.
                let program = text[range.clone()].to_owned();
                let words: Vec<String> = rest.iter().map(|word| literal(word)).chain([program]).collect();
                let program = Splice { range: range.clone(), with: literal(first) };
                Ok(vec![program, self.put(text, &words)])
            }
            (Change::Put(before), None) => {
                let words: Vec<String> = before.iter().map(|word| literal(word)).collect();
                Ok(vec![self.put(text, &words)])
            }
            (Change::Take(count, was), Some((range, _))) => {
                let (written, _) = count.checked_sub(1).and_then(|last| self.items().get(last)).ok_or(TOO_FEW)?;
                let program = Splice { range: range.clone(), with: text[written.clone()].to_owned() };
                Ok(vec![program, self.take(text, count, was)?])
            }
            (Change::Take(count, was), None) => Ok(vec![self.take(text, count, was)?]),
        }
    }

    /// Inserts words before the arguments.
    fn put(&self, text: &str, words: &[String]) -> Splice {
        let list = || format!("[{}]", words.join(", "));
        match &self.arguments {
            Written::List { range, items } => match items.first() {
                Some((first, _)) => {
                    let between = between(text, range, items);
                    let with = words.join(&between) + &between;
                    Splice { range: first.start..first.start, with }
                }
                None => Splice { range: range.start + 1..range.start + 1, with: words.join(", ") },
            },
            Written::Null(range) => Splice { range: range.clone(), with: list() },
            Written::Missing => {
                let (at, before) = &self.addition;
                Splice { range: *at..*at, with: format!("{before}{}", list()) }
            }
        }
    }

    /// Removes the first arguments.
    fn take(&self, text: &str, count: usize, was: Arguments) -> Result<Splice, EditError> {
        let Written::List { range, items } = &self.arguments else { return Err(TOO_FEW) };
        let (Some((first, _)), Some((last, _))) = (items.first(), items.last()) else { return Err(TOO_FEW) };
        let cut = |range: Range<usize>| Splice { range, with: String::new() };
        match (items.get(count), was) {
            (Some((next, _)), _) => Ok(cut(first.start..next.start)),
            (None, _) if items.len() < count => Err(TOO_FEW),
            (None, Arguments::List) => {
                // A comma after the last one would remain alone in the list.
                let behind = &text[last.end..range.end];
                let comma = behind.trim_start().starts_with(',').then(|| behind.find(',')).flatten();
                Ok(cut(first.start..last.end + comma.map_or(0, |comma| comma + 1)))
            }
            (None, Arguments::Null) => Ok(Splice { range: range.clone(), with: "null".to_owned() }),
            (None, Arguments::Missing) => self
                .property
                .clone()
                .map(cut)
                .ok_or(EditError::Unclear("its arguments cannot be removed without touching what is next to them")),
        }
    }
}

const TOO_FEW: EditError = EditError::Unclear("its command is not the one that was written");

/// The text between two items of a list, in its author's style.
fn between(text: &str, list: &Range<usize>, items: &[Word]) -> String {
    let Some((first, _)) = items.first() else { return ", ".to_owned() };
    let lead = &text[list.start + 1..first.start];
    if let Some(newline) = lead.rfind('\n') {
        let start = newline - usize::from(lead[..newline].ends_with('\r'));
        let indent =
            lead[newline + 1..].chars().take_while(|letter| letter.is_whitespace()).map(char::len_utf8).sum::<usize>();
        return format!(",{}", &lead[start..=newline + indent]);
    }
    match items.get(1) {
        Some((second, _)) if &text[first.end..second.start] == "," => ",".to_owned(),
        _ => ", ".to_owned(),
    }
}

/// A string literal in the format.
type Literal = fn(&str) -> String;

/// A replacement of a range of the text.
#[derive(PartialEq, Eq, Debug)]
struct Splice {
    range: Range<usize>,
    with: String,
}

/// A file's text, parsed.
pub(super) enum Document<'t> {
    Json(&'t str, json::Parsed<'t>),
    Toml(&'t str, toml::Parsed<'t>),
}

impl<'t> Document<'t> {
    pub(super) fn parse(form: Form, text: &'t str) -> Result<Document<'t>, EditError> {
        match form {
            Form::Codex => Ok(Document::Toml(text, toml::Parsed::read(text)?)),
            _ => Ok(Document::Json(text, json::Parsed::read(text)?)),
        }
    }

    /// The entry at a place; `None` if there is no entry.
    pub(super) fn entry(&self, form: Form, place: &[String]) -> Result<Option<Entry>, EditError> {
        let shape = form.command_shape();
        match self {
            Document::Json(text, parsed) => json::entry(text, parsed, place, shape),
            Document::Toml(text, parsed) => toml::entry(text, parsed, place, shape),
        }
    }

    fn literal(&self) -> Literal {
        match self {
            Document::Json(..) => json::literal,
            Document::Toml(..) => toml::literal,
        }
    }
}

/// The text with these entries changed.
pub(super) fn edit(form: Form, text: &str, changes: &[(&[String], Change<'_>)]) -> Result<String, EditError> {
    let document = Document::parse(form, text)?;
    let mut splices = Vec::new();
    for (place, change) in changes {
        let entry = document.entry(form, place)?.ok_or(EditError::Unclear("there is no such entry"))?;
        splices.extend(entry.splices(text, *change, document.literal())?);
    }
    let edited = spliced(text, splices)?;
    // Even for a malicious text, nothing is written that changes more than these words.
    same::except_for(form, text, &edited, changes)?;
    Ok(edited)
}

/// Whether two trees say the same.
pub(super) fn is_same(form: Form, one: &Node, other: &Node) -> bool {
    same::same(one, other, form, &mut Vec::new(), &[])
}

fn spliced(text: &str, mut splices: Vec<Splice>) -> Result<String, EditError> {
    splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let mut edited = String::with_capacity(text.len());
    let mut position = 0;
    for Splice { range, with } in splices {
        let kept = text.get(position..range.start).ok_or(EditError::Unclear("two of its parts overlap"))?;
        edited.push_str(kept);
        edited.push_str(&with);
        position = range.end;
    }
    edited.push_str(text.get(position..).ok_or(EditError::Damaged)?);
    Ok(edited)
}

/// The keys of a command in an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Keys {
    /// The program; the whole list if there is no other key.
    program: &'static str,
    arguments: Option<&'static str>,
}

impl Keys {
    const SPLIT: Keys = Keys { program: "command", arguments: Some("args") };
    const TABLE: Keys = Keys { program: "path", arguments: Some("args") };
    const LIST: Keys = Keys { program: "command", arguments: None };

    /// For an entry whose `command` is a table, or not.
    fn of(shape: CommandShape, is_table: bool) -> Keys {
        match shape {
            CommandShape::List => Keys::LIST,
            CommandShape::Table if is_table => Keys::TABLE,
            CommandShape::Table | CommandShape::Split => Keys::SPLIT,
        }
    }
}
