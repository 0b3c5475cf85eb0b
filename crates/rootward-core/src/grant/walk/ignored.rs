//! The ignore rules of a directory and its parents.
//!
//! The rules are parsed by the `ignore` crate. The files are read here, from handles, because `ignore` opens them by
//! name.

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

/// Only the beginning of a larger file counts: nobody wrote it by hand, and each rule costs time for every entry.
const MOST_BYTES: u64 = 128 << 10;

/// The maximum number of nested ignore files. Ignore files in deeper directories are not read.
const MOST_ABOVE: usize = 64;

/// The rules of one directory, on top of its parents' rules.
#[derive(Debug)]
pub(super) struct Ignored {
    rules: Gitignore,
    /// The length of the directory's path below the root.
    directory: usize,
    above: Option<Arc<Ignored>>,
    /// The number of parents with rules.
    depth: usize,
}

/// Which ignore files a directory has.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Files {
    git: bool,
    gitignore: bool,
    ignore: bool,
}

/// Finds the ignore files in a listing, which saves a system call for each.
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
    /// Reads the rules of a directory, trying each ignore file by name.
    pub(super) fn from_directory(
        directory: &OwnedFd,
        position: usize,
        above: Option<&Arc<Ignored>>,
    ) -> Option<Arc<Ignored>> {
        let all = Files { git: true, gitignore: true, ignore: true };
        Ignored::read(all, directory, position, above)
    }

    /// Reads the ignore files; `None` if they contain no rule. Later files win: `.ignore` over `.gitignore` over
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
        // Paths are relative to this directory, so there is no prefix to strip. An empty root would mean the same, but
        // it is compared with every path, and a comparison of zero bytes at a null address is slow where `memcmp` uses
        // masked loads.
        let mut builder = GitignoreBuilder::new(".");
        let mut lines = 0;
        let mut add = |text: Option<String>| {
            for line in text.iter().flat_map(|text| text.lines()) {
                // Skip a line that is not a pattern, as git does.
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

    /// Whether a path below the root is ignored. The nearest file with a matching rule decides.
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
