//! `write_file`: a file's whole contents, at once.

use rootward_server::{RootedPath, Write};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::tool::{About, Effect, FileTool, Offered, Output};

/// The longest text that is written between other calls, without a thread of its own.
const SMALL: usize = 64 << 10;

pub(crate) struct WriteFile;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The file: absolute, or relative to the first root
    path: RootedPath<Write>,
    /// What it is to hold
    content: String,
}

impl FileTool for WriteFile {
    const ABOUT: About = About {
        name: "write_file",
        title: "Write File",
        description: "Write a file: creates it, or replaces all that an existing one holds. A reader sees the old contents or \
                      the new ones, never a part. To change a part of a file, use `edit_file`.",
        effect: Effect::Replaces,
        output: Output::Text,
        offered: Offered::WithRoots,
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
