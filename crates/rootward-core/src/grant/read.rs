//! Reading a file: whole, a range, or as a stream. The caller sets the limit.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::{Grant, GrantError, Target, Version};
use crate::access::Access;
use crate::denial::{Code, Denial};
use crate::os;

/// How much to read at a time if the length is unknown.
const PIECE: usize = 1 << 20;

/// A regular file, open for reading.
#[derive(Debug)]
pub struct OpenFile {
    file: File,
    path: PathBuf,
    size: u64,
    version: Version,
}

impl Grant {
    /// Opens the file as a stream.
    pub fn open(&self) -> Result<OpenFile, GrantError> {
        self.need(Access::READ)?;
        self.open_unasked()
    }

    /// Opens the file for reading without checking for read access.
    pub(super) fn open_unasked(&self) -> Result<OpenFile, GrantError> {
        // Check before opening: opening a FIFO wakes up a process that waits to write to it.
        self.regular(self.object()?)?;
        OpenFile::from_regular(self.reopen(os::READ)?, self.named_path())
    }

    /// Reads the whole file, if it has at most `limit` bytes.
    pub fn read(&self, limit: u64) -> Result<Vec<u8>, GrantError> {
        self.open()?.read_whole(limit)
    }

    /// Reads at most `length` bytes from `offset`; fewer at the end of the file.
    pub fn read_range(&self, offset: u64, length: usize) -> Result<Vec<u8>, GrantError> {
        self.open()?.read_range(offset, length)
    }
}

impl OpenFile {
    /// Wraps a handle that was opened for reading, if it is a regular file.
    pub(crate) fn from_regular(handle: OwnedFd, path: PathBuf) -> Result<OpenFile, GrantError> {
        let status =
            os::status(&handle).map_err(|error| GrantError::Io { path: path.clone(), source: error.into() })?;
        match os::type_of(&status) {
            FileType::RegularFile => {
                let (size, version) = (size(&status), Version::of(&status));
                Ok(OpenFile { file: handle.into(), path, size, version })
            }
            FileType::Directory => Err(GrantError::Io { path, source: Errno::ISDIR.into() }),
            _ => Err(Denial::new(Code::SpecialFile, path, Access::READ).into()),
        }
    }

    /// Takes the handle of a grant that was opened for reading when the path was decided.
    pub(crate) fn from_opened(grant: Grant) -> Result<OpenFile, GrantError> {
        let path = grant.named_path();
        match grant.target {
            Target::Object(handle) => OpenFile::from_regular(handle, path),
            Target::Absent(absence) => Err(grant.absent(absence)),
        }
    }

    /// The path to show.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// The size when the file was opened.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Identifies the file and its state when it was opened, for [`Grant::replace_version`].
    pub fn version(&self) -> Version {
        self.version
    }

    /// Reads the whole file, if it has at most `limit` bytes.
    pub fn read_whole(&self, limit: u64) -> Result<Vec<u8>, GrantError> {
        let too_large = |size| GrantError::TooLarge { path: self.path.clone(), size, limit };
        if self.size > limit {
            return Err(too_large(self.size));
        }
        let mut contents = Vec::new();
        reserve(&mut contents, self.size).map_err(|source| GrantError::Io { path: self.path.clone(), source })?;
        // One byte more than allowed shows that the file grew meanwhile.
        let read = (&self.file).take(limit.saturating_add(1)).read_to_end(&mut contents);
        match read {
            Ok(read) if read as u64 > limit => Err(too_large(read as u64)),
            Ok(_) => Ok(contents),
            Err(source) => Err(GrantError::Io { path: self.path.clone(), source }),
        }
    }

    /// Reads at most `length` bytes from `offset`; fewer at the end of the file.
    pub fn read_range(&self, offset: u64, length: usize) -> Result<Vec<u8>, GrantError> {
        self.try_range(offset, length).map_err(|source| GrantError::Io { path: self.path.clone(), source })
    }

    fn try_range(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut contents = Vec::new();
        reserve(&mut contents, self.size.saturating_sub(offset).min(length as u64))?;
        while contents.len() < length {
            // Do not stop at the size: some files have contents but no size.
            let filled = contents.len();
            let piece = PIECE.min(length - filled);
            reserve(&mut contents, piece as u64)?;
            contents.resize(filled + piece, 0);
            let Some(from) = offset.checked_add(filled as u64) else { break };
            let read = loop {
                match self.file.read_at(&mut contents[filled..], from) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    // Nothing can be past the largest offset.
                    Err(error) if error.kind() == io::ErrorKind::InvalidInput => break 0,
                    read => break read?,
                }
            };
            contents.truncate(filled + read);
            if read == 0 {
                break;
            }
        }
        Ok(contents)
    }

    /// The plain file, open for reading only.
    pub fn into_file(self) -> File {
        self.file
    }
}

impl Read for OpenFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

impl Seek for OpenFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}

/// Allocates, or returns an error: a file that claims a huge size must not abort the process.
fn reserve(contents: &mut Vec<u8>, more: u64) -> io::Result<()> {
    let more = usize::try_from(more).map_err(|_| io::ErrorKind::OutOfMemory)?;
    contents.try_reserve(more).map_err(|_| io::ErrorKind::OutOfMemory.into())
}

fn size(status: &rustix::fs::Stat) -> u64 {
    u64::try_from(status.st_size).unwrap_or(0)
}
