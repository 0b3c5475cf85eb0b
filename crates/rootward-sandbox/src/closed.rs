//! What must stay closed below open places: secrets, Rootward's own files, denied paths, roots with less access.
//!
//! Landlock cannot take away access below a directory that a rule gives. So before a rule is made, [`ClosedTree`] says
//! whether anything below must stay closed; if so, the rule is split (`split.rs`).

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use rootward_core::{Access, Extent, FileKind, Grant, Guard, Protects, Resolver, RootKind, lookout_ambient};

use crate::enforcement::{Unenforced, UnenforcedRule};
use crate::error::ConfinementError;

/// The maximum number of entries of a root to search for closed places.
const MOST_ENTRIES: usize = 1_000_000;

/// A closed place. It may not exist.
#[derive(Debug)]
pub(crate) struct Closed {
    /// Its resolved path.
    pub(crate) place: PathBuf,
    /// The access that is taken away there.
    pub(crate) taken: Access,
    /// The kind of rule that closes it.
    pub(crate) rule: UnenforcedRule,
}

impl Closed {
    /// Whether rules above it must be split. A place that is only closed for writing does not cause a split: every
    /// repository has some, and a server must be able to create files in its project.
    pub(crate) fn must_hold(&self) -> bool {
        self.rule.is_serious(self.taken)
    }
}

/// The closed places below the roots, and the roots that are too large to search.
pub(crate) fn below_roots(guard: &Guard) -> Result<(Vec<Closed>, Vec<Unenforced>), ConfinementError> {
    let (mut closed, mut unenforced) = (Vec::new(), Vec::new());
    for (index, placed) in guard.roots().iter().enumerate() {
        let place = placed.place.clone();
        if place == Path::new("/") {
            return Err(ConfinementError::WholeDisk);
        }
        let access = guard.access_of_root(index);
        let below = guard.closed_places_below(index, MOST_ENTRIES);
        let below = below.map_err(|source| ConfinementError::Root { place: place.clone(), source })?;
        closed.extend(below.found.into_iter().map(|found| Closed {
            place: found.place,
            taken: found.taken,
            rule: match found.protects {
                Protects::User => UnenforcedRule::Restriction { pattern: found.pattern, closed: found.taken },
                Protects::Rootward => UnenforcedRule::Own,
            },
        }));
        if below.extent == Extent::Part {
            unenforced.push(Unenforced { place, open: access, rule: UnenforcedRule::TooLarge });
        }
    }
    Ok((closed, unenforced))
}

/// Roots inside another root with more access: the difference is closed there.
pub(crate) fn nested(guard: &Guard) -> impl Iterator<Item = Closed> {
    guard.roots().iter().enumerate().filter_map(|(inner, placed)| {
        let outside = guard.roots().iter().enumerate().filter(|(outer, around)| {
            *outer != inner && around.kind == RootKind::Directory && placed.place.starts_with(&around.place)
        });
        let sum = outside.fold(Access::NONE, |sum, (outer, _)| sum | guard.access_of_root(outer));
        let taken = sum.without(guard.access_of_root(inner));
        (!taken.is_empty()).then(|| Closed { place: placed.place.clone(), taken, rule: UnenforcedRule::NestedRoot })
    })
}

/// Rootward's own places that were created after the roots were searched: the package cache is created when a command
/// starts.
pub(crate) fn made_since_ambient(closed: &[Closed]) -> Vec<Closed> {
    let absent =
        closed.iter().filter(|closed| closed.rule == UnenforcedRule::Own && !closed.taken.contains(Access::READ));
    let exists = |closed: &&Closed| {
        let seen = lookout_ambient(Resolver::detect()).check_entry(&closed.place, Access::NONE);
        // A link on the way to such a place is only closed for writing; its target has its own entry.
        let is_elsewhere =
            |seen: Grant| matches!(seen.kind(), None | Some(FileKind::Link)) || seen.path() != closed.place;
        !seen.is_ok_and(is_elsewhere)
    };
    // SECURITY: an existing place is also secret (test: the_package_cache_works_inside_a_root_and_shows_no_other)
    absent
        .filter(exists)
        .map(|closed| Closed { place: closed.place.clone(), taken: Access::ALL, rule: UnenforcedRule::Own })
        .collect()
}

/// The closed places as a tree of names. It is a list of nodes, because a path may have thousands of names.
#[derive(Debug)]
pub(crate) struct ClosedTree(Vec<Node>);

#[derive(Debug, Default)]
struct Node {
    /// The access that is taken away at exactly this place.
    here: Access,
    /// The access that is taken away below by places that must hold.
    below: Access,
    /// One of these places, for messages.
    example: Option<PathBuf>,
    /// By name in lower case: some file systems ignore case, and closing too much is the safe mistake.
    entries: HashMap<Vec<u8>, usize>,
}

/// A place in the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClosedAt<'t> {
    tree: &'t ClosedTree,
    node: usize,
}

impl ClosedTree {
    pub(crate) fn new<'c>(closed: impl IntoIterator<Item = &'c Closed>) -> ClosedTree {
        let mut nodes = vec![Node::default()];
        for closed in closed {
            let must_hold = closed.must_hold();
            let mut at = 0;
            for name in names(&closed.place) {
                let next = nodes.len();
                let node = &mut nodes[at];
                if must_hold {
                    node.below = node.below | closed.taken;
                    node.example.get_or_insert_with(|| closed.place.clone());
                }
                at = *node.entries.entry(name.to_ascii_lowercase()).or_insert(next);
                if at == next {
                    nodes.push(Node::default());
                }
            }
            nodes[at].here = nodes[at].here | closed.taken;
        }
        ClosedTree(nodes)
    }

    /// A place, if anything at or below it is closed.
    pub(crate) fn at(&self, place: &Path) -> Option<ClosedAt<'_>> {
        names(place).try_fold(ClosedAt { tree: self, node: 0 }, ClosedAt::entry)
    }
}

impl<'t> ClosedAt<'t> {
    /// An entry of this place, if anything at or below it is closed.
    pub(crate) fn entry(self, name: &[u8]) -> Option<ClosedAt<'t>> {
        let node = self.node().entries.get(name.to_ascii_lowercase().as_slice());
        node.map(|node| ClosedAt { tree: self.tree, node: *node })
    }

    /// The access that is taken away at this place.
    pub(crate) fn taken(self) -> Access {
        self.node().here
    }

    /// The access that is taken away below it by places that must hold.
    pub(crate) fn taken_below(self) -> Access {
        self.node().below
    }

    /// A place below that must hold.
    pub(crate) fn example(self) -> Option<&'t Path> {
        self.node().example.as_deref()
    }

    fn node(self) -> &'t Node {
        &self.tree.0[self.node]
    }
}

fn names(place: &Path) -> impl Iterator<Item = &[u8]> {
    place.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.as_encoded_bytes()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_knows_what_is_taken_here_and_below() {
        let closed = |place: &str, taken, rule| Closed { place: place.into(), taken, rule };
        let restriction = |pattern: &str, closed| UnenforcedRule::Restriction { pattern: pattern.to_owned(), closed };
        let writing = Access::WRITE | Access::DELETE;
        let tree = ClosedTree::new(&[
            closed("/h/.ssh", Access::ALL, restriction(".ssh", Access::ALL)),
            closed("/h/.config/rootward", writing, UnenforcedRule::Own),
            closed("/h/app/.git/hooks", writing, restriction(".git/hooks", writing)),
        ]);
        let check = |place: &str, here: Access, below: Access| {
            let node = tree.at(Path::new(place)).unwrap();
            assert_eq!((node.taken(), node.taken_below()), (here, below), "{place}");
        };
        check("/", Access::NONE, Access::ALL);
        check("/h", Access::NONE, Access::ALL);
        check("/h/.SSH", Access::ALL, Access::NONE);
        check("/h/.config", Access::NONE, writing);
        check("/h/.config/rootward", writing, Access::NONE);
        // Closed for writing only: respected in a split, but never the cause of one.
        check("/h/app/.git", Access::NONE, Access::NONE);
        check("/h/app/.git/hooks", writing, Access::NONE);
        assert!(tree.at(Path::new("/h/other")).is_none());
        assert_eq!(tree.at(Path::new("/h")).unwrap().example(), Some(Path::new("/h/.ssh")));
    }
}
