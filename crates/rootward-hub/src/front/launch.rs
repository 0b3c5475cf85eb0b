//! Starts a server: its command line for these roots, its confinement, its pipes.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use rootward_core::{Guard, GuardOptions, PlacedRoot, RootKind, RootSet};
use rootward_sandbox::{
    CommandLine, Confinement, ConfinementError, Installed, KnownCommand, Lifeline, Options, Program, ProgramError,
    StartError, Supply, Trace, UnixSockets, is_runner, spawn_kept,
};

use super::elsewhere::make_absolute_ambient;
use super::file_server::FileServerCommand;
use super::homes::Homes;
use super::naming::server_name;
use crate::config::{PathMap, PathPairs};
use crate::engine::{Change, Hope, Learners, Purpose};
use crate::root_template::{filled_in, has_root_template, in_argument, joined};
use crate::scan::Protection;

/// Programs that start containers, or a shell in one.
const CONTAINERS: [&str; 8] =
    ["docker", "podman", "nerdctl", "buildah", "kubectl", "lxc", "systemd-nspawn", "distrobox"];

/// How a server is started.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program, as typed.
    pub program: OsString,
    /// The directory that the command was typed in, if not the working directory. Relative words are resolved there.
    pub typed_in: Option<PathBuf>,
    /// Where the server runs.
    pub runs: Runs,
    /// Its arguments; `${root}` and `${roots}` are replaced with the roots.
    pub arguments: Vec<OsString>,
    /// Variables set for the server; `${root}` and `${roots}` in them are replaced with the roots.
    pub variables: Vec<(OsString, OsString)>,
    /// Names (never values) of variables that the server does not get. The error names them if the server dies early.
    pub withheld: Vec<String>,
    /// Set if this starts a known file server: the current directories replace the ones that were typed.
    pub file_server: Option<FileServerCommand>,
    /// How directories are passed to the server.
    pub inject: Inject,
    /// The server's own names for directories of this machine, if they differ.
    pub paths: PathPairs,
    /// How it is confined.
    pub confine: Confine,
    /// Which home it gets, if it is confined.
    pub homes: Homes,
    /// Whether to report the accesses that it was refused.
    pub trace: Trace,
    /// Values of its variables that nobody else may see. They are masked in its last output.
    pub secrets: Vec<String>,
}

/// Where a server runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Runs {
    /// On this machine: the program is the server.
    #[default]
    Here,
    /// On another machine: the program is Rootward's own and carries messages there. It gets no directory of the
    /// session.
    Elsewhere,
}

/// How directories are passed to a server, besides answering `roots/list`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Inject {
    /// As arguments, if it is a file server that is known to take them.
    #[default]
    Known,
    /// As arguments at the end.
    Arguments,
    /// In this variable, separated by colons.
    Variable(OsString),
    /// Not at all.
    Nothing,
}

/// How directories are passed to one particular server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PassedAs<'l> {
    InPlace(&'l FileServerCommand),
    AtTheEnd,
    Variable(&'l OsString),
    Nothing,
}

/// How a server is confined.
#[derive(Clone, Debug)]
pub enum Confine {
    /// By the kernel, to the roots.
    To(Box<Options>),
    /// Not at all.
    Off,
}

/// A running server.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) child: Child,
    pub(super) input: OwnedFd,
    pub(super) output: OwnedFd,
    /// Its standard error. `None` for a learner, whose complaints about missing directories would mislead.
    pub(super) errors: Option<OwnedFd>,
    /// Ties it to this process.
    pub(super) line: Lifeline,
    /// Its working directory, if it has no roots and no home.
    pub(super) empty: Option<tempfile::TempDir>,
}

/// The result of a start.
#[derive(Debug)]
pub(super) enum Start {
    Done(Box<Started>),
    /// A package has to be fetched first.
    AfterFetch(Box<Supply>),
}

/// What the first start found out about the command, for later starts.
#[derive(Debug, Default)]
pub(super) struct Knowledge {
    /// The command as typed.
    typed: Option<KnownCommand>,
    /// The package that it fetches. If another directory has its own copy, the command runs as typed there.
    package: Option<KnownCommand>,
}

impl Knowledge {
    /// Adds a package that was fetched.
    pub(super) fn add(&mut self, installed: Installed) -> Result<(), StartError> {
        self.package = Some(KnownCommand::of_package_ambient(installed)?);
        Ok(())
    }
}

impl Launch {
    /// What a change of roots requires.
    pub(crate) fn change(&self) -> Change {
        let confined = matches!(self.confine, Confine::To(_)) && self.runs == Runs::Here;
        let texts = self.arguments.iter().chain(self.variables.iter().map(|(_, value)| value));
        let has_template = texts.into_iter().any(|text| has_root_template(text));
        if confined || has_template || self.passed_as() != PassedAs::Nothing { Change::NewChild } else { Change::Told }
    }

    /// Whether a process may be started to learn what the server offers.
    pub(crate) fn learners(&self) -> Learners {
        match () {
            () if self.starts_container() => Learners::Never,
            () if is_runner(&self.program) => Learners::Fetching,
            () => Learners::Allowed,
        }
    }

    /// Whether a process with this purpose is traced. Only confined processes can be.
    pub(super) fn trace_of(&self, purpose: Purpose) -> Trace {
        match (&self.confine, purpose) {
            (Confine::To(_), Purpose::ServeTraced) => Trace::On,
            (Confine::To(_), Purpose::Serve) => self.trace,
            (Confine::To(_), Purpose::Learn) | (Confine::Off, _) => Trace::Off,
        }
    }

    /// Fails if no start can find the program, whatever the roots.
    pub fn find_program_ambient(&self) -> Result<(), StartError> {
        // A plain name is looked up in `PATH`, wherever it was typed.
        let typed_in = self.typed_in.clone().filter(|_| self.program.as_bytes().contains(&b'/'));
        let here = typed_in.or_else(|| std::env::current_dir().ok());
        let here = here.unwrap_or_else(|| PathBuf::from("/"));
        Program::find_ambient(&self.program, std::env::var_os("PATH").as_deref(), &here)?;
        Ok(())
    }

    /// The server's name in the audit log.
    pub fn server_name(&self) -> String {
        match (self.runs, self.arguments.last()) {
            (Runs::Elsewhere, Some(address)) => address.to_string_lossy().into_owned(),
            _ => server_name(&self.program, &self.arguments),
        }
    }

    /// What confines the server, besides the check of its calls.
    pub fn protection(&self) -> Protection {
        match &self.confine {
            // SECURITY: a container behind a socket is not a child of the server and has a different `/`, and so does
            // a server that sees other paths
            // (test: only_local_servers_count_as_confined_by_the_kernel)
            Confine::To(_) if self.runs == Runs::Elsewhere => Protection::CallsOnly,
            Confine::To(options) if !self.starts_container() && self.paths.is_empty() => match &options.unix_sockets {
                UnixSockets::None => Protection::Kernel,
                UnixSockets::Named(named) if named.is_empty() => Protection::Kernel,
                UnixSockets::Named(_) | UnixSockets::Open => Protection::CallsOnly,
            },
            Confine::To(_) | Confine::Off => Protection::CallsOnly,
        }
    }

    /// Whether any word of the command is the name of a container engine.
    fn starts_container(&self) -> bool {
        let words = [&self.program].into_iter().chain(&self.arguments);
        let mut words = words.flat_map(|word| word.as_bytes().split(u8::is_ascii_whitespace));
        words.any(|word| {
            let name = word.rsplit(|byte| *byte == b'/').next().unwrap_or(word);
            CONTAINERS.iter().any(|engine| name == engine.as_bytes())
        })
    }

    /// How directories are passed, given the command.
    fn passed_as(&self) -> PassedAs<'_> {
        match (&self.inject, &self.file_server) {
            (Inject::Known | Inject::Arguments, Some(server)) => PassedAs::InPlace(server),
            (Inject::Arguments, None) => PassedAs::AtTheEnd,
            (Inject::Variable(name), _) => PassedAs::Variable(name),
            (Inject::Known, None) | (Inject::Nothing, _) => PassedAs::Nothing,
        }
    }

    /// The command line for a guard's roots, typed in the directory `here`.
    fn line_ambient(&self, guard: &Guard, here: Option<&Path>) -> CommandLine {
        let set = guard.root_set();
        let places: Vec<&Path> = set.roots().iter().map(|root| root.place.as_path()).collect();
        let map = self.paths.map(guard);
        let called: Vec<PathBuf> = set.roots().iter().filter_map(|root| called_by_it(map.as_ref(), root)).collect();
        let called: Vec<&Path> = called.iter().map(PathBuf::as_path).collect();
        let directories = set.roots().iter().filter(|root| root.kind == RootKind::Directory);
        let directories = directories.filter_map(|root| called_by_it(map.as_ref(), root)).map(OsString::from);
        let filled = |arguments: &[OsString]| -> Vec<OsString> {
            arguments.iter().flat_map(|argument| in_argument(argument, &places, &called)).collect()
        };
        let mut variables: Vec<(OsString, OsString)> =
            self.variables.iter().map(|(name, value)| (name.clone(), filled_in(value, &places))).collect();
        let mut arguments = match self.passed_as() {
            // Root paths are not searched for `${root}`.
            PassedAs::InPlace(server) => server.given(&self.arguments, directories, filled),
            PassedAs::AtTheEnd => filled(&self.arguments).into_iter().chain(directories).collect(),
            PassedAs::Variable(name) => {
                variables.push((name.clone(), joined(&called, map.as_ref().map_or(":", PathMap::between))));
                filled(&self.arguments)
            }
            PassedAs::Nothing => filled(&self.arguments),
        };
        // SECURITY: relative paths must start in the same directory for the guard and the server
        // (test: a_relative_path_means_the_same_to_the_guard_and_to_the_server)
        let directory = guard.base().map(Path::to_owned);
        let mut program = self.program.clone();
        if self.runs == Runs::Elsewhere {
            // No word of this command line is a path that somebody typed.
            return CommandLine { program, arguments, typed: None, directory: None, variables };
        }
        // SECURITY: a start looks up relative words in this process's working directory, where a program of the same
        // name may lie (test: a_relative_command_is_looked_up_in_the_servers_own_directory)
        let is_same = directory.as_deref() == here && self.typed_in.is_none();
        if let Some(here) = here.filter(|here| here.is_absolute() && !is_same) {
            make_absolute_ambient(&mut program, &mut arguments, here);
        }
        let typed = Some(self.arguments.clone());
        CommandLine { program, arguments, typed, directory, variables }
    }

    /// The part of a session's roots that the process gets.
    fn confined_to(&self, guard: &Guard) -> Guard {
        match self.runs {
            Runs::Here => guard.clone(),
            // SECURITY: a remote server's messages are parsed in a process without directories
            // (test: a_remote_server_is_reached_from_a_process_without_directories)
            Runs::Elsewhere => Guard::new(RootSet::default(), GuardOptions::default()),
        }
    }

    /// Starts the server with a guard's roots, unless a package has to be fetched first. Blocks for a few
    /// milliseconds. `knowledge` is what earlier starts found out about the command.
    pub(super) fn start_ambient(
        &self,
        guard: &Guard,
        (purpose, trace): (Purpose, Trace),
        knowledge: &mut Knowledge,
    ) -> Result<Start, StartError> {
        let here = self.typed_in.clone().or_else(|| std::env::current_dir().ok());
        let line = self.line_ambient(guard, here.as_deref());
        let guard = &self.confined_to(guard);
        let errors = || if purpose == Purpose::Learn { Stdio::null() } else { Stdio::piped() };
        match &self.confine {
            Confine::To(options) => {
                let options = Options { trace, home: self.homes.home(guard, purpose), ..Options::clone(options) };
                let confinement = Confinement::new(guard.clone(), options)?;
                let package = confinement.package_ambient(&line)?;
                let slot = if package.is_some() { &mut knowledge.package } else { &mut knowledge.typed };
                // SECURITY: between two starts, the server could replace what a new lookup would find
                // (test: a_restarted_server_gets_what_was_found_at_first)
                let known = match (slot.take().filter(|known| known.is_for(&line)), package) {
                    (Some(again), _) => slot.insert(again),
                    (None, Some(package)) => return Ok(Start::AfterFetch(Box::new(Supply::new(package)))),
                    (None, None) => slot.insert(KnownCommand::look_up_ambient(&line)?),
                };
                let mut prepared = confinement.prepare_known_ambient(&line, known)?;
                prepared.command().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors());
                let confined = prepared.spawn()?;
                started(confined.child, confined.line, None)
            }
            Confine::Off => {
                let mut line = line;
                let empty = match &line.directory {
                    Some(_) => None,
                    None => Some(tempfile::tempdir().map_err(StartError::Prepare)?),
                };
                line.directory = line.directory.or_else(|| empty.as_ref().map(|empty| empty.path().to_owned()));
                let (child, line) = spawn_kept(&line, errors())?;
                started(child, line, empty)
            }
        }
    }
}

/// The server's name for a root; `None` if it cannot see the root.
fn called_by_it(map: Option<&PathMap>, root: &PlacedRoot) -> Option<PathBuf> {
    match map {
        Some(map) => map.root_to_child(root).map(PathBuf::from),
        None => Some(root.place.clone()),
    }
}

fn started(mut child: Child, line: Lifeline, empty: Option<tempfile::TempDir>) -> Result<Start, StartError> {
    let errors = child.stderr.take().map(OwnedFd::from);
    match (child.stdin.take(), child.stdout.take()) {
        (Some(input), Some(output)) => {
            let started = Started { child, input: input.into(), output: output.into(), errors, line, empty };
            Ok(Start::Done(Box::new(started)))
        }
        _ => Err(StartError::Silent),
    }
}

/// Whether a server that failed to start may start with other roots.
pub(super) fn hope(error: &StartError) -> Hope {
    match error {
        StartError::Program(ProgramError::NotFound(_) | ProgramError::NotExecutable(_))
        | StartError::Package(_)
        | StartError::Confinement(ConfinementError::Kernel(_)) => Hope::None,
        _ => Hope::OtherRoots,
    }
}

#[cfg(test)]
mod tests {
    use rootward_core::{Origin, Root, Validation};

    use super::*;

    fn launch(confine: Confine, command: &[&str]) -> Launch {
        let mut words = command.iter().map(OsString::from);
        Launch {
            program: words.next().unwrap(),
            arguments: words.collect(),
            typed_in: None,
            runs: Runs::Here,
            variables: Vec::new(),
            inject: Inject::default(),
            paths: PathPairs::default(),
            confine,
            homes: Homes::default(),
            withheld: Vec::new(),
            file_server: None,
            trace: Trace::Off,
            secrets: Vec::new(),
        }
    }

    #[test]
    fn a_remote_server_is_reached_from_a_process_without_directories() {
        let directory = tempfile::tempdir().unwrap();
        let root = Root::from_path(directory.path(), Origin::Client).unwrap();
        let guard = Guard::new(RootSet::place_ambient([root], &Validation::new(None)), GuardOptions::default());
        let confine = || Confine::To(Box::default());
        let here = launch(confine(), &["rootward", "connect", "http://a"]);
        let elsewhere = Launch { runs: Runs::Elsewhere, ..here.clone() };
        assert_eq!(here.confined_to(&guard).roots().len(), 1);
        assert_eq!(elsewhere.confined_to(&guard).roots().len(), 0);
        let line = elsewhere.line_ambient(&guard, Some(directory.path()));
        assert_eq!(line.directory, None);
        assert_eq!(elsewhere.server_name(), "http://a");
        // It keeps running when the roots change, unless they are part of its command line.
        assert_eq!(elsewhere.change(), Change::Told);
        assert_eq!(here.change(), Change::NewChild);
        let variables = vec![("A".into(), "http://a/${root}".into())];
        assert_eq!(Launch { variables, ..elsewhere }.change(), Change::NewChild);
    }

    #[test]
    fn only_local_servers_count_as_confined_by_the_kernel() {
        let check = |confine: Confine, command: &[&str], expect: Protection| {
            assert_eq!(launch(confine, command).protection(), expect, "{command:?}");
        };
        let confined = |unix_sockets| Confine::To(Box::new(Options { unix_sockets, ..Options::default() }));
        let closed = || confined(UnixSockets::default());
        check(closed(), &["npx", "-y", "@upstash/context7-mcp"], Protection::Kernel);
        check(closed(), &["/opt/dockerish/server"], Protection::Kernel);
        check(Confine::Off, &["npx", "-y", "@upstash/context7-mcp"], Protection::CallsOnly);
        check(confined(UnixSockets::None), &["npx", "-y", "@upstash/context7-mcp"], Protection::Kernel);
        let named = UnixSockets::Named(vec!["/run/postgresql/.s.PGSQL.5432".into()]);
        for sockets in [UnixSockets::Open, named] {
            check(confined(sockets), &["npx", "-y", "@upstash/context7-mcp"], Protection::CallsOnly);
        }
        for command in [
            &["docker", "run", "x"][..],
            &["/usr/bin/podman"],
            &["env", "A=b", "docker"],
            &["sh", "-c", "exec docker run x"],
        ] {
            check(closed(), command, Protection::CallsOnly);
        }
        let mapped =
            Launch { paths: PathPairs::new([("/a".into(), "/b".to_owned())]), ..launch(closed(), &["server"]) };
        assert_eq!(mapped.protection(), Protection::CallsOnly);
        let elsewhere = Launch { runs: Runs::Elsewhere, ..launch(closed(), &["rootward", "connect"]) };
        assert_eq!(elsewhere.protection(), Protection::CallsOnly);
    }
}
