//! Takes the words out again that were put before commands.

use super::edit::{self, Change, Document, EditError};
use super::record::{Adopted, Record, hash};
use crate::import::tree;

/// What a file would become without Rootward's words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undone {
    /// The new text.
    pub text: String,
    /// The entries that get their own command back.
    pub entries: Vec<Adopted>,
    /// The entries that stay as they are.
    pub left: Vec<(Adopted, Left)>,
}

/// Why an entry stays as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Left {
    /// It is not in the file any more.
    Gone,
    /// It has its own command already.
    Unwrapped,
    /// Its command was changed since.
    Changed,
    /// It cannot be edited.
    Unclear(String),
}

impl Left {
    /// Whether the record has nothing more to say about it.
    pub fn is_settled(&self) -> bool {
        matches!(self, Left::Gone | Left::Unwrapped)
    }
}

impl Record {
    /// Undoes the changes in a text. Where it is exactly what was written, the backup takes its place.
    pub fn undo(&self, text: &str, backup: Option<&str>) -> Result<Undone, EditError> {
        let document = Document::parse(self.form, text)?;
        let (mut entries, mut left) = (Vec::new(), Vec::new());
        for entry in &self.entries {
            match document.entry(self.form, &entry.place) {
                Ok(Some(found)) if found.words() == entry.wrapped() => entries.push(entry.clone()),
                Ok(Some(found)) if found.words() == entry.words => left.push((entry.clone(), Left::Unwrapped)),
                Ok(Some(_)) => left.push((entry.clone(), Left::Changed)),
                Ok(None) => left.push((entry.clone(), Left::Gone)),
                Err(error) => left.push((entry.clone(), Left::Unclear(error.to_string()))),
            }
        }
        // One entry that cannot be edited does not keep the others from being undone.
        entries.retain(|entry| match edit::edit(self.form, text, &[edit_of(entry)]) {
            Ok(_) => true,
            Err(error) => {
                left.push((entry.clone(), Left::Unclear(error.to_string())));
                false
            }
        });
        let edits: Vec<_> = entries.iter().map(edit_of).collect();
        let edited = edit::edit(self.form, text, &edits)?;
        let is_as_written = left.is_empty() && hash(text.as_bytes()) == self.written;
        let text = match backup {
            // SECURITY: the backup is put back only if it says what undoing says: it must not bring other words into the file
            // (test: a_planted_backup_is_not_put_back)
            Some(backup) if is_as_written && says_the_same(self, backup, &edited) => backup.to_owned(),
            _ => edited,
        };
        Ok(Undone { text, entries, left })
    }
}

fn edit_of(entry: &Adopted) -> (&[String], Change<'_>) {
    (&entry.place, Change::Take(entry.before.len(), entry.arguments))
}

fn says_the_same(record: &Record, backup: &str, edited: &str) -> bool {
    match (tree(record.form, backup), tree(record.form, edited)) {
        (Ok(backup), Ok(edited)) => edit::is_same(record.form, &backup, &edited),
        _ => false,
    }
}
