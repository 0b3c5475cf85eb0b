//! One saved root: what the user consented to, as plain values.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rootward_core::{Access, Closed, Pattern, WritableRecord};

use super::reach::Reach;

/// A saved root.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SavedRoot {
    /// Its path: absolute, and without links if Rootward saved it.
    pub path: PathBuf,
    /// Whether the path is a pattern: its matches are shared, and the rest of the entry applies to each match.
    pub pattern: Option<Pattern>,
    /// The name to show.
    pub name: Option<String>,
    /// Its access.
    pub access: Access,
    /// What stays closed below it.
    pub restrict: Vec<Restrict>,
    /// Who it is shared with.
    pub audience: Audience,
    /// Whether the user forced a place that should not be shared.
    pub insistence: Insistence,
    /// The consent that it was saved with; `None` if the entry was written by hand.
    pub given: Option<YesOnRecord>,
}

/// A pattern for what is closed below a root. One with a `/` starts at the root, another matches at any depth.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Restrict {
    /// The glob.
    pub pattern: String,
    /// How far it is closed.
    pub closed: Closed,
}

/// Who a root is shared with.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Audience {
    /// Everybody.
    #[default]
    All,
    /// The clients or servers with these names.
    Only(Vec<String>),
}

/// Whether the user forced a place that validation refuses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Insistence {
    /// The place is validated like a client's root.
    #[default]
    Judged,
    /// `--force`: any place.
    Forced,
}

/// A recorded consent.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct YesOnRecord {
    /// Who requested it.
    pub by: String,
    /// When, to the second.
    pub at: SystemTime,
}

impl Audience {
    /// The peers with these names; everybody if there are none.
    pub fn of(names: impl IntoIterator<Item = String>) -> Audience {
        let mut seen = HashSet::new();
        let names: Vec<String> = names.into_iter().filter(|name| seen.insert(name.clone())).collect();
        if names.is_empty() { Audience::All } else { Audience::Only(names) }
    }

    /// Whether it includes this peer. A peer without a name is included only if everybody is.
    pub fn has(&self, peer: Option<&str>) -> bool {
        match self {
            Audience::All => true,
            Audience::Only(names) => peer.is_some_and(|peer| names.iter().any(|name| name == peer)),
        }
    }

    /// The names, unless everybody is included.
    pub fn names(&self) -> Option<&[String]> {
        match self {
            Audience::All => None,
            Audience::Only(names) => Some(names),
        }
    }

    /// Whether two entries about one path would contradict each other: an entry that names a peer takes precedence
    /// over one for all.
    pub fn overlaps(&self, other: &Audience) -> bool {
        match (self, other) {
            (Audience::All, Audience::All) => true,
            (Audience::Only(names), Audience::Only(_)) => names.iter().any(|name| other.has(Some(name))),
            _ => false,
        }
    }
}

impl SavedRoot {
    /// Whether both are about one place, or one pattern.
    pub fn is_at(&self, other: &SavedRoot) -> bool {
        self.path == other.path && self.pattern.is_some() == other.pattern.is_some()
    }
}

impl From<Vec<SavedRoot>> for Kept {
    fn from(roots: Vec<SavedRoot>) -> Kept {
        Kept { roots, record: None }
    }
}

/// Everything that is saved, in file order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// The roots.
    pub roots: Vec<SavedRoot>,
    /// The record of what confined commands could write: no pattern matches there.
    pub record: Option<WritableRecord>,
}

impl Kept {
    /// The roots for a peer. If an entry names the peer, entries for everybody at the same path do not apply to it.
    pub fn for_peer<'k>(&'k self, peer: Option<&'k str>) -> impl Iterator<Item = &'k SavedRoot> {
        let by_name = move |one: &SavedRoot| {
            let named = |root: &SavedRoot| root.audience != Audience::All && root.audience.has(peer);
            self.roots.iter().any(|root| root.is_at(one) && named(root))
        };
        let counts = move |root: &&SavedRoot| root.audience != Audience::All || !by_name(root);
        self.roots.iter().filter(move |root| root.audience.has(peer)).filter(counts)
    }

    /// What the user consented to for a path and this peer: the deepest root that contains it decides. This compares
    /// text, so it is for paths without links.
    ///
    /// A pattern only takes away here: its text alone does not tell whether a directory is one of its matches.
    pub fn governing(&self, path: &Path, peer: Option<&str>) -> Option<Access> {
        let mut given: Option<(usize, Access)> = None;
        let depth = |root: &SavedRoot| root.path.components().count();
        for root in self.for_peer(peer).filter(|root| root.pattern.is_none() && path.starts_with(&root.path)) {
            given = match given {
                Some((deepest, access)) if deepest > depth(root) => Some((deepest, access)),
                // Two roots at one place give only their common access.
                Some((deepest, access)) if deepest == depth(root) => Some((deepest, access & root.access)),
                _ => Some((depth(root), root.access)),
            };
        }
        let (deepest, access) = given?;
        let patterns = self.for_peer(peer).filter(|root| root.pattern.is_some() && depth(root) >= deepest);
        let narrowing = patterns.filter(|root| root.reach(path, None) != Reach::Nothing);
        Some(narrowing.fold(access, |access, root| access & root.access))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(path: &str, access: Access, names: &[&str]) -> SavedRoot {
        let audience = Audience::of(names.iter().map(|name| (*name).to_owned()));
        SavedRoot { audience, ..SavedRoot::new(path, access) }
    }

    #[test]
    fn a_peer_gets_what_is_for_it_and_what_is_for_all() {
        let kept = Kept::from(vec![
            root("/a", Access::READ_WRITE, &[]),
            root("/a", Access::READ, &["git"]),
            root("/a/b", Access::ALL, &["git", "editor"]),
            root("/c", Access::READ, &[]),
        ]);
        let check = |peer: Option<&str>, expect: &[(&str, Access)]| {
            let seen: Vec<_> = kept.for_peer(peer).map(|root| (root.path.to_str().unwrap(), root.access)).collect();
            assert_eq!(seen, expect, "{peer:?}");
        };
        check(None, &[("/a", Access::READ_WRITE), ("/c", Access::READ)]);
        check(Some("other"), &[("/a", Access::READ_WRITE), ("/c", Access::READ)]);
        check(Some("git"), &[("/a", Access::READ), ("/a/b", Access::ALL), ("/c", Access::READ)]);
        check(Some("editor"), &[("/a", Access::READ_WRITE), ("/a/b", Access::ALL), ("/c", Access::READ)]);
        let governing = |path: &str, peer| kept.governing(Path::new(path), peer);
        assert_eq!(governing("/a/b/x", Some("git")), Some(Access::ALL));
        assert_eq!(governing("/a/b/x", None), Some(Access::READ_WRITE));
        assert_eq!(governing("/ab", None), None);
    }

    #[test]
    fn entries_that_contradict_each_other() {
        let of = |names: &[&str]| Audience::of(names.iter().map(|name| (*name).to_owned()));
        assert!(of(&[]).overlaps(&of(&[])));
        assert!(of(&["a", "b"]).overlaps(&of(&["b"])));
        assert!(!of(&["a"]).overlaps(&of(&["b"])));
        assert!(!of(&[]).overlaps(&of(&["b"])) && !of(&["b"]).overlaps(&of(&[])));
        assert!(!Audience::Only(Vec::new()).has(None) && !Audience::Only(Vec::new()).has(Some("")));
    }
}
