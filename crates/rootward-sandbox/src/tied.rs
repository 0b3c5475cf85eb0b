//! A command that nothing confines, tied to this process all the same: it ends with it, and so does its process group.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use crate::sys;

/// Starts a command in a process group of its own. It is killed when the thread that calls this ends.
pub fn spawn_tied(command: &mut Command) -> io::Result<Child> {
    sys::tie(command.process_group(0)).spawn()
}
