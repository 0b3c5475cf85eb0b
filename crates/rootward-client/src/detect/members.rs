//! Which directories a workspace names as its own.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// How many patterns of one file count, and how long each may be: people write a few dozen short ones.
const MOST_PATTERNS: usize = 2000;
const LONGEST_PATTERN: usize = 256;

/// Patterns of directories, relative to the workspace's own.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Members {
    include: Vec<String>,
    exclude: Vec<String>,
}

impl Members {
    /// A pattern that begins with `!` leaves out.
    pub(super) fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Members {
        let mut members = Members::default();
        for pattern in patterns.into_iter().take(MOST_PATTERNS) {
            match pattern.strip_prefix('!') {
                Some(left_out) => members.exclude.extend(plain(left_out)),
                None => members.include.extend(plain(pattern)),
            }
        }
        members
    }

    pub(super) fn without<'p>(mut self, patterns: impl IntoIterator<Item = &'p str>) -> Members {
        self.exclude.extend(patterns.into_iter().take(MOST_PATTERNS).filter_map(plain));
        self
    }

    pub(super) fn count(&self) -> usize {
        self.include.len() + self.exclude.len()
    }

    pub(super) fn matcher(&self) -> Matcher {
        Matcher { include: globs(&self.include), exclude: globs(&self.exclude) }
    }
}

/// Patterns, ready to be asked.
#[derive(Debug)]
pub(super) struct Matcher {
    include: GlobSet,
    exclude: GlobSet,
}

impl Matcher {
    /// Whether a directory, relative to the workspace's own, is a member.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.include.is_match(path) && !self.exclude.is_match(path)
    }
}

/// A pattern without what changes nothing; none where it leads out or is empty.
fn plain(pattern: &str) -> Option<String> {
    if pattern.len() > LONGEST_PATTERN || pattern.starts_with('/') {
        return None;
    }
    let names: Vec<&str> = pattern.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    (!names.is_empty() && !names.contains(&"..")).then(|| names.join("/"))
}

/// One that is no glob is passed over: it matches nothing.
fn globs(patterns: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        if let Ok(glob) = GlobBuilder::new(pattern).literal_separator(true).build() {
            set.add(glob);
        }
    }
    set.build().unwrap_or_else(|_| GlobSet::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_as_workspaces_write_them() {
        let check = |patterns: &[&str], has: &[&str], has_not: &[&str]| {
            let matcher = Members::new(patterns.iter().copied()).matcher();
            has.iter().for_each(|path| assert!(matcher.has(Path::new(path)), "{patterns:?} has {path}"));
            has_not.iter().for_each(|path| assert!(!matcher.has(Path::new(path)), "{patterns:?} has no {path}"));
        };
        check(&["crates/*"], &["crates/a", "crates/b.c"], &["crates", "crates/a/b", "a"]);
        check(&["./a/", "b//c"], &["a", "b/c"], &["b", "c"]);
        check(&["packages/**"], &["packages/a", "packages/a/b"], &["packages", "other/a"]);
        check(&["packages/*", "!packages/old*"], &["packages/new"], &["packages/older"]);
        check(&["{a,b}/x"], &["a/x", "b/x"], &["c/x"]);
        check(&["../out", "/abs", "", ".", "[", "a/../b"], &[], &["out", "abs", "a", "b", "["]);
    }

    #[test]
    fn what_is_left_out() {
        let matcher = Members::new(["*"]).without(["b", "../c"]).matcher();
        assert!(matcher.has(Path::new("a")) && matcher.has(Path::new("c")) && !matcher.has(Path::new("b")));
    }

    #[test]
    fn only_so_many_and_so_long() {
        assert_eq!(Members::new(std::iter::repeat_n("a", MOST_PATTERNS + 9)).count(), MOST_PATTERNS);
        assert_eq!(Members::new([&*"a".repeat(LONGEST_PATTERN + 1)]).count(), 0);
    }
}
