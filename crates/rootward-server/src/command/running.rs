//! Runs a confined command to its end: collects its output and enforces its time limit.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::time::{Duration, Instant};

use rootward_sandbox::{Confined, Lifeline};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::output::CommandOutput;
use super::{CommandEnded, CommandError};

/// The longest delay before noticing that a call was cancelled.
const TICK: Duration = Duration::from_millis(100);

/// How long killing the command may take.
const TO_END: Duration = Duration::from_secs(5);

/// Collects the command's output until it ends or times out. Then ends everything that it started.
pub(super) fn run(
    confined: Confined,
    limit: Duration,
    goes_on: &mut dyn FnMut(u64) -> bool,
) -> Result<CommandEnded, CommandError> {
    let Confined { mut child, line } = confined;
    let watched = watch(&mut child, line, Instant::now() + limit, goes_on);
    if watched.is_err() {
        // Its lifeline is closed by now, so its supervisor ends every process and then itself.
        let _ = wait(&mut child);
    }
    watched
}

fn watch(
    child: &mut Child,
    line: Lifeline,
    until: Instant,
    goes_on: &mut dyn FnMut(u64) -> bool,
) -> Result<CommandEnded, CommandError> {
    let mut line = Some(line);
    let mut until = until;
    let process = i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| CommandError::Watch(Errno::SRCH.into()))?;
    let end = pidfd_open(process, PidfdFlags::empty()).map_err(|error| CommandError::Watch(error.into()))?;
    let mut stdout = Stream::new(child.stdout.take().map(OwnedFd::from));
    let mut stderr = Stream::new(child.stderr.take().map(OwnedFd::from));
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            // Close the lifeline once and wait for the end. If the command still does not end, give up.
            if line.take().is_none() {
                let _ = child.kill();
                return Err(CommandError::NotEnded);
            }
            until = Instant::now() + TO_END;
            continue;
        }
        let ready = wait_for(&end, [&stdout, &stderr], left.min(TICK)).map_err(CommandError::Watch)?;
        let mut read = 0;
        for (stream, ready) in [(&mut stdout, ready.streams[0]), (&mut stderr, ready.streams[1])] {
            if ready {
                read += stream.take().map_err(CommandError::Watch)?;
            }
        }
        if !goes_on(read) {
            return Err(CommandError::Stopped);
        }
        // Once it has ended, nothing can write: the pipes hold all remaining output.
        if ready.ended && read == 0 {
            break;
        }
    }
    let code = wait(child).map_err(CommandError::Watch)?;
    Ok(CommandEnded { code: line.map(|_| code), stdout: stdout.output, stderr: stderr.output })
}

fn wait(child: &mut Child) -> io::Result<i32> {
    let status = child.wait()?;
    Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)))
}

/// What is ready to handle.
struct Ready {
    ended: bool,
    streams: [bool; 2],
}

fn wait_for(end: &OwnedFd, streams: [&Stream; 2], at_most: Duration) -> io::Result<Ready> {
    let mut polled = vec![PollFd::from_borrowed_fd(end.as_fd(), PollFlags::IN)];
    let mut at = [None; 2];
    for (stream, at) in streams.iter().zip(&mut at) {
        if let Some(pipe) = &stream.pipe {
            *at = Some(polled.len());
            polled.push(PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN));
        }
    }
    let at_most = Timespec::try_from(at_most).map_err(io::Error::other)?;
    match poll(&mut polled, Some(&at_most)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let is_ready = |at: Option<usize>| at.is_some_and(|at| !polled[at].revents().is_empty());
    Ok(Ready { ended: is_ready(Some(0)), streams: at.map(is_ready) })
}

/// One of the two output streams.
struct Stream {
    /// `None` once it is closed.
    pipe: Option<File>,
    output: CommandOutput,
}

impl Stream {
    fn new(pipe: Option<OwnedFd>) -> Stream {
        Stream { pipe: pipe.map(File::from), output: CommandOutput::default() }
    }

    /// Reads available data and returns its length.
    fn take(&mut self) -> io::Result<u64> {
        let mut buffer = [0; 16 << 10];
        let Some(pipe) = &mut self.pipe else { return Ok(0) };
        let read = match pipe.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(0),
            read => read?,
        };
        self.output.add(&buffer[..read]);
        if read == 0 {
            self.pipe = None;
        }
        Ok(read as u64)
    }
}
