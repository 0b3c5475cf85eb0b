//! The servers' standard error: passed through unchanged. Its end is kept for the error that the client gets if the
//! server dies.
//!
//! A slow reader of standard error never blocks this process. While there is no room, servers are not read from and
//! wait, as they would without Rootward.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::middle::Middle;
use super::pipe::Read;
use super::process::Process;
use super::serving::{Serving, Source};
use crate::engine::ChildId;

/// How much is passed on at a time. A writable pipe accepts this much at once (`PIPE_BUF`, see pipe(7)).
const PART: usize = 4096;

/// How many reads drain the standard error of a server that has ended: as much as a pipe holds.
const MOST_LEFT: usize = (1 << 16) / PART;

impl<M: Middle> Serving<'_, M> {
    /// Adds the descriptors to poll.
    pub(super) fn watch_errors<'p>(&'p self, watched: &mut Vec<(Source, BorrowedFd<'p>, PollFlags)>) {
        for (number, process) in &self.processes {
            watched.extend(process.report().map(|report| (Source::Report(*number), report, PollFlags::IN)));
        }
        if self.errors_wait {
            return watched.push((Source::ErrorsWritable, rustix::stdio::stderr(), PollFlags::OUT));
        }
        let leaving = self.leaving.iter().map(|(number, process)| (number, process));
        for (number, process) in self.processes.iter().chain(leaving) {
            let errors = process.errors.as_ref().map(AsFd::as_fd);
            watched.extend(errors.map(|errors| (Source::Errors(*number), errors, PollFlags::IN)));
        }
    }

    /// Passes on some of a server's standard error.
    pub(super) fn pass_errors_on(&mut self, number: ChildId) {
        if !has_room() {
            self.errors_wait = true;
            return;
        }
        let leaving = self.leaving.iter_mut().find(|(leaving, _)| *leaving == number).map(|(_, process)| process);
        let Some(process) = self.processes.get_mut(&number).or(leaving) else { return };
        pass_on(process);
    }
}

/// Reads the remaining standard error of a server that has ended.
pub(super) fn drain_errors(process: &mut Process) {
    for _ in 0..MOST_LEFT {
        if !has_room() || !matches!(pass_on(process), Read::Some(_)) {
            break;
        }
    }
}

fn pass_on(process: &mut Process) -> Read {
    let mut part = Vec::with_capacity(PART);
    let read = process.read_errors(&mut part);
    // If standard error is closed, there is nobody to report to.
    let _ = rustix::io::write(rustix::stdio::stderr(), &part);
    read
}

/// Whether a write to standard error would not block, or would fail.
fn has_room() -> bool {
    let mut polled = [PollFd::from_borrowed_fd(rustix::stdio::stderr(), PollFlags::OUT)];
    poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}
