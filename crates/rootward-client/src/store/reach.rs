//! What a saved root covers, by text: whether it contains another path, or the matches of another pattern.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rootward_core::Pattern;

use super::saved::SavedRoot;

/// How much of a path, or of a pattern's matches, is in a root.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Reach {
    Nothing,
    /// A directory may match both patterns, and another only one of them.
    Part,
    Whole,
}

impl SavedRoot {
    /// How much of `path`, which may be a pattern itself, is in this root.
    pub(super) fn reach(&self, path: &Path, pattern: Option<&Pattern>) -> Reach {
        let (own, theirs) = (fixed(self.pattern.as_ref()), fixed(pattern));
        let mut parts = path.components();
        let mut reach = Reach::Whole;
        for (position, mine) in self.path.components().enumerate() {
            let Some(part) = parts.next() else { return Reach::Nothing };
            let mine = Name { text: mine.as_os_str(), is_wild: position >= own };
            reach = reach.min(mine.reach(Name { text: part.as_os_str(), is_wild: position >= theirs }));
        }
        reach
    }
}

fn fixed(pattern: Option<&Pattern>) -> usize {
    match pattern {
        Some(Pattern::Named { fixed } | Pattern::Matched { fixed, .. }) => *fixed,
        None => usize::MAX,
    }
}

/// One name, in which a `*` may be literal.
#[derive(Clone, Copy)]
struct Name<'n> {
    text: &'n OsStr,
    is_wild: bool,
}

impl Name<'_> {
    fn has_star(self) -> bool {
        self.is_wild && self.text.as_bytes().contains(&b'*')
    }

    fn reach(self, other: Name<'_>) -> Reach {
        if self.text == other.text && self.has_star() == other.has_star() {
            return Reach::Whole;
        }
        if !meet(self, other) {
            return Reach::Nothing;
        }
        // A lone `*` does not match names with a leading dot, so it surely contains only names without one.
        let is_all =
            self.text == "*" && !other.text.as_bytes().starts_with(b".") && !other.text.as_bytes().starts_with(b"*");
        if !other.has_star() || is_all { Reach::Whole } else { Reach::Part }
    }
}

/// Whether some name matches both. A leading dot is an ordinary character here: asking once too often costs little.
fn meet(one: Name<'_>, other: Name<'_>) -> bool {
    let (a, b) = (one.text.as_bytes(), other.text.as_bytes());
    let star = |name: Name<'_>, byte: u8| name.is_wild && byte == b'*';
    // Whether the rest of `one` and the rest of `other` can be equal, from the end.
    let mut after = vec![false; b.len() + 1];
    for at in (0..=a.len()).rev() {
        let mut row = vec![false; b.len() + 1];
        for to in (0..=b.len()).rev() {
            row[to] = match (a.get(at), b.get(to)) {
                (None, None) => true,
                (Some(mine), _) if star(one, *mine) && after[to] => true,
                (Some(mine), Some(_)) if star(one, *mine) && row[to + 1] => true,
                (_, Some(theirs)) if star(other, *theirs) && row[to + 1] => true,
                (Some(_), Some(theirs)) if star(other, *theirs) && after[to] => true,
                (Some(mine), Some(theirs)) => {
                    !star(one, *mine) && !star(other, *theirs) && mine == theirs && after[to + 1]
                }
                _ => false,
            };
        }
        after = row;
    }
    after[0]
}

#[cfg(test)]
mod tests {
    use rootward_core::Access;

    use super::*;

    fn saved(text: &str) -> SavedRoot {
        let pattern = Pattern::read(text.as_bytes(), Path::new(text)).unwrap();
        SavedRoot { pattern, ..SavedRoot::new(text, Access::READ) }
    }

    #[test]
    fn what_patterns_have_in_common() {
        use Reach::{Nothing, Part, Whole};
        let check = |root: &str, path: &str, expect| {
            let other = saved(path);
            assert_eq!(saved(root).reach(&other.path, other.pattern.as_ref()), expect, "{root} {path}");
        };
        check("/src", "/src/a/b", Whole);
        check("/src", "/src/*", Whole);
        check("/src/a", "/src", Nothing);
        check("/src/*", "/src/a/b", Whole);
        check("/src/*", "/src", Nothing);
        check("/src/*", "/src/*", Whole);
        check("/src/*", "/src/a*", Whole);
        check("/src/a*", "/src/*", Part);
        check("/src/a*", "/src/*b", Part);
        check("/src/a*", "/src/b*", Nothing);
        check("/src/a", "/src/*", Part);
        check("/src/*/x", "/src/a/x/y", Whole);
        check("/src/*/x", "/src/a/y", Nothing);
        // Given as a path, it means the one directory with a star in its name.
        let literal = SavedRoot::new("/src/a*", Access::READ);
        assert_eq!(literal.reach(Path::new("/src/ab"), None), Nothing);
        assert_eq!(saved("/src/a*").reach(&literal.path, None), Whole);
    }
}
