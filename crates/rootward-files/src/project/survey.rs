//! Which directories a project tool looks at, and the walk through them, limited in entries and time.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rootward_core::session::Reach;
use rootward_core::{FileKind, Grant, Visit, WalkEntry, WalkOptions};
use rootward_server::{Access, Roots, refused};

use crate::call::Work;
use crate::failure::Failure;
use crate::path::FilePath;

/// How many roots one call looks at.
const MOST_ROOTS: usize = 50;

/// How many entries one call visits.
const MOST_ENTRIES: u64 = 500_000;

/// How long one call walks.
const LONGEST_WALK: Duration = Duration::from_secs(20);

/// How many entries to visit between two checks of the clock.
const BETWEEN_LOOKS: u64 = 64;

/// Directories without the project authors' own work: history, dependencies, caches. Many projects have no `.gitignore`
/// that names them.
const LEFT_OUT: [&str; 14] = [
    ".git",
    ".hg",
    ".svn",
    ".jj",
    "node_modules",
    "bower_components",
    "__pycache__",
    ".venv",
    "venv",
    ".tox",
    ".gradle",
    ".mypy_cache",
    ".pytest_cache",
    ".cache",
];

/// A root, or the requested directory or file.
pub(crate) struct Place {
    /// The path to show.
    pub(crate) path: PathBuf,
    /// The root's name.
    pub(crate) name: Option<String>,
    /// The grant to read it, or why it was refused.
    pub(crate) grant: Result<Grant, String>,
}

/// The places of a call, and whether there are more.
pub(crate) struct Places {
    pub(crate) list: Vec<Place>,
    pub(crate) more: bool,
}

impl Places {
    /// The requested path, or else every root.
    pub(crate) fn of(path: Option<FilePath>, roots: &Roots) -> Result<Places, Failure> {
        if let Some(path) = path {
            let grant = path.into_grant();
            let place = Place { path: grant.named_path(), name: None, grant: Ok(grant) };
            return Ok(Places { list: vec![place], more: false });
        }
        if roots.reach() == Reach::AllowAll {
            return Err(Failure::said("no roots are set, so there is no project to analyze; name one as `path`"));
        }
        if roots.list().is_empty() {
            return Err(Failure::said("nothing is shared at the moment; `get-roots` shows why"));
        }
        let places = roots.list().iter().take(MOST_ROOTS).map(|placed| {
            let root = &placed.root;
            let grant = roots.check(&root.path, Access::READ).map_err(|denial| refused(&denial).sentence().to_owned());
            Place { path: root.path.clone(), name: root.name.clone(), grant }
        });
        Ok(Places { list: places.collect(), more: roots.list().len() > MOST_ROOTS })
    }
}

/// Why a walk is incomplete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Short {
    /// There are more entries than one call visits.
    Entries,
    /// It took too long.
    Time,
}

impl Short {
    /// The message for the reader.
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Short::Entries => "Stopped after 500,000 entries; name a smaller directory as `path` to see the rest.",
            Short::Time => "Stopped after 20 seconds; name a smaller directory as `path` to see the rest.",
        }
    }
}

/// The remaining budget for the walks of one call.
pub(crate) struct Budget<'w> {
    work: &'w Work,
    visited: AtomicU64,
    most: u64,
    until: Instant,
    short: OnceLock<Short>,
}

impl<'w> Budget<'w> {
    pub(crate) fn new(work: &'w Work) -> Budget<'w> {
        Budget::with(work, MOST_ENTRIES, LONGEST_WALK)
    }

    fn with(work: &'w Work, most: u64, time: Duration) -> Budget<'w> {
        Budget { work, visited: AtomicU64::new(0), most, until: Instant::now() + time, short: OnceLock::new() }
    }

    /// Why the walks are incomplete.
    pub(crate) fn short(&self) -> Option<Short> {
        self.short.get().copied()
    }

    /// Returns an error if the client cancelled the call.
    pub(crate) fn goes_on(&self) -> Result<(), Failure> {
        self.work.did(0)
    }

    /// Counts an entry. Returns whether to continue.
    fn goes_on_after_one(&self) -> bool {
        let before = self.visited.fetch_add(1, Ordering::Relaxed);
        if before >= self.most {
            let _ = self.short.set(Short::Entries);
        } else if before.is_multiple_of(BETWEEN_LOOKS) {
            if self.work.did(BETWEEN_LOOKS).is_err() {
                return false;
            }
            if Instant::now() >= self.until {
                let _ = self.short.set(Short::Time);
            }
        }
        self.short.get().is_none()
    }

    /// Visits everything below a directory that belongs to its project. Skips what `.gitignore` names, and history,
    /// dependencies and caches. Returns the number of directories that could not be listed.
    pub(crate) fn walk(&self, grant: &Grant, visit: impl Fn(&WalkEntry<'_>) + Sync) -> Result<usize, Failure> {
        let summary = grant.walk(WalkOptions::default(), |entry| {
            if !self.goes_on_after_one() {
                return Visit::Stop;
            }
            if entry.kind() == FileKind::Directory && entry.name().to_str().is_some_and(|name| LEFT_OUT.contains(&name))
            {
                return Visit::SkipDirectory;
            }
            visit(entry);
            Visit::Continue
        })?;
        self.goes_on()?;
        Ok(summary.errors.len())
    }
}

#[cfg(test)]
mod tests {
    use rootward_core::{Guard, GuardOptions, Origin, Root, RootSet, Validation};

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "the test lays out the files it is about")]
    fn tree(files: usize) -> (tempfile::TempDir, Grant) {
        let place = tempfile::tempdir().unwrap();
        for file in 0..files {
            std::fs::write(place.path().join(file.to_string()), "x").unwrap();
        }
        let root = Root::from_path(place.path().canonicalize().unwrap(), Origin::Flag).unwrap();
        let set = RootSet::place_ambient([root], &Validation::new(None));
        let grant = Guard::new(set, GuardOptions::default()).check(".", Access::READ).unwrap();
        (place, grant)
    }

    #[test]
    fn a_walk_ends_at_its_limits() {
        let (_place, grant) = tree(300);
        let work = Work::under_way();
        let visited = |budget: &Budget<'_>| {
            let count = AtomicU64::new(0);
            let count_one = |_: &WalkEntry<'_>| {
                count.fetch_add(1, Ordering::Relaxed);
            };
            budget.walk(&grant, count_one).unwrap();
            (count.into_inner(), budget.short())
        };
        assert_eq!(visited(&Budget::new(&work)), (300, None));
        assert_eq!(visited(&Budget::with(&work, 100, LONGEST_WALK)), (100, Some(Short::Entries)));
        assert_eq!(visited(&Budget::with(&work, 1000, Duration::ZERO)), (0, Some(Short::Time)));
    }

    #[test]
    fn a_walk_that_is_taken_back_ends() {
        let (_place, grant) = tree(300);
        let work = Work::taken_back();
        assert!(matches!(Budget::new(&work).walk(&grant, |_| {}), Err(Failure::Stopped)));
        assert!(work.done() <= BETWEEN_LOOKS, "{}", work.done());
    }
}
