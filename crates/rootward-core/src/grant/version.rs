//! Identifies a file and its state, to detect that somebody else changed it.

use rustix::fs::Stat;

use super::{Grant, GrantError, Target};
use crate::access::Access;
use crate::os;

/// A file in one state. It changes if another file takes the name, or if the contents or permissions change. Precision
/// is limited by the file system's clock: of two changes within one tick, the second is only seen if it changes the
/// size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Version {
    device: u64,
    inode: u64,
    size: i64,
    /// The change time, which nobody can set (`stat(2)`: `st_ctime`).
    changed: (i64, i64),
}

impl Grant {
    /// The state of the object, file or directory, when the path was decided; `None` if there was no object. Needs read
    /// access.
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
