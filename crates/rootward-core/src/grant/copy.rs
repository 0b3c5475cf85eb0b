//! Copying a file from one grant to another.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;

use rustix::fs::{Mode, seek};
use rustix::io::Errno;

use super::{Grant, GrantError, Replace};
use crate::access::Access;

/// How many bytes to copy at a time.
const PIECE: u64 = 8 << 20;

impl Grant {
    /// Copies the file to `target`, all or nothing. A new file gets the permission bits of this one, minus the umask.
    /// Needs read access here and write access there. Returns the number of bytes.
    pub fn copy_to(&self, target: &Grant, replace: Replace) -> Result<u64, GrantError> {
        self.copy_to_while(target, replace, |_| Ok(()))
    }

    /// The same for a file that may be large: calls `goes_on` after every piece. If `goes_on` fails, nothing is left
    /// behind.
    pub fn copy_to_while(
        &self,
        target: &Grant,
        replace: Replace,
        mut goes_on: impl FnMut(u64) -> io::Result<()>,
    ) -> Result<u64, GrantError> {
        target.need(Access::WRITE)?;
        if replace == Replace::No && target.exists() {
            return Err(target.failed(Errno::EXIST));
        }
        let mut source = self.open()?.into_file();
        let status = source.metadata().map_err(|source| self.failed_with(source))?;
        let mut copied = 0;
        target.rewrite(Mode::from_raw_mode(status.permissions().mode() & 0o777), replace.into(), |file| {
            copied = copy(&mut source, status.len(), file, &mut goes_on)?;
            file.set_len(copied)
        })?;
        Ok(copied)
    }
}

/// Copies the bytes that the file had when it was opened, even if it grows meanwhile, and returns their number. Keeps
/// holes: a sparse file of a terabyte must not fill the disk.
fn copy(from: &mut File, end: u64, to: &mut File, goes_on: &mut impl FnMut(u64) -> io::Result<()>) -> io::Result<u64> {
    let mut place = 0;
    while let Some(data) = data(from, place, end)? {
        from.seek(SeekFrom::Start(data.start))?;
        to.seek(SeekFrom::Start(data.start))?;
        place = data.start;
        while place < data.end {
            let piece = io::copy(&mut (&mut *from).take(PIECE.min(data.end - place)), to)?;
            if piece == 0 {
                // Somebody truncated it.
                return Ok(place);
            }
            place += piece;
            goes_on(piece)?;
        }
    }
    Ok(end)
}

/// The next range at or after `place` that is not a hole (lseek(2)). The whole rest if the file system cannot tell.
fn data(file: &File, place: u64, end: u64) -> io::Result<Option<Range<u64>>> {
    if place >= end {
        // Some files have contents but no size (proc(5)).
        return Ok((place == 0).then_some(0..u64::MAX));
    }
    let start = match seek(file, rustix::fs::SeekFrom::Data(place)) {
        Ok(start) => start,
        Err(Errno::NXIO) => return Ok(None),
        Err(Errno::INVAL | Errno::OPNOTSUPP) => return Ok(Some(place..end)),
        Err(error) => return Err(error.into()),
    };
    let hole = seek(file, rustix::fs::SeekFrom::Hole(start)).unwrap_or(end);
    Ok((start < end).then(|| start..hole.min(end)))
}
