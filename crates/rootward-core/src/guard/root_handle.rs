//! A root's own handle: opened by its place, and verified to be the object that was found there.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::Guard;
use super::handles::Handle;
use crate::os;
use crate::resolve::open;
use crate::root::{PlacedRoot, RootKind};
use crate::tree::RootIndex;

/// Why a root cannot be used.
#[derive(Debug)]
pub(crate) enum RootTrouble {
    /// It is gone, or another object has replaced it.
    Changed,
    /// The system refused.
    System(Errno),
}

impl Guard {
    /// The handle of a root: the directory itself, or the parent directory of a file root.
    pub(crate) fn handle(&self, root: RootIndex) -> Result<Handle<'_>, RootTrouble> {
        self.0.handles.get(root, || {
            let placed = self.placed(root);
            let slash = os::pin_slash().map_err(RootTrouble::System)?;
            let place = pinned_place(placed).as_os_str().as_bytes();
            let names = place.strip_prefix(b"/").unwrap_or(place);
            let handle = match open(self.0.resolver, slash.as_fd(), names, os::PIN.union(OFlags::DIRECTORY)) {
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Err(RootTrouble::Changed),
                handle => handle.map_err(RootTrouble::System)?,
            };
            // SECURITY: a directory that replaced the root is not the root
            // (test: a_root_that_was_replaced_is_not_opened)
            if os::identity(&handle).map_err(RootTrouble::System)? != placed.id {
                return Err(RootTrouble::Changed);
            }
            Ok(handle)
        })
    }
}

impl Guard {
    /// Opens a directory below a root for listing.
    pub(crate) fn open_directory(&self, root: &OwnedFd, names: &[u8]) -> Result<OwnedFd, Errno> {
        open(self.0.resolver, root.as_fd(), names, os::LIST)
    }
}

/// The directory that is pinned for a root: itself, or the parent of a file.
fn pinned_place(placed: &PlacedRoot) -> &Path {
    match placed.kind {
        RootKind::Directory => &placed.place,
        RootKind::File => placed.place.parent().unwrap_or(&placed.place),
    }
}
