//! Reads the arguments of a call from its caller's memory.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rustix::io::Errno;
use rustix::process::Pid;

/// The longest path of a call, including its NUL (`PATH_MAX`).
const LONGEST_PATH: usize = 4096;

/// The longest address of a socket (`struct sockaddr_storage`).
const LONGEST_ADDRESS: usize = 128;

/// The memory of a thread that waits for an answer.
#[derive(Debug)]
pub(super) struct Memory(File);

impl Memory {
    #[expect(clippy::disallowed_methods, reason = "the memory of a process that waits for this one, by its id")]
    pub(super) fn of_ambient(thread: Pid) -> Result<Memory, Errno> {
        let opened = File::open(format!("/proc/{}/mem", thread.as_raw_pid()));
        opened.map(Memory).map_err(|_| Errno::PERM)
    }

    /// The string at an address, up to its NUL.
    pub(super) fn path(&self, address: u64) -> Result<Vec<u8>, Errno> {
        let mut path = Vec::new();
        while path.len() < LONGEST_PATH {
            // Do not cross a page: the next one may not be mapped.
            let from = address.checked_add(path.len() as u64).ok_or(Errno::FAULT)?;
            let length = usize::try_from(4096 - from % 4096).unwrap_or(4096);
            let mut piece = vec![0; length];
            self.0.read_exact_at(&mut piece, from).map_err(|_| Errno::FAULT)?;
            match piece.iter().position(|byte| *byte == 0) {
                Some(end) => {
                    path.extend_from_slice(&piece[..end]);
                    return if path.len() < LONGEST_PATH { Ok(path) } else { Err(Errno::NAMETOOLONG) };
                }
                None => path.extend_from_slice(&piece),
            }
        }
        Err(Errno::NAMETOOLONG)
    }

    /// The string at an address, if it is shorter than this. Most traced paths do not matter, and this limits their
    /// cost.
    pub(super) fn short_text(&self, address: u64, longest: usize) -> Option<Vec<u8>> {
        // Only cross a page if the string does.
        let first = usize::try_from(4096 - address % 4096).unwrap_or(4096).min(longest);
        let mut text = vec![0; first];
        self.0.read_exact_at(&mut text, address).ok()?;
        if !text.contains(&0) && first < longest {
            let mut rest = vec![0; longest - first];
            self.0.read_exact_at(&mut rest, address.checked_add(first as u64)?).ok()?;
            text.extend_from_slice(&rest);
        }
        let end = text.iter().position(|byte| *byte == 0)?;
        text.truncate(end);
        Some(text)
    }

    /// A socket address of this length.
    pub(super) fn address(&self, address: u64, length: i32) -> Result<Vec<u8>, Errno> {
        let length = usize::try_from(length).ok().filter(|length| *length <= LONGEST_ADDRESS).ok_or(Errno::INVAL)?;
        let mut bytes = vec![0; length];
        self.0.read_exact_at(&mut bytes, address).map_err(|_| Errno::FAULT)?;
        Ok(bytes)
    }

    /// Numbers at an address.
    pub(super) fn numbers<const N: usize>(&self, address: u64) -> Result<[i64; N], Errno> {
        let mut numbers = [0; N];
        for (number, at) in numbers.iter_mut().zip((0..).step_by(8)) {
            let mut piece = [0; 8];
            let from = address.checked_add(at).ok_or(Errno::FAULT)?;
            self.0.read_exact_at(&mut piece, from).map_err(|_| Errno::FAULT)?;
            *number = i64::from_ne_bytes(piece);
        }
        Ok(numbers)
    }
}
