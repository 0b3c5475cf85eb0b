//! What was seen at one moment, and what is new since another.

use std::error::Error;
use std::fmt;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rootward_core::{Material, Restriction, RestrictionError, RootSet, WhyRefused};

use super::state::{SeenRoot, State};
use crate::store::{Changes, FoundRoots, Kept, Restrict, SavedChange, SavedRoot, StoreError};

/// What the store says and what is on disk, at one moment.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Its number, starting at 1; later states have higher numbers.
    pub version: u64,
    /// The store's content when it could last be read; `None` if it never could.
    pub kept: Option<Arc<Kept>>,
    /// Each of these roots, in file order, and its state on disk.
    pub roots: Vec<SeenRoot>,
    /// What confined commands could write, if there are patterns.
    pub(super) written: Material,
    /// Why the store cannot be read now. Its last content stays current.
    pub trouble: Option<Arc<StoreError>>,
    /// How changes are noticed.
    pub watching: Watching,
}

/// How changes are noticed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Watching {
    /// The system reports them.
    Events,
    /// Only when asked ([`ManualWatch`](super::ManualWatch)).
    Manual,
    /// The system does not report all of them; the rest is found by polling.
    Polling {
        /// How often.
        every: Duration,
        /// How many directories are not watched.
        places: usize,
        /// Why not.
        why: Unwatched,
    },
}

/// Why a directory is not watched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unwatched {
    /// This many are watched already, which is the limit.
    Bound(usize),
    /// The system's limit for this user is reached (`fs.inotify.max_user_watches`).
    SystemBound,
    /// The system refuses to watch it.
    System(ErrorKind),
}

impl fmt::Display for Watching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Watching::Events => f.write_str("the system reports changes"),
            Watching::Manual => f.write_str("roots are checked on request"),
            Watching::Polling { every, places, why } => {
                let directories = if *places == 1 { "directory" } else { "directories" };
                write!(f, "{places} {directories} cannot be watched ({why}), so roots are checked every {every:?}")
            }
        }
    }
}

impl fmt::Display for Unwatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unwatched::Bound(most) => write!(f, "the limit is {most}"),
            Unwatched::SystemBound => f.write_str("the system's limit for this user is reached"),
            Unwatched::System(kind) => write!(f, "{kind}"),
        }
    }
}

/// Something that happened between two moments.
#[derive(Clone, Debug)]
pub enum News {
    /// The user saved a root.
    Added(SeenRoot),
    /// The user removed a root.
    Removed(SavedRoot),
    /// The user changed a root's settings.
    Changed {
        /// As it was saved before.
        before: SavedRoot,
        /// As it is now.
        after: SeenRoot,
    },
    /// On disk, a root appeared, disappeared, or was replaced.
    Became {
        /// What was there.
        before: State,
        /// What is there now.
        after: SeenRoot,
    },
    /// The store can no longer be read; its last content stays current.
    Damaged(Arc<StoreError>),
    /// It can be read again.
    Repaired,
    /// The way of noticing changes has changed.
    Watching(Watching),
}

impl Seen {
    /// The roots for a peer, as they were found, and those left out with the reasons; `None` if the store was never
    /// read.
    pub fn set(&self, peer: Option<&str>) -> Option<RootSet> {
        // SECURITY: unknown is not the same as nothing saved: a fallback for "no saved roots" must not apply because
        // the file is damaged
        // (test: a_store_that_is_damaged_from_the_start)
        let kept = self.kept.as_ref()?;
        Some(kept.set_of(peer, &self.written, |saved| found(&self.roots, saved)))
    }

    /// What is closed below all of them, no matter who names a root there.
    pub fn closed(&self) -> Result<Vec<Restriction>, RestrictionError> {
        let each = self.roots.iter().map(|seen| seen.root.closed_at(&seen.leads_to));
        each.collect::<Result<Vec<_>, _>>().map(|rules| rules.concat())
    }

    /// Whether both close the same places.
    pub fn closes_as(&self, other: &Seen) -> bool {
        fn closed(seen: &Seen) -> impl Iterator<Item = (&Path, &Path, &[Restrict])> {
            let roots = seen.roots.iter().filter(|seen| !seen.root.restrict.is_empty());
            roots.map(|seen| (seen.root.path.as_path(), seen.leads_to.as_path(), seen.root.restrict.as_slice()))
        }
        closed(self).eq(closed(other))
    }

    /// Whether both say the same, apart from their numbers.
    pub(super) fn is_as(&self, other: &Seen) -> bool {
        self.kept.is_some() == other.kept.is_some()
            && self.roots == other.roots
            && self.written == other.written
            && same_trouble(self.trouble.as_deref(), other.trouble.as_deref())
            && self.watching == other.watching
    }

    /// What is new since `before`; may be empty.
    pub fn news_since(&self, before: &Seen) -> Vec<News> {
        let mut news = Vec::new();
        match (&before.trouble, &self.trouble) {
            (_, Some(now)) if !same_trouble(before.trouble.as_deref(), Some(now)) => {
                news.push(News::Damaged(Arc::clone(now)));
            }
            (Some(_), None) => news.push(News::Repaired),
            _ => {}
        }
        self.news_of_roots(before, &mut news);
        if self.watching != before.watching {
            news.push(News::Watching(self.watching.clone()));
        }
        news
    }

    fn news_of_roots(&self, before: &Seen, news: &mut Vec<News>) {
        let none = Kept::default();
        let kept = |seen: &Seen| seen.kept.clone().unwrap_or_else(|| Arc::new(none.clone()));
        let changes = Changes::between(&kept(before), &kept(self));
        let mut told: Vec<&SavedRoot> = Vec::new();
        for change in &changes {
            match change {
                SavedChange::Removed(root) => news.push(News::Removed(root.clone())),
                SavedChange::Added(root) => {
                    news.extend(self.seen(root).cloned().map(News::Added));
                    told.push(root);
                }
                SavedChange::Changed { before, after } => {
                    let seen = self.seen(after).cloned();
                    news.extend(seen.map(|seen| News::Changed { before: before.clone(), after: seen }));
                    told.push(after);
                }
            }
        }
        for seen in self.roots.iter().filter(|seen| !told.contains(&&seen.root)) {
            let old = before.seen(&seen.root).map(|old| &old.state);
            if let Some(old) = old.filter(|old| **old != seen.state) {
                news.push(News::Became { before: old.clone(), after: seen.clone() });
            }
        }
    }

    fn seen(&self, root: &SavedRoot) -> Option<&SeenRoot> {
        self.roots.iter().find(|seen| seen.root == *root)
    }
}

/// What was found for a saved root. All were looked at; one that was not is not shared.
pub(super) fn found(roots: &[SeenRoot], saved: &SavedRoot) -> Result<FoundRoots, WhyRefused> {
    roots.iter().find(|seen| seen.root == *saved).map_or(Err(WhyRefused::Missing), |seen| seen.found.clone())
}

/// Compares messages, because system errors cannot be compared.
fn same_trouble(one: Option<&StoreError>, other: Option<&StoreError>) -> bool {
    let told = |error: &StoreError| (error.to_string(), error.source().map(ToString::to_string));
    one.map(told) == other.map(told)
}
