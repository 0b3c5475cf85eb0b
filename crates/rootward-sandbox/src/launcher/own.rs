//! What the command may read about itself in `/proc`.
//!
//! Landlock knows a place by its inode and has no word for "one's own". So the process that becomes the command opens these files
//! itself. Its descendants have others, which stay closed unless the supervisor opens them (`broker/own.rs`). Whoever cannot read `maps`
//! pays for it: V8 then copies its built-in code where it would map it, which is a millisecond of every start of Node.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags, openat};

/// What it is made of and how much memory it takes; neither the environment nor open files, mounts or the network.
pub(super) const FILES: [&CStr; 4] =
    [c"/proc/self/maps", c"/proc/self/stat", c"/proc/self/statm", c"/proc/self/status"];

/// Handles of this process's own files. Without `/proc` there are none. They must be held for as long as the command runs: the
/// kernel makes a new inode of a file that nobody holds, and no rule knows that one.
#[expect(clippy::disallowed_methods, reason = "fixed names, opened for nothing")]
pub(super) fn open() -> Vec<OwnedFd> {
    let open = |name| openat(CWD, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    FILES.into_iter().filter_map(|name| open(name).ok()).collect()
}

/// Whether a path is one of these, as programs spell them.
pub(crate) fn is_own(path: &[u8]) -> bool {
    FILES.iter().any(|name| name.to_bytes() == path)
}
