//! `read_text_file`: reads a text file, or some of its lines; and `read_file`, its old name.

use rootward_core::{OpenFile, Shown};
use rootward_server::GrantError;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::Answer;
use crate::call::Call;
use crate::count::Count;
use crate::failure::Failure;
use crate::lines::{self, Did};
use crate::path::FilePath;
use crate::text::{self, MOST_BYTES};
use crate::tool::{About, Effect, FileTool, Output};

/// The largest file to read without a separate thread: for less, the thread costs more than the read.
pub(crate) const SMALL: u64 = 256 << 10;

pub(crate) struct ReadTextFile;

pub(crate) struct ReadFile;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// Absolute, or relative to the first root
    path: FilePath,
    /// Only the first N lines
    head: Option<Count>,
    /// Only the last N lines
    tail: Option<Count>,
    /// The first line to return, counted from 1
    offset: Option<Count>,
    /// How many lines to return
    limit: Option<Count>,
}

// The arguments of `read_file`, with the reference server's schema. A doc comment would end up in the schema.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct OldArguments(#[schemars(with = "OldSchema")] Arguments);

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct OldSchema {
    /// Absolute, or relative to the first root
    path: FilePath,
    /// Only the first N lines
    head: Option<Count>,
    /// Only the last N lines
    tail: Option<Count>,
}

/// Which part of a file to read.
#[derive(Clone, Copy, Debug)]
enum Part {
    Whole,
    Lines { first: u64, count: u64 },
    Last(u64),
}

impl FileTool for ReadTextFile {
    const ABOUT: About = About {
        name: "read_text_file",
        title: "Read Text File",
        description: "Read a file as text, at most 4 MiB; read longer ones in part: `head`, `tail`, or `offset` and `limit`.",
        effect: Effect::Reads,
        output: Output::Text,
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
    type Arguments = OldArguments;

    async fn call(OldArguments(arguments): OldArguments, call: &Call) -> Result<Answer, Failure> {
        read(arguments, call).await
    }
}

async fn read(arguments: Arguments, call: &Call) -> Result<Answer, Failure> {
    let part = arguments.part()?;
    let file = arguments.path.open()?;
    let text = if file.size() <= SMALL {
        part.of(file, &mut |_| Ok(()))?
    } else {
        call.apart("bytes", move |work| part.of(file, &mut |read| work.did(read))).await?
    };
    Ok(Answer::text(text))
}

impl Arguments {
    fn part(&self) -> Result<Part, Failure> {
        let whole = |count: Option<Count>, name| count.map(|count| count.whole(name)).transpose();
        let head = whole(self.head, "head")?;
        let tail = whole(self.tail, "tail")?;
        let offset = whole(self.offset, "offset")?;
        let limit = whole(self.limit, "limit")?;
        match (head, tail, offset.or(limit)) {
            (None, None, None) => Ok(Part::Whole),
            (Some(count), None, None) => Ok(Part::Lines { first: 1, count }),
            (None, Some(count), None) => Ok(Part::Last(count)),
            (None, None, Some(_)) => Ok(Part::Lines { first: offset.unwrap_or(1), count: limit.unwrap_or(u64::MAX) }),
            _ => Err(Failure::Arguments("use only one of `head`, `tail`, and `offset` with `limit`".to_owned())),
        }
    }
}

impl Part {
    fn of(self, file: OpenFile, did: Did<'_>) -> Result<String, Failure> {
        match self {
            Part::Whole => whole(&file),
            Part::Lines { first, count } => lines::from(file, first, count, did),
            Part::Last(count) => lines::last(&file, count, did),
        }
    }
}

/// A whole file as text.
pub(crate) fn whole(file: &OpenFile) -> Result<String, Failure> {
    let path = file.path().to_owned();
    let bytes = file.read_whole(MOST_BYTES).map_err(|error| match error {
        GrantError::TooLarge { size, .. } => Failure::said(format!(
            "`{}` has {size} bytes, and one answer holds 4 MiB; `read_text_file` reads some lines of it: `offset` and \
             `limit`, `head` or `tail`",
            Shown::new(&path)
        )),
        error => error.into(),
    })?;
    text::of(bytes).ok_or_else(|| lines::not_text(&path))
}
