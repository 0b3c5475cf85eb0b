//! `delete_file`: removes a file, a link, or an empty directory.

use rootward_server::Delete;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::path::FilePath;
use crate::tool::{About, Effect, FileTool, Output};

pub(crate) struct DeleteFile;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Absolute, or relative to the first root
    path: FilePath<Delete>,
}

impl FileTool for DeleteFile {
    const ABOUT: About = About {
        name: "delete_file",
        title: "Delete File",
        description: "Delete a file, a symbolic link (not its target) or an empty directory. This cannot be undone.",
        effect: Effect::Removes,
        output: Output::Text,
    };
    type Arguments = Arguments;

    async fn call(Arguments { path }: Arguments, _: &Call) -> Result<Answer, Failure> {
        path.remove()?;
        Ok(Answer::text(format!("Successfully deleted {}", path.asked())))
    }
}
