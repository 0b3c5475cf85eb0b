//! `copy_file`: copies a file to a new name.

use std::io::ErrorKind;

use rootward_core::Shown;
use rootward_server::{Create, GrantError, Replace};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::path::FilePath;
use crate::tool::{About, Effect, FileTool, Output};

pub(crate) struct CopyFile;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Absolute, or relative to the first root
    source: FilePath,
    /// Must not exist; its directory must
    destination: FilePath<Create>,
}

impl FileTool for CopyFile {
    const ABOUT: About = About {
        name: "copy_file",
        title: "Copy File",
        description: "Copy a file with its permissions. Fails if the destination exists.",
        effect: Effect::Makes,
        output: Output::Text,
    };
    type Arguments = Arguments;

    async fn call(Arguments { source, destination }: Arguments, call: &Call) -> Result<Answer, Failure> {
        let answer = Answer::text(format!("Successfully copied {} to {}", source.asked(), destination.asked()));
        call.apart("bytes", move |work| {
            let copied = source.copy_to_while(&destination, Replace::No, |bytes| {
                work.did(bytes).map_err(|_| ErrorKind::Interrupted.into())
            });
            copied.map(drop).map_err(|error| failed(error, &source, &destination))
        })
        .await?;
        Ok(answer)
    }
}

fn failed(error: GrantError, source: &FilePath, destination: &FilePath<Create>) -> Failure {
    match &error {
        GrantError::Io { source: reason, .. } if reason.kind() == ErrorKind::Interrupted => Failure::Stopped,
        GrantError::Io { path, source: reason }
            if reason.kind() == ErrorKind::IsADirectory && *path == source.named_path() =>
        {
            Failure::said(format!(
                "`{}` is a directory, and only files are copied; `create_directory` makes another, `move_file` moves it whole",
                Shown::new(path)
            ))
        }
        GrantError::Io { path, .. } if *path == destination.named_path() => Failure::of_new(error),
        _ => error.into(),
    }
}
