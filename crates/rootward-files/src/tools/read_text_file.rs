//! `read_text_file`: a file as text; and `read_file`, its old name.

use rootward_server::RootedPath;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::tool::{About, Effect, FileTool, Offered, Output};

/// The largest file that is read at once.
const LARGEST: u64 = 4 << 20;

/// The largest file that is read between other calls, without a thread of its own.
const SMALL: u64 = 256 << 10;

pub(crate) struct ReadTextFile;

pub(crate) struct ReadFile;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The file: absolute, or relative to the first root
    path: RootedPath,
}

impl FileTool for ReadTextFile {
    const ABOUT: About = About {
        name: "read_text_file",
        title: "Read Text File",
        description: "Read a file as text.",
        effect: Effect::Reads,
        output: Output::Text,
        offered: Offered::WithRoots,
    };
    type Arguments = Arguments;

    async fn call(arguments: Arguments, call: &Call) -> Result<Answer, Failure> {
        read(arguments, call).await
    }
}

impl FileTool for ReadFile {
    const ABOUT: About = About {
        name: "read_file",
        title: "Read File (Deprecated)",
        description: "Read a file as text. Deprecated: use `read_text_file`.",
        ..ReadTextFile::ABOUT
    };
    type Arguments = Arguments;

    async fn call(arguments: Arguments, call: &Call) -> Result<Answer, Failure> {
        read(arguments, call).await
    }
}

async fn read(Arguments { path }: Arguments, call: &Call) -> Result<Answer, Failure> {
    let file = path.open()?;
    let contents = if file.size() <= SMALL {
        file.read_whole(LARGEST)?
    } else {
        call.apart("bytes", move |_| Ok(file.read_whole(LARGEST)?)).await?
    };
    let text =
        String::from_utf8(contents).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    Ok(Answer::text(text))
}
