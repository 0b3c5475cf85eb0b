//! Searches the contents of files: ripgrep's crates on top of the core's walk.
//!
//! Every file is opened from the handle of its directory, and read through that handle. Files are never memory-mapped,
//! because they could change or shrink during the search.

mod cut;
mod lines;
mod query;

use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use rootward_core::{FileKind, Grant, GrantError, OpenFile, Visit, WalkEntry, WalkOptions};

use crate::call::Work;
use crate::failure::Failure;
use lines::Lines;

pub(crate) use lines::{Line, LineKind};
pub(crate) use query::{Asked, Case, Hidden, MOST_MATCHES, Query, Reading};

/// The maximum size of an answer, including paths and context. The answer holds it twice, as text and as data.
pub(crate) const MOST_BYTES: usize = 256 << 10;

/// The longest line to search: a file without newlines is one line. Each thread may hold this much.
const LONGEST_LINE: usize = 8 << 20;

/// The result of a search.
#[derive(Debug)]
pub(crate) struct Found {
    /// The files with matches, sorted by path.
    pub(crate) files: Vec<FoundIn>,
    /// How many files were searched.
    pub(crate) searched: u64,
    /// How many files or directories could not be read completely.
    pub(crate) unread: u64,
    /// How many files were skipped from the first zero byte on.
    pub(crate) binary: u64,
    /// Which limit ended the search early.
    pub(crate) full: Option<Full>,
}

/// The matches in one file.
#[derive(Debug)]
pub(crate) struct FoundIn {
    pub(crate) path: PathBuf,
    pub(crate) lines: Vec<Line>,
}

/// Which limit was reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Full {
    /// The number of matches.
    Matches,
    /// The size of the answer.
    Bytes,
}

/// A running search, on several threads.
struct Search<'s> {
    query: &'s Query,
    work: &'s Work,
    /// The path to show before the paths of entries.
    top: PathBuf,
    /// Search state that no thread uses now: buffers and pattern caches are created once per thread, not once per file.
    idle: Mutex<Vec<Tools>>,
    files: Mutex<Vec<FoundIn>>,
    matches: AtomicUsize,
    bytes: AtomicUsize,
    searched: AtomicU64,
    unread: AtomicU64,
    binary: AtomicU64,
    full: OnceLock<Full>,
}

/// The search state of one thread.
struct Tools {
    matcher: RegexMatcher,
    searcher: Searcher,
}

/// Searches a directory, or one file.
pub(crate) fn run(grant: &Grant, query: &Query, work: &Work) -> Result<Found, Failure> {
    let search = Search {
        query,
        work,
        top: grant.named_path(),
        idle: Mutex::default(),
        files: Mutex::default(),
        matches: AtomicUsize::new(0),
        bytes: AtomicUsize::new(0),
        searched: AtomicU64::new(0),
        unread: AtomicU64::new(0),
        binary: AtomicU64::new(0),
        full: OnceLock::new(),
    };
    if grant.kind() == Some(FileKind::Directory) {
        let summary = grant.walk(WalkOptions::default(), |entry| search.visit(entry))?;
        search.unread.fetch_add(summary.errors.len() as u64, Ordering::Relaxed);
    } else {
        search.file(grant.open()?, Path::new(""));
    }
    // If the client cancelled the call, nobody needs the result.
    work.did(0)?;
    Ok(search.found())
}

impl Search<'_> {
    fn visit(&self, entry: &WalkEntry<'_>) -> Visit {
        let kind = entry.kind();
        if self.query.leaves_out(entry.path(), entry.name().as_bytes(), kind) {
            return Visit::SkipDirectory;
        }
        if kind == FileKind::File {
            match entry.open() {
                Ok(file) => self.file(file, entry.path()),
                // It was deleted during the search.
                Err(GrantError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
                Err(_) => self.could_not_read(),
            }
        }
        if self.full.get().is_some() || self.work.did(0).is_err() { Visit::Stop } else { Visit::Continue }
    }

    /// Searches one file, at this path below the top.
    fn file(&self, file: OpenFile, below: &Path) {
        let tools = lock(&self.idle).pop();
        let Tools { matcher, mut searcher } = tools.unwrap_or_else(|| self.tools());
        let shown = self.top.as_os_str().len() + 1 + below.as_os_str().len();
        let mut lines = Lines::new(self, &matcher, shown);
        let ended = searcher.search_reader(&matcher, Watched { file, work: self.work }, &mut lines);
        let (lines, binary) = lines.into_parts();
        lock(&self.idle).push(Tools { matcher, searcher });
        if ended.is_err() {
            self.could_not_read();
        }
        if binary {
            self.binary.fetch_add(1, Ordering::Relaxed);
        }
        if !lines.is_empty() {
            let path = if below.as_os_str().is_empty() { self.top.clone() } else { self.top.join(below) };
            lock(&self.files).push(FoundIn { path, lines });
        }
        self.searched.fetch_add(1, Ordering::Relaxed);
        // The walk checks whether to continue.
        let _ = self.work.did(1);
    }

    fn tools(&self) -> Tools {
        let searcher = SearcherBuilder::new()
            .line_terminator(query::line_end())
            .line_number(true)
            .before_context(self.query.context)
            .after_context(self.query.context)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(LONGEST_LINE))
            .build();
        Tools { matcher: self.query.matcher.clone(), searcher }
    }

    fn could_not_read(&self) {
        self.unread.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether there is room for another match.
    fn has_room_for_match(&self) -> bool {
        let before = self.matches.fetch_add(1, Ordering::Relaxed);
        before < self.query.limit || self.is_full(Full::Matches)
    }

    /// Whether there is room for this many more bytes.
    fn has_room_for(&self, bytes: usize) -> bool {
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        before.saturating_add(bytes) <= MOST_BYTES || self.is_full(Full::Bytes)
    }

    /// Notes that a limit was reached; only the first one is kept.
    fn is_full(&self, full: Full) -> bool {
        let _ = self.full.set(full);
        false
    }

    fn found(self) -> Found {
        let mut files = self.files.into_inner().unwrap_or_else(PoisonError::into_inner);
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Found {
            files,
            searched: self.searched.into_inner(),
            unread: self.unread.into_inner(),
            binary: self.binary.into_inner(),
            full: self.full.into_inner(),
        }
    }
}

/// A file whose reads stop when the client cancels the call.
struct Watched<'w> {
    file: OpenFile,
    work: &'w Work,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.work.did(0).map_err(io::Error::other)?;
        self.file.read(buffer)
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use rootward_core::{Access, Guard, GuardOptions, Origin, Root, RootSet, Validation};

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test lays out the files it is about")]
    fn a_search_that_is_taken_back_ends() {
        let place = tempfile::tempdir().unwrap();
        for file in 0..100 {
            std::fs::write(place.path().join(file.to_string()), "x").unwrap();
        }
        let root = Root::from_path(place.path().canonicalize().unwrap(), Origin::Flag).unwrap();
        let set = RootSet::place_ambient([root], &Validation::new(None));
        let guard = Guard::new(set, GuardOptions::default());
        let grant = guard.check(".", Access::READ).unwrap();
        let asked = Asked {
            pattern: "x",
            reading: Reading::Literal,
            case: Case::Matters,
            globs: &[],
            hidden: Hidden::LeftOut,
            context: 0,
            limit: 1000,
        };
        let work = Work::taken_back();
        assert!(matches!(run(&grant, &Query::new(&asked).unwrap(), &work), Err(Failure::Stopped)));
        assert_eq!(work.done(), 1, "of a hundred files");
    }
}
