//! Which file a name stands for, and in which state: to tell whether somebody else was there meanwhile.

use rustix::fs::Stat;

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
