//! Nonblocking pipes.

use std::io;
use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, OFlags};
use rustix::io::{Errno, retry_on_intr};
use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};

use crate::engine::Outlet;
use rootward_protocol::frame::ROOM;

/// The result of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Read {
    Some(usize),
    Later,
    End,
}

/// Appends available bytes to `buffer`, up to its capacity.
pub(super) fn read(pipe: &OwnedFd, buffer: &mut Vec<u8>) -> Read {
    match rustix::io::read(pipe, spare_capacity(buffer)) {
        Ok(0) => Read::End,
        Ok(count) => Read::Some(count),
        Err(Errno::AGAIN | Errno::INTR) => Read::Later,
        Err(_) => Read::End,
    }
}

/// Whether a read would return bytes or the end now. Also works for a terminal, where a read would block.
pub(super) fn has_more(pipe: &OwnedFd) -> bool {
    let mut polled = [PollFd::new(pipe, PollFlags::IN)];
    poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// Writes pending bytes without blocking. After a partial write the pipe is full, so it does not try again.
pub(super) fn write(pipe: &OwnedFd, outlet: &mut Outlet) -> io::Result<()> {
    if outlet.is_empty() {
        return Ok(());
    }
    match retry_on_intr(|| rustix::io::write(pipe, outlet.waiting())) {
        Ok(0) => Err(io::ErrorKind::WriteZero.into()),
        Ok(count) => {
            outlet.advance(count);
            Ok(())
        }
        Err(Errno::AGAIN) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Enlarges a pipe to the read size, so that a large message takes fewer turns. The kernel may refuse that to a user
/// with many pipes, which does no harm.
pub(super) fn widen(pipe: &OwnedFd) {
    if fcntl_getpipe_size(pipe).is_ok_and(|size| size < ROOM) {
        let _ = fcntl_setpipe_size(pipe, ROOM);
    }
}

/// Makes a pipe or socket nonblocking. Terminals are skipped: they are shared with processes that do not expect it.
pub(super) fn do_not_block(pipe: &OwnedFd) -> io::Result<()> {
    let kind = FileType::from_raw_mode(rustix::fs::fstat(pipe)?.st_mode);
    if matches!(kind, FileType::Fifo | FileType::Socket) {
        let flags = rustix::fs::fcntl_getfl(pipe)?;
        rustix::fs::fcntl_setfl(pipe, flags | OFlags::NONBLOCK)?;
    }
    Ok(())
}
