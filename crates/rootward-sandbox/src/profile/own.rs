//! Directories of Rootward's own that are given to a command: its package cache, its home. They are made where they are missing, and never
//! reached through a link that a command could have made.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rootward_core::{Material, Shown, follow_ambient};

/// The place of a directory below `base`, which is Rootward's own, made if need be, open to this user alone.
pub(crate) fn make_ambient(directory: &Path, base: &Path, material: &Material) -> io::Result<PathBuf> {
    // Before it is made, so that nothing is made behind a link; and after, when all of it is there.
    find_ambient(directory, base, material)?;
    make_directories_ambient(directory)?;
    find_ambient(directory, base, material)
}

/// Where the directory lies.
fn find_ambient(directory: &Path, base: &Path, material: &Material) -> io::Result<PathBuf> {
    let followed = follow_ambient(directory).ok_or(io::ErrorKind::NotFound)?;
    // SECURITY: it is given for writing, so a link that leads there is the user's or none
    // (test: a_cache_is_not_moved_by_a_link, a_kept_home_is_not_moved_by_a_link)
    let is_planted = |link: &PathBuf| material.holds(link) || link.starts_with(base);
    match followed.links.iter().find(|link| is_planted(link)) {
        Some(link) => {
            let planted = Shown::new(link);
            Err(io::Error::other(format!("`{planted}` is a link that a confined server could have made; remove it")))
        }
        None => Ok(followed.place),
    }
}

#[expect(clippy::disallowed_methods, reason = "a directory of Rootward's own")]
fn make_directories_ambient(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
