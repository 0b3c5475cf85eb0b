//! The steps of a decision, for a person who wants to know why.

use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use crate::access::Access;
use crate::shown::Shown;

/// One step of a decision. Steps are listed in order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// The text was parsed as a path.
    Text {
        /// The form of the text.
        form: TextForm,
        /// The path it names, not yet resolved.
        #[serde(serialize_with = "as_text")]
        path: PathBuf,
    },
    /// The components lead into this root.
    RootByText {
        /// The root's path as it was named.
        #[serde(serialize_with = "as_text")]
        root: PathBuf,
        /// Its resolved path.
        #[serde(serialize_with = "as_text")]
        place: PathBuf,
    },
    /// The components lead into no root; links may still lead into one.
    NoRootByText,
    /// The object was opened below the root in one call, so there is no link on the way.
    Direct {
        /// Its place.
        #[serde(serialize_with = "as_text")]
        place: PathBuf,
    },
    /// There are links or `..` on the way; following them leads here.
    Followed {
        /// The resulting place.
        #[serde(serialize_with = "as_text")]
        place: PathBuf,
    },
    /// The path names something that does not exist (yet).
    Absent {
        /// Where it would be.
        #[serde(serialize_with = "as_text")]
        place: PathBuf,
    },
    /// The path names something that cannot exist, because a component is not a directory.
    Blocked {
        /// Where it would be.
        #[serde(serialize_with = "as_text")]
        place: PathBuf,
    },
    /// The path goes through a magic link of `/proc`, which is always refused.
    MagicLink {
        /// The place of the link.
        #[serde(serialize_with = "as_text")]
        place: PathBuf,
    },
    /// The path uses `..` to climb from a place outside, which is always refused.
    Climbs {
        /// The place it climbs from.
        #[serde(serialize_with = "as_text")]
        place: PathBuf,
    },
    /// The system refused to resolve the path.
    System {
        /// The error.
        error: String,
    },
    /// The root that contains the place, and the access it gives.
    Governed {
        /// The root's path as it was named.
        #[serde(serialize_with = "as_text")]
        root: PathBuf,
        /// The access it gives.
        gives: Access,
        /// The requested access.
        asked: Access,
    },
    /// A restriction that takes access away here, whether or not that access was requested.
    Restriction {
        /// Its pattern.
        pattern: String,
        /// The access it takes away.
        takes: Access,
    },
}

/// The form of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TextForm {
    /// An absolute path, a `file:` URI, or a path starting with `~`.
    Absolute,
    /// A relative path, resolved against the base.
    FromBase,
    /// A relative path, resolved against the first root.
    FromFirstRoot,
}

/// Serializes a path as it is if it is UTF-8, otherwise as it is shown, so that one such name does not break the whole
/// output.
fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => serializer.serialize_str(text),
        None => Shown::new(path).serialize(serializer),
    }
}

/// Receives the steps. [`Silent`] ignores them on the hot path.
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
