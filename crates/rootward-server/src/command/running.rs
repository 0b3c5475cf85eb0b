//! A confined command from its start to its end: its output taken, its time watched.

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

/// How long it takes at most until a call that was stopped is seen to be.
const TICK: Duration = Duration::from_millis(100);

/// How long whoever ends the command may take to do so.
const TO_END: Duration = Duration::from_secs(5);

/// Takes what the command writes until it has ended, or its time is over. Then all that it started is ended, too.
pub(super) fn run(
    confined: Confined,
    limit: Duration,
    goes_on: &mut dyn FnMut(u64) -> bool,
) -> Result<CommandEnded, CommandError> {
    let Confined { mut child, line } = confined;
    let watched = watch(&mut child, line, Instant::now() + limit, goes_on);
    if watched.is_err() {
        // Its line is cut by now; whoever stands for the command ends all, and then itself.
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
            // Cut once, and the end is waited for; where even that does not come, no more is.
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
        // When it has ended, so has all that could still write: what is left in the pipes is all there will be.
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

/// What waits to be looked at.
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

/// One of its two outputs.
struct Stream {
    /// None once it is closed.
    pipe: Option<File>,
    output: CommandOutput,
}

impl Stream {
    fn new(pipe: Option<OwnedFd>) -> Stream {
        Stream { pipe: pipe.map(File::from), output: CommandOutput::default() }
    }

    /// Takes a piece that is there; says how long it is.
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
