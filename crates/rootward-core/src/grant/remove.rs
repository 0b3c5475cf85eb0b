//! Removing a file, a link or an empty directory.

use rustix::fs::{AtFlags, unlinkat};
use rustix::io::Errno;

use super::{Grant, GrantError};
use crate::access::Access;
use crate::denial::{Cause, Code};
use crate::os;

impl Grant {
    /// Removes the entry. A root itself is never removed.
    pub fn remove(&self) -> Result<(), GrantError> {
        self.need(Access::DELETE)?;
        self.not_a_root()?;
        let status = os::status(self.object()?).map_err(|error| self.failed(error))?;
        let flags = match os::type_of(&status) {
            kind if kind.is_dir() => AtFlags::REMOVEDIR,
            _ if self.rest.as_directory() => return Err(self.failed(Errno::NOTDIR)),
            _ => AtFlags::empty(),
        };
        let (parent, name) = self.parent()?;
        unlinkat(&parent, name, flags).map_err(|error| self.failed(error))
    }

    /// SECURITY: the root itself is neither removed nor renamed (test: guard_passes_the_escape_corpus)
    pub(super) fn not_a_root(&self) -> Result<(), GrantError> {
        if self.rest.is_root() {
            return Err(self.refused(Code::AccessDenied, Cause::RootItself));
        }
        Ok(())
    }
}
