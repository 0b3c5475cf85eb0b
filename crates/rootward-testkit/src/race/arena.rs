//! The tree of a race: the same names inside and outside, and handles to both.
//!
//! The test itself works through those handles, so that a swap cannot mislead it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags, open, openat, statat, unlinkat};
use rustix::io::Errno;

use super::Swap;
use crate::door::{Request, Root};
use crate::escape::Act;
use crate::snapshot::Snapshot;
use crate::tree::{Item, SECRET, Tree};

/// What the door writes. Its length differs from the files outside.
const WRITTEN: &[u8] = b"written through the door during a race\n";

/// The files outside, each with [`SECRET`] in it. `made` and `moved` do not exist at first.
const NAMES: [&str; 5] = ["file", "put", "from", "victim", "SECRET-name"];

/// The tree of a race.
#[derive(Debug)]
pub(super) struct Arena {
    tree: Tree,
    pub(super) swap: Swap,
    /// The directory inside that the acts work in, whatever its current name.
    inside: OwnedFd,
    /// Its counterpart outside.
    outside: OwnedFd,
    outside_path: PathBuf,
    /// The outside before the race.
    baseline: Snapshot,
    /// The sizes of the files outside. The door writes another length, so one `stat` detects a change.
    sizes: BTreeMap<&'static str, i64>,
    count: AtomicU64,
}

impl Arena {
    pub(super) fn new(swap: Swap) -> io::Result<Arena> {
        let items: &[Item] = match swap {
            Swap::DirectoryForLink => {
                &[Item::Inside("root/work/file"), Item::Link("root/trap", "{T}/outside"), Item::Secret("outside/file")]
            }
            Swap::FileForLink => {
                &[Item::Inside("root/file"), Item::Link("root/trap", "{T}/outside/file"), Item::Secret("outside/file")]
            }
            Swap::ParentAway => &[
                Item::Inside("root/work/file"),
                Item::Directory("root/work/inner/{d/*24}"),
                Item::Secret("outside/file"),
            ],
            Swap::DeepParentForLink => &[
                Item::Inside("root/a/b/c/d/e/file"),
                Item::Link("root/a/trap", "{T}/outside/b"),
                Item::Secret("outside/b/c/d/e/file"),
            ],
        };
        let tree = Tree::build(&[items])?;
        let (inside, outside) = match swap {
            Swap::DirectoryForLink | Swap::ParentAway => ("root/work", "outside"),
            Swap::FileForLink => ("root", "outside"),
            Swap::DeepParentForLink => ("root/a/b/c/d/e", "outside/b/c/d/e"),
        };
        let outside_path = tree.top().join(outside);
        let handle = |path: &Path| open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        let mut arena = Arena {
            inside: handle(&tree.top().join(inside))?,
            outside: handle(&outside_path)?,
            tree,
            swap,
            outside_path,
            baseline: Snapshot::default(),
            sizes: BTreeMap::new(),
            count: AtomicU64::new(0),
        };
        arena.fill_outside()?;
        arena.baseline = arena.look_outside()?;
        for name in NAMES {
            if let Some(size) = arena.size_outside(name)? {
                arena.sizes.insert(name, size);
            }
        }
        Ok(arena)
    }

    pub(super) fn root(&self) -> PathBuf {
        self.tree.top().join("root")
    }

    pub(super) fn outside_directory(&self) -> PathBuf {
        self.tree.top().join("outside")
    }

    /// Creates the files that an act needs inside, and returns the request.
    pub(super) fn prepare(&self, act: Act) -> io::Result<Request> {
        let needed: &[&str] = match act {
            Act::Rename => &["from"],
            Act::Remove => &["victim"],
            Act::Put => &["put"],
            _ => &[],
        };
        for name in needed {
            self.make_inside(name)?;
        }
        for name in ["made", "moved"] {
            remove(&self.inside, name)?;
        }
        let (path, to) = self.texts(act);
        Ok(Request {
            roots: vec![Root { path: self.root(), access: "rw" }],
            base: None,
            home: None,
            act,
            path,
            to,
            data: WRITTEN.to_vec(),
        })
    }

    fn texts(&self, act: Act) -> (Vec<u8>, Option<Vec<u8>>) {
        let before = match self.swap {
            Swap::DirectoryForLink => "work/",
            Swap::FileForLink => "",
            // A long way down and up again: the attacker has to move the directory in between.
            Swap::ParentAway => concat!(
                "work/inner/",
                "d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/",
                "../../../../../../../../../../../../../../../../../../../../../../../../",
                "../",
            ),
            Swap::DeepParentForLink => "a/b/c/d/e/",
        };
        // Six relative paths, then six absolute ones.
        let absolute = self.count.fetch_add(1, Ordering::Relaxed) % 12 >= 6;
        let start = if absolute { self.root().join(before).into_os_string() } else { OsString::from(before) };
        let text = |name: &str| [start.as_bytes(), name.as_bytes()].concat();
        match (self.swap, act) {
            // The attacker swaps the file itself. Acts that do not follow a last link act on its name.
            (Swap::FileForLink, Act::Read | Act::Put | Act::CreateNew | Act::Remove) => (text("file"), None),
            (Swap::FileForLink, Act::Rename) => (text("file"), Some(text("moved"))),
            (_, Act::Put) => (text("put"), None),
            (_, Act::CreateNew) => (text("made"), None),
            (_, Act::Rename) => (text("from"), Some(text("moved"))),
            (_, Act::Remove) => (text("victim"), None),
            (Swap::FileForLink, Act::List) => (text("."), None),
            (_, Act::List) => (start.as_bytes().strip_suffix(b"/").unwrap_or_default().to_vec(), None),
            _ => (text("file"), None),
        }
    }

    /// What an act did to its own names outside. It takes at most three system calls, so that every attempt can be checked.
    pub(super) fn harm(&self, act: Act) -> io::Result<Option<String>> {
        let (kept, new): (&[&str], &[&str]) = match act {
            Act::Put => (&["put", "file"], &[]),
            Act::CreateNew => (&["file"], &["made"]),
            Act::Rename => (&["from", "file"], &["moved"]),
            Act::Remove => (&["victim", "file"], &[]),
            _ => (&[], &[]),
        };
        for &name in kept {
            if self.size_outside(name)?.as_ref() != self.sizes.get(name) {
                return Ok(Some(format!("`{name}` outside was changed")));
            }
        }
        for &name in new {
            if self.size_outside(name)?.is_some() {
                return Ok(Some(format!("`{name}` was created outside")));
            }
        }
        Ok(None)
    }

    /// Everything that changed outside.
    pub(super) fn harm_anywhere(&self) -> io::Result<Vec<String>> {
        let differences = self.baseline.differences(&self.look_outside()?);
        Ok(differences.into_iter().map(|(path, change)| format!("{} {change:?}", path.display())).collect())
    }

    /// Restores the outside.
    pub(super) fn restore_outside(&self) -> io::Result<()> {
        for (path, _) in self.baseline.differences(&self.look_outside()?) {
            let Some(print) = self.baseline.get(&path) else {
                fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path))?;
                continue;
            };
            if !print.is_directory() {
                fs::write(&path, print.content.as_deref().unwrap_or_default())?;
            }
        }
        Ok(())
    }

    /// A snapshot of the outside, without the directory that the attacker moved there: a door that holds its handle may
    /// go on using it, which is documented and not an escape.
    fn look_outside(&self) -> io::Result<Snapshot> {
        Snapshot::take_without(self.tree.top(), &[self.root(), self.outside_directory().join("inner")])
    }

    fn fill_outside(&self) -> io::Result<()> {
        for name in NAMES {
            fs::write(self.outside_path.join(name), format!("{SECRET} {name}\n"))?;
        }
        Ok(())
    }

    fn size_outside(&self, name: &str) -> io::Result<Option<i64>> {
        match statat(&self.outside, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found.st_size)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn make_inside(&self, name: &str) -> io::Result<()> {
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&self.inside, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(_) | Err(Errno::LOOP) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn remove(directory: &OwnedFd, name: &str) -> io::Result<()> {
    match unlinkat(directory, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harm_is_detected_and_undone() {
        for swap in super::super::Race::ALL.map(|race| race.swap) {
            let arena = Arena::new(swap).unwrap();
            assert_eq!(arena.harm(Act::Put).unwrap(), None);
            fs::write(arena.outside_path.join("put"), WRITTEN).unwrap();
            fs::write(arena.outside_path.join("made"), WRITTEN).unwrap();
            assert!(arena.harm(Act::Put).unwrap().is_some());
            assert!(arena.harm(Act::CreateNew).unwrap().is_some());
            assert_eq!(arena.harm_anywhere().unwrap().len(), 2);
            arena.restore_outside().unwrap();
            assert_eq!(arena.harm_anywhere().unwrap(), Vec::<String>::new());
            assert_eq!(arena.harm(Act::Put).unwrap(), None);
        }
    }
}
