//! Small trees in a temporary directory, built from a list of constants.
//!
//! A row of the corpus names what it needs and nothing else; the tree is new for each row, so that no row can hide
//! behind what another left.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, makedev, mkfifoat, mknodat};
use rustix::mount::{UnmountFlags, mount_bind, unmount};
use tempfile::TempDir;

use crate::snapshot::Snapshot;
use crate::text::{expand, expand_path};

/// What every file that lies outside contains; seeing it in an answer is an escape.
pub const SECRET: &str = "SECRET";

/// One thing in a tree. Paths are relative to the tree's top; parents are made as needed.
///
/// All texts are templates, see [`crate::text`].
#[derive(Clone, Copy, Debug)]
pub enum Item {
    /// A directory.
    Directory(&'static str),
    /// A file whose content says that it is inside, and where.
    Inside(&'static str),
    /// A file whose content says [`SECRET`], and where.
    Secret(&'static str),
    /// A file with this content.
    File(&'static str, &'static str),
    /// A file of this size, all holes.
    Sparse(&'static str, u64),
    /// A symbolic link and what it says.
    Link(&'static str, &'static str),
    /// That many links, `PATH1` to `PATHn`: the first says the target, each other one names the one before it.
    Chain(&'static str, usize, &'static str),
    /// A FIFO that nobody has open.
    Fifo(&'static str),
    /// A socket that nobody listens on.
    Socket(&'static str),
    /// A character device with these numbers. Needs root.
    CharacterDevice(&'static str, u32, u32),
    /// A further name for a file of the tree.
    HardLink(&'static str, &'static str),
    /// A directory of the tree, mounted at this place. Needs root; unmounted when the tree goes.
    BindMount(&'static str, &'static str),
    /// The permission bits of something already made.
    Permissions(&'static str, u32),
}

/// A tree on disk, removed when dropped.
#[derive(Debug)]
pub struct Tree {
    // Dropped after `Drop::drop` has unmounted what is mounted below it. None where the directory stays.
    _directory: Option<TempDir>,
    top: PathBuf,
    fifos: Vec<PathBuf>,
    mounts: Vec<PathBuf>,
}

impl Tree {
    /// Builds a tree from lists of items, in order.
    pub fn build(lists: &[&[Item]]) -> io::Result<Tree> {
        // The name takes no escapes in a URI, so that `file://{T}/root` is one.
        let directory = tempfile::Builder::new().prefix("rootward-").tempdir()?;
        let top = directory.path().canonicalize()?;
        Tree::fill(Some(directory), top, lists)
    }

    /// Builds a tree in a directory that outlives it. What was there is removed, but the directory `root` stays the same one, so that
    /// a process which was started in it is still there.
    pub fn build_in(place: &Path, lists: &[&[Item]]) -> io::Result<Tree> {
        let top = place.canonicalize()?;
        let root = top.join("root");
        empty(&top, |entry| entry != root)?;
        if fs::symlink_metadata(&root).is_ok_and(|root| root.is_dir()) {
            fs::set_permissions(&root, fs::Permissions::from_mode(0o755))?;
            empty(&root, |_| true)?;
        }
        Tree::fill(None, top, lists)
    }

    fn fill(directory: Option<TempDir>, top: PathBuf, lists: &[&[Item]]) -> io::Result<Tree> {
        let mut tree = Tree { _directory: directory, top, fifos: Vec::new(), mounts: Vec::new() };
        for item in lists.iter().copied().flatten() {
            tree.add(item).map_err(|error| io::Error::new(error.kind(), format!("{item:?}: {error}")))?;
        }
        Ok(tree)
    }

    /// The tree's top, absolute and without links: what `{T}` stands for.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The FIFOs of the tree.
    pub fn fifos(&self) -> &[PathBuf] {
        &self.fifos
    }

    /// Expands a template to bytes.
    pub fn expand(&self, template: &str) -> io::Result<Vec<u8>> {
        expand(template, &self.top)
    }

    /// Expands a template to a path.
    pub fn expand_path(&self, template: &str) -> io::Result<PathBuf> {
        expand_path(template, &self.top)
    }

    /// What is in the tree now.
    pub fn snapshot(&self) -> io::Result<Snapshot> {
        Snapshot::take(&self.top)
    }

    /// What is in the tree now and lies in none of the roots.
    pub fn outside_snapshot(&self, roots: &[PathBuf]) -> io::Result<Snapshot> {
        Snapshot::take_without(&self.top, &real_places(roots))
    }

    fn add(&mut self, item: &Item) -> io::Result<()> {
        match *item {
            Item::Directory(path) => fs::create_dir_all(self.at(path)?),
            Item::Inside(path) => fs::write(self.at(path)?, format!("inside {path}\n")),
            Item::Secret(path) => fs::write(self.at(path)?, format!("{SECRET} {path}\n")),
            Item::File(path, content) => fs::write(self.at(path)?, expand(content, &self.top)?),
            Item::Sparse(path, size) => fs::File::create(self.at(path)?)?.set_len(size),
            Item::Link(path, target) => std::os::unix::fs::symlink(self.expand_path(target)?, self.at(path)?),
            Item::Chain(path, count, target) => self.chain(path, count, target),
            Item::Fifo(path) => {
                let path = self.at(path)?;
                mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR)?;
                self.fifos.push(path);
                Ok(())
            }
            Item::Socket(path) => UnixListener::bind(self.at(path)?).map(drop),
            Item::CharacterDevice(path, major, minor) => {
                let mode = Mode::RUSR | Mode::WUSR;
                Ok(mknodat(CWD, self.at(path)?, FileType::CharacterDevice, mode, makedev(major, minor))?)
            }
            Item::HardLink(path, to) => fs::hard_link(self.top.join(self.expand_path(to)?), self.at(path)?),
            Item::BindMount(path, source) => {
                let place = self.at(path)?;
                fs::create_dir_all(&place)?;
                mount_bind(self.top.join(self.expand_path(source)?), &place)?;
                self.mounts.push(place);
                Ok(())
            }
            Item::Permissions(path, bits) => fs::set_permissions(self.at(path)?, fs::Permissions::from_mode(bits)),
        }
    }

    fn chain(&self, path: &str, count: usize, target: &str) -> io::Result<()> {
        let first = self.at(path)?;
        let numbered = |number: usize| {
            let mut name = first.clone().into_os_string().into_vec();
            name.extend_from_slice(number.to_string().as_bytes());
            PathBuf::from(OsString::from_vec(name))
        };
        let mut says = self.expand_path(target)?;
        for number in 1..=count {
            std::os::unix::fs::symlink(&says, numbered(number))?;
            says = PathBuf::from(numbered(number).file_name().unwrap_or_default());
        }
        Ok(())
    }

    /// The place of a relative template, its parents made.
    fn at(&self, path: &str) -> io::Result<PathBuf> {
        let place = self.top.join(self.expand_path(path)?);
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent)?;
        }
        Ok(place)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        for place in self.mounts.iter().rev() {
            // Detached, so that a descriptor left open below it cannot keep the mount. Where it fails all the same, the
            // removal that follows reaches only what the tree itself mounted: sources lie in the tree.
            let _ = unmount(place, UnmountFlags::DETACH);
        }
    }
}

/// Removes what is in a directory and not kept.
fn empty(directory: &Path, goes: impl Fn(&Path) -> bool) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if fs::symlink_metadata(&path)?.is_dir() {
            if goes(&path) {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
                fs::remove_dir_all(&path)?;
            }
        } else {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Where the roots really lie; those that do not exist are taken as written.
pub fn real_places(roots: &[PathBuf]) -> Vec<PathBuf> {
    roots.iter().map(|root| root.canonicalize().unwrap_or_else(|_| root.clone())).collect()
}

/// Whether a mount and a device node can be made, as far as the user's number tells.
pub fn is_superuser() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileTypeExt;

    use super::*;

    #[test]
    fn builds_each_kind_and_leaves_nothing() {
        let tree = Tree::build(&[&[
            Item::Directory("root/empty"),
            Item::Inside("root/in.txt"),
            Item::Secret("outside/secret.txt"),
            Item::File("root/{x:ff}", "at {T}"),
            Item::Sparse("root/big", 1 << 40),
            Item::Link("root/absolute", "{T}/outside"),
            Item::Chain("root/c", 3, "in.txt"),
            Item::Fifo("root/fifo"),
            Item::Socket("root/socket"),
            Item::HardLink("root/twin", "root/in.txt"),
            Item::Permissions("root/in.txt", 0o640),
        ]])
        .unwrap();
        let top = tree.top().to_path_buf();
        let at = |path: &str| top.join(path);
        assert_eq!(fs::read_to_string(at("root/c3")).unwrap(), "inside root/in.txt\n");
        assert_eq!(fs::read_to_string(at("outside/secret.txt")).unwrap(), "SECRET outside/secret.txt\n");
        assert_eq!(
            fs::read_to_string(tree.expand_path("{T}/root/{x:ff}").unwrap()).unwrap(),
            format!("at {}", top.display())
        );
        assert_eq!(fs::read_link(at("root/absolute")).unwrap(), at("outside"));
        assert!(fs::metadata(at("root/fifo")).unwrap().file_type().is_fifo());
        assert!(fs::metadata(at("root/socket")).unwrap().file_type().is_socket());
        assert_eq!(fs::metadata(at("root/twin")).unwrap().permissions().mode() & 0o777, 0o640);
        drop(tree);
        assert!(!top.exists());
    }

    #[test]
    fn a_place_that_stays_is_filled_anew_and_its_root_is_the_same_one() {
        use std::os::unix::fs::MetadataExt;
        let place = tempfile::tempdir().unwrap();
        let number = || fs::symlink_metadata(place.path().join("root")).unwrap().ino();
        let first = [Item::Inside("root/dir/in.txt"), Item::Link("root/l", "dir"), Item::Secret("outside/secret.txt")];
        drop(Tree::build_in(place.path(), &[&first]).unwrap());
        let root = number();
        let tree = Tree::build_in(place.path(), &[&[Item::Inside("root/other.txt")]]).unwrap();
        let found: Vec<PathBuf> = tree.snapshot().unwrap().paths().map(Path::to_owned).collect();
        assert_eq!(found, [tree.top().to_owned(), tree.top().join("root"), tree.top().join("root/other.txt")]);
        assert_eq!(number(), root);
        drop(Tree::build_in(place.path(), &[&[Item::Link("root", "elsewhere")]]).unwrap_err());
        drop(Tree::build_in(place.path(), &[]).unwrap());
        assert!(place.path().exists());
    }

    #[test]
    fn mounts_are_undone() {
        let tree = Tree::build(&[&[
            Item::File("source/shared.txt", "shared"),
            Item::BindMount("root/mount", "source"),
            Item::CharacterDevice("root/null", 1, 3),
        ]]);
        if !is_superuser() {
            // What rows that need root rely on: such a tree is an error, not one without its mount.
            assert_eq!(tree.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
            return;
        }
        let tree = tree.unwrap();
        let top = tree.top().to_path_buf();
        assert_eq!(fs::read_to_string(top.join("root/mount/shared.txt")).unwrap(), "shared");
        assert!(fs::metadata(top.join("root/null")).unwrap().file_type().is_char_device());
        drop(tree);
        assert!(!top.exists());
        assert!(!fs::read_to_string("/proc/self/mounts").unwrap().contains(&top.display().to_string()));
    }

    #[test]
    fn what_changes_outside_is_seen() {
        let tree = Tree::build(&[&[Item::Inside("root/in.txt"), Item::Secret("outside/secret.txt")]]).unwrap();
        let roots = [tree.top().join("root")];
        let before = tree.outside_snapshot(&roots).unwrap();
        fs::write(tree.top().join("root/new.txt"), "x").unwrap();
        assert_eq!(before.differences(&tree.outside_snapshot(&roots).unwrap()), []);
        fs::write(tree.top().join("outside/secret.txt"), "x").unwrap();
        assert_eq!(before.differences(&tree.outside_snapshot(&roots).unwrap()).len(), 1);
    }
}
