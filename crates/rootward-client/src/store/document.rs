//! The file while it is edited: what the user wrote around the roots stays as it is.

use std::path::Path;

use rootward_core::{Access, Closed};
use toml_edit::{Array, ArrayOfTables, Datetime, DocumentMut, InlineTable, Item, Table, Value};

use super::reading::{self, Unread, VERSION};
use super::saved::{Audience, Insistence, Kept, Restrict, SavedRoot, YesOnRecord};

/// The beginning of a file that Rootward creates.
const HEADER: &str = "# Shared directories, saved by `rootward roots`. You may edit this file.\n";

/// `roots.toml` as an editable document. Positions are indexes into [`Kept::roots`].
#[derive(Clone, Debug)]
pub struct Document {
    document: DocumentMut,
    /// The parsed content.
    kept: Kept,
}

impl Document {
    pub(super) fn read(text: &str, home: Option<&Path>) -> Result<Document, Unread> {
        let kept = reading::read(text, home)?;
        let mistake = |error: toml_edit::TomlError| {
            Unread::Mistake(super::Mistake::at(text, error.span(), error.message().to_owned()))
        };
        let mut document: DocumentMut = text.parse().map_err(mistake)?;
        if !document.contains_key("version") {
            begin(&mut document);
        }
        Ok(Document { document, kept })
    }

    pub(super) fn text(&self) -> String {
        self.document.to_string()
    }

    /// The current roots.
    pub fn roots(&self) -> &[SavedRoot] {
        &self.kept.roots
    }

    /// Appends a root.
    pub fn add(&mut self, root: &SavedRoot) {
        let mut table = table_of(root);
        table.decor_mut().set_prefix("\n");
        if let Some(tables) = self.tables() {
            tables.push(table);
            self.kept.roots.push(root.clone());
        }
    }

    /// Removes a root, and the comment right above it. Other comments stay.
    pub fn remove(&mut self, position: usize) {
        let Some(tables) = self.tables().filter(|tables| position < tables.len()) else { return };
        let prefix = tables.get(position).and_then(|table| table.decor().prefix()?.as_str()).unwrap_or_default();
        let stays = not_about_the_next(prefix).to_owned();
        tables.remove(position);
        if let Some(next) = tables.get_mut(position) {
            let own = next.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
            let both = if stays.is_empty() { own.to_owned() } else { stays + own };
            next.decor_mut().set_prefix(both);
        } else if !stays.is_empty() {
            let trailing = stays + self.document.trailing().as_str().unwrap_or_default();
            self.document.set_trailing(trailing);
        }
        self.kept.roots.remove(position);
    }

    /// Changes or removes the name of a root.
    pub fn rename(&mut self, position: usize, name: Option<&str>) {
        let Some(root) = self.kept.roots.get_mut(position) else { return };
        root.name = name.map(str::to_owned);
        match name {
            Some(name) => self.set(position, "name", name.into()),
            None => self.unset(position, "name"),
        }
    }

    /// Changes the access of a root.
    pub fn grant(&mut self, position: usize, access: Access) {
        let Some(root) = self.kept.roots.get_mut(position) else { return };
        root.access = access;
        self.set(position, "access", access_text(access).into());
    }

    /// Changes what is closed below a root.
    pub fn restrict(&mut self, position: usize, restrict: &[Restrict]) {
        let Some(root) = self.kept.roots.get_mut(position) else { return };
        if root.restrict == restrict {
            return;
        }
        root.restrict = restrict.to_vec();
        if restrict.is_empty() {
            self.unset(position, "restrict");
        } else {
            self.set(position, "restrict", restrict_value(restrict));
        }
    }

    /// Changes the audience of a root.
    pub fn share_with(&mut self, position: usize, audience: &Audience) {
        let Some(root) = self.kept.roots.get_mut(position) else { return };
        if root.audience == *audience {
            return;
        }
        root.audience = audience.clone();
        match audience {
            Audience::All => self.unset(position, "for"),
            Audience::Only(names) => self.set(position, "for", names.iter().collect::<Array>().into()),
        }
    }

    /// Writes the consent that now applies to a root.
    pub fn give(&mut self, position: usize, given: &YesOnRecord) {
        let Some(root) = self.kept.roots.get_mut(position) else { return };
        root.given = Some(given.clone());
        for (key, value) in given_values(given) {
            self.set(position, key, value);
        }
    }

    /// The tables of the roots.
    fn tables(&mut self) -> Option<&mut ArrayOfTables> {
        let root = self.document.entry("root").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
        if !root.is_array_of_tables() {
            // Written on one line, as `root = [{ path = "/a" }]`.
            let tables = std::mem::take(root).into_array_of_tables().unwrap_or_default();
            *root = Item::ArrayOfTables(tables);
        }
        root.as_array_of_tables_mut()
    }

    /// Changes a value and keeps the comment after it.
    fn set(&mut self, position: usize, key: &str, mut value: Value) {
        let Some(table) = self.tables().and_then(|tables| tables.get_mut(position)) else { return };
        if let Some(Item::Value(old)) = table.get_mut(key) {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        } else {
            table.insert(key, Item::Value(value));
        }
    }

    fn unset(&mut self, position: usize, key: &str) {
        if let Some(table) = self.tables().and_then(|tables| tables.get_mut(position)) {
            table.remove(key);
        }
    }
}

/// Adds the header to a file without a version.
fn begin(document: &mut DocumentMut) {
    let comments = document.trailing().as_str().unwrap_or_default().to_owned();
    document.set_trailing("");
    document.insert("version", Item::Value(i64::try_from(VERSION).unwrap_or(1).into()));
    let header = if comments.trim().is_empty() { HEADER.to_owned() } else { comments };
    if let Some(mut key) = document.key_mut("version") {
        key.leaf_decor_mut().set_prefix(if header.ends_with('\n') { header } else { header + "\n" });
    }
}

/// The part before a table that is not about it: everything up to the last blank line.
fn not_about_the_next(prefix: &str) -> &str {
    let mut end = 0;
    let mut position = 0;
    for line in prefix.split_inclusive('\n') {
        position += line.len();
        if line.trim().is_empty() {
            end = position;
        }
    }
    let stays = &prefix[..end];
    if stays.contains('#') { stays } else { "" }
}

fn table_of(root: &SavedRoot) -> Table {
    let mut table = Table::new();
    let mut put = |key: &str, value: Value| {
        table.insert(key, Item::Value(value));
    };
    // The caller has checked that the path is text: another path could not be written.
    put(if root.pattern.is_some() { "pattern" } else { "path" }, root.path.to_string_lossy().as_ref().into());
    if let Some(name) = &root.name {
        put("name", name.as_str().into());
    }
    put("access", access_text(root.access).into());
    if let Audience::Only(names) = &root.audience {
        put("for", names.iter().collect::<Array>().into());
    }
    if !root.restrict.is_empty() {
        put("restrict", restrict_value(&root.restrict));
    }
    if root.insistence == Insistence::Forced {
        put("forced", true.into());
    }
    if let Some(given) = &root.given {
        for (key, value) in given_values(given) {
            put(key, value);
        }
    }
    table
}

fn given_values(given: &YesOnRecord) -> impl Iterator<Item = (&'static str, Value)> {
    let at = humantime::format_rfc3339_seconds(given.at).to_string().parse::<Datetime>().ok();
    at.map(|at| ("yes", at.into())).into_iter().chain([("by", given.by.as_str().into())])
}

fn restrict_value(restrict: &[Restrict]) -> Value {
    let tables = restrict.iter().map(|restrict| {
        let mut table = InlineTable::new();
        table.insert("pattern", restrict.pattern.as_str().into());
        if restrict.closed == Closed::ForWriting {
            table.insert("closed", "writing".into());
        }
        Value::InlineTable(table)
    });
    Value::Array(tables.collect())
}

/// `ro`, `rw`, `rw-nodelete` or `rwx` if one of them matches, else words.
pub fn access_text(access: Access) -> String {
    let suffix =
        ["ro", "rw", "rw-nodelete", "rwx"].into_iter().find(|suffix| Access::from_suffix(suffix) == Some(access));
    suffix.map_or_else(|| access.to_string(), str::to_owned)
}
