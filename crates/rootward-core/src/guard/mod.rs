//! The guard: a root set with handles, which decides every path.

mod confine;
mod decide;
mod explain;
mod handles;
mod root_handle;
mod weak;

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::Access;
use crate::denial::Denial;
use crate::grant::{Grant, GrantError, OpenFile};
use crate::resolve::{Leaf, Resolver};
use crate::restriction::Restrictions;
use crate::root::{Origin, PlacedRoot, RootKind};
use crate::set::RootSet;
use crate::text::PathText;
use crate::tree::{RootIndex, RootTree};
use crate::{PathStyle, text};
pub use confine::{ClosedPlace, ClosedPlaces, Extent, Protects};
use decide::{Ask, Opening};
use explain::Silent;
pub use explain::{Step, TextForm};
pub(crate) use handles::Handle;
use handles::Handles;
pub use weak::WeakGuard;

/// Decides paths against a root set. Immutable and cheap to clone; all clones share their handles.
///
/// Sessions with the same roots share a guard but count their own generations, so the generation is not part of the
/// shared data.
#[derive(Clone)]
pub struct Guard(pub(crate) Arc<Inner>, u64);

pub(crate) struct Inner {
    pub(crate) set: RootSet,
    pub(crate) tree: RootTree,
    handles: Handles,
    pub(crate) restrictions: Arc<Restrictions>,
    /// The access that restrictions take away in a whole root, because of where the root lies.
    taken_at_root: Box<[(Access, Option<String>)]>,
    home: Option<PathBuf>,
    base: Option<PathBuf>,
    pub(crate) resolver: Resolver,
    /// Where relative paths start if no base is set.
    first_directory: Option<RootIndex>,
}

/// The settings of a guard, besides its roots.
#[derive(Clone, Debug)]
pub struct GuardOptions {
    /// The directory that `~` means. Without it, paths that begin with `~` are refused.
    pub home: Option<PathBuf>,
    /// Where relative paths start.
    pub base: Base,
    /// The places that stay closed.
    pub restrictions: Arc<Restrictions>,
    /// How to open names.
    pub resolver: Resolver,
    /// Distinguishes this guard from earlier ones of the same session.
    pub generation: u64,
    /// The maximum number of open root handles.
    pub most_handles: usize,
}

/// Where relative paths start.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Base {
    /// At the first root that is a directory.
    #[default]
    FirstRoot,
    /// At this directory, even outside the roots.
    At(PathBuf),
    /// At this directory, if a root contains it; otherwise at the first root that is a directory. The path must be
    /// resolved. A server whose paths are checked starts in the same directory: [`Guard::base`].
    Within(PathBuf),
}

impl Base {
    /// The directory, unless it is the first root.
    fn over(self, set: &RootSet) -> Option<PathBuf> {
        match self {
            Base::FirstRoot => None,
            Base::At(base) => Some(base),
            // SECURITY: a peer may learn what exists on the way to the base, so a base outside the roots is not used
            // (test: a_base_outside_the_roots_is_the_first_root)
            Base::Within(base) => {
                set.governing(&base).is_some_and(|root| root.kind == RootKind::Directory).then_some(base)
            }
        }
    }
}

/// This directory, even outside the roots; without one, the first root.
impl From<Option<PathBuf>> for Base {
    fn from(base: Option<PathBuf>) -> Base {
        base.map_or(Base::FirstRoot, Base::At)
    }
}

/// The standard restrictions, the best resolver, no home, relative paths from the first root, at most 128 handles.
impl Default for GuardOptions {
    fn default() -> GuardOptions {
        GuardOptions {
            home: None,
            base: Base::FirstRoot,
            restrictions: Restrictions::standard(),
            resolver: Resolver::detect(),
            generation: 0,
            most_handles: 128,
        }
    }
}

impl Guard {
    /// A guard over `set`. An empty set denies everything.
    pub fn new(set: RootSet, options: GuardOptions) -> Guard {
        let taken_at_root = set
            .roots()
            .iter()
            .map(|placed| {
                let place = placed.place.as_os_str().as_bytes();
                // SECURITY: only naming a place explicitly lifts its restriction; a pattern does not name one
                // (test: a_pattern_lifts_no_restriction)
                let origin = if placed.root.pattern.is_some() { Origin::Client } else { placed.root.origin };
                let taken = options.restrictions.taken_at_root(place, placed.kind, origin);
                (taken.access, taken.rule.map(|rule| rule.pattern().to_owned()))
            })
            .collect();
        let missing = set.refused().iter().filter_map(|refused| refused.root.as_ref()).map(|root| root.path.as_path());
        let base = options.base.over(&set);
        let starts = base.iter().chain(&options.home).map(PathBuf::as_path);
        let directories = (0..).zip(set.roots()).filter(|(_, placed)| placed.kind == RootKind::Directory);
        let first_directory = directories.map(|(index, _)| index).next();
        let inner = Arc::new(Inner {
            first_directory,
            tree: RootTree::new(set.roots(), missing.chain(starts)),
            handles: Handles::new(set.roots().len(), options.most_handles),
            taken_at_root,
            restrictions: options.restrictions,
            home: options.home,
            base,
            resolver: options.resolver,
            set,
        });
        Guard(inner, options.generation)
    }

    /// Decides whether `path` may be used for `access`, and pins what it names.
    ///
    /// Links are followed: the final object decides, not the route to it.
    pub fn check(&self, path: impl AsRef<OsStr>, access: Access) -> Result<Grant, Denial> {
        self.decide(&Ask::new(path.as_ref(), access, Leaf::Follow, Opening::Pin), &mut Silent)
    }

    /// The same for a directory entry: a link in the last component is not followed.
    ///
    /// Use this for a path to create, remove or rename.
    pub fn check_entry(&self, path: impl AsRef<OsStr>, access: Access) -> Result<Grant, Denial> {
        self.decide(&Ask::new(path.as_ref(), access, Leaf::Keep, Opening::Pin), &mut Silent)
    }

    /// Decides whether `path` may be read and opens it, in one system call: the fastest way to a file's contents.
    ///
    /// It checks the file type only after opening: a FIFO or device inside a root is opened for reading, without
    /// waiting, and closed again. [`Guard::check`] followed by [`Grant::open`] checks first.
    pub fn open(&self, path: impl AsRef<OsStr>) -> Result<OpenFile, GrantError> {
        let grant = self.decide(&Ask::new(path.as_ref(), Access::READ, Leaf::Follow, Opening::Read), &mut Silent)?;
        OpenFile::from_opened(grant)
    }

    /// Decides like [`Guard::check`], and returns each step.
    pub fn explain(&self, path: impl AsRef<OsStr>, access: Access) -> (Vec<Step>, Result<Grant, Denial>) {
        let mut steps = Vec::new();
        let decision = self.decide(&Ask::new(path.as_ref(), access, Leaf::Follow, Opening::Pin), &mut steps);
        (steps, decision)
    }

    /// The current roots.
    pub fn roots(&self) -> &[PlacedRoot] {
        self.0.set.roots()
    }

    /// The current roots and those left out, with the reasons.
    pub fn root_set(&self) -> &RootSet {
        &self.0.set
    }

    /// Where relative paths start; `None` if there is no directory root.
    pub fn base(&self) -> Option<&Path> {
        let first = || self.0.first_directory.map(|root| self.placed(root).place.as_path());
        self.0.base.as_deref().or_else(first)
    }

    /// Distinguishes this guard from earlier ones of the same session.
    pub fn generation(&self) -> u64 {
        self.1
    }

    /// Whether both guards make the same decisions: same roots (including the objects on disk), same closed places and
    /// same base. Generations may differ.
    pub fn decides_as(&self, other: &Guard) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (Arc::ptr_eq(&self.0.restrictions, &other.0.restrictions)
                && self.0.set == other.0.set
                && self.0.base == other.0.base)
    }

    /// A weak reference to this guard.
    pub fn downgrade(&self) -> WeakGuard {
        WeakGuard::new(&self.0)
    }

    /// How names are opened.
    pub fn resolver(&self) -> Resolver {
        self.0.resolver
    }

    fn read_text<'t>(&self, bytes: &'t [u8]) -> Result<PathText<'t>, text::TextError> {
        let home = self.0.home.as_deref().map(|home| home.as_os_str().as_bytes());
        PathText::read(bytes, PathStyle::NATIVE, home)
    }

    pub(crate) fn placed(&self, root: RootIndex) -> &PlacedRoot {
        &self.0.set.roots()[root as usize]
    }
}

/// `base`, a slash, and `rest`, as bytes.
fn join(base: &Path, rest: &[u8]) -> Vec<u8> {
    [base.as_os_str().as_bytes(), b"/", rest].concat()
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("generation", &self.1)
            .field("roots", &self.0.set.roots().iter().map(|root| &root.place).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
