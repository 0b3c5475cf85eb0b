//! Appending to a file.

use std::fs::File;
use std::io::{self, ErrorKind, Write};

use rustix::fs::OFlags;

use super::between::{self, Moment};
use super::replace::make_room;
use super::{Grant, GrantError, Target};
use crate::access::Access;
use crate::os;

impl Grant {
    /// Appends `contents` to the file, or creates it. If the disk is full, the file stays unchanged if the file system
    /// can reserve space in advance; if a part was written anyway, the error kind is [`ErrorKind::WriteZero`].
    pub fn append(&self, contents: &[u8]) -> Result<(), GrantError> {
        self.need(Access::WRITE)?;
        if !self.exists() {
            match self.create_new(contents) {
                // Somebody else created it first: append to that file.
                Err(error) if error.io_kind() == Some(ErrorKind::AlreadyExists) => {}
                created => return created,
            }
        }
        // SECURITY: a replacement between opening and writing would take the name, and the appended bytes would be lost
        // (test: an_append_is_not_lost_to_an_edit)
        let _turn = self.turn();
        let made;
        let pinned = match &self.target {
            Target::Object(pinned) => pinned,
            Target::Absent(_) => {
                made = self.reopen(os::PIN)?;
                &made
            }
        };
        // Check before opening: opening a device may already have an effect.
        self.regular(pinned)?;
        let handle = self.reopen(os::WRITE.union(OFlags::APPEND))?;
        let found = self.regular(&handle)?;
        between::reached(Moment::OpenedToAppend);
        let size = u64::try_from(found.st_size).unwrap_or_default();
        make_room(&handle, size, contents.len() as u64).map_err(|error| self.failed(error))?;
        add(&mut File::from(handle), contents).map_err(|source| self.failed_with(source))
    }
}

fn add(file: &mut File, contents: &[u8]) -> io::Result<()> {
    let mut left = contents;
    while !left.is_empty() {
        match file.write(left) {
            Ok(written @ 1..) => left = left.get(written..).unwrap_or_default(),
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if left.len() < contents.len() => {
                return Err(io::Error::new(ErrorKind::WriteZero, error));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
