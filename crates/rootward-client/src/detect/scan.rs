//! The walk: visits every entry once, reads files that mean something, and stops at the limits.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rootward_core::{FileKind, Grant, GrantError, Ignore, Visit, WalkEntry, WalkOptions, WalkSummary};

use super::detectors::{self, Detector, git, jetbrains, markers};
use super::found::{Found, More};
use super::members::Cost;
use super::passed_over::is_passed_over;
use super::{Bound, DetectOptions};

/// Check the clock every this many entries. A power of two.
const CLOCK: u64 = 256;

/// How many files per directory count; more are skipped.
const MOST_REASONS: usize = 64;

/// How many names and patterns of workspaces to keep in total; members of further ones are not marked as members.
const MOST_MEMBERS: usize = 100_000;
const MOST_PATTERNS: usize = 2000;

/// The progress of a scan.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'p> {
    /// How many files and directories were seen.
    pub visited: u64,
    /// The number of directories with findings.
    pub found: usize,
    /// The time elapsed so far.
    pub elapsed: Duration,
    /// The current entry, relative to the start of the scan.
    pub at: &'p Path,
}

/// What was found in the directories below one.
pub(super) struct Walked<'g> {
    pub(super) grant: &'g Grant,
    /// By the path below the start: the name of each file and what was found in it.
    pub(super) found: BTreeMap<PathBuf, Vec<(String, Found)>>,
    pub(super) summary: WalkSummary,
}

/// What all walks of a scan share.
pub(super) struct Scan<'o> {
    pub(super) options: &'o DetectOptions,
    progress: &'o (dyn Fn(&Progress<'_>) + Sync),
    started: Instant,
    seen: AtomicU64,
    found: AtomicUsize,
    members: AtomicUsize,
    patterns: AtomicUsize,
    stopped: AtomicBool,
    /// When progress was last reported, in milliseconds since the start.
    told: AtomicU64,
    bounds: Mutex<Vec<Bound>>,
}

type Findings = Mutex<BTreeMap<PathBuf, Vec<(String, Found)>>>;

impl<'o> Scan<'o> {
    pub(super) fn new(options: &'o DetectOptions, progress: &'o (dyn Fn(&Progress<'_>) + Sync)) -> Scan<'o> {
        Scan {
            options,
            progress,
            started: Instant::now(),
            seen: AtomicU64::new(0),
            found: AtomicUsize::new(0),
            members: AtomicUsize::new(0),
            patterns: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            told: AtomicU64::new(0),
            bounds: Mutex::default(),
        }
    }

    pub(super) fn walk<'g>(&self, grant: &'g Grant) -> Result<Walked<'g>, GrantError> {
        let findings = Findings::default();
        let walk = WalkOptions {
            threads: self.options.threads,
            ignore: Ignore::Gitignore,
            // A directory's entries are one level deeper than it, and those of its `.git` another; `visit` stops the
            // rest.
            most_depth: self.options.limits.depth.saturating_add(2),
        };
        let summary = grant.walk(walk, |entry| self.visit(entry, &findings))?;
        let found = findings.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Walked { grant, found, summary })
    }

    /// The limits that were reached, each once.
    pub(super) fn bounds(&self) -> Vec<Bound> {
        let mut bounds = self.bounds.lock().unwrap_or_else(PoisonError::into_inner).clone();
        bounds.sort_unstable();
        bounds
    }

    /// Whether the time is up.
    pub(super) fn is_late(&self) -> bool {
        let late = self.started.elapsed() >= self.options.limits.time;
        if late {
            self.met(Bound::Time);
        }
        late
    }

    fn visit(&self, entry: &WalkEntry<'_>, findings: &Findings) -> Visit {
        let seen = self.seen.fetch_add(1, Ordering::Relaxed);
        if seen >= self.options.limits.entries {
            self.stop(Bound::Entries);
        } else if seen & (CLOCK - 1) == 0 {
            self.look_at_the_clock(seen, entry);
        }
        if self.stopped.load(Ordering::Relaxed) {
            return Visit::Stop;
        }
        let name = entry.name().as_bytes();
        match entry.kind() {
            FileKind::Directory => return self.directory(entry, name, findings),
            // The checked-out branch; in old repositories a link.
            FileKind::File | FileKind::Link if name == b"HEAD" && parent_name(entry) == b".git" => {
                self.keep(above(above(entry.path())), ".git", vec![git::repository()], findings);
            }
            FileKind::File if name == b"config" && parent_name(entry) == b".git" => {
                self.read(entry, above(above(entry.path())), git::read_config, findings);
            }
            FileKind::File if name == b".name" && parent_name(entry) == b".idea" => {
                self.read(entry, above(above(entry.path())), jetbrains::read_name, findings);
            }
            FileKind::File => {
                let directory = above(entry.path());
                if let Some(detector) = detectors::of_file(name)
                    && !is_inner(entry)
                {
                    self.read(entry, directory, detector, findings);
                } else if let Some(kind) = markers::of_file(name)
                    && !is_inner(entry)
                {
                    self.keep(directory, &entry.name().to_string_lossy(), vec![Found::likely(kind)], findings);
                }
            }
            // SECURITY: a link never counts as a manifest, wherever it leads, and neither does a FIFO, which would
            // block
            // (test: links_are_neither_followed_nor_read)
            FileKind::Link | FileKind::Special => {}
        }
        if self.stopped.load(Ordering::Relaxed) { Visit::Stop } else { Visit::Continue }
    }

    fn directory(&self, entry: &WalkEntry<'_>, name: &[u8], findings: &Findings) -> Visit {
        match name {
            // Look at its own entries, but nothing deeper.
            b".git" => return Visit::Continue,
            b".idea" => {
                self.keep(above(entry.path()), ".idea", vec![jetbrains::directory()], findings);
                return Visit::Continue;
            }
            // Go's module cache: `go/pkg/mod`.
            b"mod" if parent_name(entry) == b"pkg" => return Visit::SkipDirectory,
            _ if is_passed_over(name) || is_inner(entry) => {
                return Visit::SkipDirectory;
            }
            _ => {}
        }
        if entry.depth() > self.options.limits.depth {
            self.met(Bound::Depth);
            return Visit::SkipDirectory;
        }
        Visit::Continue
    }

    /// Reads a file with its detector. Even if it is invalid, it exists.
    fn read(&self, entry: &WalkEntry<'_>, directory: &Path, detector: Detector, findings: &Findings) {
        if self.is_late() {
            return self.stop(Bound::Time);
        }
        // SECURITY: a size limit, because the author of the tree may have made a manifest of any size
        // (test: a_huge_manifest_counts_without_its_name)
        let bytes = entry.open().and_then(|file| file.read_whole(self.options.limits.manifest));
        let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        let name = entry.name().to_string_lossy();
        let found = detector(&name, text.strip_prefix('\u{feff}').unwrap_or(&text));
        if !found.is_empty() {
            self.keep(directory, &name, found, findings);
        }
    }

    fn keep(&self, directory: &Path, file: &str, mut found: Vec<Found>, findings: &Findings) {
        for found in &mut found {
            if let More::Members(members) | More::Submodules(members) = &found.more {
                let Cost { names, patterns } = members.cost();
                let members = self.members.fetch_add(names, Ordering::Relaxed) + names;
                let patterns = self.patterns.fetch_add(patterns, Ordering::Relaxed) + patterns;
                if members > MOST_MEMBERS || patterns > MOST_PATTERNS {
                    found.more = More::Nothing;
                }
            }
        }
        let mut findings = findings.lock().unwrap_or_else(PoisonError::into_inner);
        let room = match findings.entry(directory.to_owned()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                if self.found.fetch_add(1, Ordering::Relaxed) >= self.options.limits.suggestions {
                    return self.stop(Bound::Suggestions);
                }
                new.insert(Vec::new())
            }
        };
        let free = MOST_REASONS.saturating_sub(room.len());
        room.extend(found.into_iter().take(free).map(|found| (file.to_owned(), found)));
    }

    fn look_at_the_clock(&self, seen: u64, entry: &WalkEntry<'_>) {
        if self.is_late() {
            return self.stop(Bound::Time);
        }
        let elapsed = self.started.elapsed();
        let now = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let told = self.told.load(Ordering::Relaxed);
        let due = u128::from(now.saturating_sub(told)) >= self.options.tell_every.as_millis();
        // Only one thread reports.
        if due && self.told.compare_exchange(told, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            let found = self.found.load(Ordering::Relaxed);
            (self.progress)(&Progress { visited: seen, found, elapsed, at: above(entry.path()) });
        }
    }

    fn stop(&self, bound: Bound) {
        if !self.stopped.swap(true, Ordering::Relaxed) {
            self.met(bound);
        }
    }

    fn met(&self, bound: Bound) {
        let mut bounds = self.bounds.lock().unwrap_or_else(PoisonError::into_inner);
        if !bounds.contains(&bound) {
            bounds.push(bound);
        }
    }
}

fn above(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// Whether an entry is in a directory of a tool, where a manifest means nothing.
fn is_inner(entry: &WalkEntry<'_>) -> bool {
    matches!(parent_name(entry), b".git" | b".idea")
}

/// The name of the directory that contains an entry; empty at the start of the walk. As bytes, because this runs for
/// every directory.
fn parent_name<'e>(entry: &'e WalkEntry<'_>) -> &'e [u8] {
    let path = entry.path().as_os_str().as_bytes();
    let above = path.len().checked_sub(entry.name().len() + 1).map_or(&b""[..], |end| &path[..end]);
    let start = above.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    &above[start..]
}
