//! `directory_tree`: everything below a directory, as JSON.

use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, PoisonError};

use rootward_core::{FileKind, Ignore, Shown, Visit, WalkOptions};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::Answer;
use crate::call::{Call, Work};
use crate::failure::Failure;
use crate::path::FilePath;
use crate::pattern::{Patterns, Plain};
use crate::tool::{About, Effect, FileTool, Output};
use crate::tree::{Full, Kind, MOST_ENTRIES, Tree};

/// How many entries to visit between two progress updates.
const AT_ONCE: usize = 256;

pub(crate) struct DirectoryTree;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Absolute, or relative to the first root
    path: FilePath,
    /// Globs for paths to leave out; one without `*` leaves out every entry of that name
    #[serde(default, rename = "excludePatterns")]
    exclude: Vec<String>,
}

impl FileTool for DirectoryTree {
    const ABOUT: About = About {
        name: "directory_tree",
        title: "Directory Tree",
        description: "Show everything below a directory as JSON: `name`, `type` (`file` or `directory`) and the `children` of \
                      directories. Links are shown as files.",
        effect: Effect::Reads,
        output: Output::Text,
    };
    type Arguments = Arguments;

    async fn call(Arguments { path, exclude }: Arguments, call: &Call) -> Result<Answer, Failure> {
        let exclude = Patterns::new(&exclude, Plain::Anywhere)?;
        Ok(Answer::Text(call.apart("entries", move |work| written(&path, &exclude, work)).await?))
    }
}

struct Growing {
    tree: Tree,
    ended: Option<Ended>,
}

enum Ended {
    Full,
    Failed(Failure),
}

fn written(path: &FilePath, exclude: &Patterns, work: &Work) -> Result<String, Failure> {
    let growing = Mutex::new(Growing { tree: Tree::new(), ended: None });
    let options = WalkOptions { ignore: Ignore::Nothing, ..WalkOptions::default() };
    path.walk(options, |entry| {
        let path = entry.path();
        if !exclude.is_empty() && exclude.matches(path) {
            return Visit::SkipDirectory;
        }
        let kind = if entry.kind() == FileKind::Directory { Kind::Directory } else { Kind::File };
        let mut growing = growing.lock().unwrap_or_else(PoisonError::into_inner);
        if growing.tree.add(path.as_os_str().as_bytes(), entry.name().as_bytes(), kind) == Err(Full) {
            growing.ended = Some(Ended::Full);
        } else if growing.tree.len().is_multiple_of(AT_ONCE)
            && let Err(failure) = work.did(AT_ONCE as u64)
        {
            growing.ended = Some(Ended::Failed(failure));
        }
        if growing.ended.is_some() { Visit::Stop } else { Visit::Continue }
    })?;
    let full = || {
        let path = path.named_path();
        Failure::said(format!(
            "there is more below `{}` than one answer holds ({MOST_ENTRIES} entries, 32 MiB of text); ask for a directory below \
             it, or leave some out by `excludePatterns`",
            Shown::new(&path)
        ))
    };
    let Growing { tree, ended } = growing.into_inner().unwrap_or_else(PoisonError::into_inner);
    match ended {
        None => tree.into_json().map_err(|Full| full()),
        Some(Ended::Full) => Err(full()),
        Some(Ended::Failed(failure)) => Err(failure),
    }
}
