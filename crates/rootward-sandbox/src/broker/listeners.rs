//! Finds the listeners of a socket file, with the name that each was bound to.
//!
//! A command can rename the files in a directory that it may write, a container engine's socket too. So the current name of a file
//! proves little. The name that the listener was bound to never changes. The kernel reports it together with the file's inode
//! (`sock_diag(7)`, `UDIAG_SHOW_NAME` and `UDIAG_SHOW_VFS`), for the listeners of this network namespace.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::fs;
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with};

use super::place;

/// A listening socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Listener {
    /// The name that it was bound to, as the program spelled it.
    pub(super) name: PathBuf,
    /// The number of the socket, which is never used again (`SO_COOKIE`, socket(7)).
    pub(super) cookie: u64,
}

/// The listeners of the socket file behind a handle. The kernel reports half of each inode number, so the list can contain others.
pub(super) fn of_ambient(handle: BorrowedFd<'_>) -> Result<Vec<Listener>, Errno> {
    // SECURITY: on another file system, the command could create a file with the same inode number
    // (test: listeners_are_told_apart)
    let file = (low(fs::fstat(handle)?.st_ino), file_system_ambient(place::mount(handle)?)?);
    let netlink = socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        Some(netlink::SOCK_DIAG),
    )?;
    send(&netlink, &request(), SendFlags::empty())?;
    let mut found = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let (length, _) = recv(&netlink, &mut buffer[..], RecvFlags::empty())?;
        if read(&buffer[..length], file, &mut found)? == Rest::None {
            return Ok(found);
        }
    }
}

/// Whether the kernel sends more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rest {
    Some,
    None,
}

// linux/netlink.h, linux/sock_diag.h, linux/unix_diag.h.
const BY_FAMILY: u16 = 20;
const DONE: u16 = 3;
const FAILED: u16 = 2;
const REQUEST_ALL: u16 = 0x301;
const LISTENING: u32 = 1 << 10;
const SHOW_NAME_AND_FILE: u32 = 1 | 2;
const NAME: u16 = 0;
const FILE: u16 = 1;
/// The header of a message: length, kind, flags, sequence, sender.
const HEADER: usize = 16;
/// The part before the attributes: family, type, state, padding, inode, cookie in two halves.
const BODY: usize = 16;

fn request() -> Vec<u8> {
    let any = u32::MAX.to_ne_bytes();
    let family = u8::try_from(libc::AF_UNIX).unwrap_or(1);
    let body =
        [&[family, 0, 0, 0], &LISTENING.to_ne_bytes()[..], &[0; 4], &SHOW_NAME_AND_FILE.to_ne_bytes(), &any, &any];
    let body = body.concat();
    let length = u32::try_from(HEADER + body.len()).unwrap_or(0);
    let header = [
        &length.to_ne_bytes()[..],
        &BY_FAMILY.to_ne_bytes(),
        &REQUEST_ALL.to_ne_bytes(),
        &1_u32.to_ne_bytes(),
        &0_u32.to_ne_bytes(),
    ];
    [header.concat(), body].concat()
}

/// Parses the messages of one answer. The file is given as the lower half of its inode number and its file system.
fn read(mut messages: &[u8], file: (u32, u32), found: &mut Vec<Listener>) -> Result<Rest, Errno> {
    while let (Some(length), Some(kind)) = (word(messages, 0), half(messages, 4)) {
        let length = usize::try_from(length).map_err(|_| Errno::PROTO)?;
        let message = messages.get(HEADER..length).ok_or(Errno::PROTO)?;
        match kind {
            DONE => return Ok(Rest::None),
            FAILED => return Err(Errno::NOTSUP),
            BY_FAMILY => found.extend(listener(message, file)),
            _ => {}
        }
        messages = messages.get(padded(length)..).unwrap_or_default();
    }
    Ok(Rest::Some)
}

/// The listener in a message, if it listens on this file.
fn listener(message: &[u8], file: (u32, u32)) -> Option<Listener> {
    let (low, high) = (word(message, 8)?, word(message, 12)?);
    let cookie = u64::from(high) << 32 | u64::from(low);
    let mut attributes = message.get(BODY..)?;
    let (mut name, mut is_here) = (None, false);
    while let (Some(length), Some(kind)) = (half(attributes, 0), half(attributes, 2)) {
        let length = usize::from(length);
        let value = attributes.get(4..length)?;
        match kind {
            NAME => name = value.split(|byte| *byte == 0).next(),
            FILE => is_here = (word(value, 0)?, word(value, 4)?) == file,
            _ => {}
        }
        attributes = attributes.get(padded(length)..).unwrap_or_default();
    }
    let name = PathBuf::from(OsStr::from_bytes(name.unwrap_or_default()));
    is_here.then_some(Listener { name, cookie })
}

fn padded(length: usize) -> usize {
    length.div_ceil(4) * 4
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[expect(clippy::cast_possible_truncation, reason = "the kernel reports the lower half")]
fn low(inode: u64) -> u32 {
    inode as u32
}

/// The kernel's number of the file system of a mount (`proc_pid_mountinfo(5)`). On btrfs, `stat(2)` reports another number for each
/// subvolume.
#[expect(clippy::disallowed_methods, reason = "this process's own list of mounts")]
fn file_system_ambient(mount: u64) -> Result<u32, Errno> {
    let list = BufReader::new(File::open("/proc/self/mountinfo").map_err(|_| Errno::NOENT)?);
    for line in list.split(b'\n') {
        let line = line.map_err(|_| Errno::IO)?;
        let mut fields = line.split(|byte| *byte == b' ').map(|field| std::str::from_utf8(field).unwrap_or_default());
        if fields.next().and_then(|id| id.parse::<u64>().ok()) == Some(mount) {
            let (major, minor) = fields.nth(1).and_then(|device| device.split_once(':')).ok_or(Errno::PROTO)?;
            let number = |text: &str| text.parse::<u32>().map_err(|_| Errno::PROTO);
            return Ok(number(major)? << 20 | number(minor)?);
        }
    }
    Err(Errno::NOENT)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "plays two listeners")]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixListener;

    use rustix::fs::{CWD, Mode, OFlags, openat};

    use super::*;

    #[test]
    fn a_listener_is_found_by_its_file_and_keeps_its_name() {
        let directory = tempfile::tempdir().unwrap();
        let (first, moved) = (directory.path().join("first"), directory.path().join("moved"));
        let listener = UnixListener::bind(&first).unwrap();
        std::fs::rename(&first, &moved).unwrap();
        let _other = UnixListener::bind(&first).unwrap();
        let found = |path: &PathBuf| {
            let handle = openat(CWD, path, OFlags::PATH, Mode::empty()).unwrap();
            of_ambient(handle.as_fd()).unwrap()
        };
        let cookie = rustix::net::sockopt::socket_cookie(&listener).unwrap();
        assert_eq!(found(&moved), [Listener { name: first.clone(), cookie }]);
        drop(listener);
        assert_eq!(found(&moved), []);
        assert_eq!(found(&first).len(), 1);
    }

    #[test]
    fn listeners_are_told_apart() {
        let attribute = |kind: u16, value: &[u8]| {
            let length = u16::try_from(value.len() + 4).unwrap();
            let mut bytes = [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), value].concat();
            bytes.resize(padded(bytes.len()), 0);
            bytes
        };
        let message = |inode: u32, device: u32, name: &[u8]| {
            let file = [inode.to_ne_bytes(), device.to_ne_bytes()].concat();
            let body = [
                &[1, 1, 10, 0, 9, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0][..],
                &attribute(FILE, &file),
                &attribute(NAME, name),
            ];
            let body = body.concat();
            let length = u32::try_from(HEADER + body.len()).unwrap();
            [&length.to_ne_bytes()[..], &BY_FAMILY.to_ne_bytes(), &[0; 10], &body].concat()
        };
        let end = [&20_u32.to_ne_bytes()[..], &DONE.to_ne_bytes(), &[0; 14]].concat();
        let all = [message(5, 1, b"/a\0"), message(6, 1, b"/b\0"), message(5, 2, b"/c\0"), end].concat();
        let mut found = Vec::new();
        assert_eq!(read(&all, (5, 1), &mut found), Ok(Rest::None));
        assert_eq!(found, [Listener { name: "/a".into(), cookie: 7 }]);
        // Truncated messages are not read past their end.
        for length in 0..all.len() {
            let _ = read(&all[..length], (5, 1), &mut Vec::new());
        }
    }
}
