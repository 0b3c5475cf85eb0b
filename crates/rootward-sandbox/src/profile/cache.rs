//! Where the packages that a command fetches are kept for its next start: a directory of its own below the user's cache.

use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use rootward_core::Material;

use super::own;
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
    own::make_ambient(&cache, base, material).map(Some)
}
