//! A package that is there: what runs of it, and what keeps it from being removed meanwhile.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::command::{PackageCommand, Registry};
use super::entry::Held;
use super::install::Start;
use crate::confinement::CommandLine;
use crate::profile::typed_program;

/// A package that was fetched. While this is held, nobody removes it.
#[derive(Debug)]
pub struct Installed {
    command: PackageCommand,
    /// The runner, as typed.
    runner: PathBuf,
    held: Held,
    start: Start,
}

impl Installed {
    pub(super) fn new(command: PackageCommand, runner: PathBuf, held: Held, start: Start) -> Installed {
        Installed { command, runner, held, start }
    }

    /// What the command line asks for.
    pub fn command(&self) -> &PackageCommand {
        &self.command
    }

    /// The version that is installed, as the package says.
    pub fn version(&self) -> Option<&str> {
        self.held.current.version.as_deref()
    }

    /// Where it lies, without links.
    pub fn directory(&self) -> &Path {
        &self.held.directory
    }

    /// Whether this command line runs it. What the server gets as arguments does not matter.
    pub(crate) fn is_for(&self, line: &CommandLine) -> bool {
        typed_program(&line.program) == self.runner
            && PackageCommand::read(&line.program, &line.arguments).as_ref() == Some(&self.command)
    }

    pub(crate) fn start(&self) -> &Start {
        &self.start
    }

    /// The arguments with which the program starts: those behind the package.
    pub(crate) fn arguments(&self, line: &CommandLine) -> Vec<OsString> {
        let own = line.arguments.get(self.command.before..).unwrap_or_default();
        self.start.first.iter().chain(own).cloned().collect()
    }

    /// The variables that it gets besides the usual ones; `path` is where the user's programs are.
    pub(crate) fn variables(&self, path: Option<&OsStr>) -> Vec<(&'static str, OsString)> {
        let mut search = self.start.programs.clone().into_os_string();
        if let Some(path) = path.filter(|path| !path.is_empty()) {
            search.push(":");
            search.push(path);
        }
        let mut variables = vec![("PATH", search)];
        if self.command.registry == Registry::PyPi {
            // Compiled modules are kept beside their sources, where nothing can be written.
            variables.push(("PYTHONDONTWRITEBYTECODE", "1".into()));
        }
        variables
    }
}
