//! Creating a new file.

use std::io::Write;

use rustix::fs::Mode;
use rustix::io::Errno;

use super::replace::Existing;
use super::{Absence, Grant, GrantError, Target};
use crate::access::Access;

/// The mode of a new file, before the umask.
pub(super) const NEW_FILE: Mode = Mode::from_raw_mode(0o666);

impl Grant {
    /// Creates the file with these contents. Fails if the name exists, even as a link.
    ///
    /// The file appears complete: the contents are written before it gets its name, so no other writer finds a partial
    /// file. If writing fails, nothing is left behind, except that a root that is a single file may stay behind empty.
    pub fn create_new(&self, contents: &[u8]) -> Result<(), GrantError> {
        self.need(Access::WRITE)?;
        self.creatable()?;
        self.rewrite(NEW_FILE, Existing::Kept, |file| file.write_all(contents))
    }

    /// Checks that a new file can be created here: nothing exists, and the path has no trailing slash.
    pub(super) fn creatable(&self) -> Result<(), GrantError> {
        match &self.target {
            Target::Object(_) => Err(self.failed(Errno::EXIST)),
            Target::Absent(Absence::NotFound) if self.rest.as_directory() => Err(self.failed(Errno::ISDIR)),
            Target::Absent(Absence::NotFound) => Ok(()),
            Target::Absent(absence) => Err(self.absent(*absence)),
        }
    }
}
