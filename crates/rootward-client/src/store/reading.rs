//! Parses `roots.toml`. Nothing is guessed: an unknown word is a mistake with its position.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rootward_core::{Access, Closed, Origin, PathStyle, PathText, Pattern, Restriction, RestrictionError, Root, Shown};
use serde::Deserialize;
use toml::Spanned;
use toml::value::Datetime;

use super::mistake::Mistake;
use super::saved::{Audience, Insistence, Kept, Restrict, SavedRoot, YesOnRecord};

/// The version of the file format that this program reads and writes.
pub(super) const VERSION: u64 = 1;

/// Parsed first: a newer file may have unknown keys.
#[derive(Deserialize)]
struct Versioned {
    version: Option<Spanned<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    #[serde(rename = "version")]
    _version: Option<u64>,
    #[serde(default)]
    root: Vec<Spanned<RootKeys>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RootKeys {
    path: Option<Spanned<String>>,
    pattern: Option<Spanned<String>>,
    name: Option<Spanned<String>>,
    access: Option<Spanned<String>>,
    #[serde(rename = "for")]
    peers: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    restrict: Vec<RestrictKeys>,
    forced: Option<Spanned<bool>>,
    yes: Option<Spanned<Datetime>>,
    by: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RestrictKeys {
    pattern: Spanned<String>,
    closed: Option<Spanned<String>>,
}

/// Why a text cannot be parsed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Unread {
    Mistake(Mistake),
    /// Written by a newer version of Rootward.
    Newer(u64),
}

impl From<Mistake> for Unread {
    fn from(mistake: Mistake) -> Unread {
        Unread::Mistake(mistake)
    }
}

/// Parses the file; `home` is the meaning of `~`.
pub(super) fn read(text: &str, home: Option<&Path>) -> Result<Kept, Unread> {
    let parser = |error| Mistake::of_parser(text, &error);
    let Versioned { version } = toml::from_str(text).map_err(parser)?;
    match version {
        Some(version) if *version.get_ref() > VERSION => return Err(Unread::Newer(*version.get_ref())),
        Some(version) if *version.get_ref() < VERSION => {
            let says = format!("version {} of this file does not exist", version.get_ref());
            return Err(Mistake::at(text, Some(version.span()), says).into());
        }
        _ => {}
    }
    let keys: Keys = toml::from_str(text).map_err(parser)?;
    // Without it, a later version could not tell what the file means.
    if version.is_none() && !keys.root.is_empty() {
        return Err(Mistake::at(text, None, format!("missing key `version`: begin with `version = {VERSION}`")).into());
    }
    let roots = keys.root.iter().map(|keys| root(text, keys, home)).collect::<Result<_, Mistake>>()?;
    Ok(Kept { roots, record: None })
}

fn root(text: &str, spot: &Spanned<RootKeys>, home: Option<&Path>) -> Result<SavedRoot, Mistake> {
    let keys = spot.get_ref();
    let wrong = |spot: &Spanned<String>, reason: &str| {
        Mistake::at(text, Some(spot.span()), format!("`{}` ({reason})", Shown::new(spot.get_ref().as_str())))
    };
    let (path, pattern) = match (&keys.path, &keys.pattern) {
        (Some(spot), None) => (path(spot.get_ref(), home).map_err(|reason| wrong(spot, &reason))?, None),
        (None, Some(spot)) => {
            let (path, pattern) = pattern(spot.get_ref(), home).map_err(|reason| wrong(spot, &reason))?;
            (path, Some(pattern))
        }
        (Some(_), Some(spot)) => return Err(wrong(spot, "a root has a `path` or a `pattern`, not both")),
        (None, None) => return Err(Mistake::at(text, Some(spot.span()), "missing key `path`".to_owned())),
    };
    if pattern.is_some() {
        let not_with = |span, key: &str| {
            Err(Mistake::at(text, Some(span), format!("`{key}` beside `pattern`: {NOT_WITH_PATTERN}")))
        };
        // SECURITY: an entry must not claim more than is done: a pattern never shares a secret place, forced or not
        // (test: patterns_are_keys_of_their_own)
        if let Some(spot) = keys.forced.as_ref().filter(|spot| *spot.get_ref()) {
            return not_with(spot.span(), "forced");
        }
        if let Some(restrict) = keys.restrict.first() {
            return not_with(restrict.pattern.span(), "restrict");
        }
    }
    if let Some(name) = &keys.name {
        usable_name(name.get_ref()).map_err(|reason| wrong(name, reason))?;
    }
    let access = keys.access.as_ref().map(|spot| access(spot.get_ref()).ok_or_else(|| wrong(spot, NO_ACCESS)));
    let restrict = keys.restrict.iter().map(|keys| {
        let closed = match keys.closed.as_ref().map(|spot| (spot, spot.get_ref().as_str())) {
            None | Some((_, "all")) => Closed::Entirely,
            Some((_, "writing")) => Closed::ForWriting,
            Some((spot, _)) => return Err(wrong(spot, "expected `all` or `writing`")),
        };
        let restrict = Restrict { pattern: keys.pattern.get_ref().clone(), closed };
        usable_pattern(&path, &restrict).map_err(|reason| wrong(&keys.pattern, &reason))?;
        Ok(restrict)
    });
    let restrict = restrict.collect::<Result<Vec<_>, Mistake>>()?;
    let audience = match &keys.peers {
        None => Audience::All,
        Some(names) => {
            for name in names {
                usable_name(name.get_ref()).map_err(|reason| wrong(name, reason))?;
            }
            Audience::Only(names.iter().map(|name| name.get_ref().clone()).collect())
        }
    };
    let yes = keys.yes.as_ref().map(|spot| {
        let says = format!("`{}` (not a date and time in UTC, as `2026-01-02T03:04:05Z`)", spot.get_ref());
        moment(spot.get_ref()).ok_or_else(|| Mistake::at(text, Some(spot.span()), says))
    });
    let yes = yes.transpose()?;
    Ok(SavedRoot {
        path,
        pattern,
        name: keys.name.as_ref().map(|name| name.get_ref().clone()),
        access: access.transpose()?.unwrap_or(Access::READ_WRITE),
        restrict,
        audience,
        insistence: if keys.forced.as_ref().is_some_and(|spot| *spot.get_ref()) {
            Insistence::Forced
        } else {
            Insistence::Judged
        },
        given: yes.map(|at| YesOnRecord { by: keys.by.clone().unwrap_or_default(), at }),
    })
}

/// An absolute path, one that starts with `~`, or a `file:` URI; without dot segments.
fn path(text: &str, home: Option<&Path>) -> Result<PathBuf, String> {
    let home = home.map(|home| home.as_os_str().as_bytes());
    let path = match PathText::read(text.as_bytes(), PathStyle::NATIVE, home) {
        Ok(PathText::Absolute(path)) => PathBuf::from(OsStr::from_bytes(&path)),
        Ok(PathText::Relative(_)) => return Err("not an absolute path".to_owned()),
        Err(reason) => return Err(reason.to_string()),
    };
    Root::from_path(path, Origin::Store).map(|root| root.path).map_err(|error| error.reason())
}

/// A pattern: like a path, with a `*` in it.
fn pattern(text: &str, home: Option<&Path>) -> Result<(PathBuf, Pattern), String> {
    let path = path(text, home)?;
    if text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:")) {
        return Err("a URI is not a pattern".to_owned());
    }
    let pattern = Pattern::read(text.as_bytes(), &path).map_err(|error| error.to_string())?;
    Ok((path, pattern.ok_or("a pattern without a `*`")?))
}

const NOT_WITH_PATTERN: &str =
    "name a directory by its `path` to force or restrict it; `restrict` in the settings applies to all";

const NO_ACCESS: &str = "expected `ro`, `rw`, `rw-nodelete`, `rwx`, `none`, or words such as `read, write`";

/// Access as written in the file and on the command line: `ro`, `rw`, `rw-nodelete`, `rwx`, a list of words, or
/// `none`, which closes a place to a peer within what is shared with all.
pub fn access(text: &str) -> Option<Access> {
    let none = (text == "none").then_some(Access::NONE);
    none.or_else(|| Access::from_suffix(text)).or_else(|| Access::from_words(text))
}

/// Whether a root, a client or a server can have this name.
pub fn usable_name(name: &str) -> Result<(), &'static str> {
    const LONGEST: usize = 200;
    match name {
        _ if name.trim().is_empty() => Err("a name without letters"),
        _ if name.trim() != name => Err("white space at an end"),
        _ if name.chars().count() > LONGEST => Err("longer than 200 characters"),
        // Names are shown in lists, so nothing in them may move the cursor or reverse the line.
        _ if name.chars().any(|letter| !matches!(letter, '\'' | '"' | '\\') && letter.escape_debug().count() > 1) => {
            Err("a character that cannot be shown")
        }
        _ => Ok(()),
    }
}

/// Whether a restriction below a root is valid.
pub fn usable_pattern(root: &Path, restrict: &Restrict) -> Result<(), String> {
    if restrict.pattern.trim_matches('/').is_empty() {
        return Err("a pattern that matches nothing".to_owned());
    }
    Restriction::below(root, &restrict.pattern, restrict.closed).map(drop).map_err(|error| match error {
        RestrictionError::Glob { source, .. } => source.kind().to_string(),
        error @ RestrictionError::NotUtf8(_) => error.to_string(),
    })
}

fn moment(written: &Datetime) -> Option<SystemTime> {
    humantime::parse_rfc3339(&written.to_string()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Kept, Unread> {
        super::read(text, Some(Path::new("/h")))
    }

    #[test]
    fn every_key() {
        let text = r#"
            version = 1
            [[root]]
            path = "~/src/app"
            name = "app"
            access = "read, execute"
            for = ["editor", "git"]
            forced = true
            yes = 2026-01-02T03:04:05Z
            by = "rootward roots add"
            [[root.restrict]]
            pattern = "*.pem"
            [[root]]
            path = "file:///srv/a%20b"
            restrict = [{ pattern = "infra/prod", closed = "writing" }]
        "#;
        let kept = read(text).unwrap();
        let at = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_767_323_045);
        let names = ["editor", "git"].map(str::to_owned);
        let first = SavedRoot {
            path: "/h/src/app".into(),
            pattern: None,
            name: Some("app".to_owned()),
            access: Access::READ | Access::EXECUTE,
            restrict: vec![Restrict { pattern: "*.pem".to_owned(), closed: Closed::Entirely }],
            audience: Audience::Only(names.to_vec()),
            insistence: Insistence::Forced,
            given: Some(YesOnRecord { by: "rootward roots add".to_owned(), at }),
        };
        let second = SavedRoot {
            path: "/srv/a b".into(),
            pattern: None,
            name: None,
            access: Access::READ_WRITE,
            restrict: vec![Restrict { pattern: "infra/prod".to_owned(), closed: Closed::ForWriting }],
            audience: Audience::All,
            insistence: Insistence::Judged,
            given: None,
        };
        assert_eq!(kept.roots, [first, second]);
        assert_eq!(read("# nothing\n").unwrap(), Kept::default());
    }

    #[test]
    fn patterns_are_keys_of_their_own() {
        let of = |entry: &str| read(&format!("version = 1\n[[root]]\n{entry}\n")).map(|kept| kept.roots[0].clone());
        let root = of("pattern = '~/src/*'").unwrap();
        assert_eq!((root.path.to_str(), root.pattern), (Some("/h/src/*"), Some(Pattern::Named { fixed: 3 })));
        // An entry saved by path before patterns existed keeps its meaning.
        assert_eq!(of("path = '/src/*'").unwrap().pattern, None);
        let check = |entry: &str, says: &str| {
            let Err(Unread::Mistake(mistake)) = of(entry) else { panic!("{entry}") };
            assert!(mistake.says.contains(says), "{entry}: {}", mistake.says);
        };
        check("pattern = '/src/**'", "`**` is not supported");
        check("pattern = '/src/../*'", "a dot segment");
        check("pattern = '/src'", "a pattern without a `*`");
        check("pattern = 'src/*'", "not an absolute path");
        check("pattern = 'file:///src/*'", "a URI is not a pattern");
        check("pattern = '/src/*'\npath = '/src'", "not both");
        check("pattern = '/src/*'\nforced = true", "`forced` beside `pattern`");
        check("pattern = '/src/*'\nrestrict = [{ pattern = 'x' }]", "`restrict` beside `pattern`");
    }

    #[test]
    fn a_newer_file_is_not_guessed_at() {
        assert_eq!(read("version = 2\n[[folder]]\nwhere = 1"), Err(Unread::Newer(2)));
    }

    #[test]
    fn mistakes_have_a_place() {
        let check = |text: &str, line: usize, column: usize, says: &str| {
            let Err(Unread::Mistake(mistake)) = read(text) else { panic!("{text}") };
            assert_eq!((mistake.line, mistake.column), (line, column), "{text}: {}", mistake.says);
            assert!(mistake.says.contains(says), "{text}: {}", mistake.says);
        };
        let root = |rest: &str| format!("version = 1\n[[root]]\n{rest}");
        check("version = 0", 1, 11, "version 0 of this file does not exist");
        check("version = 'x'", 1, 11, "expected a non-negative integer, found string `x`");
        check("[[root]]\npath = '/a'", 1, 1, "missing key `version`");
        check(&root("name = 'x'"), 2, 1, "missing key `path`");
        check(&root("path = 'src'"), 3, 8, "`src` (not an absolute path)");
        check(&root("path = '/a/../b'"), 3, 8, "a dot segment");
        check(&root("path = '~other'"), 3, 8, "with a user name is not supported");
        check(&root("path = 'http://x'"), 3, 8, "scheme `http`");
        check(&root("path = '/a'\naccess = 'some'"), 4, 10, "`some` (expected `ro`");
        check(&root("path = '/a'\nacces = 'ro'"), 4, 1, "unknown key `acces`, expected one of `path`");
        check(&root("path = '/a'\nname = ''"), 4, 8, "without letters");
        check(&root("path = '/a'\nname = \"a\\u001b\""), 4, 8, "cannot be shown");
        check(&root("path = '/a'\nfor = 'git'"), 4, 7, "expected a list, found string `git`");
        check(&root("path = '/a'\nfor = ['']"), 4, 8, "without letters");
        check(&root("path = '/a'\nrestrict = [{ pattern = 'a[' }]"), 4, 25, "`a[` (");
        check(&root("path = '/a'\nrestrict = [{ pattern = '/' }]"), 4, 25, "matches nothing");
        check(
            &root("path = '/a'\n[[root.restrict]]\npattern = 'x'\nclosed = 'no'"),
            6,
            10,
            "expected `all` or `writing`",
        );
        check(&root("path = '/a'\nforced = 'yes'"), 4, 10, "expected a boolean");
        check(&root("path = '/a'\nyes = 2026-01-02"), 4, 7, "not a date and time in UTC");
        check(&root("path = '/a'\n# ä\npath = '/b'"), 5, 1, "duplicate key");
        check("version = 1\n[[root", 2, 7, "");
    }
}
