//! `append_file`: appends text to a file.

use std::io::ErrorKind;

use rootward_core::Shown;
use rootward_server::{GrantError, Write};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::path::FilePath;
use crate::tool::{About, Effect, FileTool, Output};

pub(crate) struct AppendFile;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Absolute, or relative to the first root
    path: FilePath<Write>,
    /// Begin with a newline if the file may not end in one
    content: String,
}

impl FileTool for AppendFile {
    const ABOUT: About = About {
        name: "append_file",
        title: "Append to File",
        description: "Add text to the end of a file, or create it.",
        effect: Effect::Changes,
        output: Output::Text,
    };
    type Arguments = Arguments;

    async fn call(Arguments { path, content }: Arguments, call: &Call) -> Result<Answer, Failure> {
        let answer = Answer::text(format!("Successfully appended to {}", path.asked()));
        call.apart("files", move |_| path.append(content.as_bytes()).map_err(failed)).await?;
        Ok(answer)
    }
}

fn failed(error: GrantError) -> Failure {
    match &error {
        GrantError::Io { path, source } if source.kind() == ErrorKind::WriteZero => Failure::said(format!(
            "only part of the text was added to `{}`: {source}; `read_text_file` with `tail` shows how it ends",
            Shown::new(path)
        )),
        _ => Failure::of_new(error),
    }
}
