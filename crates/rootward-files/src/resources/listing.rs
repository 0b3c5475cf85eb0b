//! Which files are listed as resources, in pages.
//!
//! A cursor names the last file of its page, so that files that come and go elsewhere do not make a page skip or repeat
//! others. Pages are sorted by path, component by component: entries below a directory stay together, and a walk skips
//! the directories before the cursor and after a full page.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rmcp::ErrorData;
use rmcp::model::{ListResourcesResult, Resource};
use rootward_core::{FileKind, Grant, Visit, WalkOptions};
use rootward_server::{Access, Roots};
use serde::{Deserialize, Serialize};
use serde_json::json;
use thiserror::Error;

use super::{media_type, of_path};
use crate::call::Work;
use crate::failure::Failure;

/// How many resources a page has.
const PAGE: usize = 200;

/// How many files to list in total: those directly in the roots, or all of them.
const MOST_TOP: u64 = 1000;
const MOST_ALL: u64 = 10_000;

/// The longest cursor to read, in bytes.
const LONGEST_CURSOR: usize = 16 << 10;

/// Which files a server lists as resources. Clients can read all files below the roots, whether or not they are listed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Listing {
    /// None: clients fill in templates.
    #[default]
    Templates,
    /// Those directly in a root, at most 1,000.
    Top,
    /// Those at any depth, at most 10,000.
    All,
}

/// A word that is not the name of a listing.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{0}` does not say which files to list (possible: `templates`, `top`, `all`)")]
pub struct UnknownListing(String);

impl Listing {
    /// Every listing.
    pub const ALL: [Listing; 3] = [Listing::Templates, Listing::Top, Listing::All];

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Listing::Templates => "templates",
            Listing::Top => "top",
            Listing::All => "all",
        }
    }

    fn most(self) -> u64 {
        match self {
            Listing::Templates => 0,
            Listing::Top => MOST_TOP,
            Listing::All => MOST_ALL,
        }
    }

    fn depth(self) -> usize {
        if self == Listing::All { usize::MAX } else { 1 }
    }
}

impl FromStr for Listing {
    type Err = UnknownListing;

    fn from_str(text: &str) -> Result<Listing, UnknownListing> {
        Listing::ALL.into_iter().find(|one| one.name() == text).ok_or_else(|| UnknownListing(text.to_owned()))
    }
}

/// Where a page begins: after this file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Position {
    /// The generation of the roots that it was made for.
    generation: u64,
    /// The index of the root.
    root: usize,
    /// The file's path below the root.
    after: String,
    /// How many files were listed before.
    listed: u64,
}

impl Position {
    /// Parses a client's cursor. It says where to continue and grants no access.
    pub(crate) fn read(cursor: &str, generation: u64) -> Result<Position, ErrorData> {
        let malformed = || ErrorData::invalid_params("Malformed cursor for resources/list", None);
        if cursor.len() > LONGEST_CURSOR {
            return Err(malformed());
        }
        let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| malformed())?;
        let position: Position = serde_json::from_slice(&bytes).map_err(|_| malformed())?;
        if position.generation != generation {
            let data = json!({"expected": generation, "received": position.generation});
            let says = "Stale cursor for resources/list; please restart pagination";
            return Err(ErrorData::invalid_params(says, Some(data)));
        }
        Ok(position)
    }

    fn write(&self) -> String {
        // Cannot fail: it has only numbers and a string.
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }
}

/// A page of files.
pub(crate) fn page(
    roots: &Roots,
    listing: Listing,
    from: Option<&Position>,
    work: &Work,
) -> Result<ListResourcesResult, Failure> {
    let before = from.map_or(0, |from| from.listed);
    let left = usize::try_from(listing.most().saturating_sub(before)).unwrap_or(usize::MAX);
    let room = PAGE.min(left);
    let mut resources = Vec::new();
    let mut last: Option<(usize, PathBuf)> = None;
    // One more file than fits shows that there is another page.
    let wanted = room + 1;
    for (number, placed) in roots.list().iter().enumerate().skip(from.map_or(0, |from| from.root)) {
        let path = &placed.root.path;
        let inside_another =
            roots.list().iter().any(|other| other.root.path != *path && path.starts_with(&other.root.path));
        if inside_another || resources.len() >= wanted {
            continue;
        }
        // Skip a root that is gone or may not be read.
        let Ok(grant) = roots.check(path, Access::READ) else { continue };
        let after = from.filter(|from| from.root == number).map(|from| Path::new(&from.after));
        for (below, resource) in files(&grant, listing, after, wanted - resources.len(), work)? {
            if resources.len() < room {
                last = Some((number, below));
            }
            resources.push(resource);
        }
    }
    let more = resources.len() > room && u64::try_from(room).is_ok_and(|room| before + room < listing.most());
    resources.truncate(room);
    let next = last.filter(|_| more).and_then(|(root, below)| {
        let listed = before + u64::try_from(room).ok()?;
        let after = below.to_str()?.to_owned();
        Some(Position { generation: roots.generation(), root, after, listed }.write())
    });
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = next;
    Ok(result)
}

/// The first files of a root after a path, in order.
fn files(
    grant: &Grant,
    listing: Listing,
    after: Option<&Path>,
    wanted: usize,
    work: &Work,
) -> Result<BTreeMap<PathBuf, Resource>, Failure> {
    let top = grant.named_path();
    if grant.kind() != Some(FileKind::Directory) {
        let size = grant.metadata().map_or(0, |metadata| metadata.size);
        let itself = grant.kind().is_some() && after.is_none();
        let resource = itself.then(|| resource(&top, top.file_name()?.to_str()?, size)).flatten();
        return Ok(resource.into_iter().map(|resource| (PathBuf::new(), resource)).collect());
    }
    let found: Mutex<BTreeMap<PathBuf, Resource>> = Mutex::default();
    let options = WalkOptions { most_depth: listing.depth(), ..WalkOptions::default() };
    grant.walk(options, |entry| {
        if work.did(1).is_err() {
            return Visit::Stop;
        }
        let below = entry.path();
        let Some(name) = entry.name().to_str().filter(|name| !name.starts_with('.')) else {
            return Visit::SkipDirectory;
        };
        let past = |found: &BTreeMap<PathBuf, Resource>| {
            found.len() >= wanted && found.last_key_value().is_some_and(|(last, _)| below > last.as_path())
        };
        let before = after.is_some_and(|after| below <= after);
        match entry.kind() {
            FileKind::Directory => {
                let beyond = before && !after.is_some_and(|after| after.starts_with(below));
                let full = past(&found.lock().unwrap_or_else(PoisonError::into_inner));
                if beyond || full || name == "node_modules" { Visit::SkipDirectory } else { Visit::Continue }
            }
            FileKind::File if !before => {
                let text = below.to_str();
                let size = || entry.metadata().map_or(0, |metadata| metadata.size);
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                if !past(&found)
                    && let Some(resource) = text.and_then(|text| resource(&top.join(below), text, size()))
                {
                    found.insert(below.to_owned(), resource);
                    if found.len() > wanted {
                        found.pop_last();
                    }
                }
                Visit::Continue
            }
            // A link's target may be outside; a FIFO cannot be read.
            FileKind::File | FileKind::Link | FileKind::Special => Visit::Continue,
        }
    })?;
    work.did(0)?;
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn resource(path: &Path, name: &str, size: u64) -> Option<Resource> {
    let resource = Resource::new(of_path(path)?, crate::name::on_one_line(name.as_ref())).with_size(size);
    Some(match media_type(path) {
        Some(kind) => resource.with_mime_type(kind),
        None => resource,
    })
}
