//! The directories for the measurements, and guards for them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rootward_core::{Guard, GuardOptions, Origin, Root, RootSet, Validation};

/// A file six names below its root.
pub(crate) const DEEP: &str = "a/b/c/d/e/f.txt";

/// How much of a file is read.
pub(crate) const PAGE: usize = 4096;

/// Creates a directory with a deep file of two pages.
pub(crate) fn with_deep_file(directory: &Path) -> io::Result<PathBuf> {
    let file = directory.join(DEEP);
    fs::create_dir_all(file.parent().unwrap_or(directory))?;
    fs::write(&file, vec![b'x'; 2 * PAGE])?;
    Ok(file)
}

/// A guard for these roots, as the command line would create one: standard restrictions, no base.
pub(crate) fn guard(roots: impl IntoIterator<Item = PathBuf>) -> Guard {
    guard_with(roots, GuardOptions::default())
}

/// The same with other options.
pub(crate) fn guard_with(roots: impl IntoIterator<Item = PathBuf>, options: GuardOptions) -> Guard {
    let roots = roots.into_iter().map(|path| Root::from_path(path, Origin::Flag).expect("a plain absolute path"));
    let set = RootSet::place_ambient(roots, &Validation::new(None));
    assert!(set.refused().is_empty(), "the benchmark's own directories are shareable");
    Guard::new(set, options)
}
