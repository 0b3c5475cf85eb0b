//! Patterns in root definitions: `~/src/*` shares every directory in `~/src`, `~/clients/*/docs` the `docs` of every
//! client.
//!
//! Only the operator and the user can write patterns; in a client's root, `*` is a normal character. `*` matches any
//! part of one name, but no leading dot. A match is a directory that is reached without links after the fixed part. It
//! is judged like a client's root, because a pattern says less about what it shares than a path does.

use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use crate::os;
use crate::resolve::{Resolver, open};
use crate::root::FileId;

/// The maximum number of directories that one pattern may match, at each of its wildcards.
pub const MOST_MATCHES: usize = 1000;

/// The maximum number of entries to read for one pattern.
const MOST_READ: usize = 100_000;

/// Whether a root's path is a pattern, or was found by one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Pattern {
    /// It is a pattern. The components before the first wildcard are plain names, even if they contain a `*`.
    Named {
        /// The number of components before the first wildcard.
        fixed: usize,
    },
    /// It is a directory that a pattern matches.
    Matched {
        /// The pattern.
        by: PathBuf,
        /// The number of components before its first wildcard.
        fixed: usize,
    },
}

/// Why a pattern is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum PatternError {
    /// It contains `**`.
    #[error("`**` is not supported: `*` matches one name, and `~/src/*/*` goes one level deeper")]
    Recursive,
    /// It contains `..` and a `*`.
    #[error("`..` in a pattern")]
    Climbs,
}

/// A directory that a pattern matches.
#[derive(Debug)]
pub(crate) struct Match {
    /// Its path below the fixed part.
    pub(crate) below: PathBuf,
    pub(crate) id: FileId,
}

/// Why a pattern cannot be expanded.
#[derive(Debug)]
pub(crate) enum Unexpanded {
    TooMany,
    System(Errno),
}

impl Pattern {
    /// The pattern in a path that a person typed; `path` is the full path. `None` if it has no `*`.
    pub fn read(typed: &[u8], path: &Path) -> Result<Option<Pattern>, PatternError> {
        if !typed.contains(&b'*') {
            return Ok(None);
        }
        let typed = Path::new(OsStr::from_bytes(typed));
        let wild = typed.components().position(|part| is_wild(part.as_os_str()));
        let Some(wild) = wild else { return Ok(None) };
        if typed.components().any(|part| part == Component::ParentDir) {
            return Err(PatternError::Climbs);
        }
        if typed.components().any(|part| part.as_os_str().as_bytes().windows(2).any(|pair| pair == b"**")) {
            return Err(PatternError::Recursive);
        }
        // Count from the end: the home or the base comes before the typed part, and a `*` in it is a normal character.
        let behind = typed.components().count() - wild;
        Ok(Some(Pattern::Named { fixed: path.components().count() - behind }))
    }
}

fn is_wild(name: &OsStr) -> bool {
    name.as_bytes().contains(&b'*')
}

/// The fixed part of a pattern, and the names after it.
pub(crate) fn split(path: &Path, fixed: usize) -> (PathBuf, Vec<OsString>) {
    let behind = path.components().skip(fixed).map(|part| part.as_os_str().to_owned()).collect();
    (path.components().take(fixed).collect(), behind)
}

/// The directories below `place` that these names match, sorted by name. `place` must be resolved.
pub(crate) fn matches(resolver: Resolver, place: &Path, names: &[OsString]) -> Result<Vec<Match>, Unexpanded> {
    let slash = os::pin_slash().map_err(Unexpanded::System)?;
    // SECURITY: follow no link after the fixed part: the pattern does not say where one leads
    // (test: a_pattern_matches_no_link)
    let pin = |below: &Path| {
        let path = place.join(below);
        let bytes = path.as_os_str().as_bytes();
        open(resolver, slash.as_fd(), bytes.strip_prefix(b"/").unwrap_or(bytes), os::PIN.union(OFlags::DIRECTORY))
    };
    let mut found = vec![PathBuf::new()];
    let mut read = 0;
    for name in names {
        let mut next = Vec::new();
        for below in found {
            if !is_wild(name) {
                next.push(below.join(name));
                continue;
            }
            let directory = match pin(&below) {
                Ok(directory) => directory,
                // The next level of the pattern may be missing here, or not accessible.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV | Errno::ACCESS) => continue,
                Err(error) => return Err(Unexpanded::System(error)),
            };
            let entries = match os::entries(directory.as_fd()) {
                Ok(entries) => entries,
                Err(Errno::ACCESS) => continue,
                Err(error) => return Err(Unexpanded::System(error)),
            };
            read += entries.len();
            let may_be = |kind: FileType| matches!(kind, FileType::Directory | FileType::Unknown);
            let matching =
                entries.into_iter().filter(|(entry, kind)| may_be(*kind) && is_match(name.as_bytes(), entry));
            next.extend(matching.map(|(entry, _)| below.join(OsString::from_vec(entry))));
            if next.len() > MOST_MATCHES || read > MOST_READ {
                return Err(Unexpanded::TooMany);
            }
        }
        found = next;
    }
    found.sort();
    let there = |below: PathBuf| match pin(&below).and_then(|pinned| os::identity(&pinned)) {
        Ok(id) => Some(Match { below, id }),
        Err(_) => None,
    };
    Ok(found.into_iter().filter_map(there).collect())
}

/// Whether a name matches a pattern with `*`.
fn is_match(pattern: &[u8], name: &[u8]) -> bool {
    // A pattern matches hidden directories only if it starts with a dot itself.
    if name.starts_with(b".") && !pattern.starts_with(b".") {
        return false;
    }
    let mut parts = pattern.split(|byte| *byte == b'*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        // There is always something between two `*`.
        let Some(at) = rest.windows(part.len().max(1)).position(|some| some == part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_part_of_one_name_and_no_leading_dot() {
        let check = |pattern: &str, yes: &[&str], no: &[&str]| {
            for (names, expect) in [(yes, true), (no, false)] {
                for name in names {
                    assert_eq!(is_match(pattern.as_bytes(), name.as_bytes()), expect, "{pattern} {name}");
                }
            }
        };
        check("*", &["a", "a.b", "*", "a b"], &[".a", "."]);
        check("a*", &["a", "ab", "a*"], &["ba", ".a"]);
        check("*a", &["a", "ba"], &["ab", ".a"]);
        check("a*b*c", &["abc", "axbxc", "abbc", "abcc"], &["ab", "acb", "abcd"]);
        check("a*a", &["aa", "aba"], &["a"]);
        check(".a*", &[".a", ".ab"], &["a", "x.a"]);
    }

    #[test]
    fn patterns_are_told_from_names() {
        let check = |typed: &str, path: &str, expect: Result<Option<usize>, PatternError>| {
            let read = Pattern::read(typed.as_bytes(), Path::new(path));
            let expect = expect.map(|fixed| fixed.map(|fixed| Pattern::Named { fixed }));
            assert_eq!(read, expect, "{typed}");
        };
        check("/src/app", "/src/app", Ok(None));
        check("/src/*", "/src/*", Ok(Some(2)));
        check("/clients/*/docs", "/clients/*/docs", Ok(Some(2)));
        check("~/src/a*", "/home/me/src/a*", Ok(Some(4)));
        // The part before what was typed is not a pattern.
        check("*", "/odd*name/*", Ok(Some(2)));
        check("src/app", "/odd*name/src/app", Ok(None));
        check("/src/**", "/src/**", Err(PatternError::Recursive));
        check("/src/a**b", "/src/a**b", Err(PatternError::Recursive));
        check("/src/../*", "/src/../*", Err(PatternError::Climbs));
    }
}
