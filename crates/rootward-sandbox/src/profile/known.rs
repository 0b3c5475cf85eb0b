//! A command that was looked up: its program, and what its surroundings say that it needs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rootward_core::follow_ambient;

use super::finding::{Anchor, Findings, Why};
use super::program::{INSTALLED, Run, prefix};

use super::{Program, ProgramError, RUN, Surroundings, environment, node, python, runtimes, script_argument, shims};
use crate::confinement::CommandLine;

/// A command that was looked up. A process that starts a command again and again looks it up once: between two starts, the command
/// could change what would be found.
#[derive(Debug)]
pub struct KnownCommand {
    line: (PathBuf, Option<PathBuf>),
    program: Program,
    findings: Findings,
    runtimes: Vec<Anchor>,
    home: Option<PathBuf>,
    homes: Vec<PathBuf>,
    variables: Vec<(OsString, OsString)>,
}

impl KnownCommand {
    /// Finds the program and reads its surroundings.
    pub fn look_up_ambient(line: &CommandLine) -> Result<KnownCommand, ProgramError> {
        let variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let variable = |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let program = Program::find_ambient(&line.program, variable("PATH").as_deref(), &here)?;
        let home = variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let surroundings = Surroundings {
            program: &program,
            arguments: &line.arguments,
            directory: &here,
            home: home.as_deref(),
            variables: &variables,
        };
        let mut findings = Findings::default();
        for (number, run) in program.chain().iter().enumerate() {
            let why = if number == 0 { Why::Program } else { Why::Interpreter };
            add_run_ambient(run, why, &mut findings);
        }
        environment::seek_ambient(&surroundings, &mut findings);
        node::seek_ambient(&surroundings, &mut findings);
        python::seek_ambient(&surroundings, &mut findings);
        let runtimes = runtimes::find_ambient(home.as_deref(), &variables, &here);
        shims::seek_ambient(&program, &runtimes, &mut findings);
        let lies_at = home.as_deref().and_then(follow_ambient).map(|followed| followed.place);
        let homes = home.clone().into_iter().chain(lies_at).collect();
        Ok(KnownCommand { line: key(line), program, findings, runtimes, home, homes, variables })
    }

    /// Whether this is what was looked up for a command line; arguments behind the script do not count.
    pub fn is_for(&self, line: &CommandLine) -> bool {
        self.line == key(line)
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    pub(crate) fn findings(&self) -> &Findings {
        &self.findings
    }

    pub(crate) fn runtimes(&self) -> &[Anchor] {
        &self.runtimes
    }

    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The home as spelled, and where it lies.
    pub(crate) fn homes(&self) -> &[PathBuf] {
        &self.homes
    }

    pub(crate) fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }
}

/// The same command may be typed with a relative path and started with an absolute one.
fn key(line: &CommandLine) -> (PathBuf, Option<PathBuf>) {
    let here = std::env::current_dir().unwrap_or_default();
    let is_path = line.program.as_encoded_bytes().contains(&b'/');
    let program = if is_path { here.join(&line.program) } else { PathBuf::from(&line.program) };
    (program, script_argument(&line.arguments).map(|script| here.join(script)))
}

/// A file that runs, and the libraries beside it: `lib` beside the `bin` it lies in. Never the prefix itself, which may be
/// `~/.local`.
fn add_run_ambient(run: &Run, why: Why, findings: &mut Findings) {
    findings.seek_ambient(&run.lies_at, RUN, why, &run.trail);
    for path in run.paths() {
        let Some(prefix) = prefix(path) else { continue };
        for part in INSTALLED {
            findings.seek_ambient(&prefix.join(part), RUN, Why::Libraries, &run.trail);
        }
    }
}
