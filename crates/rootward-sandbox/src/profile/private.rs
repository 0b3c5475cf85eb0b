//! A home and a temporary directory that only one command has, gone when it ends.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The two directories. Removed when dropped, unless the launcher took that over.
#[derive(Debug)]
pub(crate) struct Private(TempDir);

impl Private {
    /// Makes them, open to this user alone.
    #[expect(
        clippy::disallowed_methods,
        reason = "directories of Rootward's own making, under a name nobody can guess"
    )]
    pub(crate) fn make_ambient() -> io::Result<Private> {
        let directory = tempfile::Builder::new().prefix("rootward-").tempdir()?;
        // The rules are made for places without links.
        let private = Private(directory);
        std::fs::create_dir(private.home())?;
        std::fs::create_dir(private.temporary())?;
        Ok(private)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.path().join("tmp")
    }

    /// From now on the launcher removes them.
    pub(crate) fn hand_over(self) {
        let _ = self.0.keep();
    }
}
