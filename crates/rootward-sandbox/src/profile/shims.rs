//! Shims of version managers: small programs that choose the version to run, among all installed ones.

use std::path::{Path, PathBuf};

use super::finding::{Anchor, Findings, NeededAs};
use super::program::{Program, Run};
use super::{KnownCommand, Profile, RUN};

pub(super) fn seek_ambient(program: &Program, runtimes: &[Anchor], findings: &mut Findings) {
    for run in program.chain() {
        for top in run.paths().filter_map(|path| manager_of(path, runtimes)) {
            findings.seek_ambient(&top, RUN, NeededAs::Versions, &run.trail);
        }
    }
}

/// Sets the version manager's variable, because the command's home is not where it is installed.
pub(super) fn add(known: &KnownCommand, profile: &mut Profile) {
    let paths = known.program().chain().iter().flat_map(Run::paths);
    for top in paths.filter_map(|path| manager_of(path, known.runtimes())) {
        profile.sets(variable_of(&top), top);
    }
}

/// The directory of the version manager that a shim belongs to.
// SECURITY: any directory could be called `shims` (test: a_directory_called_shims_opens_nothing)
fn manager_of(program: &Path, runtimes: &[Anchor]) -> Option<PathBuf> {
    let directory = program.parent()?;
    let top = directory.parent()?;
    let is_shim = directory.ends_with("shims") || directory.ends_with(".volta/bin");
    (is_shim && runtimes.iter().any(|runtime| runtime.top == top)).then(|| top.to_owned())
}

/// The variable that tells a version manager its directory.
fn variable_of(top: &Path) -> &'static str {
    match top.file_name().and_then(|name| name.to_str()) {
        Some(".asdf") => "ASDF_DATA_DIR",
        Some("mise") => "MISE_DATA_DIR",
        Some(".volta") => "VOLTA_HOME",
        _ => "PYENV_ROOT",
    }
}
