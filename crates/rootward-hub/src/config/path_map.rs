//! Translates paths for a child that sees other paths than this machine: a container, Windows beside WSL, a remote
//! machine.
//!
//! A map is a list of pairs: a directory here, and the child's name for it. Paths are compared as text, by whole
//! components, and the deepest directory wins. The caller refuses a path that does not map. `..` is never collapsed,
//! because only the file system knows where it leads.

mod pairs;

use std::borrow::Cow;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

pub use pairs::PathPairs;
use rootward_core::{PathStyle, PathText, PlacedRoot, RootUri, Shown, text_contains};
use thiserror::Error;

/// Directories of this machine and the child's names for them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PathMap {
    pairs: Vec<Pair>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Pair {
    /// Absolute, without dot segments.
    from: String,
    /// Absolute in its style, without dot segments.
    to: String,
    style: PathStyle,
}

/// Why a list of pairs is not a valid map.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PathMapError {
    /// The directory here is not usable.
    #[error("`{}` is not an absolute path without `.` and `..`", Shown::new(.0))]
    From(PathBuf),
    /// The child's directory is not usable.
    #[error("`{}` is not an absolute path without `.` and `..`, neither like `/a/b` nor like `C:\\a`", Shown::new(.0))]
    To(String),
    /// Two pairs for one directory here.
    #[error("`{}` is mapped twice", Shown::new(.0))]
    FromTwice(String),
    /// Two pairs for one directory of the child: the reverse mapping would be ambiguous.
    #[error("two directories are mapped to `{}`", Shown::new(.0))]
    ToTwice(String),
}

impl PathMap {
    /// Creates a map from pairs: a directory of this machine, and the child's name for it (`/projects`, `C:\work`,
    /// `\\host\share`).
    pub fn new(pairs: impl IntoIterator<Item = (PathBuf, String)>) -> Result<PathMap, PathMapError> {
        let mut all: Vec<Pair> = Vec::new();
        for (from, to) in pairs {
            let pair = Pair::new(from, to)?;
            let is_same =
                |one: &str, other: &str, style| text_contains(one, other, style) && text_contains(other, one, style);
            if all.iter().any(|known| is_same(&known.from, &pair.from, PathStyle::Posix)) {
                return Err(PathMapError::FromTwice(pair.from));
            }
            if all.iter().any(|known| known.style == pair.style && is_same(&known.to, &pair.to, pair.style)) {
                return Err(PathMapError::ToTwice(pair.to));
            }
            all.push(pair);
        }
        Ok(PathMap { pairs: all })
    }

    /// The child's name for a path of this machine. `None` if no mapped directory contains the path, or if it
    /// contains `..` or a name that is not valid on the child's system.
    pub fn to_child(&self, path: &Path) -> Option<String> {
        let path = path.to_str()?;
        let (pair, below) = deepest(self.pairs.iter().map(|pair| (pair, pair.from.as_str(), PathStyle::Posix)), path)?;
        let separator = match pair.style {
            PathStyle::Posix => '/',
            PathStyle::Windows => '\\',
        };
        let mut text = pair.to.trim_end_matches(['/', separator]).to_owned();
        for name in &below {
            text.push(separator);
            text.push_str(name);
        }
        if below.is_empty() {
            text.clone_from(&pair.to);
        }
        // SECURITY: another pair may shadow this place in the child, or the child's system may parse a name
        // differently; then the text would mean another file there
        // (test: a_place_that_another_pair_covers_does_not_map)
        let back = self.to_host(&text)?;
        (components(path, PathStyle::Posix)? == components(back.to_str()?, PathStyle::Posix)?).then_some(text)
    }

    /// The local path that the child means by a text. `None` if no mapped directory contains the text, or if it
    /// contains `..`.
    pub fn to_host(&self, text: &str) -> Option<PathBuf> {
        let (pair, below) = deepest(self.pairs.iter().map(|pair| (pair, pair.to.as_str(), pair.style)), text)?;
        Some([pair.from.as_str()].into_iter().chain(below).collect())
    }
}

/// Used by the engine.
impl PathMap {
    /// The local path that a child means by a string in a call: a path or a `file:` URI.
    pub(crate) fn meant(&self, text: &str) -> Option<PathBuf> {
        if is_uri(text) {
            let styles = [PathStyle::Posix, PathStyle::Windows];
            return styles.into_iter().filter(|style| self.has(*style)).find_map(|style| {
                let Ok(PathText::Absolute(path)) = PathText::read(text.as_bytes(), style, None) else { return None };
                self.to_host(str::from_utf8(&path).ok()?)
            });
        }
        let is_windows = self.has(PathStyle::Windows);
        // The path part of a URI, as some parsers return it: `/C:/…`.
        let text = text.strip_prefix('/').filter(|below| is_windows && has_drive(below)).unwrap_or(text);
        let is_share = is_windows && text.starts_with("//");
        let text = if is_share { Cow::Owned(text.replace('/', "\\")) } else { Cow::Borrowed(text) };
        self.to_host(&text)
    }

    /// Normalizes slashes before readings are derived: a child on Windows treats both kinds the same.
    pub(crate) fn as_read<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let changes = self.has(PathStyle::Windows) && text.contains('\\');
        if changes { Cow::Owned(text.replace('\\', "/")) } else { Cow::Borrowed(text) }
    }

    /// The child's name for a root.
    pub(crate) fn root_to_child(&self, root: &PlacedRoot) -> Option<String> {
        self.to_child(&root.root.path).or_else(|| self.to_child(&root.place))
    }

    /// Like [`PathMap::root_to_child`], as a URI.
    pub(crate) fn uri_to_child(&self, root: &PlacedRoot) -> Option<String> {
        let path = self.root_to_child(root)?;
        let style = if path.starts_with('/') { PathStyle::Posix } else { PathStyle::Windows };
        RootUri::from_path(Path::new(&path), style).ok().map(|uri| uri.as_str().to_owned())
    }

    /// The separator in the child's path lists.
    pub(crate) fn between(&self) -> &'static str {
        if self.has(PathStyle::Windows) { ";" } else { ":" }
    }

    fn has(&self, style: PathStyle) -> bool {
        self.pairs.iter().any(|pair| pair.style == style)
    }
}

/// Whether a text is a relative path, in either style.
pub(crate) fn is_relative(text: &str) -> bool {
    !text.starts_with(['/', '\\', '~']) && !has_drive(text) && !is_uri(text)
}

fn has_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [drive, b':', ..] if drive.is_ascii_alphabetic())
}

fn is_uri(text: &str) -> bool {
    text.as_bytes().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"file:"))
}

/// Shows the pairs to people.
impl fmt::Display for PathMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, pair) in self.pairs.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            write!(f, "{comma}`{}` is `{}`", Shown::new(&pair.from), Shown::new(&pair.to))?;
        }
        Ok(())
    }
}

impl Pair {
    fn new(from: PathBuf, to: String) -> Result<Pair, PathMapError> {
        let from = match from.to_str() {
            Some(text) if is_absolute(text, PathStyle::Posix) => text.to_owned(),
            _ => return Err(PathMapError::From(from)),
        };
        let styles = [PathStyle::Posix, PathStyle::Windows];
        match styles.into_iter().find(|style| is_absolute(&to, *style)) {
            Some(style) => Ok(Pair { from, to, style }),
            None => Err(PathMapError::To(to)),
        }
    }
}

/// Whether a text is an absolute path in its style without `.` and `..`.
fn is_absolute(text: &str, style: PathStyle) -> bool {
    let has_dot = text.split(['/', '\\']).any(|name| name == ".");
    !has_dot && components(text, style).is_some()
}

/// The item with the deepest directory that contains the text, and the names below that directory.
fn deepest<'d, 't, T>(
    items: impl Iterator<Item = (T, &'d str, PathStyle)>,
    text: &'t str,
) -> Option<(T, Vec<&'t str>)> {
    // SECURITY: compare whole components, or `/projects` would contain `/projects-evil`
    // (test: only_whole_components_match)
    let holding = items.filter(|(_, directory, style)| text_contains(directory, text, *style));
    let counted = holding.filter_map(|(item, directory, style)| {
        let depth = components(directory, style)?.len();
        Some((depth, item, style))
    });
    let (depth, item, style) = counted.max_by_key(|(depth, _, _)| *depth)?;
    let names = components(text, style)?;
    Some((item, names.get(depth..)?.to_vec()))
}

/// The components of an absolute path. `None` if it is not absolute, not valid in its style, or contains `..`.
fn components(text: &str, style: PathStyle) -> Option<Vec<&str>> {
    let separators: &[char] = match style {
        PathStyle::Posix if text.starts_with('/') => &['/'],
        PathStyle::Windows if !text.starts_with(['~', '/']) => &['/', '\\'],
        _ => return None,
    };
    // A URI is not accepted here; the caller decodes it first.
    if is_uri(text) || !matches!(PathText::read(text.as_bytes(), style, None), Ok(PathText::Absolute(_))) {
        return None;
    }
    let names: Vec<&str> = text.split(separators).filter(|name| !matches!(*name, "" | ".")).collect();
    // Otherwise `/projects/../etc` would start with `/projects`.
    (!names.contains(&"..")).then_some(names)
}

/// Whether a path is absolute without dot segments, judging by its text alone.
pub(super) fn is_clean(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    bytes.starts_with(b"/")
        && !bytes.contains(&0)
        && !bytes.split(|byte| *byte == b'/').any(|name| matches!(name, b"." | b".."))
}

#[cfg(test)]
mod tests;
