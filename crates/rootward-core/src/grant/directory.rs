//! Creating directories.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::moves::nothing_moves;
use super::{Absence, Grant, GrantError, Target};
use crate::access::Access;
use crate::denial::{Cause, Code};
use crate::os;
use crate::root::RootKind;
use crate::tree::components;

impl Grant {
    /// Creates the directory; its parent must exist.
    pub fn create_directory(&self) -> Result<(), GrantError> {
        self.need(Access::WRITE)?;
        self.not_a_file_root()?;
        match &self.target {
            Target::Object(_) => return Err(self.failed(Errno::EXIST)),
            Target::Absent(Absence::NotADirectory) => return Err(self.failed(Errno::NOTDIR)),
            Target::Absent(Absence::NotFound) => {}
        }
        let _still = nothing_moves();
        let (parent, name) = self.parent()?;
        os::make_directory(&parent, name).map_err(|error| self.failed(error))
    }

    /// Creates the directory and its missing parents. Succeeds if it already exists.
    pub fn create_directory_all(&self) -> Result<(), GrantError> {
        self.need(Access::WRITE)?;
        self.not_a_file_root()?;
        match &self.target {
            Target::Object(handle) => {
                let status = os::status(handle).map_err(|error| self.failed(error))?;
                let is_directory = os::type_of(&status).is_dir();
                return if is_directory { Ok(()) } else { Err(self.failed(Errno::EXIST)) };
            }
            Target::Absent(Absence::NotADirectory) => return Err(self.failed(Errno::NOTDIR)),
            Target::Absent(Absence::NotFound) => {}
        }
        let _still = nothing_moves();
        let names = self.rest.as_bytes();
        let root = self.root_handle()?;
        let mut here = self.guard.open_directory(&root, b"").map_err(|error| self.reopening(error))?;
        for (name, behind) in components(names) {
            // A link of that name is refused here, no matter who put it there.
            let step = |here: &OwnedFd| os::open_child(here.as_fd(), name, os::PIN.union(OFlags::DIRECTORY));
            here = match step(&here) {
                Err(Errno::NOENT) => {
                    let verdict = self.guard.permits(self.root, &names[..behind], Access::WRITE);
                    verdict.map_err(|(code, cause)| self.refused(code, cause))?;
                    match os::make_directory(&here, name) {
                        Ok(()) | Err(Errno::EXIST) => step(&here).map_err(|error| self.failed(error))?,
                        Err(error) => return Err(self.failed(error)),
                    }
                }
                next => next.map_err(|error| self.failed(error))?,
            };
        }
        Ok(())
    }

    fn not_a_file_root(&self) -> Result<(), GrantError> {
        match self.root().kind {
            RootKind::Directory => Ok(()),
            RootKind::File => Err(self.refused(Code::AccessDenied, Cause::RootItself)),
        }
    }
}
