//! Making directories.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::{Absence, Grant, GrantError, Target};
use crate::access::Access;
use crate::denial::Denial;
use crate::os;
use crate::tree::components;

impl Grant {
    /// Makes the directory; its parent must be there.
    pub fn create_directory(&self) -> Result<(), GrantError> {
        self.need(Access::WRITE)?;
        if self.exists() {
            return Err(self.failed(Errno::EXIST));
        }
        let (parent, name) = self.parent()?;
        os::make_directory(&parent, name).map_err(|error| self.failed(error))
    }

    /// Makes the directory and those above it that are missing; one that is there already is fine.
    pub fn create_directory_all(&self) -> Result<(), GrantError> {
        self.need(Access::WRITE)?;
        let (directory, position) = match &self.target {
            Target::Object(handle) => {
                let status = os::status(handle).map_err(|error| self.failed(error))?;
                let is_directory = os::type_of(&status).is_dir();
                return if is_directory { Ok(()) } else { Err(self.failed(Errno::EXIST)) };
            }
            Target::Absent { absence: Absence::NotADirectory, .. } => return Err(self.failed(Errno::NOTDIR)),
            Target::Absent { directory, position, .. } => (directory, *position),
        };
        let names = self.rest.as_bytes();
        let mut here: Arc<OwnedFd> = Arc::clone(directory);
        for (name, behind) in components(&names[position..]) {
            let place = &names[..position + behind];
            self.guard
                .permits(self.root, place, Access::WRITE)
                .map_err(|(code, cause)| Denial::new(code, self.path(), Access::WRITE).because(cause))?;
            match os::make_directory(&here, name) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(self.failed(error)),
            }
            // A link of that name is refused here, whoever put it there.
            let flags = os::PIN.union(OFlags::DIRECTORY);
            here = Arc::new(os::open_child(here.as_fd(), name, flags).map_err(|error| self.failed(error))?);
        }
        Ok(())
    }
}
