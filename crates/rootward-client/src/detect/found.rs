//! What a detector finds in one file.

use super::suggestion::Certainty;
use super::{Kind, members::Members};

/// The longest name to accept; longer ones are ignored.
const LONGEST_NAME: usize = 128;

/// A reason to suggest the directory that contains the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Found {
    pub(super) kind: Kind,
    pub(super) name: Option<String>,
    pub(super) certainty: Certainty,
    /// The continuation of the kind's words: ` of …`.
    pub(super) detail: String,
    pub(super) more: More,
}

/// What else a file says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum More {
    Nothing,
    /// Which directories below belong to it.
    Members(Members),
    /// Which directories below are submodules, if this is a repository; the file alone does not make it one.
    Submodules(Members),
    /// Which other directories it names.
    Folders(Vec<Folder>),
    /// A name for the directory if nothing in it gives a better one; the file alone does not make it a repository.
    Remote(String),
}

/// A directory that a file names, as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Folder {
    pub(super) path: String,
    pub(super) name: Option<String>,
}

impl Found {
    /// The file was read and is what its name says.
    pub(super) fn certain(kind: Kind) -> Found {
        Found { kind, name: None, certainty: Certainty::Certain, detail: String::new(), more: More::Nothing }
    }

    /// The file exists, but says too little or cannot be read.
    pub(super) fn likely(kind: Kind) -> Found {
        Found { certainty: Certainty::Likely, ..Found::certain(kind) }
    }

    pub(super) fn named(self, name: Option<&str>) -> Found {
        Found { name: name.and_then(usable_name), ..self }
    }

    pub(super) fn with_detail(self, detail: String) -> Found {
        Found { detail, ..self }
    }

    pub(super) fn with_members(self, members: Members) -> Found {
        Found { more: More::Members(members), ..self }
    }
}

/// A name as accepted: one line, not too long.
pub(super) fn usable_name(name: &str) -> Option<String> {
    let name = name.trim();
    let usable = !name.is_empty() && name.len() <= LONGEST_NAME && !name.chars().any(char::is_control);
    usable.then(|| name.to_owned())
}
