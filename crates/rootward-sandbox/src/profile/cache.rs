//! The cache for a runner that runs as typed: a directory of its own below the user's cache, kept for its next start.
//!
//! The command can write there, so it could change what its next start runs. Each command, and each directory in which
//! it is typed, has its own cache: one project's server must not choose what another's runs.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rootward_core::Material;

use crate::confinement::CommandLine;
use crate::package::{Hold, Lock, STORE, hash, lock_of, make_own_ambient};

/// The programs that fetch packages.
const FETCH: [&str; 6] = ["npx", "npm", "uvx", "uv", "pipx", "bunx"];

/// A cache that cannot be removed meanwhile.
#[derive(Debug)]
pub(crate) struct Cache {
    pub(crate) directory: PathBuf,
    pub(crate) lock: Option<Lock>,
}

/// The cache of this command, created if needed; `None` for a program that fetches nothing. `base` is Rootward's part
/// of the user's cache.
pub(crate) fn make_ambient(line: &CommandLine, base: Option<&Path>, material: &Material) -> io::Result<Option<Cache>> {
    let name = Path::new(&line.program).file_name().and_then(OsStr::to_str);
    let (Some(name), Some(base)) = (name.filter(|name| FETCH.contains(name)), base) else { return Ok(None) };
    let here = std::env::current_dir().unwrap_or_default();
    let cache = base.join(STORE).join(format!("{name}-{}", &key(line, &here)[..16]));
    let directory = make_own_ambient(&cache, base, material)?;
    let file = lock_of(&directory);
    Lock::make_ambient(&file)?;
    let lock = Lock::take_ambient(&file, Hold::Shared)?;
    lock.iter().for_each(Lock::touch);
    Ok(Some(Cache { directory, lock }))
}

// SECURITY: never run for one project what another project's server wrote
// (test: a_package_cache_belongs_to_one_command_and_directory)
fn key(line: &CommandLine, here: &Path) -> String {
    let words = [here.as_os_str(), &line.program].into_iter();
    let words = words.chain(line.typed.as_ref().unwrap_or(&line.arguments).iter().map(OsString::as_os_str));
    hash(&words.flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect::<Vec<u8>>())
}
