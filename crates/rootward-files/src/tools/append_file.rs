//! `append_file`: text at the end of a file.

use std::io::ErrorKind;

use rootward_core::Shown;
use rootward_server::{GrantError, RootedPath, Write};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::tool::{About, Effect, FileTool, Offered, Output};

pub(crate) struct AppendFile;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The file: absolute, or relative to the first root
    path: RootedPath<Write>,
    /// What is added, as it is: begin with a newline where the file may not end in one
    content: String,
}

impl FileTool for AppendFile {
    const ABOUT: About = About {
        name: "append_file",
        title: "Append to File",
        description: "Add text to the end of a file, or create it. What the file holds already is left as it is.",
        effect: Effect::Changes,
        output: Output::Text,
        offered: Offered::WithRoots,
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
        GrantError::Io { path, source } if is_full(source.kind()) => Failure::said(format!(
            "there is no space left on the disk of `{}`; a part of the text may have been added",
            Shown::new(path)
        )),
        _ => Failure::of_new(error),
    }
}

fn is_full(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}
