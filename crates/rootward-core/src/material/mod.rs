//! Writable material: everything that a confined command could have written, now or at an earlier start.
//!
//! A confined command may have planted a link, a script's first line or a settings file there to gain more access. So
//! nothing found there may open a place that is not open already.

mod record;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::lookout::follow_ambient;

pub use record::{WritableRecord, WritableRecordError};

/// The places that confined commands could write; only the topmost ones.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Material {
    /// A split home may contribute thousands.
    places: BTreeSet<PathBuf>,
    extent: Extent,
}

/// How much of the disk is writable material.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Extent {
    /// The listed places.
    #[default]
    Listed,
    /// All of it, because the record could not be read.
    Everything,
}

impl Material {
    /// These places and everything below them. The paths must be resolved.
    pub fn new(places: impl IntoIterator<Item = PathBuf>) -> Material {
        let mut material = Material::default();
        material.extend(places);
        material
    }

    /// Nothing on this disk is trusted.
    pub fn everything() -> Material {
        Material { places: BTreeSet::new(), extent: Extent::Everything }
    }

    /// Adds places, which must be resolved. A place inside another adds nothing.
    pub fn extend(&mut self, places: impl IntoIterator<Item = PathBuf>) {
        for place in places {
            if self.holds(&place) {
                continue;
            }
            // In path order, the contents of a place follow it directly.
            let behind = self.places.range(place.clone()..);
            let within: Vec<PathBuf> = behind.take_while(|known| known.starts_with(&place)).cloned().collect();
            for known in within {
                self.places.remove(&known);
            }
            self.places.insert(place);
        }
    }

    /// Whether a resolved place is writable material.
    pub fn holds(&self, place: &Path) -> bool {
        self.extent == Extent::Everything || place.ancestors().any(|above| self.places.contains(above))
    }

    /// A link on the way to a path that a confined command could have created.
    pub fn planted_link_ambient(&self, path: &Path) -> Option<PathBuf> {
        follow_ambient(path)?.links.into_iter().find(|link| self.holds(link))
    }

    /// Whether a confined command could have created the target of a path, or a link on the way. A path that cannot be
    /// followed counts as planted.
    pub fn may_be_planted_ambient(&self, path: &Path) -> bool {
        // SECURITY: a link of the user's own may lead to a file that a command wrote
        // (test: a_link_to_what_a_command_wrote_is_found)
        follow_ambient(path)
            .is_none_or(|followed| self.holds(&followed.place) || followed.links.iter().any(|link| self.holds(link)))
    }

    /// The topmost places, in path order.
    pub fn places(&self) -> impl ExactSizeIterator<Item = &PathBuf> {
        self.places.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a tree for the test")]
    fn a_link_to_what_a_command_wrote_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        for name in ["written", "own"] {
            std::fs::create_dir(top.join(name)).unwrap();
            std::fs::write(top.join(name).join("file"), "").unwrap();
        }
        let link = |to: &str, at: &str| std::os::unix::fs::symlink(top.join(to), top.join(at)).unwrap();
        link("written/file", "own/to-written");
        link("own/file", "own/to-own");
        link("own/file", "written/to-own");
        let material = Material::new([top.join("written")]);
        let planted = |path: &str| material.may_be_planted_ambient(&top.join(path));
        assert!(planted("written/file") && planted("own/to-written") && planted("written/to-own"));
        assert!(!planted("own/file") && !planted("own/to-own") && !planted("own/missing"));
    }

    #[test]
    fn only_the_topmost_places_are_kept() {
        let mut material = Material::new(["/a/b", "/a/b/c", "/d"].map(PathBuf::from));
        assert!(material.places().eq(["/a/b", "/d"].map(Path::new)));
        material.extend(["/a.b", "/a/c", "/a-b"].map(PathBuf::from));
        material.extend([PathBuf::from("/a")]);
        assert!(material.places().eq(["/a", "/a-b", "/a.b", "/d"].map(Path::new)), "{material:?}");
        for (place, expect) in [("/a", true), ("/a/x", true), ("/ab", false), ("/", false), ("/d/e", true)] {
            assert_eq!(material.holds(Path::new(place)), expect, "{place}");
        }
        assert!(Material::everything().holds(Path::new("/usr")));
    }
}
