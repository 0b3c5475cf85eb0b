//! Pipes that do not block.

use std::io;
use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, OFlags};
use rustix::io::{Errno, retry_on_intr};
use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};

use crate::engine::Outlet;
use rootward_protocol::frame::ROOM;

/// What reading gave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Read {
    Some(usize),
    Later,
    End,
}

/// Reads what is there to the end of `buffer`, as far as it has room.
pub(super) fn read(pipe: &OwnedFd, buffer: &mut Vec<u8>) -> Read {
    match rustix::io::read(pipe, spare_capacity(buffer)) {
        Ok(0) => Read::End,
        Ok(count) => Read::Some(count),
        Err(Errno::AGAIN | Errno::INTR) => Read::Later,
        Err(_) => Read::End,
    }
}

/// Whether reading would give something now, or the end. Also of a terminal, which blocks whoever reads when there is nothing.
pub(super) fn has_more(pipe: &OwnedFd) -> bool {
    let mut polled = [PollFd::new(pipe, PollFlags::IN)];
    poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// Writes what waits, as far as it goes. A pipe that took less is full: asking again would only hear that.
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

/// Has a pipe hold as much as is read at once, so that a large message takes fewer turns. A user who has many pipes may be refused, and
/// does without.
pub(super) fn widen(pipe: &OwnedFd) {
    if fcntl_getpipe_size(pipe).is_ok_and(|size| size < ROOM) {
        let _ = fcntl_setpipe_size(pipe, ROOM);
    }
}

/// Has a pipe or socket not block. A terminal is shared with others, who do not expect that.
pub(super) fn do_not_block(pipe: &OwnedFd) -> io::Result<()> {
    let kind = FileType::from_raw_mode(rustix::fs::fstat(pipe)?.st_mode);
    if matches!(kind, FileType::Fifo | FileType::Socket) {
        let flags = rustix::fs::fcntl_getfl(pipe)?;
        rustix::fs::fcntl_setfl(pipe, flags | OFlags::NONBLOCK)?;
    }
    Ok(())
}
