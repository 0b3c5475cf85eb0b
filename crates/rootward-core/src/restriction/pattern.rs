//! The pattern of a restriction: fixed names, or a glob.
//!
//! Nearly all are fixed names. These are compared name by name, which needs no setup; so is a `*` at one end of the
//! last name. `globset` handles wildcards that users write.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use crate::places;
use crate::tree::components;

#[derive(Clone, Debug)]
pub(super) enum Pattern {
    /// The last names of a place, separated by `/`; `**` matches any number of names. In patterns of this crate, the
    /// last name may begin or end with a `*`; a user's pattern with `*` is a glob.
    Names(Cow<'static, [u8]>),
    /// All names of a place, in the same form.
    Place(Box<[u8]>),
    Glob(Box<GlobMatcher>),
}

/// What is known about the last name of every matching place. Case is ignored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LastName<'p> {
    Is(&'p [u8]),
    Begins(&'p [u8]),
    Ends(&'p [u8]),
    Any,
}

impl LastName<'_> {
    /// Whether a name matches.
    pub(super) fn matches(self, name: &[u8]) -> bool {
        match self {
            LastName::Is(whole) => name.eq_ignore_ascii_case(whole),
            LastName::Begins(start) => name.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start)),
            LastName::Ends(end) => places::ends_with(name, end),
            LastName::Any => true,
        }
    }
}

impl Pattern {
    /// Matches at any depth: `.git/hooks`, `.git/modules/**/hooks`.
    pub(super) fn names(text: &str) -> Pattern {
        Pattern::Names(plain(text.as_bytes()).into())
    }

    /// The same for the many patterns in this crate, without copying.
    pub(super) const fn written(names: &'static str) -> Pattern {
        Pattern::Names(Cow::Borrowed(names.as_bytes()))
    }

    /// Exactly this place.
    pub(super) fn place(place: &Path) -> Pattern {
        Pattern::Place(plain(place.as_os_str().as_bytes()).into())
    }

    /// A glob that matches a whole absolute path.
    pub(super) fn glob(text: &str) -> Result<Pattern, globset::Error> {
        let glob = GlobBuilder::new(text.trim_end_matches('/'))
            .literal_separator(true)
            .case_insensitive(true)
            .backslash_escape(true)
            .build()?;
        Ok(Pattern::Glob(Box::new(glob.compile_matcher())))
    }

    /// The last name of every matching place.
    pub(super) fn last_name(&self) -> LastName<'_> {
        match self {
            Pattern::Names(names) => last_name(split_last(names).1),
            Pattern::Place(names) => match split_last(names).1 {
                b"" | b"**" => LastName::Any,
                last => LastName::Is(last),
            },
            Pattern::Glob(_) => LastName::Any,
        }
    }

    /// The directories above such a place that the pattern itself names. Moving something there may bring a matching
    /// place with it.
    pub(super) fn holders(&self) -> Vec<Pattern> {
        match self {
            Pattern::Names(names) => above(names).map(|above| Pattern::Names(above.to_vec().into())).collect(),
            Pattern::Place(names) => above(names).map(|above| Pattern::Place(above.into())).collect(),
            Pattern::Glob(glob) => {
                let text = glob.glob().glob();
                let ends = text.match_indices('/').map(|(end, _)| &text[..end]);
                // `**` alone matches every directory and says nothing about this one.
                let named = ends.filter(|above| !above.is_empty() && !above.ends_with("**"));
                // A piece that is not a valid glob was cut out of braces: skip it.
                named.filter_map(|above| Pattern::glob(above).ok()).collect()
            }
        }
    }

    /// Whether an absolute, resolved path matches. It is given as text and as names.
    pub(super) fn matches(&self, place: &[u8], names: &[&[u8]]) -> bool {
        match self {
            Pattern::Glob(glob) => glob.is_match(Path::new(OsStr::from_bytes(place))),
            Pattern::Names(last) => match (split_last(last), names) {
                ((_, b"**"), _) => ends_with(names, last),
                ((before, last), [above @ .., name]) => last_name(last).matches(name) && ends_with(above, before),
                (_, []) => last.is_empty(),
            },
            Pattern::Place(all) => components(all).count() == names.len() && ends_with(names, all),
        }
    }
}

/// The names of a path, joined by single slashes.
fn plain(path: &[u8]) -> Vec<u8> {
    let names: Vec<&[u8]> = components(path).map(|(name, _)| name).collect();
    names.join(&b'/')
}

/// The names before the last one, and the last one.
fn split_last(names: &[u8]) -> (&[u8], &[u8]) {
    match names.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&names[..at], &names[at + 1..]),
        None => (&[], names),
    }
}

/// Parses the last name of a pattern.
fn last_name(written: &[u8]) -> LastName<'_> {
    match written {
        b"" | b"**" => LastName::Any,
        [b'*', end @ ..] => LastName::Ends(end),
        [start @ .., b'*'] => LastName::Begins(start),
        whole => LastName::Is(whole),
    }
}

/// The part before each `/`.
fn above(names: &[u8]) -> impl Iterator<Item = &[u8]> {
    names.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| &names[..end])
}

fn ends_with(place: &[&[u8]], names: &[u8]) -> bool {
    if names.is_empty() {
        return true;
    }
    match (split_last(names), place) {
        ((before, b"**"), _) => (0..=place.len()).any(|end| ends_with(&place[..end], before)),
        ((before, last), [above @ .., name]) => name.eq_ignore_ascii_case(last) && ends_with(above, before),
        (_, []) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_at_the_end_of_a_place() {
        let matches = |pattern: Pattern, place: &str| {
            let names: Vec<&[u8]> = components(place.as_bytes()).map(|(name, _)| name).collect();
            pattern.matches(place.as_bytes(), &names)
        };
        let check = |names: &str, place: &str, expect: bool| {
            assert_eq!(matches(Pattern::names(names), place), expect, "{names} {place}");
        };
        check(".ssh", "/h/.ssh", true);
        check(".ssh", "/h/.SSH", true);
        check(".ssh", "/h/.ssh/id", false);
        check(".ssh", "/h/x.ssh", false);
        check(".git/hooks", "/.git/hooks", true);
        check(".git/hooks", "/hooks", false);
        check(".git/hooks", "/.git/x/hooks", false);
        check(".git/modules/**/hooks", "/p/.git/modules/hooks", true);
        check(".git/modules/**/hooks", "/p/.git/modules/a/b/hooks", true);
        check(".git/modules/**/hooks", "/p/modules/a/hooks", false);
        check("//.Git//hooks/", "/p/.git/HOOKS", true);
        check(".git/**/x/**/y", "/.git/a/x/y", true);
        check(".git/**/x/**/y", "/.git/a/y", false);
        check("*.pem", "/p/KEY.PEM", true);
        check("*.pem", "/p/.pem", true);
        check("*.pem", "/p/key.pem.txt", false);
        check("*.pem", "/p/key.pem/x", false);
        check("*.pem", "/pem", false);
        check("a/.env.*", "/a/.ENV.local", true);
        check("a/.env.*", "/b/.env.local", false);
        check(".env.*", "/.env", false);
        check(".env.*", "/", false);
        assert!(matches(Pattern::written(".git/hooks"), "/p/.GIT/hooks"));
        assert!(matches(Pattern::place(Path::new("/a//b/")), "/a/b"));
        assert!(matches(Pattern::place(Path::new("/a/b")), "/a/B"));
        assert!(!matches(Pattern::place(Path::new("/a/b")), "/x/a/b"));
        assert!(!matches(Pattern::place(Path::new("/a/*b")), "/a/xb"), "a name that contains a `*`");
    }
}
