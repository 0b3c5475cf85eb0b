//! A command that is not confined but still ends with this process, and so does everything it started.

use std::io::{self, BufReader, Read};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::pipe::{PipeFlags, pipe_with};

use crate::confinement::CommandLine;
use crate::enforcement::Enforcement;
use crate::error::StartError;
use crate::launch::Lifeline;
use crate::profile::Program;
use crate::{launcher, sys};

/// The keeper's report if the command runs; the process id follows.
pub(crate) const RUNS: &str = "runs ";
/// The keeper's report if it does not; the error number follows.
pub(crate) const FAILED: &str = "failed ";

/// Starts a command with pipes for its input and output. The child process passes signals on and exits with the
/// command's code. When the lifeline is dropped, or this process ends, the command and all its descendants are killed.
///
/// For a program with one thread. The command inherits the environment and, unless the line names one, the working
/// directory; `errors` is its standard error.
pub fn spawn_kept(line: &CommandLine, errors: Stdio) -> Result<(Child, Lifeline), StartError> {
    let prepare = |error: rustix::io::Errno| StartError::Prepare(error.into());
    let (end_of_keeper, held) = pipe_with(PipeFlags::CLOEXEC).map_err(prepare)?;
    let (report, told_by_keeper) = pipe_with(PipeFlags::CLOEXEC).map_err(prepare)?;
    // Relative to the current directory, where the user typed it, not to where the command starts.
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let program = Program::find_ambient(&line.program, std::env::var_os("PATH").as_deref(), &here)?;
    let mut command = Command::new(program.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
    if let Some(directory) = &line.directory {
        command.current_dir(directory);
    }
    let (lifeline, told, line) = (end_of_keeper.as_raw_fd(), told_by_keeper.as_raw_fd(), line.clone());
    let copy = sys::spawn_copy(&mut command, move || launcher::keep(&line, program.path(), lifeline, told));
    let threads = || StartError::Prepare(io::Error::other("this process has other threads"));
    let mut child = copy.ok_or_else(threads)?.map_err(StartError::Spawn)?;
    drop((end_of_keeper, told_by_keeper));
    let mut report = BufReader::new(std::fs::File::from(report));
    let mut told = String::new();
    report.read_to_string(&mut told).map_err(StartError::Prepare)?;
    if let Some(number) = told.strip_prefix(FAILED).and_then(|number| number.parse().ok()) {
        let _ = child.wait();
        return Err(StartError::Spawn(io::Error::from_raw_os_error(number)));
    }
    let process = told.strip_prefix(RUNS).and_then(|process| process.parse().ok());
    Ok((child, Lifeline::of(Enforcement::off(), process, held, report)))
}
