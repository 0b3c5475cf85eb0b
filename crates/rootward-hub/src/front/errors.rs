//! What servers say on standard error: passed on as it is, and its end kept for the error that a client gets if the server dies.
//!
//! Nobody waits here for a reader of standard error: no server is read from while there is no room, and then the server waits, as it would
//! have without Rootward.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::middle::Middle;
use super::pipe::Read;
use super::process::Process;
use super::serving::{Serving, Source};
use crate::engine::ChildId;

/// How much is passed on at a time. A pipe that has room takes this much at once (`PIPE_BUF`, see pipe(7)).
const PART: usize = 4096;

/// How much is read at the most of what a server has left behind: as much as a pipe holds.
const MOST_LEFT: usize = (1 << 16) / PART;

impl<M: Middle> Serving<'_, M> {
    /// Adds what is waited for.
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

    /// Passes on a part of what a server says.
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

/// Reads what a server that has ended has left behind.
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
    // Where nobody listens any more there is nobody to tell.
    let _ = rustix::io::write(rustix::stdio::stderr(), &part);
    read
}

/// Whether standard error takes a part without waiting, or takes nothing any more.
fn has_room() -> bool {
    let mut polled = [PollFd::from_borrowed_fd(rustix::stdio::stderr(), PollFlags::OUT)];
    poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}
