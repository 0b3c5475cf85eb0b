//! Creates a private directory for the user, without following links.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::os;

/// Creates a directory below `home`, and its missing parents, each with mode 0700. Existing directories stay as they
/// are.
///
/// Each name is opened or created below the handle of its parent, and no link below `home` is followed: a link that
/// another program put there is an error.
pub fn make_private_directory_ambient(home: &Path, directory: &Path) -> io::Result<()> {
    let below = directory.strip_prefix(home).map_err(|_| io::Error::other("not below the home directory"))?;
    let flags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    let mut above: OwnedFd = os::pin_anywhere(home.as_os_str().as_bytes(), flags)?;
    for component in below.components() {
        let Component::Normal(name) = component else { return Err(io::Error::other("`..` in the path")) };
        let name = name.as_bytes();
        // SECURITY: a link on the way could lead out of the home (test: a_private_directory_is_made_through_no_link)
        above = match os::open_child(above.as_fd(), name, flags) {
            Err(Errno::NOENT) => {
                match os::make_private_directory(above.as_fd(), name) {
                    // Somebody else created it first.
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                os::open_child(above.as_fd(), name, flags)?
            }
            opened => opened?,
        };
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests build and look at trees")]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;

    #[test]
    fn a_private_directory_is_made_below_the_home_alone() {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path();
        make_private_directory_ambient(home, &home.join("a/b")).unwrap();
        for made in ["a", "a/b"] {
            assert_eq!(fs::metadata(home.join(made)).unwrap().mode() & 0o777, 0o700);
        }
        make_private_directory_ambient(home, &home.join("a/b")).unwrap();
        assert!(make_private_directory_ambient(&home.join("a"), &home.join("c")).is_err());
        assert!(make_private_directory_ambient(home, &home.join("a/../c")).is_err());
        assert!(!home.join("c").exists());
    }

    #[test]
    fn a_private_directory_is_made_through_no_link() {
        let directory = tempfile::tempdir().unwrap();
        let (home, outside) = (directory.path().join("home"), directory.path().join("outside"));
        fs::create_dir(&home).unwrap();
        fs::create_dir(&outside).unwrap();
        symlink(&outside, home.join("link")).unwrap();
        assert!(make_private_directory_ambient(&home, &home.join("link/made")).is_err());
        assert!(make_private_directory_ambient(&home, &home.join("link")).is_err());
        assert!(!outside.join("made").exists());
        symlink(outside.join("nowhere"), home.join("dangling")).unwrap();
        assert!(make_private_directory_ambient(&home, &home.join("dangling")).is_err());
        assert!(!outside.join("nowhere").exists());
    }
}
