//! The result of a scan.

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
    /// The limits that were reached: there may be more.
    pub bounds: Vec<Bound>,
    /// Directories that could not be listed; at most a hundred for each start of the scan.
    pub unreadable: Vec<Unreadable>,
}

/// A directory that could be shared. Nobody has agreed to it yet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Suggestion {
    /// Its URI; `None` if the path is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Its path, without links.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// The project's own name, else the last part of its git remote, else its directory's name. `None` only if none
    /// of these is usable as a name.
    pub name: Option<String>,
    /// Why it is suggested; at least one.
    pub reasons: Vec<Reason>,
    /// The highest certainty of the reasons.
    pub certainty: Certainty,
    /// Whether it was seen or only named.
    pub presence: Presence,
    /// The suggestion that contains it.
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
    /// How certain it is.
    pub certainty: Certainty,
}

/// How certain a suggestion is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// A file names a place that was not looked at.
    Possible,
    /// A file with the right name exists, but says too little or cannot be read.
    Likely,
    /// The file was read and is what its name says.
    Certain,
}

/// Whether the suggested directory was seen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// It was seen.
    Seen,
    /// A file names it, but it is outside the scan, and it may not exist.
    OnlyNamed,
}

/// The suggestion that contains another one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Within {
    /// Its path.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// How the two are related.
    pub bond: Bond,
}

/// How a suggestion is related to the one that contains it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bond {
    /// The other is a workspace and lists it as a member.
    Member,
    /// The other is a git repository and has it as a submodule.
    Submodule,
    /// It is only located there.
    Below,
}

/// A directory that could not be listed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Unreadable {
    /// Its path.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// The system's error.
    pub reason: String,
}

impl Suggestion {
    /// How to refer to it: its name, else its path.
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

/// As it is if it is text, and escaped if it is not UTF-8: JSON holds only text.
fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => serializer.serialize_str(text),
        None => serializer.collect_str(&Shown::new(path)),
    }
}
