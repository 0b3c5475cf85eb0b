//! Which file a name stands for, and in which state: to tell whether somebody else was there meanwhile.

use rustix::fs::Stat;

use super::{Grant, GrantError, Target};
use crate::access::Access;
use crate::os;

/// A file in one state. Another file under the same name has another, and so has the same file once its contents or its
/// permissions were changed, as finely as the file system keeps time: of two changes within one tick of its clock, the second is
/// seen only where it changes the size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Version {
    device: u64,
    inode: u64,
    size: i64,
    /// The time that nobody can set (`stat(2)`: `st_ctime`).
    changed: (i64, i64),
}

impl Grant {
    /// The state of the object when the path was decided, a directory's as well; none where there was no object. Needs read access.
    pub fn version(&self) -> Result<Option<Version>, GrantError> {
        self.need(Access::READ)?;
        match &self.target {
            Target::Object(handle) => {
                let status = os::status(handle).map_err(|error| self.failed(error))?;
                Ok(Some(Version::of(&status)))
            }
            Target::Absent(_) => Ok(None),
        }
    }
}

impl Version {
    pub(super) fn of(status: &Stat) -> Version {
        Version {
            device: status.st_dev,
            inode: status.st_ino,
            size: status.st_size,
            changed: (status.st_ctime, status.st_ctime_nsec.cast_signed()),
        }
    }
}
