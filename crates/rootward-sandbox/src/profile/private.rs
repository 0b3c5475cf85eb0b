//! A home and a temporary directory that only one command has, gone when it ends.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rootward_core::Access;
use tempfile::TempDir;

use super::OwnDirectories;

/// The two directories. Removed when dropped, unless the launcher took that over.
#[derive(Debug)]
pub(crate) struct Private(TempDir);

impl Private {
    /// Makes them, open to this user alone.
    #[expect(clippy::disallowed_methods, reason = "where temporary directories are")]
    pub(crate) fn make_ambient() -> io::Result<Private> {
        // The rules are made for places without links.
        Private::make_in_ambient(&std::env::temp_dir().canonicalize()?, "rootward-")
    }

    /// Makes them in a directory of Rootward's own, which has no links on its way.
    #[expect(
        clippy::disallowed_methods,
        reason = "directories of Rootward's own making, under a name nobody can guess"
    )]
    pub(crate) fn make_in_ambient(directory: &Path, prefix: &str) -> io::Result<Private> {
        // SECURITY: whatever permissions the command gives to what is inside, other users do not get in
        // (test: the_private_directories_are_this_users_alone)
        let this_user = std::fs::Permissions::from_mode(0o700);
        let directory = tempfile::Builder::new().prefix(prefix).permissions(this_user).tempdir_in(directory)?;
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

    /// Both, with what the command may do in the home.
    pub(crate) fn directories(&self, home_access: Access) -> OwnDirectories {
        OwnDirectories { home: self.home(), home_access, temporary: self.temporary() }
    }

    /// From now on the launcher removes them.
    pub(crate) fn hand_over(self) {
        let _ = self.0.keep();
    }
}
