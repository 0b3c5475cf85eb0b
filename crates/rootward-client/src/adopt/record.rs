//! The record of what was changed in one file: enough to undo it, whatever else happened to the file.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::edit::Arguments;
use super::hub::AdoptedHub;
use crate::import::Form;

/// The version that this program writes and reads.
const VERSION: u32 = 1;

/// What was changed in one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// The file, without links.
    pub file: PathBuf,
    /// Its format.
    pub form: Form,
    /// The entries that were wrapped.
    pub entries: Vec<Adopted>,
    /// The hubs that replaced servers.
    pub hubs: Vec<AdoptedHub>,
    /// The hash of the text that was written.
    pub written: String,
}

/// One entry that was wrapped.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adopted {
    /// The keys that lead to it.
    pub place: Vec<String>,
    /// The words that were put before its command.
    pub before: Vec<String>,
    /// Its command: the program and the arguments.
    pub words: Vec<String>,
    /// How it wrote its arguments.
    pub arguments: Arguments,
}

/// Why a record cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum RecordError {
    /// Rootward did not write it like this.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// Another version of Rootward wrote it.
    #[error("it has version {0}, which this program does not support")]
    Version(u32),
    /// It contains something that Rootward never writes.
    #[error("Rootward did not write it: {0}")]
    Foreign(&'static str),
}

/// The serialized form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    version: u32,
    file: String,
    form: String,
    written: String,
    entries: Vec<Adopted>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hubs: Vec<AdoptedHub>,
}

#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl Record {
    /// Parses a record strictly.
    pub fn read(text: &str) -> Result<Record, RecordError> {
        let damaged = |error: serde_json::Error| RecordError::Damaged(error.to_string());
        let Versioned { version } = serde_json::from_str(text).map_err(damaged)?;
        if version != VERSION {
            return Err(RecordError::Version(version));
        }
        let kept: Kept = serde_json::from_str(text).map_err(damaged)?;
        let form = Form::ALL.into_iter().find(|form| form.name() == kept.form);
        let form = form.ok_or(RecordError::Foreign("no such kind of file"))?;
        let file = PathBuf::from(kept.file);
        if !file.is_absolute() {
            return Err(RecordError::Foreign("its path is not absolute"));
        }
        if kept.written.len() != 64 || !kept.written.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(RecordError::Foreign("its hash is malformed"));
        }
        // SECURITY: undoing removes only what Rootward put in: a planted record must not edit other words
        // (test: a_planted_record_edits_nothing)
        for entry in &kept.entries {
            entry.check(form)?;
        }
        for hub in &kept.hubs {
            hub.check(form)?;
        }
        Ok(Record { file, form, entries: kept.entries, hubs: kept.hubs, written: kept.written })
    }

    /// The text to save; `None` if the file's path is not UTF-8.
    pub(super) fn text(&self) -> Option<String> {
        let kept = Kept {
            version: VERSION,
            file: self.file.to_str()?.to_owned(),
            form: self.form.name().to_owned(),
            written: self.written.clone(),
            entries: self.entries.clone(),
            hubs: self.hubs.clone(),
        };
        serde_json::to_string_pretty(&kept).ok()
    }

    /// The file name of the record of this file, without an extension.
    pub(super) fn name_for(file: &Path) -> String {
        hash(file.as_os_str().as_encoded_bytes())[..32].to_owned()
    }
}

impl Adopted {
    /// The entry's current command.
    pub fn wrapped(&self) -> Vec<String> {
        [&self.before[..], &self.words].concat()
    }

    /// The server's name.
    pub fn name(&self) -> &str {
        self.place.last().map(String::as_str).unwrap_or_default()
    }

    /// Checks that Rootward could have written it.
    fn check(&self, form: Form) -> Result<(), RecordError> {
        let is_wrap = match &self.before[..] {
            [program, verb, .., end] => is_rootward(program) && verb == "wrap" && end == "--",
            _ => false,
        };
        let is_place = self.place.split_last().is_some_and(|(_, table)| is_table(form, table));
        match (is_wrap, is_place, self.words.is_empty()) {
            (true, true, false) => Ok(()),
            (false, ..) => Err(RecordError::Foreign("its arguments are not those of `rootward wrap`")),
            (_, false, _) => Err(RecordError::Foreign("its position is not that of a server")),
            (.., true) => Err(RecordError::Foreign("its command is empty")),
        }
    }
}

/// Whether a word names this program.
pub(super) fn is_rootward(program: &str) -> bool {
    program == "rootward" || program.ends_with("/rootward")
}

/// Whether the table at this path of keys contains servers.
pub(super) fn is_table(form: Form, place: &[String]) -> bool {
    let key = form.servers_key();
    match place {
        [servers] => Some(servers.as_str()) == key,
        [projects, _, servers] => form == Form::ClaudeState && projects == "projects" && Some(servers.as_str()) == key,
        _ => false,
    }
}

/// The hash of a text, as hexadecimal digits.
pub(super) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |hash, byte| hash + &format!("{byte:02x}"))
}
