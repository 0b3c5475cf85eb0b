//! Opening a program to be run.

use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::{Grant, GrantError};
use crate::access::Access;
use crate::os;

impl Grant {
    /// A handle of the program, for `execveat(2)` or `/proc/self/fd`: whoever runs the handle runs what was decided on.
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
}
