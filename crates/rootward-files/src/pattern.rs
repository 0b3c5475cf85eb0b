//! Patterns for paths below a directory: `*` and `?` stay within a name, `**` does not. A leading dot is not special.

use std::borrow::Cow;
use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use rootward_core::Shown;

use crate::failure::Failure;

/// How many patterns a call may have.
const MOST: usize = 100;

/// The longest pattern, in bytes. `globset` recurses as deep as braces are nested.
const LONGEST: usize = 1000;

/// Where a pattern without `*` applies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Plain {
    /// Only to this exact path.
    There,
    /// To every entry with this name, at any depth.
    Anywhere,
}

/// Patterns, any of which may match.
#[derive(Debug)]
pub(crate) struct Patterns {
    any: GlobSet,
    /// Patterns that begin with `!`: they match if the rest of the pattern does not.
    unless: Vec<GlobSet>,
}

impl Patterns {
    pub(crate) fn new(patterns: &[String], plain: Plain) -> Result<Patterns, Failure> {
        if patterns.len() > MOST {
            return Err(Failure::Arguments(format!("{} patterns are too many; the limit is {MOST}", patterns.len())));
        }
        let mut any = GlobSetBuilder::new();
        let mut unless = Vec::new();
        for pattern in patterns {
            let body = pattern.trim_start_matches('!');
            if (pattern.len() - body.len()).is_multiple_of(2) {
                add(&mut any, body, plain)?;
            } else {
                let mut alone = GlobSetBuilder::new();
                add(&mut alone, body, plain)?;
                unless.push(built(&alone)?);
            }
        }
        Ok(Patterns { any: built(&any)?, unless })
    }

    /// Whether there are no patterns.
    pub(crate) fn is_empty(&self) -> bool {
        self.any.is_empty() && self.unless.is_empty()
    }

    /// Whether one of them matches a path relative to the directory they apply to.
    pub(crate) fn matches(&self, path: &Path) -> bool {
        self.any.is_match(path) || self.unless.iter().any(|unless| !unless.is_match(path))
    }
}

fn add(set: &mut GlobSetBuilder, pattern: &str, plain: Plain) -> Result<(), Failure> {
    let shown = || Shown::new(pattern).to_string();
    if pattern.len() > LONGEST {
        return Err(Failure::Arguments(format!(
            "a pattern of {} bytes is too long; the limit is {LONGEST}",
            pattern.len()
        )));
    }
    let mut one = |pattern: &str| -> Result<(), globset::Error> {
        let pattern = within_names(pattern);
        let mut glob = GlobBuilder::new(&pattern);
        let glob = glob.literal_separator(true).backslash_escape(true).empty_alternates(true).build()?;
        // No path ends in a `/`, but `globset` lets `**/` match everything.
        if !pattern.ends_with('/') {
            set.add(glob);
        }
        Ok(())
    };
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let mut added = one(pattern);
    if plain == Plain::Anywhere && !pattern.contains('*') {
        let everywhere = match pattern.trim_matches('/') {
            "" => "**".to_owned(),
            // It matches the contents of a directory, not the directory.
            name if pattern.ends_with('/') => format!("**/{name}/**"),
            name => format!("**/{name}"),
        };
        added = added.and_then(|()| one(&everywhere));
    }
    added.map_err(|error| Failure::Arguments(format!("`{}` is not a valid pattern: {}", shown(), error.kind())))
}

/// Adds `/` to each negated character class: otherwise `globset` lets such a class match it.
fn within_names(pattern: &str) -> Cow<'_, str> {
    if !pattern.contains("[!") && !pattern.contains("[^") {
        return Cow::Borrowed(pattern);
    }
    let mut within = String::with_capacity(pattern.len() + 1);
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        within.push(letter);
        match letter {
            '\\' => within.extend(letters.next()),
            '[' => {
                if let Some(not) = letters.next_if(|letter| matches!(letter, '!' | '^')) {
                    within.push(not);
                    // These are literal only in the first position.
                    if !matches!(letters.peek(), Some(']' | '-')) {
                        within.push('/');
                    }
                }
                // A bracket inside a class does not open another.
                within.extend(letters.next());
                for letter in letters.by_ref() {
                    within.push(letter);
                    if letter == ']' {
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    Cow::Owned(within)
}

fn built(set: &GlobSetBuilder) -> Result<GlobSet, Failure> {
    set.build().map_err(|error| Failure::Arguments(format!("the patterns cannot be used: {}", error.kind())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_minimatch() {
        let check = |pattern: &str, plain: Plain, path: &str, expect: bool| {
            let patterns = Patterns::new(&[pattern.to_owned()], plain).unwrap();
            assert_eq!(patterns.matches(Path::new(path)), expect, "{pattern} {plain:?} {path}");
        };
        for (pattern, path, expect) in [
            ("*.txt", "a.txt", true),
            ("*.txt", ".txt", true),
            ("*.txt", "b/a.txt", false),
            ("**/*.txt", "a.txt", true),
            ("**/*.txt", "b/c/.a.txt", true),
            ("b/**", "b/c/a", true),
            ("b/**", "b", false),
            ("?", "a", true),
            ("a?c", "a/c", false),
            ("{a,b}.txt", "b.txt", true),
            ("[!a]", "b", true),
            ("a[!b]c", "axc", true),
            ("a[!b]c", "a/c", false),
            ("a[^b]c", "a/c", false),
            ("[!a][!b]", "/x", false),
            ("[[!]x", "!x", true),
            ("[[!]x", "[x", true),
            ("[!]]", "a", true),
            ("[!]]", "]", false),
            ("\\[!a", "[!a", true),
            ("a{,b}", "a", true),
            ("a{,b}", "ab", true),
            ("**/", "a", false),
            ("a/**/", "a/b", false),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("!*.txt", "a.rs", true),
            ("!*.txt", "a.txt", false),
            ("!!*.txt", "a.txt", true),
            ("./a", "a", true),
            ("a", "b/a", false),
            ("A", "a", false),
            ("", "a", false),
        ] {
            check(pattern, Plain::There, path, expect);
        }
        check("a", Plain::Anywhere, "b/a", true);
        check("c/a", Plain::Anywhere, "b/c/a", true);
        check("*a", Plain::Anywhere, "b/a", false);
        check("/a", Plain::Anywhere, "b/a", true);
        check("a/", Plain::Anywhere, "b/a", false);
        check("a/", Plain::Anywhere, "b/a/c", true);
        // Every name ends with the empty string.
        check("", Plain::Anywhere, "a", true);
    }

    #[test]
    fn what_is_no_pattern_is_told() {
        let check = |patterns: Vec<String>, says: &str| {
            let told = Patterns::new(&patterns, Plain::There).map(drop).unwrap_err().to_string();
            assert!(told.contains(says), "{told}");
        };
        check(vec!["[".to_owned()], "`[` is not a valid pattern");
        check(vec!["{a".to_owned()], "`{a` is not a valid pattern");
        check(vec!["a".repeat(1001)], "a pattern of 1001 bytes is too long");
        check(vec!["a".to_owned(); 101], "101 patterns are too many");
        // Deep nesting must not overflow the stack.
        let _ = Patterns::new(&[format!("{}a{}", "{".repeat(500), "}".repeat(500))], Plain::There);
        let _ =
            Patterns::new(&["{a,b}*".repeat(160)], Plain::There).map(|all| all.matches(Path::new(&"ab".repeat(999))));
    }
}
