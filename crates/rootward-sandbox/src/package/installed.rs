//! An installed package: what to run, protected from removal.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::command::{PackageCommand, Registry};
use super::entry::LockedInstall;
use super::install::Start;
use crate::confinement::CommandLine;
use crate::profile::typed_program;

/// A fetched package. While this exists, nobody removes it.
#[derive(Debug)]
pub struct Installed {
    command: PackageCommand,
    /// The runner, as typed.
    runner: PathBuf,
    held: LockedInstall,
    start: Start,
}

impl Installed {
    pub(super) fn new(command: PackageCommand, runner: PathBuf, held: LockedInstall, start: Start) -> Installed {
        Installed { command, runner, held, start }
    }

    /// The parsed command line.
    pub fn command(&self) -> &PackageCommand {
        &self.command
    }

    /// The installed version according to the package.
    pub fn version(&self) -> Option<&str> {
        self.held.current.version.as_deref()
    }

    /// Its resolved path.
    pub fn directory(&self) -> &Path {
        &self.held.directory
    }

    /// Whether this command line runs it. The server's arguments do not matter.
    pub(crate) fn is_for(&self, line: &CommandLine) -> bool {
        typed_program(&line.program) == self.runner
            && PackageCommand::read(&line.program, &line.arguments).as_ref() == Some(&self.command)
    }

    pub(crate) fn start(&self) -> &Start {
        &self.start
    }

    /// The arguments to start the program with: those after the package.
    pub(crate) fn arguments(&self, line: &CommandLine) -> Vec<OsString> {
        let own = line.arguments.get(self.command.before..).unwrap_or_default();
        self.start.first.iter().chain(own).cloned().collect()
    }

    /// Its variables besides the usual ones; `path` is the user's `PATH`.
    pub(crate) fn variables(&self, path: Option<&OsStr>) -> Vec<(&'static str, OsString)> {
        let mut search = self.start.programs.clone().into_os_string();
        if let Some(path) = path.filter(|path| !path.is_empty()) {
            search.push(":");
            search.push(path);
        }
        let mut variables = vec![("PATH", search)];
        if self.command.registry == Registry::PyPi {
            // Python writes compiled modules next to their sources, which are read-only here.
            variables.push(("PYTHONDONTWRITEBYTECODE", "1".into()));
        }
        variables
    }
}
