//! `edit_file`: replaces parts of a text file, all of them or none.
//!
//! `edits.rs` finds and replaces, `patch.rs` shows the changes.

mod edits;
mod patch;

use std::sync::{Mutex, PoisonError};

use rootward_core::Shown;
use rootward_server::{GrantError, ReadWrite};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::Answer;
use crate::call::{Call, Work};
use crate::failure::Failure;
use crate::path::FilePath;
use crate::tool::{About, Effect, FileTool, Output};
use edits::{EditError, Text};

/// The largest file to edit, before and after.
const LARGEST: usize = 16 << 20;

/// How many edits a call may have: each of them searches the whole file.
const MOST_EDITS: usize = 1000;

/// Serializes the edits of one server: if two arrive at the same time, the second applies to the result of the first.
static EDITING: Mutex<()> = Mutex::new(());

pub(crate) struct EditFile;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Absolute, or relative to the first root
    path: FilePath<ReadWrite>,
    /// Applied in order, each to the result of the previous one
    edits: Vec<Edit>,
    /// Only show the diff
    #[serde(default, rename = "dryRun")]
    dry_run: bool,
}

// One replacement. A doc comment would end up in the schema.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Edit {
    /// The text to find; else whole lines that differ only in blanks at their ends
    old_text: String,
    /// What replaces it
    new_text: String,
}

impl FileTool for EditFile {
    const ABOUT: About = About {
        name: "edit_file",
        title: "Edit File",
        description: "Replace parts of a text file, each found by its text; of several matches, the first. Makes all edits or none. \
                      Shows a diff.",
        effect: Effect::Changes,
        output: Output::Text,
    };
    type Arguments = Arguments;

    async fn call(arguments: Arguments, call: &Call) -> Result<Answer, Failure> {
        if arguments.edits.len() > MOST_EDITS {
            let count = arguments.edits.len();
            return Err(Failure::said(format!(
                "{count} edits at once are too many: make at most {MOST_EDITS} in a call"
            )));
        }
        call.apart("edits", move |work| edit(&arguments, work)).await.map(Answer::text)
    }
}

fn edit(Arguments { path, edits, dry_run }: &Arguments, work: &Work) -> Result<String, Failure> {
    let _waited = EDITING.lock().unwrap_or_else(PoisonError::into_inner);
    // Kept open until the new file has its name: the system cannot reuse the inode number of an open file, and that
    // number identifies it.
    let file = path.open()?;
    let (version, named) = (file.version(), path.named_path());
    let name = Shown::new(&named);
    let before = file.read_whole(LARGEST as u64).map_err(too_large)?;
    let before = String::from_utf8(before).map_err(|_| {
        Failure::said(format!("`{name}` is not UTF-8 text; editing it as text would damage it, so it was not changed"))
    })?;
    let mut text = Text::new(&before);
    let original = text.as_str().to_owned();
    let mut notes = Vec::new();
    for (index, Edit { old_text, new_text }) in edits.iter().enumerate() {
        work.did(1)?;
        let number = index + 1;
        let places = text.replace(old_text, new_text, LARGEST).map_err(|error| {
            let said = match error {
                EditError::Empty => "its `oldText` is empty: give the text to replace".to_owned(),
                EditError::NotFound => format!(
                    "its `oldText` was not found, even with differences in whitespace at line ends ignored; read the file for its current text: {}",
                    beginning(old_text)
                ),
                EditError::TooLarge => format!("the file would become larger than {LARGEST} bytes"),
            };
            Failure::said(format!("edit {number} of {} cannot be made to `{name}`: {said}. Nothing was changed", edits.len()))
        })?;
        if places > 1 {
            notes.push(format!(
                "Edit {number} matched {places} places; the first was changed. Include more surrounding text to choose another match.\n"
            ));
        }
    }
    let after = text.with_line_ends();
    let shown = patch::fenced(&name.to_string(), &original, text.as_str());
    if !dry_run && after != before {
        path.replace_version(version, after.as_bytes()).map_err(|error| match error {
            GrantError::Changed { .. } => Failure::said(format!(
                "`{name}` was changed in the meantime and was not edited; read it and edit again"
            )),
            other => other.into(),
        })?;
    }
    Ok(format!("{shown}{}", notes.concat()))
}

fn too_large(error: GrantError) -> Failure {
    match &error {
        GrantError::TooLarge { path, size, limit } => Failure::said(format!(
            "`{}` has {size} bytes, more than the {limit} that are edited at once; where `shell` is offered, `sed` edits larger files",
            Shown::new(path)
        )),
        _ => error.into(),
    }
}

/// The beginning of a text, on one line.
fn beginning(text: &str) -> String {
    const MOST: usize = 120;
    let end = text.char_indices().nth(MOST).map_or(text.len(), |(end, _)| end);
    let more = if end < text.len() { " …" } else { "" };
    format!("`{}`{more}", Shown::new(&text[..end]))
}
