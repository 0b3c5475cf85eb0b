//! The keeper: a copy of its host that starts an unconfined command and makes sure that nothing of it outlives the host
//! or the command.
//!
//! For a confined command, the supervisor does this for security. Here it is a convenience: an editor that is killed
//! leaves no servers behind, nor anything they started, even in another session.

use std::fmt::Display;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, kill_process_group, set_child_subreaper};

use super::FAILED;
use super::ending::Realm;
use super::supervisor::{SIGNALS, ended, let_go_of_the_standard_three};
use super::waiting::received;
use crate::confinement::CommandLine;
use crate::{kept, sys};

/// Keeps a command until it or the host ends; returns the exit code. It reports the command's process id, or the error
/// number if the command cannot be started.
pub(crate) fn keep(line: &CommandLine, program: &Path, lifeline: RawFd, report: RawFd) -> i32 {
    sys::ignore_broken_pipes();
    // If it stayed open here, another server's input would never close.
    let taken = sys::close_all_but(&[lifeline, report]).and_then(|()| Ok((sys::take(lifeline)?, sys::take(report)?)));
    let Ok((lifeline, report)) = taken else { return FAILED };
    // Descendants whose parents end become children of this process, even if they detached.
    let _ = set_child_subreaper(Some(getpid()));
    let Ok(signals) = sys::signals(&SIGNALS) else { return FAILED };
    let mut command = Command::new(program);
    command.arg0(&line.program).args(&line.arguments).envs(line.variables.iter().map(|(name, value)| (name, value)));
    // In its own process group, so that it gets the terminal's signals only once, through the host.
    match sys::tie(command.process_group(0)).spawn() {
        Ok(child) => {
            tell(report, kept::RUNS, child.id());
            let child = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            let code = child.map_or(FAILED, |child| watch(child, &signals, &lifeline));
            Realm::LookedUp.end();
            code
        }
        Err(error) => {
            let number = error.raw_os_error().unwrap_or(libc::EINVAL);
            tell(report, kept::FAILED, number);
            FAILED
        }
    }
}

/// Reports to the host, once.
fn tell(report: OwnedFd, what: &str, number: impl Display) {
    // If the host is gone, the lifeline shows it.
    let _ = std::fs::File::from(report).write_all(format!("{what}{number}").as_bytes());
}

/// Passes signals on until the command or the host ends; returns the exit code.
fn watch(child: Pid, signals: &OwnedFd, lifeline: &OwnedFd) -> i32 {
    let_go_of_the_standard_three();
    loop {
        let mut waited = [signals, lifeline].map(|end| PollFd::from_borrowed_fd(end.as_fd(), PollFlags::IN));
        if poll(&mut waited, None).is_err_and(|error| error != Errno::INTR) {
            return FAILED;
        }
        // Nothing is sent over the lifeline: any event means that the host is gone.
        if !waited[1].revents().is_empty() {
            return 128 + libc::SIGKILL;
        }
        while let Some(received) = received(signals) {
            if received.number == libc::SIGCHLD {
                if let Some(code) = ended(child) {
                    return code;
                }
            } else if let Some(signal) = Signal::from_named_raw(received.number) {
                let _ = kill_process_group(child, signal);
            }
        }
    }
}
