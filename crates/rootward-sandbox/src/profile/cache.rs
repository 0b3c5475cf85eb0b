//! Where the packages that a command fetches are kept for its next start: a directory of its own below the user's cache.

use std::ffi::OsStr;
use std::fs::DirBuilder;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rootward_core::{Material, Shown, follow_ambient};

use crate::confinement::CommandLine;

/// The programs that fetch packages.
const FETCH: [&str; 6] = ["npx", "npm", "uvx", "uv", "pipx", "bunx"];

/// The directory for this very command, made if need be; nothing for a program that fetches nothing. `base` is Rootward's own part
/// of the user's cache.
pub(crate) fn make_ambient(
    line: &CommandLine,
    base: Option<&Path>,
    material: &Material,
) -> io::Result<Option<PathBuf>> {
    let name = Path::new(&line.program).file_name().and_then(OsStr::to_str);
    let (Some(name), Some(base)) = (name.filter(|name| FETCH.contains(name)), base) else { return Ok(None) };
    let mut hasher = DefaultHasher::new();
    (&line.program, line.typed.as_ref().unwrap_or(&line.arguments)).hash(&mut hasher);
    let cache = base.join("packages").join(format!("{name}-{:016x}", hasher.finish()));
    // Before it is made, so that nothing is made behind a link; and after, when all of it is there.
    find_ambient(&cache, base, material)?;
    make_directories_ambient(&cache)?;
    find_ambient(&cache, base, material).map(Some)
}

/// Where the cache lies.
fn find_ambient(cache: &Path, base: &Path, material: &Material) -> io::Result<PathBuf> {
    let followed = follow_ambient(cache).ok_or(io::ErrorKind::NotFound)?;
    // SECURITY: it is given for writing, so a link that leads there is the user's or none
    // (test: a_cache_is_not_moved_by_a_link)
    let is_planted = |link: &PathBuf| material.holds(link) || link.starts_with(base);
    match followed.links.iter().find(|link| is_planted(link)) {
        Some(link) => {
            let planted = Shown::new(link);
            Err(io::Error::other(format!("`{planted}` is a link that a confined server could have made; remove it")))
        }
        None => Ok(followed.place),
    }
}

#[expect(clippy::disallowed_methods, reason = "a directory of Rootward's own, below the user's cache")]
fn make_directories_ambient(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
