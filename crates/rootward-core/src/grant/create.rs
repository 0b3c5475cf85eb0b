//! Creating a file that was not there.

use std::io::Write;

use rustix::fs::Mode;
use rustix::io::Errno;

use super::replace::Existing;
use super::{Absence, Grant, GrantError, Target};
use crate::access::Access;

/// What a new file gets, less what the user's mask takes away.
pub(super) const NEW_FILE: Mode = Mode::from_raw_mode(0o666);

impl Grant {
    /// Creates the file with these contents; fails if anything of that name exists, a link included.
    ///
    /// The file appears whole: the contents are written before it gets its name, so no other writer finds it half made. If they
    /// cannot be written, nothing is left behind; a root that is a single file may stay behind empty.
    pub fn create_new(&self, contents: &[u8]) -> Result<(), GrantError> {
        self.need(Access::WRITE)?;
        self.creatable()?;
        self.rewrite(NEW_FILE, Existing::Kept, |file| file.write_all(contents))
    }

    /// Whether a new file can stand here: nothing there, and no slash at the end.
    pub(super) fn creatable(&self) -> Result<(), GrantError> {
        match &self.target {
            Target::Object(_) => Err(self.failed(Errno::EXIST)),
            Target::Absent(Absence::NotFound) if self.rest.as_directory() => Err(self.failed(Errno::ISDIR)),
            Target::Absent(Absence::NotFound) => Ok(()),
            Target::Absent(absence) => Err(self.absent(*absence)),
        }
    }
}
