//! Renaming, within a root or from one root to another.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::RenameFlags;
use rustix::io::Errno;

use super::{Grant, GrantError};
use crate::access::Access;
use crate::denial::{Cause, Code};
use crate::os;
use crate::resolve::Rest;

/// Whether something that stands in the way is replaced.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Replace {
    /// It is replaced.
    Yes,
    /// Then nothing happens, and the answer is "exists already".
    No,
}

impl Replace {
    pub(super) fn flags(self) -> RenameFlags {
        match self {
            Replace::Yes => RenameFlags::empty(),
            Replace::No => RenameFlags::NOREPLACE,
        }
    }
}

impl Grant {
    /// Moves the entry to `target`. Needs delete here and write there; a link is moved, not what it leads to.
    ///
    /// A move that would carry a closed place or another root along, or bring something into a closed place, is refused.
    /// Between file systems only a file can be moved: it is copied and then removed.
    pub fn rename_to(&self, target: &Grant, replace: Replace) -> Result<(), GrantError> {
        self.need(Access::DELETE)?;
        target.need(Access::WRITE)?;
        self.not_a_root()?;
        target.not_a_root()?;
        let object = self.object()?;
        let status = os::status(object).map_err(|error| self.failed(error))?;
        if os::type_of(&status).is_dir() {
            self.carries_nothing_along(target, object)?;
        } else if self.rest.as_directory() || target.rest.as_directory() {
            return Err(self.failed(Errno::NOTDIR));
        }
        let (from, name) = self.parent()?;
        let (to, new_name) = target.parent()?;
        match os::rename(&from, name, &to, new_name, replace.flags()) {
            Err(Errno::XDEV) if os::type_of(&status).is_file() && self.access.contains(Access::READ) => {
                self.copy_to(target, replace)?;
                self.remove()
            }
            Err(Errno::EXIST) => Err(target.failed(Errno::EXIST)),
            answer => answer.map_err(|error| self.failed(error)),
        }
    }

    fn carries_nothing_along(&self, target: &Grant, directory: &OwnedFd) -> Result<(), GrantError> {
        // SECURITY: rules belong to places; a move would slip what is below the directory out of theirs, or into others
        // (test: guard_passes_the_escape_corpus)
        let tree = &self.guard.0.tree;
        let roots = tree.roots_below(self.root, self.rest.as_bytes());
        let roots_there = target.guard.0.tree.roots_below(target.root, target.rest.as_bytes());
        if let Some(root) = roots.first() {
            let place = self.guard.placed(*root).place.clone();
            return Err(self.refused(Code::Restricted, Cause::CarriesAlong(place)));
        }
        if let Some(root) = roots_there.first() {
            let place = target.guard.placed(*root).place.clone();
            return Err(self.refused(Code::Restricted, Cause::CarriesAlong(place)));
        }
        self.entries_carry_nothing(target, &Rest::default(), directory)
    }

    fn entries_carry_nothing(&self, target: &Grant, below: &Rest, directory: &OwnedFd) -> Result<(), GrantError> {
        for (name, kind) in os::entries(directory.as_fd()).map_err(|error| self.failed(error))? {
            let below = below.join(&name);
            let closed_here = !self.taken_at(&below).is_empty();
            let closed_at_target = !(target.taken_at(&below) & Access::WRITE).is_empty();
            if closed_here || closed_at_target {
                let place = below.below(&self.path());
                return Err(self.refused(Code::Restricted, Cause::CarriesAlong(place)));
            }
            if kind.is_dir() {
                let child = os::open_child(directory.as_fd(), &name, os::LIST).map_err(|error| self.failed(error))?;
                self.entries_carry_nothing(target, &below, &child)?;
            }
        }
        Ok(())
    }

    /// What restrictions take away at a place below this one.
    fn taken_at(&self, below: &Rest) -> Access {
        let root = self.root().place.as_os_str();
        let rest = [self.rest.as_bytes(), b"/", below.as_bytes()].concat();
        let rest = rest.strip_prefix(b"/").unwrap_or(&rest);
        self.guard.0.restrictions.taken_below(root.as_bytes(), rest).access
    }
}
