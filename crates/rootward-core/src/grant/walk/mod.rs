//! Walks a tree over handles, in parallel. Every directory is opened from its parent's handle, no link is followed, and
//! each entry is judged at its own place.

mod ignored;
mod pool;

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::FileType;
use rustix::io::Errno;

use super::{FileKind, Grant, GrantError, Metadata, OpenFile};
use crate::access::Access;
use crate::denial::{Code, Denial};
use crate::guard::Guard;
use crate::os;
use crate::resolve::Rest;
use ignored::Ignored;
use pool::Pool;

/// Options of a walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WalkOptions {
    /// The number of threads; 0 for one per core.
    pub threads: usize,
    /// What to leave out.
    pub ignore: Ignore,
    /// The maximum depth; 1 visits only the directory's own entries.
    pub most_depth: usize,
}

/// What a walk leaves out, besides closed places.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ignore {
    /// Nothing.
    Nothing,
    /// Whatever `.gitignore`, `.ignore` and `.git/info/exclude` name, from the root down. The user's global file is not
    /// read.
    Gitignore,
}

/// One thread per core, gitignore on, no depth limit.
impl Default for WalkOptions {
    fn default() -> WalkOptions {
        WalkOptions { threads: 0, ignore: Ignore::Gitignore, most_depth: usize::MAX }
    }
}

/// How to continue after an entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Visit {
    /// Continue; if the entry is a directory, descend into it.
    Continue,
    /// Continue, but do not descend into this directory.
    SkipDirectory,
    /// End the walk.
    Stop,
}

/// One visited entry.
#[derive(Debug)]
pub struct WalkEntry<'w> {
    directory: &'w OwnedFd,
    rest: &'w Rest,
    start: usize,
    name: &'w [u8],
    kind: FileKind,
    depth: usize,
    root_path: &'w Path,
}

impl WalkEntry<'_> {
    /// The path relative to the start of the walk.
    pub fn path(&self) -> &Path {
        let bytes = &self.rest.as_bytes()[self.start..];
        Path::new(OsStr::from_bytes(bytes.strip_prefix(b"/").unwrap_or(bytes)))
    }

    /// The name alone.
    pub fn name(&self) -> &OsStr {
        OsStr::from_bytes(self.name)
    }

    /// Its kind; links are not followed.
    pub fn kind(&self) -> FileKind {
        self.kind
    }

    /// Its depth; 1 for the entries of the directory where the walk started.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Its metadata, read through its directory's handle. For a link, the metadata of the link itself.
    pub fn metadata(&self) -> Result<Metadata, GrantError> {
        match os::details_of_child(self.directory.as_fd(), self.name) {
            Ok(seen) => Ok(Metadata::of(&seen)),
            Err(error) => Err(GrantError::Io { path: self.rest.below(self.root_path), source: error.into() }),
        }
    }

    /// Opens a regular file for reading, through its directory's handle.
    pub fn open(&self) -> Result<OpenFile, GrantError> {
        let path = self.rest.below(self.root_path);
        let failed = |error: Errno| GrantError::Io { path: path.clone(), source: error.into() };
        // The listing gave the kind, so nothing else is opened.
        match self.kind {
            FileKind::File => {}
            FileKind::Directory => return Err(failed(Errno::ISDIR)),
            FileKind::Link => return Err(failed(Errno::LOOP)),
            FileKind::Special => return Err(Denial::new(Code::SpecialFile, path, Access::READ).into()),
        }
        let handle = os::open_child(self.directory.as_fd(), self.name, os::READ).map_err(failed)?;
        OpenFile::from_regular(handle, path.clone())
    }
}

/// The result of a walk.
#[derive(Debug, Default)]
pub struct WalkSummary {
    /// How many entries were visited.
    pub visited: u64,
    /// Directories that could not be listed, and why; at most a hundred.
    pub errors: Vec<(PathBuf, io::Error)>,
}

const MOST_ERRORS: usize = 100;

/// The maximum number of directories that a walk keeps open for subdirectories that are still to be read.
const MOST_OPEN: usize = 128;

/// An open directory that is counted while it is open.
struct OpenParent {
    directory: OwnedFd,
    count: Arc<AtomicUsize>,
}

impl Drop for OpenParent {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A directory still to be read.
struct Job {
    /// The open parent directory. `None` if too many are open; then the directory is opened from the start of the walk.
    parent: Option<Arc<OpenParent>>,
    name: Box<[u8]>,
    rest: Rest,
    ignored: Option<Arc<Ignored>>,
    depth: usize,
}

struct Walk<'w, V> {
    guard: &'w Guard,
    grant: &'w Grant,
    options: WalkOptions,
    visit: V,
    summary: Mutex<WalkSummary>,
    start: OwnedFd,
    open: Arc<AtomicUsize>,
}

impl Grant {
    /// Visits everything below this directory, in no particular order, from several threads at once.
    pub fn walk(
        &self,
        options: WalkOptions,
        visit: impl Fn(&WalkEntry<'_>) -> Visit + Sync,
    ) -> Result<WalkSummary, GrantError> {
        self.need(Access::READ)?;
        let start = os::list_pinned(self.object()?.as_fd()).map_err(|error| self.failed(error))?;
        let ignored = match options.ignore {
            Ignore::Nothing => None,
            Ignore::Gitignore => self.ignored_from_above(),
        };
        let job = Job { parent: None, name: Box::default(), rest: self.rest.clone(), ignored, depth: 0 };
        let walk = Walk {
            guard: &self.guard,
            grant: self,
            options,
            visit,
            summary: Mutex::new(WalkSummary::default()),
            start,
            open: Arc::default(),
        };
        Pool::run(
            job,
            options.threads,
            || Worker { names: Vec::new(), buffer: os::directory_buffer() },
            |job, worker, pool| {
                walk.read(job, worker, pool);
            },
        );
        Ok(walk.summary.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// The ignore rules from the root down to the parent of this directory.
    fn ignored_from_above(&self) -> Option<Arc<Ignored>> {
        let mut ignored = None;
        let root = self.root_handle().ok()?;
        let names = self.rest.as_bytes();
        let mut ends: Vec<usize> = crate::tree::components(names).map(|(_, behind)| behind).collect();
        ends.pop();
        let above = std::iter::once(0).chain(ends).take_while(|_| !self.rest.is_root());
        for end in above {
            let directory = self.guard.open_directory(&root, &names[..end]);
            let here = directory.ok().and_then(|directory| Ignored::from_directory(&directory, end, ignored.as_ref()));
            ignored = here.or(ignored);
        }
        ignored
    }
}

/// Buffers that a thread reuses.
struct Worker {
    names: Vec<(Box<[u8]>, FileType)>,
    buffer: os::DirectoryBuffer,
}

impl<V: Fn(&WalkEntry<'_>) -> Visit + Sync> Walk<'_, V> {
    fn read(&self, job: Job, worker: &mut Worker, pool: &Pool<Job>) {
        let Job { parent, name, rest, ignored, depth } = job;
        let opened = match &parent {
            Some(parent) => os::open_child(parent.directory.as_fd(), &name, os::LIST),
            None => self.guard.open_directory(&self.start, rest.behind(self.grant.rest.as_bytes().len())),
        };
        drop(parent);
        let directory = match opened {
            Ok(directory) => directory,
            Err(error) => return self.failed(&rest, error),
        };
        let Worker { names, buffer } = worker;
        names.clear();
        if let Err(error) = os::read_directory(directory.as_fd(), buffer, |name, kind| names.push((name.into(), kind)))
        {
            self.failed(&rest, error);
        }
        let ignored = match self.options.ignore {
            Ignore::Nothing => None,
            Ignore::Gitignore => {
                let here = ignored::files_among(names.iter().map(|(name, _)| &**name));
                Ignored::read(here, &directory, rest.as_bytes().len(), ignored.as_ref()).or(ignored)
            }
        };
        let mut below = Vec::new();
        let mut visited = 0;
        let mut entry = rest.clone();
        for (name, kind) in names.drain(..) {
            entry.move_to(rest.as_bytes().len(), &name);
            if !self.guard.shows_entry(self.grant.root, &entry, &name) {
                continue;
            }
            let is_directory = kind == FileType::Directory;
            if ignored.as_ref().is_some_and(|ignored| ignored.leaves_out(entry.as_bytes(), is_directory)) {
                continue;
            }
            visited += 1;
            let seen = WalkEntry {
                directory: &directory,
                rest: &entry,
                start: self.grant.rest.as_bytes().len(),
                name: &name,
                kind: kind.into(),
                depth: depth + 1,
                root_path: &self.grant.root().root.path,
            };
            match (self.visit)(&seen) {
                Visit::Stop => {
                    pool.stop();
                    break;
                }
                Visit::Continue if is_directory && depth + 1 < self.options.most_depth => {
                    below.push((name, entry.clone()));
                }
                Visit::Continue | Visit::SkipDirectory => {}
            }
        }
        self.summary.lock().unwrap_or_else(PoisonError::into_inner).visited += visited;
        if !below.is_empty() {
            let parent = self.keep_open(directory);
            let job =
                |(name, rest)| Job { parent: parent.clone(), name, rest, ignored: ignored.clone(), depth: depth + 1 };
            pool.add(below.into_iter().map(job).collect());
        }
    }

    /// Keeps a directory open for its subdirectories, unless too many are open.
    fn keep_open(&self, directory: OwnedFd) -> Option<Arc<OpenParent>> {
        if self.open.fetch_add(1, Ordering::Relaxed) >= MOST_OPEN {
            self.open.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Arc::new(OpenParent { directory, count: Arc::clone(&self.open) }))
    }

    fn failed(&self, rest: &Rest, error: Errno) {
        let mut summary = self.summary.lock().unwrap_or_else(PoisonError::into_inner);
        if summary.errors.len() < MOST_ERRORS {
            summary.errors.push((rest.below(&self.grant.root().root.path), error.into()));
        }
    }
}
