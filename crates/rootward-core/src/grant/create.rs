//! Creating a file that was not there.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;

use rustix::fs::Mode;
use rustix::io::Errno;

use super::moves::nothing_moves;
use super::{Absence, Grant, GrantError, Target};
use crate::access::Access;
use crate::os;

/// What a new file gets, less what the user's mask takes away.
pub(super) const NEW_FILE: Mode = Mode::from_raw_mode(0o666);

impl Grant {
    /// Creates the file with these contents; fails if anything of that name exists, a link included.
    ///
    /// If the contents cannot be written whole, nothing is left behind.
    pub fn create_new(&self, contents: &[u8]) -> Result<(), GrantError> {
        self.need(Access::WRITE)?;
        self.creatable()?;
        let (mut file, parent) = {
            // SECURITY: the parent is where its place says, and stays there until the name is made
            // (test: a_grant_older_than_a_move_creates_nothing_in_a_closed_place)
            let _still = nothing_moves();
            let (parent, name) = self.parent()?;
            let handle = os::create_child(parent.as_fd(), name, NEW_FILE).map_err(|error| self.failed(error))?;
            (File::from(handle), (parent, name))
        };
        file.write_all(contents).map_err(|source| {
            let (parent, name) = parent;
            let _ = os::remove_file(&parent, name);
            self.failed_with(source)
        })
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
