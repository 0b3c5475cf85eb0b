//! `read_multiple_files`: reads several files as text, independently of each other.

use rootward_core::Access;
use rootward_server::{Roots, roots};
use schemars::JsonSchema;
use serde::Deserialize;

use super::read_text_file::{SMALL, whole};
use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::path::check;
use crate::tool::{About, Effect, FileTool, Output};

/// How many files a call may ask for.
const MOST_FILES: usize = 1000;

/// The limit for their total text, in bytes.
const MOST_BYTES: usize = 8 << 20;

pub(crate) struct ReadMultipleFiles;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Each absolute, or relative to the first root
    #[schemars(length(min = 1))]
    paths: Vec<String>,
}

impl FileTool for ReadMultipleFiles {
    const ABOUT: About = About {
        name: "read_multiple_files",
        title: "Read Multiple Files",
        description: "Read several files as text, together at most 8 MiB. One that cannot be read does not stop the others.",
        effect: Effect::Reads,
        output: Output::Text,
    };
    type Arguments = Arguments;

    async fn call(Arguments { paths }: Arguments, call: &Call) -> Result<Answer, Failure> {
        match paths.len() {
            0 => return Err(Failure::Arguments("`paths` is empty: name at least one file".to_owned())),
            1..=MOST_FILES => {}
            count => {
                return Err(Failure::Arguments(format!("{count} files are too many: ask for {MOST_FILES} at a time")));
            }
        }
        let roots = roots().await?;
        let mut text = String::new();
        for path in &paths {
            call.goes_on()?;
            let contents = match text.len() {
                0..=MOST_BYTES => read(&roots, path, call).await,
                _ => Err(left_out()),
            };
            let contents = match contents {
                Ok(contents) if text.len() + contents.len() > MOST_BYTES => Err(left_out()),
                contents => contents,
            };
            if !text.is_empty() {
                text.push_str("\n---\n");
            }
            text.push_str(path);
            match contents {
                Ok(contents) => {
                    text.push_str(":\n");
                    text.push_str(&contents);
                    text.push('\n');
                }
                Err(Failure::Stopped) => return Err(Failure::Stopped),
                Err(failure) => {
                    text.push_str(": Error - ");
                    text.push_str(&failure.sentence());
                }
            }
        }
        Ok(Answer::Text(text))
    }
}

async fn read(roots: &Roots, path: &str, call: &Call) -> Result<String, Failure> {
    let file = check(roots, path, Access::READ)?.open()?;
    if file.size() <= SMALL { whole(&file) } else { call.apart("files", move |_| whole(&file)).await }
}

fn left_out() -> Failure {
    Failure::said("left out: the files before it fill the 8 MiB of one answer; ask for it by itself")
}
