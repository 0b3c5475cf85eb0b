//! The pairs of a configuration, before the roots they may refer to are known.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rootward_core::Guard;

use super::PathMap;
use crate::root_template::{filled_in, has_root_template};

/// Directories of this machine and the server's names for them. `${root}` in a directory is the server's first root.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PathPairs(Vec<(OsString, String)>);

impl PathPairs {
    /// Pairs as written in a configuration: a directory here, and the server's name for it.
    pub fn new(pairs: impl IntoIterator<Item = (OsString, String)>) -> PathPairs {
        PathPairs(pairs.into_iter().collect())
    }

    /// Whether the server sees the same paths as this machine.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The map for a guard's roots; `None` if the server sees the same paths as this machine.
    pub(crate) fn map(&self, guard: &Guard) -> Option<PathMap> {
        if self.is_empty() {
            return None;
        }
        let places: Vec<&Path> = guard.root_set().roots().iter().map(|root| root.place.as_path()).collect();
        // SECURITY: without a root, or with pairs that conflict for these roots, nothing maps and every path is
        // refused
        // (test: pairs_that_contradict_each_other_map_nothing)
        if places.is_empty() && self.0.iter().any(|(from, _)| has_root_template(from)) {
            return Some(PathMap::default());
        }
        let pairs = self.0.iter().map(|(from, to)| (PathBuf::from(filled_in(from, &places)), to.clone()));
        Some(PathMap::new(pairs).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use rootward_core::{GuardOptions, Origin, Root, RootSet, Validation};

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a tree of the test's own")]
    fn pairs_that_contradict_each_other_map_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().canonicalize().unwrap();
        let guard_of = |roots: &[&Path]| {
            let roots = roots.iter().map(|root| Root::from_path(root, Origin::Flag).unwrap());
            Guard::new(RootSet::place_ambient(roots, &Validation::new(None)), GuardOptions::default())
        };
        let pairs = |pairs: &[(&str, &str)]| {
            PathPairs::new(pairs.iter().map(|(from, to)| (OsString::from(from), (*to).to_owned())))
        };
        let (with_root, without) = (guard_of(&[&place]), guard_of(&[]));
        assert_eq!(pairs(&[]).map(&with_root), None);
        let one = pairs(&[("${root}/src", "/projects")]);
        assert_eq!(one.map(&with_root).unwrap().to_host("/projects/a"), Some(place.join("src/a")));
        let twice = pairs(&[("${root}", "/a"), (place.to_str().unwrap(), "/b")]);
        for (pairs, guard) in [(&one, &without), (&twice, &with_root)] {
            let map = pairs.map(guard).unwrap();
            assert_eq!([map.to_host("/projects/a"), map.to_host("/a"), map.to_host("/etc")], [None, None, None]);
        }
    }
}
