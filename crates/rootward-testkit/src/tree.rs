//! Small trees in a temporary directory, built from a list of constants.
//!
//! A row of the corpus lists only what it needs. Each row gets a new tree, so that leftovers of one row cannot affect
//! another.

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

/// The content of every file outside. An answer that contains it is an escape.
pub const SECRET: &str = "SECRET";

/// One item of a tree. Paths are relative to the tree's top; parent directories are created as needed.
///
/// All strings are templates, see [`crate::text`].
#[derive(Clone, Copy, Debug)]
pub enum Item {
    /// A directory.
    Directory(&'static str),
    /// A file that contains `inside` and its path.
    Inside(&'static str),
    /// A file that contains [`SECRET`] and its path.
    Secret(&'static str),
    /// A file with this content.
    File(&'static str, &'static str),
    /// A sparse file of this size.
    Sparse(&'static str, u64),
    /// A symbolic link and its target.
    Link(&'static str, &'static str),
    /// This many links, `PATH1` to `PATHn`: the first leads to the target, every other to the one before it.
    Chain(&'static str, usize, &'static str),
    /// A FIFO that no process has open.
    Fifo(&'static str),
    /// A socket without a listener.
    Socket(&'static str),
    /// A character device with these numbers. Needs root.
    CharacterDevice(&'static str, u32, u32),
    /// A hard link, and the file of the tree that it links to.
    HardLink(&'static str, &'static str),
    /// A bind mount, and the directory of the tree that it mounts. Needs root; unmounted when the tree is dropped.
    BindMount(&'static str, &'static str),
    /// The permission bits of an existing item.
    Permissions(&'static str, u32),
}

/// A tree on disk, removed when dropped.
#[derive(Debug)]
pub struct Tree {
    // Dropped after `Drop::drop` has unmounted the mounts in it. `None` if the directory outlives the tree.
    _directory: Option<TempDir>,
    top: PathBuf,
    fifos: Vec<PathBuf>,
    mounts: Vec<PathBuf>,
}

impl Tree {
    /// Builds a tree from lists of items, in order.
    pub fn build(lists: &[&[Item]]) -> io::Result<Tree> {
        // The name needs no escapes, so that `file://{T}/root` is a valid URI.
        let directory = tempfile::Builder::new().prefix("rootward-").tempdir()?;
        let top = directory.path().canonicalize()?;
        Tree::fill(Some(directory), top, lists)
    }

    /// Builds a tree in a directory that outlives it. Removes the old content but keeps the directory `root` itself, so that it
    /// stays the working directory of a process.
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

    /// The tree's top, canonical: the value of `{T}`.
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

    /// A snapshot of the tree.
    pub fn snapshot(&self) -> io::Result<Snapshot> {
        Snapshot::take(&self.top)
    }

    /// A snapshot of the tree without the roots.
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

    /// The path of a relative template. Creates its parent directories.
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
            // `DETACH`, so that a descriptor left open below cannot keep the mount. If it fails nevertheless, the removal
            // that follows stays in the tree, because the sources of its mounts are in the tree.
            let _ = unmount(place, UnmountFlags::DETACH);
        }
    }
}

/// Empties a directory, except for the subdirectories that `goes` rejects.
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

/// The canonical paths of the roots; missing roots are returned unchanged.
pub fn real_places(roots: &[PathBuf]) -> Vec<PathBuf> {
    roots.iter().map(|root| root.canonicalize().unwrap_or_else(|_| root.clone())).collect()
}

/// Whether this process runs as root, and so can create mounts and device nodes.
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
    fn rebuilding_in_place_keeps_the_root_directory() {
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
            // Without root, building such a tree fails; it does not silently lack its mount.
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
    fn changes_outside_are_detected() {
        let tree = Tree::build(&[&[Item::Inside("root/in.txt"), Item::Secret("outside/secret.txt")]]).unwrap();
        let roots = [tree.top().join("root")];
        let before = tree.outside_snapshot(&roots).unwrap();
        fs::write(tree.top().join("root/new.txt"), "x").unwrap();
        assert_eq!(before.differences(&tree.outside_snapshot(&roots).unwrap()), []);
        fs::write(tree.top().join("outside/secret.txt"), "x").unwrap();
        assert_eq!(before.differences(&tree.outside_snapshot(&roots).unwrap()).len(), 1);
    }
}
