//! How a package is installed: the program, its arguments and its variables.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::command::{PackageCommand, Registry, Runner};
use super::{npm, pypi};
use crate::profile::{Program, in_path_ambient};

/// Where a package goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place<'p> {
    /// The directory of the install.
    pub(super) install: &'p Path,
    /// The private home of the fetch, which is removed afterwards.
    pub(super) home: &'p Path,
}

/// The kind of attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Attempt {
    /// Nothing is installed yet.
    First,
    /// There is an old install, which is used if this fails.
    Refresh,
    /// None of the user's Pythons was suitable: one is downloaded with the package.
    WithPython,
}

/// How to install a package.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Install {
    pub(super) arguments: Vec<OsString>,
    /// Variables with these values.
    pub(super) variables: Vec<(OsString, OsString)>,
}

/// How a package is installed.
pub(super) fn install(command: &PackageCommand, place: Place<'_>, attempt: Attempt) -> Install {
    match command.registry {
        Registry::Npm => npm::install(command, place, attempt),
        Registry::PyPi => pypi::install(command, place, attempt),
    }
}

/// The program that installs: next to the runner that the user named, else from the user's `PATH`.
pub(super) fn tool_ambient(
    command: &PackageCommand,
    runner: &Program,
    path: Option<&std::ffi::OsStr>,
    here: &Path,
) -> Option<Program> {
    let name = match command.runner {
        Runner::Npx => "npm",
        Runner::Bunx => "bun",
        Runner::PnpmDlx => "pnpm",
        Runner::Uvx => "uv",
        Runner::PipxRun => "pipx",
    };
    let beside = runner.path().with_file_name(name);
    let find = |place: &Path| Program::find_ambient(place.as_os_str(), path, here).ok();
    find(&beside).or_else(|| find(&in_path_ambient(name.as_ref(), path, here)?))
}

/// How to start an installed package.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Start {
    pub(crate) program: PathBuf,
    /// Arguments before the server's own.
    pub(crate) first: Vec<OsString>,
    /// The directory of its programs, first in its `PATH`.
    pub(crate) programs: PathBuf,
}
