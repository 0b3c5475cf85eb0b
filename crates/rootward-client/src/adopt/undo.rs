//! Removes the words that were put before commands.

use super::edit::{self, Change, Document, EditError};
use super::hub::AdoptedHub;
use super::record::{Adopted, Record, hash};
use crate::import::{Node, Value, tree};

/// What a file would become without Rootward's words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undone {
    /// The new text.
    pub text: String,
    /// The entries that get their own command back.
    pub entries: Vec<Adopted>,
    /// The entries that stay as they are.
    pub left: Vec<(Adopted, Left)>,
    /// The hubs that are replaced by their servers.
    pub hubs: Vec<AdoptedHub>,
    /// The hubs that stay.
    pub hubs_left: Vec<(AdoptedHub, Left)>,
}

impl Undone {
    /// How many servers it changes.
    pub fn changed_servers(&self) -> usize {
        self.entries.len() + self.hubs.iter().map(|hub| hub.servers.len()).sum::<usize>()
    }
}

/// Why an entry stays as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Left {
    /// It is no longer in the file.
    Gone,
    /// It already has its own command.
    Unwrapped,
    /// Its command was changed since.
    Changed,
    /// It cannot be edited.
    Unclear(String),
}

impl Left {
    /// Whether the record no longer needs it.
    pub fn is_settled(&self) -> bool {
        matches!(self, Left::Gone | Left::Unwrapped)
    }
}

impl Record {
    /// Undoes the changes in a text. If it is exactly what was written, the backup replaces it.
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
        // An entry that cannot be edited does not keep the others from being undone.
        entries.retain(|entry| match edit::edit(self.form, text, &[edit_of(entry)]) {
            Ok(_) => true,
            Err(error) => {
                left.push((entry.clone(), Left::Unclear(error.to_string())));
                false
            }
        });
        let edits: Vec<_> = entries.iter().map(edit_of).collect();
        let mut edited = edit::edit(self.form, text, &edits)?;
        let (mut hubs, mut hubs_left) = (Vec::new(), Vec::new());
        for hub in &self.hubs {
            match self.without_hub(&edited, hub) {
                Ok(text) => {
                    edited = text;
                    hubs.push(hub.clone());
                }
                Err(why) => hubs_left.push((hub.clone(), why)),
            }
        }
        let is_as_written = left.is_empty() && hubs_left.is_empty() && hash(text.as_bytes()) == self.written;
        let text = match backup {
            // SECURITY: the backup is used only if it says the same as undoing: it must not add other words to the
            // file
            // (test: a_planted_backup_is_not_put_back)
            Some(backup) if is_as_written && says_the_same(self, backup, &edited) => backup.to_owned(),
            _ => edited,
        };
        Ok(Undone { text, entries, left, hubs, hubs_left })
    }

    /// The text with a hub replaced by its servers.
    fn without_hub(&self, text: &str, hub: &AdoptedHub) -> Result<String, Left> {
        let unclear = |error: EditError| Left::Unclear(error.to_string());
        let document = Document::parse(self.form, text).map_err(unclear)?;
        let entry = document.entry(self.form, &hub.place()).map_err(unclear)?.ok_or(Left::Gone)?;
        if entry.words() != hub.words {
            return Err(Left::Changed);
        }
        edit::swap(self.form, text, &hub.table, std::slice::from_ref(&hub.name), &hub.entries).map_err(unclear)
    }
}

fn edit_of(entry: &Adopted) -> (&[String], Change<'_>) {
    (&entry.place, Change::Take(entry.before.len(), entry.arguments))
}

/// In any order: the servers of a hub come back together.
fn says_the_same(record: &Record, backup: &str, edited: &str) -> bool {
    match (tree(record.form, backup), tree(record.form, edited)) {
        (Ok(mut backup), Ok(mut edited)) => {
            sort(&mut backup);
            sort(&mut edited);
            edit::is_same(record.form, &backup, &edited)
        }
        _ => false,
    }
}

fn sort(node: &mut Node) {
    match &mut node.value {
        Value::Table(entries) => {
            entries.sort_by(|one, other| one.name.cmp(&other.name));
            for entry in entries {
                sort(&mut entry.node);
            }
        }
        Value::List(list) => list.iter_mut().for_each(sort),
        _ => {}
    }
}
