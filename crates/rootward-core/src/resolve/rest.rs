//! The part of a path after its root: plain names, ready to be opened.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use smallvec::SmallVec;

use crate::tree::components;

/// A relative path without `.`, `..`, empty components or slashes at the ends. Empty means the root itself.
///
/// Short ones are stored inline, so that deciding a path does not allocate.
#[derive(PartialEq, Eq, Default)]
pub(crate) struct Rest {
    bytes: SmallVec<[u8; 128]>,
    /// The text ended in `/` or `/.`, so it must be a directory.
    as_directory: bool,
}

/// A buffer for names that had to be normalized.
pub(crate) type NameBuffer = SmallVec<[u8; 128]>;

/// A borrowed [`Rest`], pointing into the text if it needs no normalization.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'n> {
    bytes: &'n [u8],
    as_directory: bool,
}

impl<'n> Names<'n> {
    /// Parses the text after a root; `None` if it contains `..`, whose meaning depends on the disk.
    pub(crate) fn plain(text: &'n [u8], buffer: &'n mut NameBuffer) -> Option<Names<'n>> {
        let as_directory = text.ends_with(b"/") || text.ends_with(b"/.") || text == b".";
        let names = text.strip_prefix(b"/").unwrap_or(text);
        if is_plain(names) {
            return Some(Names { bytes: names, as_directory });
        }
        buffer.clear();
        for (component, _) in components(text) {
            // SECURITY: never collapse `..` in the text: after a link it leads elsewhere
            // (test: guard_passes_the_escape_corpus)
            if component == b".." {
                return None;
            }
            if !buffer.is_empty() {
                buffer.push(b'/');
            }
            buffer.extend_from_slice(component);
        }
        Some(Names { bytes: buffer, as_directory })
    }

    pub(crate) fn as_bytes(self) -> &'n [u8] {
        self.bytes
    }

    pub(crate) fn is_root(self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether the text requires a directory.
    pub(crate) fn as_directory(self) -> bool {
        self.as_directory
    }

    /// The same, requiring a directory.
    pub(crate) fn as_a_directory(self) -> Names<'n> {
        Names { as_directory: true, ..self }
    }

    /// The part after `position`, where a deeper root ends.
    pub(crate) fn behind(self, position: usize) -> Names<'n> {
        Names { bytes: behind(self.bytes, position), ..self }
    }

    /// The absolute path below `root`.
    pub(crate) fn below(self, root: &Path) -> PathBuf {
        below(root, self.bytes)
    }
}

impl Rest {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn is_root(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether the text requires a directory.
    pub(crate) fn as_directory(&self) -> bool {
        self.as_directory
    }

    /// The part after `position`, where a deeper root ends.
    pub(crate) fn behind(&self, position: usize) -> &[u8] {
        behind(&self.bytes, position)
    }

    /// The parent and the last name; `None` for the root itself.
    pub(crate) fn split_last(&self) -> Option<(&[u8], &[u8])> {
        if self.bytes.is_empty() {
            return None;
        }
        Some(match self.bytes.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => (&self.bytes[..slash], &self.bytes[slash + 1..]),
            None => (&[], &self.bytes[..]),
        })
    }

    /// The path of an entry of this directory.
    pub(crate) fn join(&self, name: &[u8]) -> Rest {
        let mut entry = self.clone();
        entry.move_to(self.bytes.len(), name);
        entry
    }

    /// Makes this the path of an entry of the directory whose path is the first `directory` bytes. A loop over a
    /// directory thus copies the directory's path only once.
    pub(crate) fn move_to(&mut self, directory: usize, name: &[u8]) {
        self.bytes.truncate(directory);
        if !self.bytes.is_empty() {
            self.bytes.push(b'/');
        }
        self.bytes.extend_from_slice(name);
        self.as_directory = false;
    }

    pub(crate) fn as_path(&self) -> &Path {
        Path::new(std::ffi::OsStr::from_bytes(&self.bytes))
    }

    /// The absolute path below `root`.
    pub(crate) fn below(&self, root: &Path) -> PathBuf {
        below(root, &self.bytes)
    }
}

/// Copies all bytes at once: `SmallVec`'s own `clone` copies byte by byte, and reading the result right after stalls
/// the processor.
impl Clone for Rest {
    fn clone(&self) -> Rest {
        Rest { bytes: SmallVec::from_slice(&self.bytes), as_directory: self.as_directory }
    }
}

impl From<Names<'_>> for Rest {
    #[inline]
    fn from(names: Names<'_>) -> Rest {
        Rest { bytes: SmallVec::from_slice(names.bytes), as_directory: names.as_directory }
    }
}

fn behind(names: &[u8], position: usize) -> &[u8] {
    let behind = &names[position..];
    behind.strip_prefix(b"/").unwrap_or(behind)
}

/// Allocates once.
fn below(root: &Path, names: &[u8]) -> PathBuf {
    let mut path = PathBuf::with_capacity(root.as_os_str().len() + 1 + names.len());
    path.push(root);
    if !names.is_empty() {
        path.push(std::ffi::OsStr::from_bytes(names));
    }
    path
}

/// Whether a text is names with one slash between each, as nearly every text is. Then it is used unchanged.
fn is_plain(names: &[u8]) -> bool {
    // A component that is empty, `.` or `..`, or begins with a dot, needs a closer look.
    let mut after_slash = true;
    for byte in names {
        if after_slash && matches!(byte, b'/' | b'.') {
            return false;
        }
        after_slash = *byte == b'/';
    }
    !after_slash || names.is_empty()
}

impl fmt::Debug for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rest({:?})", self.as_path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_only() {
        let check = |text: &str, expect: Option<(&str, bool)>| {
            let mut buffer = NameBuffer::new();
            let names = Names::plain(text.as_bytes(), &mut buffer);
            let seen = names.map(|names| (std::str::from_utf8(names.as_bytes()).unwrap(), names.as_directory()));
            assert_eq!(seen, expect, "{text}");
        };
        check("", Some(("", false)));
        check("/", Some(("", true)));
        check("/a//./b", Some(("a/b", false)));
        check("/a/b/.", Some(("a/b", true)));
        check("a/b.", Some(("a/b.", false)));
        check("/a/...", Some(("a/...", false)));
        check("/a/.b/..c", Some(("a/.b/..c", false)));
        check("a/b/", Some(("a/b", true)));
        check("//a", Some(("a", false)));
        check("/.", Some(("", true)));
        check("/a/../b", None);
        check("..", None);
        check("/a/..", None);
    }

    #[test]
    fn splits_and_joins() {
        let mut buffer = NameBuffer::new();
        let rest = Rest::from(Names::plain(b"a/b/c", &mut buffer).unwrap());
        assert_eq!(rest.split_last(), Some((b"a/b".as_slice(), b"c".as_slice())));
        assert_eq!(rest.behind(1), b"b/c");
        let mut entry = rest.join(b"d");
        assert_eq!(entry.as_bytes(), b"a/b/c/d");
        entry.move_to(5, b"other");
        assert_eq!(entry.as_bytes(), b"a/b/c/other");
        entry.move_to(0, b"x");
        assert_eq!(entry.as_bytes(), b"x");
        assert_eq!(Rest::default().split_last(), None);
    }
}
