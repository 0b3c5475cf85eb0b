//! What the command may read about itself in `/proc`.
//!
//! Landlock identifies a place by its inode and cannot express "the caller's own". So the process that becomes the
//! command opens these files itself. Its descendants have other files, which stay closed unless the supervisor opens
//! them (`broker/own.rs`). Without `maps`, V8 copies its built-in code instead of mapping it, which costs a millisecond
//! at every start of Node.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags, openat};

/// Its mappings and its memory use; not its environment, open files, mounts or network.
pub(super) const FILES: [&CStr; 4] =
    [c"/proc/self/maps", c"/proc/self/stat", c"/proc/self/statm", c"/proc/self/status"];

/// Handles of this process's own files; empty without `/proc`. They must stay open while the command runs: the kernel
/// creates a new inode for a file that nobody holds, and no rule matches that one.
#[expect(clippy::disallowed_methods, reason = "fixed names, opened for nothing")]
pub(super) fn open() -> Vec<OwnedFd> {
    let open = |name| openat(CWD, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    FILES.into_iter().filter_map(|name| open(name).ok()).collect()
}

/// Whether a path is one of these, as programs spell them.
pub(crate) fn is_own(path: &[u8]) -> bool {
    FILES.iter().any(|name| name.to_bytes() == path)
}
