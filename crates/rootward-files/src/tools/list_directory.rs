//! `list_directory`: lists the entries of a directory.

use std::ffi::OsStr;

use rootward_core::FileKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::name::on_one_line;
use crate::path::FilePath;
use crate::tool::{About, Effect, FileTool, Output};

/// How many entries to list.
pub(crate) const MOST: usize = 50_000;

pub(crate) struct ListDirectory;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Absolute, or relative to the first root
    path: FilePath,
}

impl FileTool for ListDirectory {
    const ABOUT: About = About {
        name: "list_directory",
        title: "List Directory",
        description: "List a directory, sorted by name: `[DIR]` before directories, `[FILE]` before everything else.",
        effect: Effect::Reads,
        output: Output::TextInPart,
    };
    type Arguments = Arguments;

    async fn call(Arguments { path }: Arguments, call: &Call) -> Result<Answer, Failure> {
        let mut entries = call.apart("entries", move |_| Ok(path.list()?)).await?;
        entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        let all = entries.len();
        entries.truncate(MOST);
        let lines: Vec<String> = entries.iter().map(|entry| line(entry.kind, &entry.name)).collect();
        Ok(of_all(lines.join("\n"), all))
    }
}

/// A line of the list.
pub(crate) fn line(kind: FileKind, name: &OsStr) -> String {
    let kind = if kind == FileKind::Directory { "[DIR]" } else { "[FILE]" };
    format!("{kind} {}", on_one_line(name))
}

/// The list, with a note if it is incomplete.
pub(crate) fn of_all(text: String, all: usize) -> Answer {
    if all <= MOST {
        return Answer::Text(text);
    }
    let note = format!("showing {MOST} of {all} entries; `search_files` with a `pattern` finds the others");
    Answer::Part { text, note }
}
