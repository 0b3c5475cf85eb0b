//! Copying a file from one grant to another.

use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;

use rustix::fs::Mode;
use rustix::io::Errno;

use super::{Grant, GrantError, Replace};
use crate::access::Access;

/// How much is copied at a time.
const PIECE: u64 = 8 << 20;

impl Grant {
    /// Copies the file to `target`, all or nothing; a new file gets the permission bits of this one, less what the user's
    /// mask takes away. Needs read here and write there. Returns the number of bytes.
    pub fn copy_to(&self, target: &Grant, replace: Replace) -> Result<u64, GrantError> {
        self.copy_to_while(target, replace, |_| Ok(()))
    }

    /// The same for a file that may be large: `goes_on` is told of every piece, and where it fails nothing is left behind.
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
            loop {
                let piece = io::copy(&mut (&mut source).take(PIECE), file)?;
                copied += piece;
                goes_on(piece)?;
                if piece < PIECE {
                    return Ok(());
                }
            }
        })?;
        Ok(copied)
    }
}
