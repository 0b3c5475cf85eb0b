//! A command that was looked up: its program, and its findings.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rootward_core::follow_ambient;

use super::finding::{Anchor, Findings, NeededAs};
use super::program::{INSTALLED, Run, prefix};

use super::{Program, ProgramError, RUN, Surroundings, environment, node, python, runtimes, script_argument, shims};
use crate::confinement::CommandLine;
use crate::package::{Installed, Registry, Start};

/// A command that was looked up. A process that starts a command repeatedly looks it up once: between two starts, the
/// command could change the result.
#[derive(Debug)]
pub struct KnownCommand {
    subject: Subject,
    program: Program,
    findings: Findings,
    runtimes: Vec<Anchor>,
    home: Option<PathBuf>,
    homes: Vec<PathBuf>,
    variables: Vec<(OsString, OsString)>,
}

/// What was looked up.
#[derive(Debug)]
enum Subject {
    /// A program and its script, as typed.
    Typed(PathBuf, Option<PathBuf>),
    /// A package, which runs instead of the runner that was typed.
    Package(Box<Installed>),
}

impl KnownCommand {
    /// Finds the program and collects its findings.
    pub fn look_up_ambient(line: &CommandLine) -> Result<KnownCommand, ProgramError> {
        let script = script_argument(&line.arguments).map(|script| here().join(script));
        let subject = Subject::Typed(typed_program(&line.program), script);
        KnownCommand::look_up_subject_ambient(&line.program, &line.arguments, subject)
    }

    /// The same for a fetched package: its program is started instead of the runner that was typed.
    pub fn of_package_ambient(installed: Installed) -> Result<KnownCommand, ProgramError> {
        let Start { program, first, .. } = installed.start().clone();
        // The server's arguments name no script.
        KnownCommand::look_up_subject_ambient(program.as_os_str(), &first, Subject::Package(Box::new(installed)))
    }

    /// The same for a line whose arguments name no script.
    pub(crate) fn without_script_ambient(line: &CommandLine) -> Result<KnownCommand, ProgramError> {
        KnownCommand::look_up_subject_ambient(&line.program, &[], Subject::Typed(typed_program(&line.program), None))
    }

    fn look_up_subject_ambient(
        program: &OsStr,
        arguments: &[OsString],
        subject: Subject,
    ) -> Result<KnownCommand, ProgramError> {
        let variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let variable = |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let here = here();
        let program = Program::find_ambient(program, variable("PATH").as_deref(), &here)?;
        let home = variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let surroundings = Surroundings {
            program: &program,
            arguments,
            directory: &here,
            home: home.as_deref(),
            variables: &variables,
        };
        let mut findings = Findings::default();
        for (number, run) in program.chain().iter().enumerate() {
            let why = if number == 0 { NeededAs::Program } else { NeededAs::Interpreter };
            add_run_ambient(run, why, &mut findings);
        }
        environment::seek_ambient(&surroundings, &mut findings);
        node::seek_ambient(&surroundings, &mut findings);
        python::seek_ambient(&surroundings, &mut findings);
        if matches!(&subject, Subject::Package(package) if package.command().registry == Registry::PyPi) {
            python::seek_package_ambient(&surroundings, &mut findings);
        }
        let runtimes = runtimes::find_ambient(home.as_deref(), &variables, &here);
        shims::seek_ambient(&program, &runtimes, &mut findings);
        let lies_at = home.as_deref().and_then(follow_ambient).map(|followed| followed.place);
        let homes = home.clone().into_iter().chain(lies_at).collect();
        Ok(KnownCommand { subject, program, findings, runtimes, home, homes, variables })
    }

    /// Whether this is the result for a command line; arguments after the script do not matter.
    pub fn is_for(&self, line: &CommandLine) -> bool {
        match &self.subject {
            Subject::Package(installed) => installed.is_for(line),
            Subject::Typed(program, script) => {
                let typed = script_argument(&line.arguments).map(|script| here().join(script));
                *program == typed_program(&line.program) && *script == typed
            }
        }
    }

    /// The package that runs instead of the runner that was typed.
    pub fn package(&self) -> Option<&Installed> {
        match &self.subject {
            Subject::Package(installed) => Some(installed),
            Subject::Typed(..) => None,
        }
    }

    /// The program that was found.
    pub fn program(&self) -> &Program {
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

    /// The home as spelled, and resolved.
    pub(crate) fn homes(&self) -> &[PathBuf] {
        &self.homes
    }

    pub(crate) fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    /// The value of an environment variable.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
    }
}

fn here() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"))
}

/// The same program may be typed with a relative path and started with an absolute one.
pub(crate) fn typed_program(program: &OsStr) -> PathBuf {
    let is_path = program.as_encoded_bytes().contains(&b'/');
    if is_path { here().join(program) } else { PathBuf::from(program) }
}

/// A file that runs, and the libraries next to it: `lib` next to its `bin`. Never the prefix itself, which may be
/// `~/.local`.
fn add_run_ambient(run: &Run, why: NeededAs, findings: &mut Findings) {
    findings.seek_ambient(&run.lies_at, RUN, why, &run.trail);
    for path in run.paths() {
        let Some(prefix) = prefix(path) else { continue };
        for part in INSTALLED {
            findings.seek_ambient(&prefix.join(part), RUN, NeededAs::Libraries, &run.trail);
        }
    }
}
