//! What the ignore files of a directory and of those above it leave out.
//!
//! The rules are `ignore`'s; the files are read here, from handles, because `ignore` opens them by name.

use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::FileType;

use crate::os;

/// Of a larger file only the beginning counts: nobody wrote it by hand, and each rule costs time at every entry.
const MOST_BYTES: u64 = 128 << 10;

/// How many ignore files above each other count; further down, only those are asked.
const MOST_ABOVE: usize = 64;

/// The rules of one directory, on top of those above it.
#[derive(Debug)]
pub(super) struct Ignored {
    rules: Gitignore,
    /// How long the directory's own path below the root is.
    directory: usize,
    above: Option<Arc<Ignored>>,
    /// How many there are above.
    depth: usize,
}

/// Which ignore files a directory has.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Files {
    git: bool,
    gitignore: bool,
    ignore: bool,
}

/// Finds them in a listing, which saves asking for each.
pub(super) fn files_among<'n>(names: impl Iterator<Item = &'n [u8]>) -> Files {
    let mut files = Files::default();
    for name in names {
        match name {
            b".git" => files.git = true,
            b".gitignore" => files.gitignore = true,
            b".ignore" => files.ignore = true,
            _ => {}
        }
    }
    files
}

impl Ignored {
    /// The rules of a directory, looked for by name.
    pub(super) fn from_directory(
        directory: &OwnedFd,
        position: usize,
        above: Option<&Arc<Ignored>>,
    ) -> Option<Arc<Ignored>> {
        let all = Files { git: true, gitignore: true, ignore: true };
        Ignored::read(all, directory, position, above)
    }

    /// Reads the files that are there; `None` where none has a rule. The later file wins: `.ignore` over `.gitignore` over
    /// `.git/info/exclude`.
    pub(super) fn read(
        files: Files,
        directory: &OwnedFd,
        position: usize,
        above: Option<&Arc<Ignored>>,
    ) -> Option<Arc<Ignored>> {
        let depth = above.map_or(0, |above| above.depth + 1);
        if depth > MOST_ABOVE {
            return None;
        }
        // Paths are given from this directory on, so nothing is to be stripped from them. An empty root would say the same,
        // but is compared with every path, and comparing nothing at no address is slow where `memcmp` loads by mask.
        let mut builder = GitignoreBuilder::new(".");
        let mut lines = 0;
        let mut add = |text: Option<String>| {
            for line in text.iter().flat_map(|text| text.lines()) {
                // A line that is no pattern is passed over, as git does.
                lines += usize::from(builder.add_line(None, line).is_ok());
            }
        };
        if files.git {
            add(exclude(directory));
        }
        if files.gitignore {
            add(text(directory, b".gitignore"));
        }
        if files.ignore {
            add(text(directory, b".ignore"));
        }
        if lines == 0 {
            return None;
        }
        let rules = builder.build().ok()?;
        (!rules.is_empty()).then(|| Arc::new(Ignored { rules, directory: position, above: above.cloned(), depth }))
    }

    /// Whether a path below the root is left out. The nearest file that has something to say decides.
    pub(super) fn leaves_out(&self, path: &[u8], is_directory: bool) -> bool {
        let mut next = Some(self);
        while let Some(ignored) = next {
            let below = &path[ignored.directory..];
            let below = Path::new(OsStr::from_bytes(below.strip_prefix(b"/").unwrap_or(below)));
            match ignored.rules.matched(below, is_directory) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => next = ignored.above.as_deref(),
            }
        }
        false
    }
}

fn exclude(directory: &OwnedFd) -> Option<String> {
    let git = os::open_child(directory.as_fd(), b".git", os::LIST).ok()?;
    let info = os::open_child(git.as_fd(), b"info", os::LIST).ok()?;
    text(&info, b"exclude")
}

fn text(directory: &OwnedFd, name: &[u8]) -> Option<String> {
    let handle = os::open_child(directory.as_fd(), name, os::READ).ok()?;
    if os::type_of(&os::status(&handle).ok()?) != FileType::RegularFile {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::from(handle).take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
