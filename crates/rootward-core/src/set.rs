//! A root set: the roots that were found on disk, in the order in which they were named, and those that were left out.
//!
//! A set holds plain values, no handles, and does not use the file system; a guard is built from one. The deepest root
//! that contains a place decides about it ([`RootSet::governing`]). Combining two sets preserves this
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

pub use difference::{ChangedRoot, Difference};
pub use mode::{Mode, UnknownMode};

/// An ordered list of roots found on disk, no two at the same place, and the roots that were left out. Cheap to clone,
/// because thousands of sessions may share one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RootSet {
    roots: Arc<[PlacedRoot]>,
    refused: Arc<[RefusedRoot]>,
    others: Arc<[OtherRoot]>,
}

/// A root with a scheme other than `file`, such as `https://api.example.com/v1/`. It is kept and passed on, but it
/// opens nothing: no path lies in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OtherRoot {
    /// The URI as named.
    pub uri: String,
    /// The display name, if one was given.
    pub name: Option<String>,
    /// Additional data of its entry (`_meta`), as JSON.
    pub meta: Option<Box<str>>,
}

impl OtherRoot {
    /// The display name: its name, else its URI.
    pub fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.uri)
    }
}

/// A root that was named and left out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RefusedRoot {
    /// The text as named.
    pub text: String,
    /// The root that the text names, if it is valid.
    pub root: Option<Root>,
    /// Why it was left out.
    pub reason: WhyRefused,
}

/// Why a root was left out.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum WhyRefused {
    /// Its text does not name a place, for this reason.
    #[error("not a usable root: {0}")]
    Unusable(String),
    /// It does not exist. It comes back when it appears.
    #[error("does not exist")]
    Missing,
    /// It cannot be reached.
    #[error("cannot be reached: {0}")]
    Unreachable(io::ErrorKind),
    /// A system directory or secret place that its source may not share.
    #[error("cannot be shared: {0}")]
    NotShareable(String),
    /// A device, FIFO or socket.
    #[error("is neither a file nor a directory")]
    Special,
    /// A saved root that is now reached through a link: it is not the place that the user agreed to share.
    #[error("a link leads elsewhere")]
    Linked,
    /// A pattern that no directory matches.
    #[error("no directory matches")]
    NoMatch,
    /// A pattern that matches too many directories, or has too many entries to search.
    #[error("more than {MOST_MATCHES} directories match, or there are too many entries to search")]
    TooManyMatches,
    /// A pattern in a place that a confined command could write, so that the command would choose what matches.
    #[error(
        "a confined server could have made directories in `{}`, so no pattern is used there; name the directories one by one",
        Shown::new(.0)
    )]
    PlantedMatch(PathBuf),
    /// The path goes through a link in a place that a confined command could write.
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
    /// A set of these roots, in this order. Roots at the same place are merged at the position of the first: the result
    /// has its path, the first name that was given, and the access that both give.
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
                    // SECURITY: an operator may share secret places and a client may not, so the merged root counts as
                    // the client's; otherwise a client's root would inherit the operator's privileges
                    // (test: a_place_named_twice_is_one_root)
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

    /// The roots that were left out.
    pub fn refused(&self) -> &[RefusedRoot] {
        &self.refused
    }

    /// The number of roots, without those that were left out.
    pub fn len(&self) -> usize {
        self.roots.len()
    }

    /// Whether nothing is shared: no roots, or none that could be used.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Whether any roots were named, usable or not. A ceiling whose directories are all gone is still a ceiling, and
    /// allows nothing; it is not the same as no ceiling.
    pub fn names_any(&self) -> bool {
        !(self.roots.is_empty() && self.refused.is_empty() && self.others.is_empty())
    }

    /// The root that a peer's relative paths start from.
    pub fn first_directory(&self) -> Option<&PlacedRoot> {
        self.roots.iter().find(|root| root.kind == RootKind::Directory)
    }

    /// The roots that were left out because they do not exist. The owner of the set checks again later: they come back
    /// when they appear.
    pub fn missing(&self) -> impl Iterator<Item = &RefusedRoot> {
        self.refused.iter().filter(|refused| refused.reason == WhyRefused::Missing)
    }

    /// The deepest root that contains `place` (resolved, absolute); its access applies there. This is the definition
    /// and checks every root; a guard uses a tree.
    pub fn governing(&self, place: &Path) -> Option<&PlacedRoot> {
        self.roots.iter().filter(|root| root.holds(place)).max_by_key(|root| root.place.components().count())
    }
}

/// Merges two roots at the same place; the path is that of `first`.
fn at_one_place(mut first: PlacedRoot, second: &PlacedRoot, access: Access, origin: Origin) -> PlacedRoot {
    first.root.access = access;
    first.root.origin = origin;
    if first.root.name.is_none() {
        first.root.name.clone_from(&second.root.name);
    }
    if first.kind != second.kind {
        // SECURITY: one lookup found a file and the other a directory: it changed in between, and it is unknown which
        // one was meant. Close it with everything below it, rather than leave it out, because a root above it may grant
        // more (test: a_place_that_changed_its_kind_is_closed)
        first.root.access = Access::NONE;
        if first.kind == RootKind::File {
            first.kind = second.kind;
            first.id = second.id;
        }
    }
    first
}

/// The roots of a set by place. Finds the same root as [`RootSet::governing`], but the cost depends on the depth of the
/// place and not on the number of roots.
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

    /// The position of the deepest root that contains `place`.
    fn governing_position(&self, place: &Path) -> Option<usize> {
        place
            .ancestors()
            .filter_map(|ancestor| self.positions.get(ancestor).copied())
            .find(|position| self.roots[*position].holds(place))
    }

    /// The deepest root that contains `place`.
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
        // In either order, the client's origin stays.
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
    fn refused_roots_are_kept() {
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
        check(WhyRefused::Linked, "a link leads elsewhere");
    }
}
