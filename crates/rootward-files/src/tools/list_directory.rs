//! `list_directory`: what is in a directory.

use std::fmt::Write;

use rootward_core::FileKind;
use rootward_server::RootedPath;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::tool::{About, Effect, FileTool, Offered, Output};

pub(crate) struct ListDirectory;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The directory: absolute, or relative to the first root
    path: RootedPath,
}

impl FileTool for ListDirectory {
    const ABOUT: About = About {
        name: "list_directory",
        title: "List Directory",
        description: "List a directory, one entry a line: directories behind `[DIR]`, everything else behind `[FILE]`.",
        effect: Effect::Reads,
        output: Output::Text,
        offered: Offered::WithRoots,
    };
    type Arguments = Arguments;

    async fn call(Arguments { path }: Arguments, call: &Call) -> Result<Answer, Failure> {
        let entries = call.apart("entries", move |_| Ok(path.list()?)).await?;
        let mut text = String::new();
        for entry in &entries {
            let kind = if entry.kind == FileKind::Directory { "[DIR]" } else { "[FILE]" };
            let newline = if text.is_empty() { "" } else { "\n" };
            // Writing to a text cannot fail.
            let _ = write!(text, "{newline}{kind} {}", entry.name.display());
        }
        Ok(Answer::text(text))
    }
}
