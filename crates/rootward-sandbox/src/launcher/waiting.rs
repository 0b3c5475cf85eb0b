//! Waits in the host: signals from a terminal or a user reach the command.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Child;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::Pid;

use crate::sys;

/// The signals that are passed on.
pub(super) const PASSED: [i32; 6] =
    [libc::SIGTERM, libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGUSR1, libc::SIGUSR2];

/// A signal, and whether the kernel sent it to the whole group, as a terminal does.
pub(super) struct Received {
    pub(super) number: i32,
    pub(super) from_terminal: bool,
}

/// The value of `SI_KERNEL` (siginfo.h).
const FROM_KERNEL: i32 = 0x80;

/// The next pending signal (`struct signalfd_siginfo`: number, error, code, each of four bytes).
pub(super) fn received(signals: &OwnedFd) -> Option<Received> {
    let mut buffer = [0_u8; 128];
    let length = rustix::io::read(signals, &mut buffer).ok()?;
    let field = |at: usize| Some(i32::from_ne_bytes(buffer.get(at..at + 4)?.try_into().ok()?));
    let (number, code) = (field(0)?, field(8)?);
    (length == buffer.len()).then_some(Received { number, from_terminal: code == FROM_KERNEL })
}

/// The signals of this process, blocked in order to pass them on to a child.
///
/// For a program with one thread: they stay blocked in the calling thread.
#[derive(Debug)]
pub struct PassedSignals(OwnedFd);

impl PassedSignals {
    /// Blocks the signals. Call it before starting the child, so that none is lost; a confined command still starts
    /// with no signal blocked.
    pub fn hold() -> io::Result<PassedSignals> {
        let mut wanted = PASSED.to_vec();
        wanted.push(libc::SIGCHLD);
        sys::signals(&wanted).map(PassedSignals)
    }

    /// The next pending signal, including the end of children. Never blocks.
    pub fn take(&self) -> Option<i32> {
        received(&self.0).map(|signal| signal.number)
    }

    /// Waits like a shell until the child ends. Passes signals on to it, except those that the terminal sends to both.
    /// Returns its exit code, or 128 plus the signal.
    pub fn wait(&self, child: &mut Child) -> io::Result<i32> {
        wait_passing_signals_on(&self.0, child)
    }
}

impl AsFd for PassedSignals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn wait_passing_signals_on(signals: &OwnedFd, child: &mut Child) -> io::Result<i32> {
    use std::os::unix::process::ExitStatusExt;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)));
        }
        let mut polled = [PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN)];
        let _ = poll(&mut polled, None);
        while let Some(signal) = received(signals) {
            let process = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            if let (Some(process), false) = (process, signal.from_terminal || signal.number == libc::SIGCHLD) {
                let _ = sys::signal(process, signal.number);
            }
        }
    }
}
