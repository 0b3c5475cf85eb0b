//! Renaming, within a root or from one root to another.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{FileType, Mode, RenameFlags};
use rustix::io::Errno;

use super::between::{self, Moment};
use super::moves::{a_directory_moves, nothing_moves};
use super::{Grant, GrantError};
use crate::access::Access;
use crate::denial::{Cause, Code};
use crate::os;
use crate::resolve::{Rest, open};

/// Whether to replace an existing target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Replace {
    /// Replace it.
    Yes,
    /// Do nothing and fail with "already exists".
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
    /// Moves the entry to `target`. Needs delete access here and write access there. A link itself is moved, not its
    /// target.
    ///
    /// A move that would carry along a closed place or another root, or bring something into a closed place, is
    /// refused. Between file systems only a file can be moved: it is copied and then removed. If it changes meanwhile,
    /// both stay, and the error is [`GrantError::Changed`].
    pub fn rename_to(&self, target: &Grant, replace: Replace) -> Result<(), GrantError> {
        self.need(Access::DELETE)?;
        target.need(Access::WRITE)?;
        self.not_a_root()?;
        target.not_a_root()?;
        if target.root().root.access.contains(Access::READ) && !self.root().root.access.contains(Access::READ) {
            return Err(self.refused(Code::AccessDenied, Cause::Access));
        }
        let object = self.object()?;
        let kind = os::type_of(&os::status(object).map_err(|error| self.failed(error))?);
        let moved = match kind {
            FileType::Directory | FileType::Symlink => {
                let _turns = self.turn_with(target);
                let _moving = a_directory_moves();
                self.rename_checked(target, object, kind, replace)
            }
            _ if self.rest.as_directory() || target.rest.as_directory() => Err(Moved::Failed(Errno::NOTDIR)),
            _ => {
                let _turns = self.turn_with(target);
                let _still = nothing_moves();
                self.rename_checked(target, object, kind, replace)
            }
        };
        match moved {
            Ok(()) => Ok(()),
            Err(Moved::Failed(Errno::XDEV)) if kind == FileType::RegularFile => self.copy_and_remove(target, replace),
            Err(Moved::Failed(Errno::EXIST)) => Err(target.failed(Errno::EXIST)),
            Err(Moved::Failed(error)) => Err(self.failed(error)),
            Err(Moved::Not(error)) => Err(error),
        }
    }

    fn rename_checked(&self, target: &Grant, object: &OwnedFd, kind: FileType, replace: Replace) -> Result<(), Moved> {
        let (from, name) = self.parent()?;
        let (to, new_name) = target.parent()?;
        // SECURITY: the object that has the name now must be the one that was decided on
        // (test: a_swapped_directory_is_not_moved, a_file_that_became_a_directory_is_checked_before_it_moves)
        let now = os::open_child(from.as_fd(), name, os::PIN)?;
        if os::identity(&now)? != os::identity(object)? {
            return Err(self.refused(Code::OutsideRoots, Cause::Unsettled).into());
        }
        match kind {
            FileType::Directory => self.carries_nothing_along(target, &now)?,
            FileType::Symlink => self.link_may_move(target, &Rest::default())?,
            _ => {}
        }
        Ok(os::rename(&from, name, &to, new_name, replace.flags())?)
    }

    pub(super) fn copy_and_remove(&self, target: &Grant, replace: Replace) -> Result<(), GrantError> {
        let opened = self.open_unasked()?;
        let version = opened.version();
        let mode = os::status(self.object()?).map_err(|error| self.failed(error))?.st_mode & 0o777;
        let mut source = opened.into_file();
        target.rewrite(Mode::from_raw_mode(mode), replace.into(), |file| std::io::copy(&mut source, file).map(drop))?;
        between::reached(Moment::Copied);
        // Keep the source if somebody wrote to it after the copy.
        self.remove_version(version)
    }

    fn carries_nothing_along(&self, target: &Grant, directory: &OwnedFd) -> Result<(), GrantError> {
        // SECURITY: rules belong to places; moving the directory would take its contents out of their rules or into
        // others (test: guard_passes_the_escape_corpus)
        for grant in [self, target] {
            if let Some(root) = grant.guard.0.tree.roots_below(grant.root, grant.rest.as_bytes()).first() {
                let place = grant.guard.placed(*root).place.clone();
                return Err(self.refused(Code::Restricted, Cause::CarriesAlong(place)));
            }
        }
        let mut waiting = vec![Rest::default()];
        while let Some(below) = waiting.pop() {
            let opened = open(self.guard.0.resolver, directory.as_fd(), below.as_bytes(), os::LIST);
            let opened = opened.map_err(|error| self.failed(error))?;
            for (name, kind) in os::entries(opened.as_fd()).map_err(|error| self.failed(error))? {
                let below = below.join(&name);
                let closed_here = !self.taken_at(&below, &name).is_empty();
                let closed_at_target = !(target.taken_at(&below, &name) & Access::WRITE).is_empty();
                if closed_here || closed_at_target {
                    let place = below.below(&self.path());
                    return Err(self.refused(Code::Restricted, Cause::CarriesAlong(place)));
                }
                match kind {
                    FileType::Directory => waiting.push(below),
                    FileType::Symlink => self.link_may_move(target, &below)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Checks that a link may be moved to its new place. `below` is empty if the link is the moved entry itself.
    fn link_may_move(&self, target: &Grant, below: &Rest) -> Result<(), GrantError> {
        let place = below.below(&target.path());
        let bytes = place.as_os_str().as_bytes();
        // SECURITY: a link makes its target appear at its own place, so moving one must not create a closed place or a
        // root (test: a_link_that_is_moved_brings_nothing_into_a_closed_place,
        // a_peer_cannot_make_a_missing_root_appear_elsewhere)
        if target.guard.0.restrictions.may_hold(bytes) || target.guard.0.tree.leads_to_a_known_path(bytes) {
            return Err(self.refused(Code::Restricted, Cause::CarriesAlong(place)));
        }
        Ok(())
    }

    /// The access that restrictions take away at a place below this one, if its directory passed.
    fn taken_at(&self, below: &Rest, name: &[u8]) -> Access {
        if !self.guard.0.restrictions.may_end_in(name) {
            return Access::NONE;
        }
        let rest = [self.rest.as_bytes(), b"/", below.as_bytes()].concat();
        let root = self.root().place.as_os_str().as_bytes();
        self.guard.0.restrictions.taken_below(root, rest.strip_prefix(b"/").unwrap_or(&rest)).access
    }
}

/// Why an entry was not moved.
enum Moved {
    Failed(Errno),
    Not(GrantError),
}

impl From<Errno> for Moved {
    fn from(error: Errno) -> Moved {
        Moved::Failed(error)
    }
}

impl From<GrantError> for Moved {
    fn from(error: GrantError) -> Moved {
        Moved::Not(error)
    }
}
