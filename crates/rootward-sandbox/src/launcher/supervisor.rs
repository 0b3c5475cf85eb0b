//! The supervisor: makes the calls that the filter sends, passes signals on, and ends everything when the command or
//! the host ends.

use std::io::{IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, recvmsg, send};
use rustix::process::{Pid, WaitOptions, WaitStatus, wait};

use super::ending::Realm;
use super::removal;
use super::seal::HANDED_OVER;
use super::waiting::{PASSED, received};
use super::{FAILED, Failure};
use crate::broker::{Answer, Broker, Given};
use crate::error::Step;
use crate::orders::{LauncherReport, Orders, text};
use crate::sys;

/// The signals that the supervisor handles, including the end of children.
pub(super) const SIGNALS: [i32; 7] = [libc::SIGCHLD, PASSED[0], PASSED[1], PASSED[2], PASSED[3], PASSED[4], PASSED[5]];

/// The pipe to the host.
#[derive(Debug)]
pub(super) struct Report(std::fs::File);

impl Report {
    pub(super) fn new(descriptor: OwnedFd) -> Report {
        Report(descriptor.into())
    }

    pub(super) fn failed(&mut self, step: Step, reason: String) {
        self.tell(&LauncherReport::Failed { step, reason });
    }

    fn tell(&mut self, told: &LauncherReport) {
        // If the host is gone, the lifeline shows it.
        if let Ok(mut line) = serde_json::to_vec(told) {
            line.push(b'\n');
            let _ = self.0.write_all(&line);
        }
    }
}

/// What the supervisor watches.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) child: Pid,
    pub(super) socket: OwnedFd,
    pub(super) signals: OwnedFd,
    pub(super) lifeline: OwnedFd,
}

/// Reports that the copy failed to become the command.
pub(super) fn tell_failure(socket: &OwnedFd, failure: Failure) {
    let told = LauncherReport::Failed { step: failure.step, reason: failure.reason };
    if let Ok(line) = serde_json::to_vec(&told) {
        let _ = send(socket, &line, SendFlags::NOSIGNAL);
    }
}

/// The progress of the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Start {
    /// The copy is still confining itself.
    UnderWay,
    /// The command runs.
    Done,
    /// The command could not be run.
    Failed,
}

/// Watches until the command or the host ends, then ends everything; returns the exit code.
pub(super) fn supervise(
    orders: &Orders,
    handles: Vec<OwnedFd>,
    watched: &Watched,
    realm: &Realm,
    report: &mut Report,
) -> i32 {
    let given = Given::standard_three();
    let_go_of_the_standard_three();
    // Created on the first call: most commands never need it, and their start is faster without it.
    let mut asked_for: Option<Broker> = None;
    let mut handles = Some(handles);
    let mut listener: Option<OwnedFd> = None;
    // The command's own files in `/proc`, held open for it.
    let mut own = Vec::new();
    let mut start = Start::UnderWay;
    let code = loop {
        let mut waited = vec![
            PollFd::from_borrowed_fd(watched.signals.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(watched.lifeline.as_fd(), PollFlags::IN),
        ];
        if start == Start::UnderWay {
            waited.push(PollFd::from_borrowed_fd(watched.socket.as_fd(), PollFlags::IN));
        }
        let asked = listener.as_ref().map(|listener| {
            waited.push(PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN));
            waited.len() - 1
        });
        let first_waiting = waited.len();
        // Without a listener no caller is left.
        let broker = asked_for.as_ref().filter(|_| asked.is_some());
        if let Some(broker) = broker {
            waited.extend(broker.waited_for().map(|socket| PollFd::from_borrowed_fd(socket, PollFlags::OUT)));
        }
        let sleep = broker.and_then(Broker::sleep).and_then(|sleep| Timespec::try_from(sleep).ok());
        if poll(&mut waited, sleep.as_ref()).is_err_and(|error| error != Errno::INTR) {
            break FAILED;
        }
        let ready: Vec<PollFlags> = waited.iter().map(PollFd::revents).collect();
        // Nothing is sent over the lifeline: any event means that the host is gone.
        // SECURITY: the command must not outlive the process responsible for it
        // (test: killing_the_host_ends_all_and_nothing_else)
        if !ready[1].is_empty() {
            break 128 + libc::SIGKILL;
        }
        if let (Some(listener), Some(broker)) = (&listener, &mut asked_for) {
            broker.go_on(listener.as_fd(), &ready[first_waiting..]);
        }
        let mut unfiltered = false;
        if let (Some(listener), Some(index)) = (&listener, asked) {
            if ready[index].contains(PollFlags::IN) {
                if let Ok(Some(notification)) = sys::receive(listener.as_fd()) {
                    let broker = asked_for.get_or_insert_with(|| {
                        Broker::new(orders, handles.take().unwrap_or_default(), &given, watched.child)
                    });
                    if let Answer::Now(reply) = broker.answer(listener.as_fd(), &notification) {
                        sys::reply(listener.as_fd(), notification.id, reply);
                    }
                }
            } else {
                // No process with the filter is left.
                unfiltered = !ready[index].is_empty();
            }
        }
        if start == Start::UnderWay && !ready[2].is_empty() {
            start = go_on(watched, &mut listener, &mut own, report);
        }
        if let (Start::Done, Some(broker)) = (start, &mut asked_for) {
            for refused in broker.take_refused() {
                report.tell(&refused);
            }
        }
        if unfiltered {
            listener = None;
        }
        if !ready[0].is_empty()
            && let Some(code) = signalled(watched)
        {
            // A short command may have ended before its start was reported.
            while start == Start::UnderWay {
                start = go_on(watched, &mut listener, &mut own, report);
            }
            break code;
        }
    };
    // Callers that still wait get no answer: they are killed.
    drop(listener);
    realm.end();
    if start != Start::Failed {
        removal::remove(Path::new(&text(&orders.private)));
    }
    code
}

/// Handles the next message of the copy.
fn go_on(watched: &Watched, listener: &mut Option<OwnedFd>, own: &mut Vec<OwnedFd>, report: &mut Report) -> Start {
    match heard(&watched.socket) {
        Heard::Listener(end, held) => {
            *listener = Some(end);
            *own = held;
            Start::UnderWay
        }
        Heard::Failed(told) => {
            report.tell(&told);
            Start::Failed
        }
        // The exec has closed the other end: the command runs.
        Heard::End if listener.is_some() => {
            report.tell(&LauncherReport::Confined { process: watched.child.as_raw_pid() });
            Start::Done
        }
        Heard::End => {
            report.failed(Step::Execute, "the process ended before it became the command".to_owned());
            Start::Failed
        }
    }
}

/// Handles pending signals; returns the exit code if the command has ended.
fn signalled(watched: &Watched) -> Option<i32> {
    let mut code = None;
    while let Some(received) = received(&watched.signals) {
        if received.number == libc::SIGCHLD {
            code = code.or_else(|| ended(watched.child));
        } else if !received.from_terminal {
            // The command already got signals from the terminal.
            let _ = sys::signal(watched.child, received.number);
        }
    }
    code
}

/// Reaps all ended children; returns the exit code if the command is among them.
pub(super) fn ended(child: Pid) -> Option<i32> {
    let mut code = None;
    while let Ok(Some((process, status))) = wait(WaitOptions::NOHANG) {
        if process == child {
            code = Some(code_of(status));
        }
    }
    code
}

fn code_of(status: WaitStatus) -> i32 {
    status.exit_status().unwrap_or_else(|| 128 + status.terminating_signal().unwrap_or(0))
}

/// A message on the socket.
enum Heard {
    /// The descriptor on which the kernel asks about calls, and the descriptors to hold.
    Listener(OwnedFd, Vec<OwnedFd>),
    Failed(LauncherReport),
    End,
}

fn heard(socket: &OwnedFd) -> Heard {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(HANDED_OVER))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut line = [0; 4096];
    let received = recvmsg(socket, &mut [IoSliceMut::new(&mut line)], &mut control, RecvFlags::CMSG_CLOEXEC);
    let length = received.map_or(0, |received| received.bytes);
    let passed = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => Some((descriptors.next()?, descriptors.collect())),
        _ => None,
    });
    match passed {
        Some((listener, own)) => Heard::Listener(listener, own),
        None if length == 0 => Heard::End,
        None => serde_json::from_slice(&line[..length]).map_or(Heard::End, Heard::Failed),
    }
}

/// Releases standard input, output and error, which belong to the command: if they stayed open here, they would not
/// close when the command closes them.
#[expect(clippy::disallowed_methods, reason = "a fixed name")]
pub(super) fn let_go_of_the_standard_three() {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    if let Ok(null) = openat(CWD, c"/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}
