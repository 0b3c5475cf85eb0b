//! Adding to the end of a file.

use std::fs::File;
use std::io::{ErrorKind, Write};

use rustix::fs::OFlags;

use super::{Grant, GrantError, Target};
use crate::access::Access;
use crate::os;

impl Grant {
    /// Adds `contents` to the end of the file, or creates it.
    pub fn append(&self, contents: &[u8]) -> Result<(), GrantError> {
        self.need(Access::WRITE)?;
        let made;
        let pinned = match &self.target {
            Target::Object(pinned) => pinned,
            Target::Absent(_) => match self.create_new(contents) {
                // Somebody was first: both are added to the same file.
                Err(error) if error.io_kind() == Some(ErrorKind::AlreadyExists) => {
                    made = self.reopen(os::PIN)?;
                    &made
                }
                created => return created,
            },
        };
        // Looked at before it is opened: opening a device may already do something.
        self.regular(pinned)?;
        let handle = self.reopen(os::WRITE.union(OFlags::APPEND))?;
        self.regular(&handle)?;
        File::from(handle).write_all(contents).map_err(|source| self.failed_with(source))
    }
}
