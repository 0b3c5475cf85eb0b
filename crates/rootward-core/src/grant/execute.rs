//! Opening a program to run, or the directory to run one in.

use std::os::fd::OwnedFd;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::{Grant, GrantError};
use crate::access::Access;
use crate::os;

impl Grant {
    /// A handle of the program, for `execveat(2)` or `/proc/self/fd`. Running the handle runs the file that was decided
    /// on.
    pub fn open_executable(&self) -> Result<OwnedFd, GrantError> {
        self.need(Access::EXECUTE)?;
        self.object()?;
        let handle = self.reopen(os::PIN)?;
        let status = self.regular(&handle)?;
        if status.st_mode & 0o111 == 0 {
            return Err(self.failed(Errno::ACCESS));
        }
        Ok(handle)
    }

    /// A handle of the directory, for a command that starts there but runs nothing from it.
    pub fn open_directory(&self) -> Result<OwnedFd, GrantError> {
        self.need(Access::READ)?;
        self.object()?;
        self.reopen(os::PIN.union(OFlags::DIRECTORY))
    }

    /// A handle of the directory, for `fchdir(2)`. A command that starts there starts in the directory that was decided
    /// on.
    pub fn open_working_directory(&self) -> Result<OwnedFd, GrantError> {
        self.need(Access::EXECUTE)?;
        self.object()?;
        self.reopen(os::PIN.union(OFlags::DIRECTORY))
    }
}
