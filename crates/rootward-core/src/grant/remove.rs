//! Removing a file, a link or an empty directory.

use std::os::fd::AsFd;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::{Grant, GrantError, Version};
use crate::access::Access;
use crate::denial::{Cause, Code};
use crate::os;

impl Grant {
    /// Removes the entry. A root itself cannot be removed.
    pub fn remove(&self) -> Result<(), GrantError> {
        self.need(Access::DELETE)?;
        self.not_a_root()?;
        let status = os::status(self.object()?).map_err(|error| self.failed(error))?;
        let _turn = self.turn();
        let (parent, name) = self.parent()?;
        let removed = match os::type_of(&status) {
            FileType::Directory => os::remove_directory(&parent, name),
            _ if self.rest.as_directory() => Err(Errno::NOTDIR),
            _ => os::remove_file(&parent, name),
        };
        removed.map_err(|error| self.failed(error))
    }

    /// Removes the file if it is still the one that was read.
    pub(super) fn remove_version(&self, version: Version) -> Result<(), GrantError> {
        let _turn = self.turn();
        let (parent, name) = self.parent()?;
        let found = os::status_of_child(parent.as_fd(), name).map_err(|error| self.failed(error))?;
        self.expect(version, &found)?;
        os::remove_file(&parent, name).map_err(|error| self.failed(error))
    }

    pub(super) fn not_a_root(&self) -> Result<(), GrantError> {
        // SECURITY: neither a root itself nor a link that names one can be removed or renamed
        // (test: guard_passes_the_escape_corpus, a_peer_cannot_move_a_root_by_moving_the_link_that_names_it)
        if self.rest.is_root() || self.guard.0.tree.names_a_root(self.root, self.rest.as_bytes()) {
            return Err(self.refused(Code::AccessDenied, Cause::RootItself));
        }
        Ok(())
    }
}
