//! A program that exchanges lines over its standard streams. Its standard error is kept for error messages.

use std::process::Command;

use anyhow::{Result, ensure};
use rootward_testkit::client::{Line, Process};

use crate::scratch;

/// Starts a program. Dropping it kills it.
pub fn start(mut command: Command) -> Result<Process> {
    let errors = scratch::file()?;
    Ok(Process::start(command.stderr(errors.try_clone()?))?.with_errors(errors))
}

/// Closes the program's input. The program must then exit with one of these codes.
pub fn end(process: &mut Process, codes: &[i32]) -> Result<()> {
    process.close()?;
    let status = process.child.wait()?;
    let well = status.code().is_some_and(|code| codes.contains(&code));
    ensure!(well, "the program ended with {status}: {}", process.complaint());
    Ok(())
}
