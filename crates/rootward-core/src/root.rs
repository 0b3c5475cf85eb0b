//! A root: a directory or file that the user shares.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

use crate::access::Access;
use crate::pattern::{Pattern, PatternError};
use crate::shown::Shown;
use crate::style::PathStyle;
use crate::text::{PathText, TextError, is_file_uri};
use crate::uri::{LONGEST_PATH, RootUri};

/// Who supplied a root.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The client, over the protocol.
    Client,
    /// A flag on the command line.
    Flag,
    /// An environment variable.
    Env,
    /// The settings file.
    Config,
    /// The user's saved choice.
    Store,
    /// The fallback directory.
    Fallback,
}

/// How a root was spelled by its source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Spelling {
    /// As a `file:` URI.
    Uri,
    /// As a bare path. The protocol requires URIs, but some clients send paths.
    Path,
}

/// A root as it was named: plain values, nothing looked up yet.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Root {
    /// The absolute path as named, without trailing separators.
    pub path: PathBuf,
    /// The display name, if one was given.
    pub name: Option<String>,
    /// The access it gives.
    pub access: Access,
    /// Who supplied it.
    pub origin: Origin,
    /// How it was spelled.
    pub spelling: Spelling,
    /// Additional data of its entry (`_meta`), as JSON. It is passed on with the root and never read here.
    pub meta: Option<Box<str>>,
    /// Whether its path is a pattern, or was found by one.
    pub pattern: Option<Pattern>,
}

/// Why a text or path cannot be a root.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Error)]
pub enum RootError {
    /// The text is not a path.
    #[error("not a usable root: `{}` ({reason})", Shown::new(text))]
    Text {
        /// The text as given.
        text: String,
        /// The problem.
        reason: TextError,
    },
    /// Not absolute, and there is no base to resolve it against.
    #[error("not a usable root: `{}` ({})", Shown::new(text), self.reason())]
    Relative {
        /// The text as given.
        text: String,
    },
    /// An invalid pattern.
    #[error("not a usable root: `{}` ({reason})", Shown::new(text))]
    Pattern {
        /// The text as given.
        text: String,
        /// The problem.
        reason: PatternError,
    },
    /// It contains `.` or `..`, which may mean different places to its writer and its reader.
    #[error("not a usable root: `{}` ({})", Shown::new(text), self.reason())]
    DotSegment {
        /// The text as given.
        text: String,
    },
    /// It ends in `:add`, which people mistake for an access suffix.
    #[error("not a usable root: `{}` ({})", Shown::new(text), self.reason())]
    NotAnAccess {
        /// As it was given.
        text: String,
    },
}

impl RootError {
    /// The root as given.
    pub fn text(&self) -> &str {
        match self {
            RootError::Text { text, .. }
            | RootError::Relative { text }
            | RootError::Pattern { text, .. }
            | RootError::DotSegment { text }
            | RootError::NotAnAccess { text } => text,
        }
    }

    /// The problem, without the text.
    pub fn reason(&self) -> String {
        match self {
            RootError::Text { reason, .. } => reason.to_string(),
            RootError::Relative { .. } => "not an absolute path".to_owned(),
            RootError::Pattern { reason, .. } => reason.to_string(),
            RootError::DotSegment { .. } => "a dot segment".to_owned(),
            RootError::NotAnAccess { text } => {
                let text = Shown::new(text);
                format!(
                    "`:add` is not an access suffix: use `:rw-nodelete`, or `{text}:rw` for a directory with this name"
                )
            }
        }
    }
}

impl Root {
    /// The display name: its name, else its last component, else its path. A root always has one.
    pub fn title(&self) -> String {
        let last = || self.path.file_name().unwrap_or(self.path.as_os_str());
        self.name.clone().unwrap_or_else(|| Shown::new(last()).to_string())
    }

    /// A root by its absolute path, which may contain any bytes except NUL.
    pub fn from_path(path: impl Into<PathBuf>, origin: Origin) -> Result<Root, RootError> {
        let path = path.into();
        let bytes = path.as_os_str().as_bytes();
        let given = || String::from_utf8_lossy(bytes).into_owned();
        let bad = |reason| Err(RootError::Text { text: given(), reason });
        match bytes {
            [] => bad(TextError::Empty),
            _ if bytes.contains(&0) => bad(TextError::Nul),
            _ if bytes.len() > LONGEST_PATH => bad(TextError::TooLong),
            _ if !path.is_absolute() => Err(RootError::Relative { text: given() }),
            _ if has_dot_segment(bytes) => Err(RootError::DotSegment { text: given() }),
            _ => Ok(Root::new(&path, origin, Spelling::Path)),
        }
    }

    /// A root as a client sends it: a `file:` URI, or a bare absolute path, `~` or `~/…`; `spelling` records which. It
    /// has all access, so that it does not reduce what the operator grants. If the operator grants nothing,
    /// [`RootSet::combine`](crate::RootSet::combine) removes execute.
    pub fn from_client(text: &str, home: Option<&Path>) -> Result<Root, RootError> {
        let given = || text.to_owned();
        match PathText::read(text.as_bytes(), PathStyle::NATIVE, home.map(bytes)) {
            Err(reason) => Err(RootError::Text { text: given(), reason }),
            Ok(PathText::Relative(_)) => Err(RootError::Relative { text: given() }),
            // SECURITY: never resolve a client's `..`, neither in the text nor on disk (test: from_a_client)
            Ok(PathText::Absolute(path)) if has_dot_segment(&path) => Err(RootError::DotSegment { text: given() }),
            Ok(PathText::Absolute(path)) => {
                let root = Root::new(Path::new(OsStr::from_bytes(&path)), Origin::Client, spelling(text.as_bytes()));
                Ok(root.with_access(Access::ALL))
            }
        }
    }

    /// A root as a person types it: a URI or a path, absolute, starting with `~`, or relative to `base`, with an
    /// optional `:ro`, `:rw`, `:rw-nodelete` or `:rwx` at the end. Only one suffix is removed: a directory that is really
    /// called `dir:ro` is `dir:ro:rw`. A text that ends in
    /// `:add` is an error.
    ///
    /// `.` is dropped. `..` is kept in `path`, for the file system to resolve when the root is looked up: after a link
    /// it leads elsewhere than the text says. URIs have neither.
    ///
    /// A `*` in a path makes it a [`Pattern`]; in a URI it is a normal character.
    pub fn from_typed(text: &OsStr, base: &Path, home: Option<&Path>, origin: Origin) -> Result<Root, RootError> {
        let root = Root::from_typed_literally(text, base, home, origin)?;
        let (named, _) = split_suffix(text.as_bytes());
        if root.spelling == Spelling::Uri {
            return Ok(root);
        }
        let bad = |reason| RootError::Pattern { text: text.to_string_lossy().into_owned(), reason };
        let pattern = Pattern::read(named, &root.path).map_err(bad)?;
        Ok(Root { pattern, ..root })
    }

    /// The same without patterns: a `*` is a normal character.
    pub fn from_typed_literally(
        text: &OsStr,
        base: &Path,
        home: Option<&Path>,
        origin: Origin,
    ) -> Result<Root, RootError> {
        let (named, access) = split_suffix(text.as_bytes());
        let given = || text.to_string_lossy().into_owned();
        if text.as_bytes().ends_with(NOT_AN_ACCESS) {
            return Err(RootError::NotAnAccess { text: given() });
        }
        let bad = |reason| RootError::Text { text: given(), reason };
        let path = match PathText::read(named, PathStyle::NATIVE, home.map(bytes)).map_err(bad)? {
            PathText::Absolute(path) => PathBuf::from(OsStr::from_bytes(&path)),
            PathText::Relative(path) => base.join(OsStr::from_bytes(path)),
        };
        if path.as_os_str().len() > LONGEST_PATH {
            return Err(bad(TextError::TooLong));
        }
        if !path.is_absolute() {
            return Err(RootError::Relative { text: given() });
        }
        Ok(Root::new(&path, origin, spelling(named)).with_access(access.unwrap_or(Access::READ_WRITE)))
    }

    fn new(path: &Path, origin: Origin, spelling: Spelling) -> Root {
        // Rebuilding the path removes double and trailing separators and `.`.
        let path = path.components().collect();
        Root { path, name: None, access: Access::READ_WRITE, origin, spelling, meta: None, pattern: None }
    }

    /// The same root with another access.
    #[must_use]
    pub fn with_access(self, access: Access) -> Root {
        Root { access, ..self }
    }

    /// The same root with a display name.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> Root {
        Root { name: Some(name.into()), ..self }
    }

    /// The same root with additional data of its entry, as JSON.
    #[must_use]
    pub fn with_meta(self, meta: impl Into<Box<str>>) -> Root {
        Root { meta: Some(meta.into()), ..self }
    }

    /// The pattern that this root is or was found by, as written.
    pub fn pattern(&self) -> Option<&Path> {
        match self.pattern.as_ref()? {
            Pattern::Named { .. } => Some(&self.path),
            Pattern::Matched { by, .. } => Some(by),
        }
    }

    /// The root as a URI; `None` if the path is not UTF-8 or has a `..`. Such a root is never announced.
    pub fn uri(&self) -> Option<RootUri> {
        RootUri::from_path(&self.path, PathStyle::NATIVE).ok()
    }
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

fn spelling(text: &[u8]) -> Spelling {
    if is_file_uri(text) { Spelling::Uri } else { Spelling::Path }
}

fn has_dot_segment(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|segment| matches!(segment, b"." | b".."))
}

/// An obsolete suffix: `:rw-nodelete` is the one for adding without deleting. Nobody who writes it means a directory of that name.
const NOT_AN_ACCESS: &[u8] = b":add";

/// The text before the access suffix, and the access.
fn split_suffix(text: &[u8]) -> (&[u8], Option<Access>) {
    let Some(colon) = text.iter().rposition(|byte| *byte == b':') else {
        return (text, None);
    };
    match std::str::from_utf8(&text[colon + 1..]).ok().and_then(Access::from_suffix) {
        Some(access) => (&text[..colon], Some(access)),
        None => (text, None),
    }
}

/// Whether a root is a directory or a single file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RootKind {
    /// Everything below it is shared.
    Directory,
    /// Only the file is shared.
    File,
}

/// Identifies an object on disk: device, inode, and birth time, because inodes are reused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FileId {
    /// The device.
    pub device: u64,
    /// The inode.
    pub inode: u64,
    /// The birth time in seconds and nanoseconds, if the file system knows it.
    pub born: Option<(i64, u32)>,
}

/// A root that was found on disk: plain values, no handle.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PlacedRoot {
    /// The root as it was named.
    pub root: Root,
    /// Its resolved place: absolute, without links or dot segments.
    pub place: PathBuf,
    /// A directory or a file.
    pub kind: RootKind,
    /// The object found there: the root itself for a directory, its parent for a file (programs replace files, and the
    /// name stays shared).
    pub id: FileId,
}

impl PlacedRoot {
    /// Whether `place` (resolved, absolute) is this root or lies below it.
    pub fn holds(&self, place: &Path) -> bool {
        match self.kind {
            RootKind::Directory => place.starts_with(&self.place),
            RootKind::File => place == self.place,
        }
    }
}

#[cfg(test)]
mod tests;
