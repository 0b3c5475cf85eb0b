//! `write_file`: replaces the whole contents of a file atomically.

use rootward_server::Write;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::path::FilePath;
use crate::tool::{About, Effect, FileTool, Output};

/// The longest text to write without a separate thread.
const SMALL: usize = 64 << 10;

pub(crate) struct WriteFile;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Absolute, or relative to the first root
    path: FilePath<Write>,
    /// The new contents
    content: String,
}

impl FileTool for WriteFile {
    const ABOUT: About = About {
        name: "write_file",
        title: "Write File",
        description: "Create a file, or replace all its contents, atomically. To change a part of a file, use `edit_file`.",
        effect: Effect::Replaces,
        output: Output::Text,
    };
    type Arguments = Arguments;

    async fn call(Arguments { path, content }: Arguments, call: &Call) -> Result<Answer, Failure> {
        let answer = Answer::text(format!("Successfully wrote to {}", path.asked()));
        let small = content.len() <= SMALL;
        let write = move || path.replace(content.as_bytes()).map_err(Failure::of_new);
        if small {
            write()?;
        } else {
            call.apart("files", move |_| write()).await?;
        }
        Ok(answer)
    }
}
