//! What a scan answers.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rootward_core::Shown;
use serde::{Serialize, Serializer};

use super::{Bound, Kind};

/// What was found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Detection {
    /// Sorted by path.
    pub suggestions: Vec<Suggestion>,
    /// How many files and directories were seen.
    pub visited: u64,
    /// The limits that were met: there may be more.
    pub bounds: Vec<Bound>,
    /// What could not be listed; at most a hundred for each directory that was looked below.
    pub unreadable: Vec<Unreadable>,
}

/// A directory that could be shared. Nobody has agreed to it yet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Suggestion {
    /// Its URI; none where the path has none, because it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Where it lies, without links.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// What the project calls itself, else the last part of its git remote, else its directory. None only where none of these can be a
    /// name.
    pub name: Option<String>,
    /// Why it is suggested; at least one.
    pub reasons: Vec<Reason>,
    /// How sure the surest of them is.
    pub certainty: Certainty,
    /// Whether anybody looked.
    pub presence: Presence,
    /// The suggestion that it lies in.
    pub within: Option<Within>,
}

/// Why a directory is suggested.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Reason {
    /// What it is.
    pub kind: Kind,
    /// The name of the file or directory that says so.
    pub file: String,
    /// In words.
    pub why: String,
    /// How sure.
    pub certainty: Certainty,
}

/// How sure a suggestion is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// A file names a place that was not looked at.
    Possible,
    /// A file of the right name is there, and says too little or cannot be read.
    Likely,
    /// What is there was read and is what its name says.
    Certain,
}

/// Whether anybody looked at what is suggested.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// It was seen.
    Seen,
    /// A file names it, it lies outside what was looked at, and whether it exists is not known.
    OnlyNamed,
}

/// The suggestion that another lies in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Within {
    /// Its path.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// How the two belong together.
    pub bond: Bond,
}

/// How a suggestion belongs to the one that it lies in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bond {
    /// The other is a workspace and names it as a member.
    Member,
    /// The other is a git repository and has it as a submodule.
    Submodule,
    /// It merely lies there.
    Below,
}

/// A directory that could not be listed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Unreadable {
    /// Where it lies.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// What the system said.
    pub reason: String,
}

impl Suggestion {
    /// What to call it: its name, else its path.
    pub fn title(&self) -> Cow<'_, str> {
        match (&self.name, self.path.file_name()) {
            (Some(name), _) => Cow::Borrowed(name),
            (None, Some(name)) => name.to_string_lossy(),
            (None, None) => self.path.to_string_lossy(),
        }
    }

    /// Whether it is of this kind.
    pub fn is(&self, kind: Kind) -> bool {
        self.reasons.iter().any(|reason| reason.kind == kind)
    }
}

/// As it is where it is text, and as it is shown where it is not UTF-8: JSON holds text only.
fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => serializer.serialize_str(text),
        None => serializer.collect_str(&Shown::new(path)),
    }
}
