//! Whether a change to the store shares more than before: removing a root can do that, too, if a root above it gives
//! more.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rootward_core::Access;

use super::reach::Reach;
use super::saved::{Kept, Restrict, SavedRoot};

/// Something that is shared now and was not before.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum More {
    /// Access to a place.
    Access {
        /// The place, and everything below it that no other root decides.
        path: PathBuf,
        /// Who gets it: a client or server that some root names, or all others.
        peer: Option<String>,
        /// The access that was not given before.
        access: Access,
    },
    /// A place below a root that was closed.
    Opened {
        /// The root that it was closed below.
        path: PathBuf,
        /// The restriction that closed it.
        restrict: Restrict,
    },
}

impl Kept {
    /// What `self` shares and `before` did not.
    pub fn more_than(&self, before: &Kept) -> Vec<More> {
        let roots = || before.roots.iter().chain(&self.roots);
        let mut subjects: Vec<&SavedRoot> = roots().collect();
        subjects.sort_by(|one, other| one.path.cmp(&other.path));
        subjects.dedup_by(|one, other| one.is_at(other));
        let names: BTreeSet<&str> =
            roots().flat_map(|root| root.audience.names().unwrap_or_default()).map(String::as_str).collect();
        let peers: Vec<Option<&str>> = std::iter::once(None).chain(names.into_iter().map(Some)).collect();
        let mut more = Vec::new();
        for subject in subjects {
            for peer in &peers {
                let (now, then) = (self.holding(subject, *peer), before.holding(subject, *peer));
                // What nobody changed needs no question, however patterns overlap.
                let access = if now == then { Access::NONE } else { most(&now).without(least(&then)) };
                if !access.is_empty() {
                    let path = subject.path.clone();
                    more.push(More::Access { path, peer: peer.map(str::to_owned), access });
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

    /// The roots that give a peer access to `subject`, or to some of a pattern's matches.
    pub fn sharing<'k>(&'k self, subject: &SavedRoot, peer: Option<&'k str>) -> Vec<&'k SavedRoot> {
        let depth = |root: &SavedRoot| root.path.components().count();
        let reach = |root: &SavedRoot| root.reach(&subject.path, subject.pattern.as_ref());
        let of_reach = |wanted| self.for_peer(peer).filter(move |root| reach(root) == wanted);
        let deepest = of_reach(Reach::Whole).map(depth).max();
        let whole = || of_reach(Reach::Whole).filter(|root| Some(depth(root)) == deepest);
        // Two roots at one place give only their common access.
        let common = whole().fold(Access::ALL, |common, root| common & root.access);
        let part = of_reach(Reach::Part).filter(|root| Some(depth(root)) > deepest && !root.access.is_empty());
        whole().filter(|_| !common.is_empty()).chain(part).collect()
    }

    /// The roots that decide a root, or some of a pattern's matches, with their depths.
    fn holding(&self, subject: &SavedRoot, peer: Option<&str>) -> Vec<(usize, Reach, Access)> {
        // A directory that some pattern matches is handled on its own.
        let roots = self.for_peer(peer).filter(|root| root.pattern.is_some() || subject.path.starts_with(&root.path));
        let holding = roots.map(|root| {
            let reach = root.reach(&subject.path, subject.pattern.as_ref());
            (root.path.components().count(), reach, root.access)
        });
        holding.filter(|(_, reach, _)| *reach != Reach::Nothing).collect()
    }

    /// Whether anything is shared at, above or below a root.
    fn is_shared_near(&self, root: &SavedRoot) -> bool {
        self.roots.iter().any(|other| other.path.starts_with(&root.path) || root.path.starts_with(&other.path))
    }

    fn is_still_closed(&self, root: &SavedRoot, restrict: &Restrict) -> bool {
        let closes = |other: &Restrict| {
            // SECURITY: a place that was closed entirely and is now closed only for writing has been opened for
            // reading
            // (test: what_is_more_than_before)
            other.pattern == restrict.pattern && other.closed.access().contains(restrict.closed.access())
        };
        self.roots.iter().filter(|other| other.path == root.path).any(|other| other.restrict.iter().any(closes))
    }
}

/// The greatest depth of those that contain all of it.
fn deepest(holding: &[(usize, Reach, Access)]) -> Option<usize> {
    holding.iter().filter(|(_, reach, _)| *reach == Reach::Whole).map(|(depth, ..)| *depth).max()
}

/// The most that they give to any directory that they apply to.
fn most(holding: &[(usize, Reach, Access)]) -> Access {
    let deepest = deepest(holding);
    let whole = holding.iter().filter(|(depth, reach, _)| *reach == Reach::Whole && Some(*depth) == deepest);
    // Two roots at one place give only their common access.
    let whole = whole.map(|(.., access)| *access).reduce(|one, other| one & other);
    // SECURITY: a pattern that matches some of the directories takes nothing from the others, and may give more to
    // some
    // (test: patterns_that_overlap_give_more)
    let part = holding.iter().filter(|(depth, reach, _)| *reach == Reach::Part && Some(*depth) > deepest);
    part.fold(whole.unwrap_or(Access::NONE), |sum, (.., access)| sum.with(*access))
}

/// The least that they give.
fn least(holding: &[(usize, Reach, Access)]) -> Access {
    let Some(deepest) = deepest(holding) else { return Access::NONE };
    let about = holding.iter().filter(|(depth, ..)| *depth >= deepest);
    about.fold(Access::ALL, |rest, (.., access)| rest & *access)
}

#[cfg(test)]
mod tests {
    use rootward_core::{Closed, Pattern};

    use super::super::saved::Audience;
    use super::*;

    fn kept(roots: &[(&str, &str, &[&str])]) -> Kept {
        let root = |(path, access, names): &(&str, &str, &[&str])| SavedRoot {
            audience: Audience::of(names.iter().map(|name| (*name).to_owned())),
            pattern: Pattern::read(path.as_bytes(), path.as_ref()).unwrap(),
            ..SavedRoot::new(path, super::super::access(access).unwrap())
        };
        Kept::from(roots.iter().map(root).collect::<Vec<_>>())
    }

    fn closed(patterns: &[(&str, Closed)]) -> Kept {
        let restrict =
            |(pattern, closed): &(&str, Closed)| Restrict { pattern: (*pattern).to_owned(), closed: *closed };
        let restrict = patterns.iter().map(restrict).collect();
        Kept::from(vec![SavedRoot { restrict, ..SavedRoot::new("/a", Access::READ) }])
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
        check(&[("/a", "ro", &[])], &[("/a", "rw-nodelete", &[])], &[("/a", None, "write")]);
        // Without the deeper root, the root above decides.
        check(
            &[("/a", "rw-nodelete", &[]), ("/a/b", "ro", &[])],
            &[("/a", "rw-nodelete", &[])],
            &[("/a/b", None, "write")],
        );
        check(&[("/a", "ro", &[]), ("/a", "none", &["git"])], &[("/a", "ro", &[])], &[("/a", Some("git"), "read")]);
        check(&[("/a", "ro", &["git", "x"])], &[("/a", "ro", &["git"])], &[]);
        check(&[("/a", "ro", &["git"])], &[("/a", "ro", &[])], &[("/a", None, "read")]);
    }

    #[test]
    fn patterns_that_overlap_give_more() {
        let check = |before: &[(&str, &str)], after: &[(&str, &str)], expect: &[&str]| {
            let of = |roots: &[(&str, &str)]| {
                kept(&roots.iter().map(|(path, access)| (*path, *access, &[][..])).collect::<Vec<_>>())
            };
            let more = of(after).more_than(&of(before));
            let paths: Vec<_> = more
                .iter()
                .map(|more| match more {
                    More::Access { path, .. } | More::Opened { path, .. } => path.to_str().unwrap(),
                })
                .collect();
            assert_eq!(paths, expect, "{before:?} {after:?}");
        };
        check(&[], &[("/s/*", "ro")], &["/s/*"]);
        check(&[("/s/*", "ro")], &[("/s/*", "rw")], &["/s/*"]);
        check(&[("/s/*", "rw")], &[("/s/*", "ro")], &[]);
        check(&[("/s/*", "rw")], &[], &[]);
        // A root that takes access away is removed.
        check(&[("/s", "rw"), ("/s/*", "ro")], &[("/s", "rw")], &["/s/*"]);
        check(&[("/s/*", "rw"), ("/s/a", "ro")], &[("/s/*", "rw")], &["/s/a"]);
        check(&[("/s/a*", "ro"), ("/s/*b", "rw")], &[("/s/*b", "rw")], &["/s/*b", "/s/a*"]);
        // A pattern that matches some of them hides nothing that the others get.
        check(&[("/s/a*", "ro"), ("/s/*b", "ro")], &[("/s/a*", "rw"), ("/s/*b", "ro")], &["/s/a*"]);
        // Unchanged entries.
        check(&[("/s/a*", "ro"), ("/s/*b", "rw"), ("/x", "ro")], &[("/s/a*", "ro"), ("/s/*b", "rw")], &[]);
    }

    #[test]
    fn what_still_shares_a_removed_root() {
        let check = |roots: &[(&str, &str, &[&str])], subject: &str, peer: Option<&str>, expect: &[&str]| {
            let (kept, subjects) = (kept(roots), kept(&[(subject, "rw", &[])]));
            let sharing = kept.sharing(&subjects.roots[0], peer);
            let paths: Vec<_> = sharing.iter().map(|root| root.path.to_str().unwrap()).collect();
            assert_eq!(paths, expect, "{roots:?} {peer:?}");
        };
        check(&[("/src", "rw", &[]), ("/x", "rw", &[])], "/src/a", None, &["/src"]);
        check(&[("/src", "rw", &[]), ("/src/a", "none", &[])], "/src/a/b", None, &[]);
        // A root that contains only some of the matches does not decide for the others.
        check(&[("/src", "rw", &[]), ("/src/a", "none", &[])], "/src/*", None, &["/src"]);
        check(&[("/src", "none", &[]), ("/src/a", "ro", &[])], "/src/*", None, &["/src/a"]);
        check(&[("/src", "ro", &[]), ("/src/a*", "rw", &[])], "/src/*", None, &["/src", "/src/a*"]);
        check(&[("/src/a", "ro", &[])], "/src/*", None, &["/src/a"]);
        // Two roots at one place give only their common access, in any order.
        let (some, none): ((_, _, &[&str]), (_, _, &[&str])) = (("/p", "rw", &["git"]), ("/p", "none", &["git"]));
        check(&[some, none], "/p/a", Some("git"), &[]);
        check(&[none, some], "/p/a", Some("git"), &[]);
        check(&[some, ("/p", "ro", &["git"])], "/p/a", Some("git"), &["/p", "/p"]);
        for roots in [[("/p", "rw", &[][..]), none], [none, ("/p", "rw", &[][..])]] {
            check(&roots, "/p/a", Some("git"), &[]);
            check(&roots, "/p/a", None, &["/p"]);
        }
    }

    #[test]
    fn restrictions_that_were_lifted() {
        use Closed::{Entirely, ForWriting};
        let check = |before: &Kept, after: &Kept, expect: usize| assert_eq!(after.more_than(before).len(), expect);
        check(&closed(&[]), &closed(&[("x", Entirely)]), 0);
        check(&closed(&[("x", Entirely)]), &closed(&[]), 1);
        check(&closed(&[("x", Entirely)]), &closed(&[("x", ForWriting)]), 1);
        check(&closed(&[("x", ForWriting)]), &closed(&[("x", Entirely)]), 0);
        check(&closed(&[("x", ForWriting)]), &Kept::default(), 0);
    }
}
