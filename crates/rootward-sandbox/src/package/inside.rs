//! Reads a fetched package. The package wrote everything there itself, so nothing may lead out of its directory.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rootward_core::follow_ambient;

use crate::profile::read_ambient;

/// How many names of a directory to read.
const MOST_NAMES: usize = 10_000;

/// Where a path in a package leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Leads {
    /// To a place in the package.
    Inside(PathBuf),
    Outside,
    Nowhere,
}

/// Follows a path in a package.
// SECURITY: a link in the package must not choose a file elsewhere (test: nothing_of_a_package_leads_out_of_it)
pub(super) fn follow_inside_ambient(install: &Path, path: &Path) -> Leads {
    match follow_ambient(path) {
        Some(followed) if !followed.exists => Leads::Nowhere,
        Some(followed) if followed.place.starts_with(install) => Leads::Inside(followed.place),
        Some(_) => Leads::Outside,
        None => Leads::Nowhere,
    }
}

/// The beginning of a file in the package.
pub(super) fn read_inside_ambient(install: &Path, path: &Path, most: u64) -> Option<Vec<u8>> {
    match follow_inside_ambient(install, path) {
        Leads::Inside(place) => read_ambient(&place, most),
        Leads::Outside | Leads::Nowhere => None,
    }
}

/// The names in a directory of the package.
#[expect(clippy::disallowed_methods, reason = "a package that Rootward fetched")]
pub(super) fn names_inside_ambient(install: &Path, path: &Path) -> Vec<OsString> {
    let Leads::Inside(place) = follow_inside_ambient(install, path) else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    entries.take(MOST_NAMES).filter_map(|entry| Some(entry.ok()?.file_name())).collect()
}

/// Whether a place in the package is an executable file.
#[expect(clippy::disallowed_methods, reason = "a package that Rootward fetched")]
pub(super) fn is_program_ambient(place: &Path) -> bool {
    place.symlink_metadata().is_ok_and(|seen| seen.is_file() && seen.permissions().mode() & 0o111 != 0)
}
