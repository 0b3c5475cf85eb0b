//! Which directories a workspace lists as its members.

use std::collections::HashSet;
use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// How many names and patterns of one file count, and how long each may be: people write a few dozen short ones.
/// Patterns cost more, because each is compiled.
const MOST_NAMES: usize = 2000;
const MOST_PATTERNS: usize = 100;
const LONGEST: usize = 256;

/// Names and patterns of directories, relative to the workspace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Members {
    include: Directories,
    exclude: Directories,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Directories {
    names: HashSet<String>,
    patterns: Vec<String>,
}

/// How much members cost to keep and to compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cost {
    pub(super) names: usize,
    pub(super) patterns: usize,
}

impl Members {
    /// Patterns; one that begins with `!` excludes.
    pub(super) fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Members {
        let mut members = Members::default();
        for pattern in patterns.into_iter().take(MOST_NAMES) {
            match pattern.strip_prefix('!') {
                Some(left_out) => members.exclude.add(left_out),
                None => members.include.add(pattern),
            }
        }
        members
    }

    /// Plain names of directories, with any characters.
    pub(super) fn named<'p>(names: impl IntoIterator<Item = &'p str>) -> Members {
        let names = names.into_iter().take(MOST_NAMES).filter_map(plain).collect();
        Members { include: Directories { names, patterns: Vec::new() }, exclude: Directories::default() }
    }

    pub(super) fn without<'p>(mut self, patterns: impl IntoIterator<Item = &'p str>) -> Members {
        patterns.into_iter().take(MOST_NAMES).for_each(|pattern| self.exclude.add(pattern));
        self
    }

    pub(super) fn cost(&self) -> Cost {
        Cost {
            names: self.include.names.len() + self.exclude.names.len(),
            patterns: self.include.patterns.len() + self.exclude.patterns.len(),
        }
    }

    pub(super) fn into_matcher(self) -> Matcher {
        let ready = |directories: Directories| (globs(&directories.patterns), directories.names);
        Matcher { include: ready(self.include), exclude: ready(self.exclude) }
    }
}

impl Directories {
    fn add(&mut self, pattern: &str) {
        let Some(plain) = plain(pattern) else { return };
        if !plain.contains(['*', '?', '[', '{']) {
            self.names.insert(plain);
        } else if self.patterns.len() < MOST_PATTERNS {
            self.patterns.push(plain);
        }
    }
}

/// Compiled members.
#[derive(Debug)]
pub(super) struct Matcher {
    include: (GlobSet, HashSet<String>),
    exclude: (GlobSet, HashSet<String>),
}

impl Matcher {
    /// Whether a directory, relative to the workspace, is a member.
    pub(super) fn has(&self, path: &Path) -> bool {
        let among = |(globs, names): &(GlobSet, HashSet<String>)| {
            path.to_str().is_some_and(|path| names.contains(path)) || globs.is_match(path)
        };
        among(&self.include) && !among(&self.exclude)
    }
}

/// A normalized pattern; `None` if it leads outside or is empty.
fn plain(pattern: &str) -> Option<String> {
    if pattern.len() > LONGEST || pattern.starts_with('/') {
        return None;
    }
    let names: Vec<&str> = pattern.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    (!names.is_empty() && !names.contains(&"..")).then(|| names.join("/"))
}

/// An invalid glob is skipped: it matches nothing.
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
            let matcher = Members::new(patterns.iter().copied()).into_matcher();
            for (path, expect) in has.iter().map(|path| (path, true)).chain(has_not.iter().map(|path| (path, false))) {
                assert_eq!(matcher.has(Path::new(path)), expect, "{patterns:?}: {path}");
            }
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
        let matcher = Members::new(["*"]).without(["b", "../c"]).into_matcher();
        assert!(matcher.has(Path::new("a")) && matcher.has(Path::new("c")) && !matcher.has(Path::new("b")));
    }

    #[test]
    fn plain_names_are_not_patterns() {
        let matcher = Members::named(["./a*", "b[c]/", "../d"]).into_matcher();
        assert!(matcher.has(Path::new("a*")) && matcher.has(Path::new("b[c]")));
        assert!(!matcher.has(Path::new("ab")) && !matcher.has(Path::new("bc")) && !matcher.has(Path::new("d")));
    }

    #[test]
    fn only_so_many_and_so_long() {
        let many: Vec<String> = (0..5000).flat_map(|number| [format!("a{number}"), format!("b{number}*")]).collect();
        let cost = Members::new(many.iter().map(String::as_str)).cost();
        assert_eq!(cost, Cost { names: MOST_NAMES / 2, patterns: MOST_PATTERNS });
        assert_eq!(Members::named([&*"a".repeat(LONGEST + 1)]).cost().names, 0);
    }
}
