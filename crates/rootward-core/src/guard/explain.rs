//! A decision, step by step, for a person who wants to know why.

use std::path::PathBuf;

use serde::Serialize;

use crate::access::Access;

/// One step on the way to a decision. They come in the order in which they were taken.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// The text was read as a path.
    Text {
        /// What kind of text it is.
        form: TextForm,
        /// The path it means, not yet resolved.
        path: PathBuf,
    },
    /// The components lead into this root.
    RootByText {
        /// The root's path as it was named.
        root: PathBuf,
    },
    /// The components lead into no root; where links lead remains to be seen.
    NoRootByText,
    /// The object was opened below the root in one go: no link stands in the way.
    Direct {
        /// Where it lies.
        place: PathBuf,
    },
    /// Links or `..` stand in the way; followed, they lead here.
    Followed {
        /// Where they lead.
        place: PathBuf,
    },
    /// What the path names does not exist (yet).
    Absent {
        /// Where it would lie.
        place: PathBuf,
    },
    /// The system refused to resolve the path.
    System {
        /// What it said.
        error: String,
    },
    /// The root that holds the place, with the access it gives.
    Governed {
        /// The root's path as it was named.
        root: PathBuf,
        /// What it is shared for.
        gives: Access,
        /// What was asked for.
        asked: Access,
    },
    /// A restriction that takes access away here.
    Restriction {
        /// Its pattern.
        pattern: String,
        /// What it takes away.
        takes: Access,
    },
}

/// How a path text was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TextForm {
    /// An absolute path, a `file:` URI, or a path from the home directory.
    Absolute,
    /// A relative path, counted from the base.
    FromBase,
    /// A relative path, counted from the first root.
    FromFirstRoot,
}

/// Who wants to hear of the steps; nobody, on the hot path.
pub(crate) trait Trace {
    fn step(&mut self, step: impl FnOnce() -> Step);
}

#[derive(Debug)]
pub(crate) struct Silent;

impl Trace for Silent {
    fn step(&mut self, _: impl FnOnce() -> Step) {}
}

impl Trace for Vec<Step> {
    fn step(&mut self, step: impl FnOnce() -> Step) {
        self.push(step());
    }
}
