//! A summary of one root: its size, its languages, its manifests and its entry points.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rootward_core::{FileKind, Grant, WalkEntry};
use rootward_server::Roots;

use super::languages::language;
use super::manifest::{self, Manifest};
use super::marker::{Beside, Marker, System, marker};
use super::survey::{Budget, Place};
use crate::failure::Failure;

/// How many marker files to keep from one walk.
const MOST_MARKERS: usize = 5000;

/// How many manifests to read per root.
const MOST_MANIFESTS: usize = 100;

/// How many possible entry points to keep from one walk, and how many to show.
const MOST_CANDIDATES: usize = 5000;
const MOST_STARTS: usize = 50;

/// How much to collect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Detail {
    /// Everything.
    Whole,
    /// Only the manifests.
    Manifests,
}

/// The summary of one root.
#[derive(Debug)]
pub(crate) struct Overview {
    pub(crate) path: PathBuf,
    pub(crate) name: Option<String>,
    /// Why it could not be read.
    pub(crate) problem: Option<String>,
    pub(crate) counted: Counted,
    /// By size, largest first.
    pub(crate) languages: Vec<(&'static str, Share)>,
    /// Top-level manifests first.
    pub(crate) manifests: Vec<Manifest>,
    /// Entry points, as paths below the root.
    pub(crate) starts: Vec<PathBuf>,
    /// How many directories could not be listed.
    pub(crate) unread: usize,
    /// Whether the summary is incomplete.
    pub(crate) more: bool,
}

/// File, directory and byte counts.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Counted {
    pub(crate) files: u64,
    pub(crate) directories: u64,
    pub(crate) bytes: u64,
}

/// The counts of one language.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Share {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

/// The data that a walk collects, from several threads.
#[derive(Default)]
struct Collected {
    counted: Counted,
    languages: BTreeMap<&'static str, Share>,
    markers: Vec<(PathBuf, Marker)>,
    candidates: Vec<PathBuf>,
    more: bool,
}

impl Collected {
    fn file(&mut self, below: &Path, name: &OsStr, bytes: u64) {
        self.counted.files += 1;
        self.counted.bytes += bytes;
        if let Some(language) = language(name) {
            let share = self.languages.entry(language).or_default();
            share.files += 1;
            share.bytes += bytes;
        }
        if let Some(marker) = marker(name) {
            if self.markers.len() < MOST_MARKERS {
                self.markers.push((below.to_owned(), marker));
            } else {
                self.more = true;
            }
        }
        if may_start(below, name) {
            if self.candidates.len() < MOST_CANDIDATES {
                self.candidates.push(below.to_owned());
            } else {
                self.more = true;
            }
        }
    }
}

impl Overview {
    /// Summarizes a root. Problems are part of the overview; this fails only if the client cancelled the call.
    pub(crate) fn of(place: Place, detail: Detail, roots: &Roots, budget: &Budget<'_>) -> Result<Overview, Failure> {
        let Place { path, name, grant } = place;
        let nothing = |problem| Overview {
            path: path.clone(),
            name: name.clone(),
            problem,
            counted: Counted::default(),
            languages: Vec::new(),
            manifests: Vec::new(),
            starts: Vec::new(),
            unread: 0,
            more: false,
        };
        let grant = match grant {
            Ok(grant) => grant,
            Err(problem) => return Ok(nothing(Some(problem))),
        };
        let (collected, unread) = match collect(&grant, detail, budget) {
            Ok(collected) => collected,
            Err(Failure::Stopped) => return Err(Failure::Stopped),
            Err(failure) => return Ok(nothing(Some(failure.sentence()))),
        };
        let Collected { counted, languages, markers, candidates, more } = collected;
        let (manifests, more_manifests) = manifests(roots, &grant, markers, budget)?;
        let (starts, more_starts) = starts(candidates, &manifests);
        let mut languages: Vec<_> = languages.into_iter().collect();
        languages.sort_by(|(one, a), (other, b)| b.bytes.cmp(&a.bytes).then(one.cmp(other)));
        let more = more || more_manifests || more_starts;
        Ok(Overview { counted, languages, manifests, starts, unread, more, ..nothing(None) })
    }
}

fn collect(grant: &Grant, detail: Detail, budget: &Budget<'_>) -> Result<(Collected, usize), Failure> {
    if grant.kind() != Some(FileKind::Directory) {
        // If nothing exists here, this returns the error.
        let bytes = grant.metadata()?.size;
        let mut collected = Collected::default();
        // No name: a manifest that is itself a root has no directory to run anything in.
        collected.file(Path::new(""), OsStr::new(""), bytes);
        if let Some(language) = grant.named_path().file_name().and_then(language) {
            collected.languages.insert(language, Share { files: 1, bytes });
        }
        return Ok((collected, 0));
    }
    let collected = Mutex::new(Collected::default());
    let unread = budget.walk(grant, |entry: &WalkEntry<'_>| {
        let bytes = match entry.kind() {
            // Not followed or opened, so without a size.
            FileKind::Link | FileKind::Special => return,
            FileKind::File if detail == Detail::Whole => entry.metadata().map_or(0, |metadata| metadata.size),
            FileKind::File | FileKind::Directory => 0,
        };
        let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
        if entry.kind() == FileKind::Directory {
            collected.counted.directories += 1;
        } else {
            collected.file(entry.path(), entry.name(), bytes);
        }
    })?;
    Ok((collected.into_inner().unwrap_or_else(PoisonError::into_inner), unread))
}

/// Reads the manifests, top-level ones first.
fn manifests(
    roots: &Roots,
    grant: &Grant,
    markers: Vec<(PathBuf, Marker)>,
    budget: &Budget<'_>,
) -> Result<(Vec<Manifest>, bool), Failure> {
    let mut beside: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    let mut found: Vec<(usize, PathBuf, System)> = Vec::new();
    for (below, marker) in markers {
        let directory = below.parent().unwrap_or(Path::new("")).to_owned();
        match marker {
            Marker::Manifest(system) => found.push((below.components().count(), below, system)),
            Marker::Beside => beside
                .entry(directory)
                .or_default()
                .extend(below.file_name().map(|name| name.to_string_lossy().into_owned())),
        }
    }
    found.sort();
    let more = found.len() > MOST_MANIFESTS;
    let mut manifests = Vec::new();
    for (_, below, system) in found.into_iter().take(MOST_MANIFESTS) {
        budget.goes_on()?;
        let directory = below.parent().unwrap_or(Path::new(""));
        let beside: Beside = beside.get(directory).cloned().unwrap_or_default().into_iter().collect();
        manifests.push(manifest::read(roots, grant, below, system, &beside));
    }
    Ok((manifests, more))
}

/// Whether a file may be an entry point, judging by its name.
fn may_start(below: &Path, name: &OsStr) -> bool {
    let parent = below.parent().and_then(Path::file_name).and_then(OsStr::to_str).unwrap_or_default();
    match name.to_str().unwrap_or_default() {
        "main.rs" | "lib.rs" => parent == "src",
        "main.go" | "__main__.py" | "manage.py" | "main.py" | "app.py" | "wsgi.py" | "asgi.py" | "Main.java"
        | "Application.java" | "Main.kt" | "Application.kt" | "Program.cs" | "main.c" | "main.cpp" | "main.cc"
        | "main.swift" | "main.dart" | "index.html" | "index.js" | "index.ts" | "index.mjs" | "index.tsx"
        | "index.jsx" | "main.js" | "main.ts" | "main.tsx" | "main.jsx" | "server.js" | "server.ts" | "app.js"
        | "app.ts" => true,
        name => parent == "bin" && name.rsplit_once('.').is_some_and(|(_, extension)| extension == "rs"),
    }
}

/// The entry points: those named by the manifests, and files with common names near the top or near a manifest.
fn starts(candidates: Vec<PathBuf>, manifests: &[Manifest]) -> (Vec<PathBuf>, bool) {
    let directories: BTreeSet<&Path> = manifests.iter().map(Manifest::directory).collect();
    let near = |below: &PathBuf| {
        let mut above = below.ancestors().skip(1).take(3);
        below.components().count() <= 2
            || above.next().is_some_and(|directory| directories.contains(directory))
            || above.any(|directory| directories.contains(directory) && in_sources(below, directory))
    };
    let named = manifests
        .iter()
        .flat_map(|manifest| manifest.facts.starts.iter().map(move |start| manifest.directory().join(start)));
    let all: BTreeSet<(usize, PathBuf)> =
        named.chain(candidates.into_iter().filter(near)).map(|below| (below.components().count(), below)).collect();
    let more = all.len() > MOST_STARTS;
    (all.into_iter().take(MOST_STARTS).map(|(_, below)| below).collect(), more)
}

/// Whether a file is in the directory where projects usually keep entry points.
fn in_sources(below: &Path, directory: &Path) -> bool {
    let first = below.strip_prefix(directory).ok().and_then(|rest| rest.components().next());
    first.and_then(|first| first.as_os_str().to_str()).is_some_and(|first| matches!(first, "src" | "cmd" | "app"))
}
