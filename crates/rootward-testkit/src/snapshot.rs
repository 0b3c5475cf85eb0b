//! Snapshots of a tree, to detect changes.
//!
//! They deliberately leave out times and inode numbers: a refusal may update a directory's access time, and replacing a
//! file by rename is a valid way to write it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Of longer files, only the size and the first bytes count: the corpus has sparse files of a terabyte.
const LONGEST: u64 = 1 << 20;

/// One entry of a snapshot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Print {
    /// File type and permission bits (`st_mode`).
    pub mode: u32,
    /// The size of a file or the number of a device; otherwise 0.
    pub size: u64,
    /// The content of a file or the target of a link.
    pub content: Option<Vec<u8>>,
}

impl Print {
    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        self.mode & 0o170_000 == 0o040_000
    }

    fn take(path: &Path) -> io::Result<Print> {
        let metadata = fs::symlink_metadata(path)?;
        let kind = metadata.file_type();
        let (size, content) = if kind.is_file() {
            (metadata.len(), read(path))
        } else if kind.is_symlink() {
            let target = fs::read_link(path)?;
            (0, Some(std::os::unix::ffi::OsStringExt::into_vec(target.into_os_string())))
        } else {
            (metadata.rdev(), None)
        };
        Ok(Print { mode: metadata.mode(), size, content })
    }
}

/// A file's first bytes; `None` if it cannot be read.
fn read(path: &Path) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    fs::File::open(path).ok()?.take(LONGEST).read_to_end(&mut content).ok()?;
    Some(content)
}

/// How an entry differs between two snapshots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// It is new.
    Appeared,
    /// It is gone.
    Vanished,
    /// Its type, permissions or content changed.
    Changed,
}

/// Everything below a directory, by absolute path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Snapshot {
    entries: BTreeMap<PathBuf, Print>,
}

impl Snapshot {
    /// Takes a snapshot of everything below `top`, without following links.
    pub fn take(top: &Path) -> io::Result<Snapshot> {
        Snapshot::take_without(top, &[])
    }

    /// The same without `places` and everything below them. They are not even read, because they may be changing.
    pub fn take_without(top: &Path, places: &[PathBuf]) -> io::Result<Snapshot> {
        let mut entries = BTreeMap::new();
        let mut waiting = vec![top.to_path_buf()];
        while let Some(path) = waiting.pop() {
            if places.contains(&path) {
                continue;
            }
            let print = match Print::take(&path) {
                Ok(print) => print,
                // The code under test may have removed it since its name was read.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            if print.is_directory() {
                for entry in fs::read_dir(&path).into_iter().flatten() {
                    waiting.push(entry?.path());
                }
            }
            entries.insert(path, print);
        }
        Ok(Snapshot { entries })
    }

    /// The entry at a path.
    pub fn get(&self, path: &Path) -> Option<&Print> {
        self.entries.get(path)
    }

    /// The paths, in order.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.entries.keys().map(PathBuf::as_path)
    }

    /// The names in a directory, in order.
    pub fn names_in(&self, directory: &Path) -> Vec<std::ffi::OsString> {
        let below = self.paths().filter(|path| path.parent() == Some(directory));
        below.filter_map(|path| path.file_name().map(ToOwned::to_owned)).collect()
    }

    /// The differences from this snapshot to `later`, sorted by path.
    pub fn differences(&self, later: &Snapshot) -> Vec<(PathBuf, Change)> {
        let mut differences = BTreeMap::new();
        for (path, print) in &self.entries {
            match later.entries.get(path) {
                None => drop(differences.insert(path.clone(), Change::Vanished)),
                Some(other) if other != print => drop(differences.insert(path.clone(), Change::Changed)),
                Some(_) => {}
            }
        }
        for path in later.entries.keys().filter(|path| !self.entries.contains_key(*path)) {
            differences.insert(path.clone(), Change::Appeared);
        }
        differences.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_change_is_detected() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("kept"), "same").unwrap();
        fs::write(at("written"), "old").unwrap();
        fs::write(at("removed"), "").unwrap();
        std::os::unix::fs::symlink("old", at("link")).unwrap();
        let before = Snapshot::take(directory.path()).unwrap();
        fs::write(at("written"), "new").unwrap();
        fs::remove_file(at("removed")).unwrap();
        fs::create_dir(at("made")).unwrap();
        fs::remove_file(at("link")).unwrap();
        std::os::unix::fs::symlink("new", at("link")).unwrap();
        let after = Snapshot::take(directory.path()).unwrap();
        assert_eq!(
            before.differences(&after),
            [
                (at("link"), Change::Changed),
                (at("made"), Change::Appeared),
                (at("removed"), Change::Vanished),
                (at("written"), Change::Changed),
            ]
        );
        assert_eq!(after.names_in(directory.path()), ["kept", "link", "made", "written"]);
    }
}
