//! `delete_file`: a file, a link, or an empty directory less.

use rootward_server::{Delete, RootedPath};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::tool::{About, Effect, FileTool, Offered, Output};

pub(crate) struct DeleteFile;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// What goes: absolute, or relative to the first root
    path: RootedPath<Delete>,
}

impl FileTool for DeleteFile {
    const ABOUT: About = About {
        name: "delete_file",
        title: "Delete File",
        description: "Delete a file, a symbolic link (not what it leads to), or an empty directory. There is no way back.",
        effect: Effect::Changes,
        output: Output::Text,
        offered: Offered::WithRoots,
    };
    type Arguments = Arguments;

    async fn call(Arguments { path }: Arguments, _: &Call) -> Result<Answer, Failure> {
        path.remove()?;
        Ok(Answer::text(format!("Successfully deleted {}", path.asked())))
    }
}
