//! `move_file`: renames or moves a file or a directory.

use std::io::ErrorKind;

use rootward_core::Shown;
use rootward_server::{Create, Delete, GrantError, Replace};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::path::FilePath;
use crate::tool::{About, Effect, FileTool, Output};

pub(crate) struct MoveFile;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Absolute, or relative to the first root
    source: FilePath<Delete>,
    /// Must not exist; its directory must
    destination: FilePath<Create>,
}

impl FileTool for MoveFile {
    const ABOUT: About = About {
        name: "move_file",
        title: "Move File",
        description: "Move or rename a file or directory; a symbolic link itself is moved. Fails if the destination exists.",
        effect: Effect::Removes,
        output: Output::Text,
    };
    type Arguments = Arguments;

    async fn call(Arguments { source, destination }: Arguments, call: &Call) -> Result<Answer, Failure> {
        let answer = Answer::text(format!("Successfully moved {} to {}", source.asked(), destination.asked()));
        call.apart("files", move |_| {
            let moved = source.rename_to(&destination, Replace::No);
            moved.map_err(|error| failed(error, &destination))
        })
        .await?;
        Ok(answer)
    }
}

fn failed(error: GrantError, destination: &FilePath<Create>) -> Failure {
    if let GrantError::Changed { path } = &error {
        return Failure::said(format!(
            "`{}` changed while it was being copied to another disk, so both it and the copy `{}` were kept; `delete_file` one of them",
            Shown::new(path),
            Shown::new(&destination.named_path())
        ));
    }
    let GrantError::Io { path, source } = &error else { return error.into() };
    let shown = Shown::new(path);
    match source.kind() {
        ErrorKind::InvalidInput => Failure::said(format!("`{shown}` cannot be moved into itself")),
        ErrorKind::CrossesDevices => Failure::said(format!(
            "`{shown}` would move to another disk, where only files can be moved; `create_directory` there, then move its files"
        )),
        _ if *path == destination.named_path() => Failure::of_new(error),
        _ => error.into(),
    }
}
