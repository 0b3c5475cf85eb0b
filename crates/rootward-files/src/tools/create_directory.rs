//! `create_directory`: creates a directory and its parents.

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

pub(crate) struct CreateDirectory;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Absolute, or relative to the first root
    path: FilePath<Write>,
}

impl FileTool for CreateDirectory {
    const ABOUT: About = About {
        name: "create_directory",
        title: "Create Directory",
        description: "Create a directory and any missing parents. Succeeds if it already exists.",
        effect: Effect::Makes,
        output: Output::Text,
    };
    type Arguments = Arguments;

    async fn call(Arguments { path }: Arguments, _: &Call) -> Result<Answer, Failure> {
        path.create_directory_all().map_err(|error| match &error {
            GrantError::Io { path, source } if source.kind() == ErrorKind::AlreadyExists => Failure::said(format!(
                "`{}` already exists and is not a directory; choose another name",
                Shown::new(path)
            )),
            _ => error.into(),
        })?;
        Ok(Answer::text(format!("Successfully created directory {}", path.asked())))
    }
}
