//! `search_files`: finds entries below a directory by name.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rootward_core::{Ignore, Visit, WalkOptions};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::Answer;
use crate::call::{Call, Work};
use crate::failure::Failure;
use crate::name::on_one_line;
use crate::path::FilePath;
use crate::pattern::{Patterns, Plain};
use crate::tool::{About, Effect, FileTool, Output};

/// How many paths to return.
const MOST: usize = 10_000;

/// Their total length, in bytes.
const MOST_BYTES: usize = 4 << 20;

pub(crate) struct SearchFiles;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Absolute, or relative to the first root
    path: FilePath,
    /// A glob for paths below the directory: `*.rs` directly in it, `**/*.rs` at any depth
    pattern: String,
    /// Globs for paths to leave out
    #[serde(default, rename = "excludePatterns")]
    exclude: Vec<String>,
}

impl FileTool for SearchFiles {
    const ABOUT: About = About {
        name: "search_files",
        title: "Search Files",
        description: "Find files and directories by name. Shows full paths, sorted. `search_content` searches their contents.",
        effect: Effect::Reads,
        output: Output::TextInPart,
    };
    type Arguments = Arguments;

    async fn call(Arguments { path, pattern, exclude }: Arguments, call: &Call) -> Result<Answer, Failure> {
        let wanted = Patterns::new(&[pattern], Plain::There)?;
        let exclude = Patterns::new(&exclude, Plain::There)?;
        call.apart("entries", move |work| found(&path, &wanted, &exclude, work)).await
    }
}

#[derive(Default)]
struct Found {
    paths: Vec<PathBuf>,
    bytes: usize,
    ended: Option<Ended>,
}

enum Ended {
    Full,
    Failed(Failure),
}

fn found(path: &FilePath, wanted: &Patterns, exclude: &Patterns, work: &Work) -> Result<Answer, Failure> {
    let found = Mutex::new(Found::default());
    let options = WalkOptions { ignore: Ignore::Nothing, ..WalkOptions::default() };
    path.walk(options, |entry| {
        let below = entry.path();
        if !exclude.is_empty() && exclude.matches(below) {
            return Visit::SkipDirectory;
        }
        let went = work.did(1);
        let is_wanted = wanted.matches(below);
        if went.is_ok() && !is_wanted {
            return Visit::Continue;
        }
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(failure) = went {
            found.ended = Some(Ended::Failed(failure));
        } else if found.paths.len() >= MOST || found.bytes > MOST_BYTES {
            found.ended.get_or_insert(Ended::Full);
        } else {
            found.bytes += below.as_os_str().len();
            found.paths.push(below.to_owned());
        }
        if found.ended.is_some() { Visit::Stop } else { Visit::Continue }
    })?;
    let Found { mut paths, ended, .. } = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(Ended::Failed(failure)) = ended {
        return Err(failure);
    }
    if paths.is_empty() {
        return Ok(Answer::text("No matches found"));
    }
    paths.sort_unstable_by(|one, other| one.as_os_str().as_bytes().cmp(other.as_os_str().as_bytes()));
    let start = path.named_path();
    let mut text = String::new();
    for path in &paths {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&on_one_line(start.join(path).as_os_str()));
    }
    Ok(match ended {
        None => Answer::Text(text),
        Some(_) => {
            let note = format!(
                "showing the first {} matches; there are more: use a deeper `path`, a narrower `pattern` or `excludePatterns`",
                paths.len()
            );
            Answer::Part { text, note }
        }
    })
}
