//! Writable material: whatever a confined command could have written, now or at an earlier start.
//!
//! A link, a script's first line or a settings file in such a place may have been planted by the command that it would give
//! more to. So nothing found there may name a place that is not open already.

mod record;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::lookout::follow_ambient;

pub use record::{WritableRecord, WritableRecordError};

/// The places that confined commands could write, topmost only.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Material {
    /// A split home may have given thousands.
    places: BTreeSet<PathBuf>,
    extent: Extent,
}

/// How much of the disk is writable material.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Extent {
    /// The listed places.
    #[default]
    Listed,
    /// All of it: the record could not be read.
    Everything,
}

impl Material {
    /// These places, which are resolved, and all below them.
    pub fn new(places: impl IntoIterator<Item = PathBuf>) -> Material {
        let mut material = Material::default();
        material.extend(places);
        material
    }

    /// Nothing on this disk is trusted.
    pub fn everything() -> Material {
        Material { places: BTreeSet::new(), extent: Extent::Everything }
    }

    /// Adds places, which are resolved. One that lies in another adds nothing.
    pub fn extend(&mut self, places: impl IntoIterator<Item = PathBuf>) {
        for place in places {
            if self.holds(&place) {
                continue;
            }
            // In the order of paths, what lies in a place comes right behind it.
            let behind = self.places.range(place.clone()..);
            let within: Vec<PathBuf> = behind.take_while(|known| known.starts_with(&place)).cloned().collect();
            for known in within {
                self.places.remove(&known);
            }
            self.places.insert(place);
        }
    }

    /// Whether a place, which is resolved, is writable material.
    pub fn holds(&self, place: &Path) -> bool {
        self.extent == Extent::Everything || place.ancestors().any(|above| self.places.contains(above))
    }

    /// A link on the way to a path that a confined command could have made.
    pub fn planted_link_ambient(&self, path: &Path) -> Option<PathBuf> {
        follow_ambient(path)?.links.into_iter().find(|link| self.holds(link))
    }

    /// The topmost places, in the order of their paths.
    pub fn places(&self) -> impl ExactSizeIterator<Item = &PathBuf> {
        self.places.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
