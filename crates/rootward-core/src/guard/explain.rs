//! A decision, step by step, for a person who wants to know why.

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use crate::access::Access;
use crate::shown::Shown;

/// One step on the way to a decision. They come in the order in which they were taken.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// The text was read as a path.
    Text {
        /// What kind of text it is.
        form: TextForm,
        /// The path it means, not yet resolved.
        #[serde(serialize_with = "as_text")]
        path: PathBuf,
    },
    /// The components lead into this root.
    RootByText {
        /// The root's path as it was named.
        #[serde(serialize_with = "as_text")]
        root: PathBuf,
        /// Where it really lies.
        #[serde(serialize_with = "as_text")]
        place: PathBuf,
    },
    /// The components lead into no root; where links lead remains to be seen.
    NoRootByText,
    /// The object was opened below the root in one go: no link stands in the way.
    Direct {
        /// Where it lies.
        #[serde(serialize_with = "as_text")]
        place: PathBuf,
    },
    /// Links or `..` stand in the way; followed, they lead here.
    Followed {
        /// Where they lead.
        #[serde(serialize_with = "as_text")]
        place: PathBuf,
    },
    /// What the path names does not exist (yet).
    Absent {
        /// Where it would lie.
        #[serde(serialize_with = "as_text")]
        place: PathBuf,
    },
    /// What the path names cannot exist: something on the way is no directory.
    Blocked {
        /// Where it would lie.
        #[serde(serialize_with = "as_text")]
        place: PathBuf,
    },
    /// The path goes over a link of `/proc` that jumps to an object, which is refused wherever it leads.
    MagicLink {
        /// Where the link is.
        #[serde(serialize_with = "as_text")]
        place: PathBuf,
    },
    /// The path climbs by `..` from a place outside, which is refused wherever it leads.
    Climbs {
        /// Where it climbs from.
        #[serde(serialize_with = "as_text")]
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
        #[serde(serialize_with = "as_text")]
        root: PathBuf,
        /// What it is shared for.
        gives: Access,
        /// What was asked for.
        asked: Access,
    },
    /// A restriction that takes access away here, whether it was asked for or not.
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

/// A path as it is where it is text, and as it is shown where it is not: a name that is not UTF-8 must not cost the rest.
fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => serializer.serialize_str(text),
        None => Shown::new(path).serialize(serializer),
    }
}

/// Who wants to hear of the steps; nobody, on the hot path.
pub(crate) trait Trace {
    fn steps<I: IntoIterator<Item = Step>>(&mut self, steps: impl FnOnce() -> I);

    fn step(&mut self, step: impl FnOnce() -> Step) {
        self.steps(|| [step()]);
    }
}

#[derive(Debug)]
pub(crate) struct Silent;

impl Trace for Silent {
    fn steps<I: IntoIterator<Item = Step>>(&mut self, _: impl FnOnce() -> I) {}
}

impl Trace for Vec<Step> {
    fn steps<I: IntoIterator<Item = Step>>(&mut self, steps: impl FnOnce() -> I) {
        self.extend(steps());
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_step_can_be_written_whatever_its_path() {
        let check = |path: &[u8], expect: &str| {
            let step = Step::Direct { place: Path::new(OsStr::from_bytes(path)).to_owned() };
            let written = serde_json::to_value(step).unwrap();
            assert_eq!((&written["step"], &written["place"]), (&"direct".into(), &expect.into()));
        };
        check(b"/a\nb", "/a\nb");
        check(b"/a\xff", "/a\\xff");
    }
}
