//! A home and a temporary directory for one command, removed when it ends.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rootward_core::Access;
use tempfile::TempDir;

use super::OwnDirectories;

/// Both directories. Removed on drop, unless the launcher took over.
#[derive(Debug)]
pub(crate) struct Private(TempDir);

impl Private {
    /// Creates them, accessible to this user only.
    #[expect(clippy::disallowed_methods, reason = "finds the directory for temporary files")]
    pub(crate) fn make_ambient() -> io::Result<Private> {
        // Rules are made for resolved paths.
        Private::make_in_ambient(&std::env::temp_dir().canonicalize()?, "rootward-")
    }

    /// Creates them in a directory of Rootward's own, whose path is resolved.
    #[expect(
        clippy::disallowed_methods,
        reason = "Rootward creates these directories, under a name that nobody can guess"
    )]
    pub(crate) fn make_in_ambient(directory: &Path, prefix: &str) -> io::Result<Private> {
        // SECURITY: other users have no access, whatever permissions the command sets inside
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

    /// Both, with the command's access to the home.
    pub(crate) fn directories(&self, home_access: Access) -> OwnDirectories {
        OwnDirectories { home: self.home(), home_access, temporary: self.temporary() }
    }

    /// From now on the launcher removes them.
    pub(crate) fn hand_over(self) {
        let _ = self.0.keep();
    }
}
