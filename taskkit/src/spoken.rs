//! A program that is spoken to line by line over its standard streams; what it writes to its standard error is kept for complaints.

use std::process::Command;

use anyhow::{Result, ensure};
use rootward_testkit::client::{Line, Process};

use crate::scratch;

/// Starts a program. It is killed where it is dropped before its end.
pub fn start(mut command: Command) -> Result<Process> {
    let errors = scratch::file()?;
    Ok(Process::start(command.stderr(errors.try_clone()?))?.with_errors(errors))
}

/// Closes its input; it must end by itself, with one of these codes.
pub fn end(process: &mut Process, codes: &[i32]) -> Result<()> {
    process.close()?;
    let status = process.child.wait()?;
    let well = status.code().is_some_and(|code| codes.contains(&code));
    ensure!(well, "it ended with {status}: {}", process.complaint());
    Ok(())
}
