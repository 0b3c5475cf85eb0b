//! A root set: the roots that were found on disk, in the order in which they were named, and those that were kept out.
//!
//! Plain values, no handles and no file system: a guard is built from one. What holds here holds for every place:
//! the deepest root that holds it decides ([`RootSet::governing`]), and two sets are combined so that this stays true
//! ([`RootSet::combine`]).

mod difference;
#[cfg(test)]
mod laws;
mod mode;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::Access;
use crate::pattern::MOST_MATCHES;
use crate::root::{Origin, PlacedRoot, Root, RootKind};
use crate::shown::Shown;

pub use difference::{Change, Difference};
pub use mode::{Mode, UnknownMode};

/// An ordered list of roots found on disk, no two at the same place, and the roots that were kept out. Cheap to clone:
/// thousands of sessions may hold the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RootSet {
    roots: Arc<[PlacedRoot]>,
    refused: Arc<[RefusedRoot]>,
    others: Arc<[OtherRoot]>,
}

/// A root of another scheme than `file`, such as `https://api.example.com/v1/`. It is kept and told on, and opens nothing: no path
/// lies in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OtherRoot {
    /// As it was named.
    pub uri: String,
    /// The name to show, if one was given.
    pub name: Option<String>,
    /// What its entry carried besides (`_meta`), as JSON.
    pub meta: Option<Box<str>>,
}

impl OtherRoot {
    /// What to call it: its name, else its URI.
    pub fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.uri)
    }
}

/// A root that was named and kept out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RefusedRoot {
    /// As it was named.
    pub text: String,
    /// What the text meant, where it could be read.
    pub root: Option<Root>,
    /// Why it was kept out.
    pub reason: WhyRefused,
}

/// Why a root was kept out.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum WhyRefused {
    /// Its text names no place: the reason of whoever read it.
    #[error("not a usable root: {0}")]
    Unusable(String),
    /// Nothing is there. It comes back when something is.
    #[error("does not exist")]
    Missing,
    /// Something is in the way.
    #[error("cannot be reached: {0}")]
    Unreachable(io::ErrorKind),
    /// A system or secret place, and whoever named it may not share those.
    #[error("cannot be shared: {0}")]
    NotShareable(String),
    /// A device, FIFO or socket.
    #[error("is neither a file nor a directory")]
    Special,
    /// A saved root that is reached by a link: what lies there is not what the user said yes to.
    #[error("a link leads elsewhere from there")]
    Linked,
    /// A pattern that no directory matches.
    #[error("no directory matches")]
    NoMatch,
    /// A pattern that too many directories match, or that has too many entries to look through.
    #[error("more than {MOST_MATCHES} directories match, or there are too many entries to look through")]
    TooManyMatches,
    /// A pattern in a place that a confined command could write: it chooses what matches.
    #[error(
        "a confined server could have made directories in `{}`, so no pattern is used there; name the directories one by one",
        Shown::new(.0)
    )]
    PlantedMatch(PathBuf),
    /// The path passes a link in a place that a confined command could write.
    #[error(
        "`{}` is a link that a confined server could have made; name its target, or run `rootward roots add`",
        Shown::new(.0)
    )]
    PlantedLink(PathBuf),
}

impl fmt::Display for RefusedRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "root `{}`: {}", Shown::new(&self.text), self.reason)
    }
}

impl RootSet {
    /// A set of these roots, in this order. Roots at the same place become one, where the first of them stands: it keeps
    /// its path, takes the first name that was given, and gets the lesser access.
    pub fn new(roots: impl IntoIterator<Item = PlacedRoot>, refused: impl IntoIterator<Item = RefusedRoot>) -> RootSet {
        let mut positions = HashMap::new();
        let mut kept: Vec<PlacedRoot> = Vec::new();
        for root in roots {
            match positions.entry(root.place.clone()) {
                Entry::Vacant(vacant) => {
                    vacant.insert(kept.len());
                    kept.push(root);
                }
                Entry::Occupied(position) => {
                    let first = &mut kept[*position.get()];
                    // SECURITY: an operator may share secret places and a client may not, so of two origins the client's
                    // is the one that earns less; taking the first would let a client's root ride on an operator's
                    // standing (test: a_place_named_twice_is_one_root)
                    let origin = if root.root.origin == Origin::Client { Origin::Client } else { first.root.origin };
                    let access = first.root.access & root.root.access;
                    *first = at_one_place(first.clone(), &root, access, origin);
                }
            }
        }
        RootSet { roots: kept.into(), refused: refused.into_iter().collect(), others: Arc::default() }
    }

    /// The same set with these roots of other schemes.
    #[must_use]
    pub fn with_others(self, others: impl IntoIterator<Item = OtherRoot>) -> RootSet {
        RootSet { others: others.into_iter().collect(), ..self }
    }

    /// The roots of other schemes, in the order in which they were named.
    pub fn others(&self) -> &[OtherRoot] {
        &self.others
    }

    /// The roots, in the order in which they were named.
    pub fn roots(&self) -> &[PlacedRoot] {
        &self.roots
    }

    /// The roots that were kept out.
    pub fn refused(&self) -> &[RefusedRoot] {
        &self.refused
    }

    /// How many roots there are, those kept out not counted.
    pub fn len(&self) -> usize {
        self.roots.len()
    }

    /// Whether nothing is shared: no roots, or none that could be used.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Whether roots were named at all, usable or not. A ceiling whose directories have all gone still is a ceiling, one
    /// that lets nothing through; only a ceiling nobody named is none.
    pub fn names_any(&self) -> bool {
        !(self.roots.is_empty() && self.refused.is_empty() && self.others.is_empty())
    }

    /// The root that relative paths of a peer start from.
    pub fn first_directory(&self) -> Option<&PlacedRoot> {
        self.roots.iter().find(|root| root.kind == RootKind::Directory)
    }

    /// The roots that were kept out because nothing is there. Whoever owns the set looks again: they come back when they
    /// appear.
    pub fn missing(&self) -> impl Iterator<Item = &RefusedRoot> {
        self.refused.iter().filter(|refused| refused.reason == WhyRefused::Missing)
    }

    /// The deepest root that holds `place` (resolved, absolute): the one whose access counts there. This is the
    /// definition; it looks at every root, where a guard has a tree.
    pub fn governing(&self, place: &Path) -> Option<&PlacedRoot> {
        self.roots.iter().filter(|root| root.holds(place)).max_by_key(|root| root.place.components().count())
    }
}

/// One root for two that lie at the same place; the path is that of `first`.
fn at_one_place(mut first: PlacedRoot, second: &PlacedRoot, access: Access, origin: Origin) -> PlacedRoot {
    first.root.access = access;
    first.root.origin = origin;
    if first.root.name.is_none() {
        first.root.name.clone_from(&second.root.name);
    }
    if first.kind != second.kind {
        // SECURITY: a file for one look and a directory for the other: it changed in between, and which of them the
        // sharing was meant for cannot be told. Closed with all that lies below, rather than left out, because a root
        // above it may grant more (test: a_place_that_changed_its_kind_is_closed)
        first.root.access = Access::NONE;
        if first.kind == RootKind::File {
            first.kind = second.kind;
            first.id = second.id;
        }
    }
    first
}

/// The roots of a set by place: what [`RootSet::governing`] says, at a cost that depends on the depth of the place and
/// not on the number of roots.
struct ByPlace<'a> {
    roots: &'a [PlacedRoot],
    positions: HashMap<&'a Path, usize>,
}

impl<'a> ByPlace<'a> {
    fn new(set: &'a RootSet) -> ByPlace<'a> {
        let positions = set.roots.iter().enumerate().map(|(position, root)| (root.place.as_path(), position));
        ByPlace { roots: &set.roots, positions: positions.collect() }
    }

    /// The root at exactly this place.
    fn at(&self, place: &Path) -> Option<&'a PlacedRoot> {
        self.positions.get(place).map(|position| &self.roots[*position])
    }

    /// The position of the deepest root that holds `place`.
    fn governing_position(&self, place: &Path) -> Option<usize> {
        place
            .ancestors()
            .filter_map(|ancestor| self.positions.get(ancestor).copied())
            .find(|position| self.roots[*position].holds(place))
    }

    /// The deepest root that holds `place`.
    fn governing(&self, place: &Path) -> Option<&'a PlacedRoot> {
        self.governing_position(place).map(|position| &self.roots[position])
    }
}

#[cfg(test)]
pub(crate) mod examples {
    //! Roots for tests, by their places.

    use crate::root::{FileId, Spelling};

    use super::*;

    pub(crate) fn directory(place: &str, access: Access, origin: Origin) -> PlacedRoot {
        PlacedRoot {
            root: Root {
                path: place.into(),
                name: None,
                access,
                origin,
                spelling: Spelling::Uri,
                meta: None,
                pattern: None,
            },
            place: place.into(),
            kind: RootKind::Directory,
            id: FileId { device: 1, inode: place.len() as u64, born: None },
        }
    }

    pub(crate) fn file(place: &str, access: Access, origin: Origin) -> PlacedRoot {
        PlacedRoot { kind: RootKind::File, ..directory(place, access, origin) }
    }

    pub(crate) fn refused(text: &str, reason: WhyRefused) -> RefusedRoot {
        RefusedRoot { text: text.to_owned(), root: None, reason }
    }

    pub(crate) fn of(roots: impl IntoIterator<Item = PlacedRoot>) -> RootSet {
        RootSet::new(roots, [])
    }
}

#[cfg(test)]
mod tests {
    use super::examples::{directory, file, of, refused};
    use super::*;

    const RO: Access = Access::READ;
    const RW: Access = Access::READ_WRITE;

    #[test]
    fn a_place_named_twice_is_one_root() {
        let mut named = directory("/a", RW, Origin::Flag);
        named.root.path = "/link".into();
        let mut again = directory("/a", RO | Access::EXECUTE, Origin::Client);
        again.root.name = Some("again".to_owned());
        let set = of([named, directory("/b", RW, Origin::Flag), again]);
        assert_eq!(set.len(), 2);
        let (a, b) = (&set.roots()[0], &set.roots()[1]);
        assert_eq!((a.root.path.as_path(), a.root.access), (Path::new("/link"), RO));
        assert_eq!(a.root.name.as_deref(), Some("again"));
        // However they are ordered, the client's origin stays.
        assert_eq!((a.root.origin, b.root.origin), (Origin::Client, Origin::Flag));
        let set = of([directory("/a", RW, Origin::Client), directory("/a", RW, Origin::Flag)]);
        assert_eq!(set.roots()[0].root.origin, Origin::Client);
    }

    #[test]
    fn a_place_that_changed_its_kind_is_closed() {
        let above = directory("/", RW, Origin::Flag);
        let (as_file, as_directory) = (file("/a", RW, Origin::Flag), directory("/a", RO, Origin::Flag));
        for both in [[as_file.clone(), as_directory.clone()], [as_directory, as_file]] {
            let set = of([above.clone()].into_iter().chain(both));
            for place in ["/a", "/a/below"] {
                assert_eq!(set.governing(Path::new(place)).map(|root| root.root.access), Some(Access::NONE), "{place}");
            }
        }
    }

    #[test]
    fn the_deepest_root_that_holds_a_place_governs_it() {
        let set = of([
            file("/a/b/file", RO, Origin::Flag),
            directory("/a/b", RO, Origin::Flag),
            directory("/a", RW, Origin::Flag),
            directory("/ab", RW, Origin::Flag),
        ]);
        let check = |place: &str, expect: Option<&str>| {
            assert_eq!(
                set.governing(Path::new(place)).map(|root| root.place.as_path()),
                expect.map(Path::new),
                "{place}"
            );
            let found = ByPlace::new(&set).governing(Path::new(place));
            assert_eq!(found.map(|root| root.place.as_path()), expect.map(Path::new), "{place}");
        };
        check("/a/b/file", Some("/a/b/file"));
        check("/a/b/file/below", Some("/a/b"));
        check("/a/b/other", Some("/a/b"));
        check("/a/bc", Some("/a"));
        check("/abc", None);
        check("/", None);
    }

    #[test]
    fn what_was_kept_out_is_kept_in_mind() {
        let gone = refused("/gone", WhyRefused::Missing);
        let secret = refused("/root/.ssh", WhyRefused::NotShareable("a secret place".to_owned()));
        let set = RootSet::new([file("/f", RO, Origin::Flag)], [secret.clone(), gone.clone()]);
        assert_eq!(set.missing().collect::<Vec<_>>(), [&gone]);
        assert_eq!((set.len(), set.is_empty(), set.first_directory()), (1, false, None));
        let nothing_left = RootSet::new([], [gone]);
        assert!(nothing_left.is_empty() && nothing_left.names_any());
        assert!(!RootSet::default().names_any());
        assert_eq!(secret.to_string(), "root `/root/.ssh`: cannot be shared: a secret place");
    }

    #[test]
    fn each_refusal_has_its_sentence() {
        let check = |refusal: WhyRefused, expect: &str| assert_eq!(refusal.to_string(), expect);
        check(WhyRefused::Unusable("empty".to_owned()), "not a usable root: empty");
        check(WhyRefused::Missing, "does not exist");
        check(WhyRefused::Unreachable(io::ErrorKind::PermissionDenied), "cannot be reached: permission denied");
        check(WhyRefused::Special, "is neither a file nor a directory");
        check(WhyRefused::Linked, "a link leads elsewhere from there");
    }
}
