//! An empty directory in which to try servers if the working directory is not a project.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// A directory that is removed when it is dropped.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

/// How many names to try.
const ATTEMPTS: u32 = 100;

impl Scratch {
    #[expect(clippy::disallowed_methods, reason = "makes a new directory, which nobody else can enter")]
    pub(super) fn make_ambient() -> io::Result<Scratch> {
        let base = std::env::temp_dir();
        for attempt in 0..ATTEMPTS {
            let path = base.join(format!("rootward-adopt-{}-{attempt}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Scratch(path)),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    #[expect(clippy::disallowed_methods, reason = "removes the directory that it made; links in it are not followed")]
    fn drop(&mut self) {
        // What is left in it was written by a confined server, if anything.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
