//! Whether a change of the store shares more than was shared: to take a root out can do that, too, where a root above it gives more.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rootward_core::Access;

use super::saved::{Kept, Restrict, SavedRoot};

/// Something that is shared and was not.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum More {
    /// Access to a place.
    Access {
        /// The place, and all below it that no other root decides about.
        path: PathBuf,
        /// Who gets it: a client or server that some root is for, or all others.
        peer: Option<String>,
        /// What was not given before.
        access: Access,
    },
    /// A place below a root that was closed.
    Opened {
        /// The root that it was closed below.
        path: PathBuf,
        /// As it was closed.
        restrict: Restrict,
    },
}

impl Kept {
    /// What is shared by `self` and was not by `before`.
    pub fn more_than(&self, before: &Kept) -> Vec<More> {
        let roots = || before.roots.iter().chain(&self.roots);
        let paths: BTreeSet<&PathBuf> = roots().map(|root| &root.path).collect();
        let names: BTreeSet<&str> =
            roots().flat_map(|root| root.audience.names().unwrap_or_default()).map(String::as_str).collect();
        let peers: Vec<Option<&str>> = std::iter::once(None).chain(names.into_iter().map(Some)).collect();
        let given = |kept: &Kept, path: &PathBuf, peer| {
            kept.governing(path, peer).map_or(Access::NONE, |root: &SavedRoot| root.access)
        };
        let mut more = Vec::new();
        for path in paths {
            for peer in &peers {
                let access = given(self, path, *peer).without(given(before, path, *peer));
                if !access.is_empty() {
                    more.push(More::Access { path: path.clone(), peer: peer.map(str::to_owned), access });
                }
            }
        }
        for root in &before.roots {
            for restrict in &root.restrict {
                if self.is_shared_near(root) && !self.is_still_closed(root, restrict) {
                    more.push(More::Opened { path: root.path.clone(), restrict: restrict.clone() });
                }
            }
        }
        more
    }

    /// Whether anything is shared at, above or below a root.
    fn is_shared_near(&self, root: &SavedRoot) -> bool {
        self.roots.iter().any(|other| other.path.starts_with(&root.path) || root.path.starts_with(&other.path))
    }

    fn is_still_closed(&self, root: &SavedRoot, restrict: &Restrict) -> bool {
        let closes = |other: &Restrict| {
            // SECURITY: what was closed entirely and is closed for writing only is opened for reading
            // (test: what_is_more_than_before)
            other.pattern == restrict.pattern && other.closed.access().contains(restrict.closed.access())
        };
        self.roots.iter().filter(|other| other.path == root.path).any(|other| other.restrict.iter().any(closes))
    }
}

#[cfg(test)]
mod tests {
    use rootward_core::Closed;

    use super::super::saved::Audience;
    use super::*;

    fn kept(roots: &[(&str, &str, &[&str])]) -> Kept {
        let root = |(path, access, names): &(&str, &str, &[&str])| SavedRoot {
            audience: Audience::of(names.iter().map(|name| (*name).to_owned())),
            ..SavedRoot::new(path, super::super::access(access).unwrap())
        };
        Kept { roots: roots.iter().map(root).collect() }
    }

    fn closed(patterns: &[(&str, Closed)]) -> Kept {
        let restrict =
            |(pattern, closed): &(&str, Closed)| Restrict { pattern: (*pattern).to_owned(), closed: *closed };
        let restrict = patterns.iter().map(restrict).collect();
        Kept { roots: vec![SavedRoot { restrict, ..SavedRoot::new("/a", Access::READ) }] }
    }

    #[test]
    fn what_is_more_than_before() {
        let check = |before: &[(&str, &str, &[&str])],
                     after: &[(&str, &str, &[&str])],
                     expect: &[(&str, Option<&str>, &str)]| {
            let seen: Vec<_> = kept(after).more_than(&kept(before)).into_iter().collect();
            let expect: Vec<_> = expect
                .iter()
                .map(|(path, peer, access)| More::Access {
                    path: (*path).into(),
                    peer: peer.map(str::to_owned),
                    access: Access::from_words(access).unwrap(),
                })
                .collect();
            assert_eq!(seen, expect, "{before:?} {after:?}");
        };
        check(&[], &[("/a", "ro", &[])], &[("/a", None, "read")]);
        check(&[("/a", "ro", &[])], &[], &[]);
        check(&[("/a", "rw", &[])], &[("/a", "ro", &[])], &[]);
        check(&[("/a", "ro", &[])], &[("/a", "add", &[])], &[("/a", None, "write")]);
        // Without the deeper one, the root above decides.
        check(&[("/a", "add", &[]), ("/a/b", "ro", &[])], &[("/a", "add", &[])], &[("/a/b", None, "write")]);
        check(&[("/a", "ro", &[]), ("/a", "none", &["git"])], &[("/a", "ro", &[])], &[("/a", Some("git"), "read")]);
        check(&[("/a", "ro", &["git", "x"])], &[("/a", "ro", &["git"])], &[]);
        check(&[("/a", "ro", &["git"])], &[("/a", "ro", &[])], &[("/a", None, "read")]);
    }

    #[test]
    fn what_is_closed_no_more() {
        use Closed::{Entirely, ForWriting};
        let check = |before: &Kept, after: &Kept, expect: usize| assert_eq!(after.more_than(before).len(), expect);
        check(&closed(&[]), &closed(&[("x", Entirely)]), 0);
        check(&closed(&[("x", Entirely)]), &closed(&[]), 1);
        check(&closed(&[("x", Entirely)]), &closed(&[("x", ForWriting)]), 1);
        check(&closed(&[("x", ForWriting)]), &closed(&[("x", Entirely)]), 0);
        check(&closed(&[("x", ForWriting)]), &Kept::default(), 0);
    }
}
