//! A package that a command line requests, fetched in one step and run in another.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rootward_core::env::{Directories, Environment};
use rootward_core::{Guard, GuardOptions, Material, Restrictions, RootSet};

use super::command::{PackageCommand, Registry, Runner};
use super::entry::{Current, Entry, LockedInstall, STORE, seconds_now};
use super::error::PackageError;
use super::install::{Start, tool_ambient};
use super::installed::Installed;
use super::key::Key;
use super::local::is_local_ambient;
use super::own::is_directory_ambient;
use super::{npm, pypi};
use crate::confinement::{CommandLine, Confinement};
use crate::error::StartError;
use crate::options::{Filesystem, Home, Network, Options, OwnProc, Processes, Trace, UnenforcedPolicy, UnixSockets};
use crate::plan::recorded_ambient;
use crate::profile::{Program, fetching_variables, in_path_ambient, typed_program};

/// How long a package without a fixed version is used before looking for a newer one.
const UNVERSIONED: Duration = Duration::from_hours(7 * 24);

/// The same if the version is a moving tag, such as `latest`.
const MOVING: Duration = Duration::from_hours(24);

/// How long to use the old one after a failure before trying again.
const TRIES_AGAIN: Duration = Duration::from_hours(1);

/// A package that a command line requests.
#[derive(Debug)]
pub struct Package {
    command: PackageCommand,
    /// The runner, as typed.
    runner: PathBuf,
    /// The program that installs it.
    tool: PathBuf,
    /// The program that runs it instead of its own interpreter.
    interpreter: Option<PathBuf>,
    key: Key,
    /// Rootward's part of the user's cache.
    base: PathBuf,
    material: Material,
    /// The same without the roots of this start.
    recorded: Material,
    restrictions: Arc<Restrictions>,
    /// The confinement of a fetch.
    options: Options,
}

/// The state of a package in the store.
#[derive(Debug)]
pub(super) enum Found {
    Ready(Installed),
    /// It is installed but old.
    Stale(Installed),
    Missing,
}

impl Confinement {
    /// The package that a command line runs, if Rootward fetches it first and then starts it without its runner. `None`
    /// if the command runs as typed: it fetches nothing, or not every word is understood, or the runner would not use
    /// the registry, or the runner or the store lies in a place that confined commands could write.
    pub fn package_ambient(&self, line: &CommandLine) -> Result<Option<Package>, StartError> {
        let Some(command) = PackageCommand::read(&line.program, &line.arguments) else { return Ok(None) };
        let variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let directories = Directories::new(&variables.iter().cloned().collect::<Environment>());
        let Some(base) = directories.cache.clone() else { return Ok(None) };
        let (_, recorded) = recorded_ambient(&directories)?;
        // SECURITY: never use a store that a confined command could have filled
        // (test: a_store_in_a_place_that_was_shared_is_not_used)
        if recorded.holds(&base.join(STORE)) {
            return Ok(None);
        }
        let mut material = recorded.clone();
        material.extend(self.open_places());
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let path = variables.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
        let runner = Program::find_ambient(&line.program, path, &here)?;
        let Some(tool) = tool_ambient(&command, &runner, path, &here) else { return Ok(None) };
        // SECURITY: a command that can change the fetching program can change what all projects run
        // (test: a_runner_that_a_server_could_write_does_not_fill_the_store)
        if runner.is_of(&material) || tool.is_of(&material) {
            return Ok(None);
        }
        if is_local_ambient(&command, &runner, self.directory_in_roots(line).as_deref()) {
            return Ok(None);
        }
        let typed = line.arguments.get(..command.before).unwrap_or_default();
        let interpreter = match command.runner {
            Runner::Bunx if typed.iter().any(|word| word == "--bun") => Some(tool.path().to_owned()),
            Runner::Bunx if in_path_ambient("node".as_ref(), path, &here).is_none() => Some(tool.path().to_owned()),
            _ => None,
        };
        let passed = self.options.variables.iter().filter(|passed| passed.is_for_fetching()).cloned().collect();
        let about_registry = fetching_variables(&variables, &self.options.variables, command.registry);
        let key = Key::new(&command, &about_registry);
        // A directory of packages that a variable names for the fetch and the operator has allowed.
        let is_for_fetching = |path: &&PathBuf| about_registry.iter().any(|(_, value)| names_path(value, path));
        let allow_read = self.options.filesystem.allow_read.iter().filter(is_for_fetching).cloned().collect();
        Ok(Some(Package {
            command,
            runner: typed_program(&line.program),
            tool: tool.path().to_owned(),
            interpreter,
            key,
            base,
            material,
            recorded,
            restrictions: self.guard.restrictions(),
            options: Options {
                network: self.options.fetch,
                fetch: self.options.fetch,
                unix_sockets: UnixSockets::None,
                unenforced: UnenforcedPolicy::Refuse,
                trace: Trace::Off,
                own_proc: OwnProc::FirstProcess,
                processes: Processes::Many,
                // SECURITY: what the operator opens for the server is not open to a package that is being fetched
                // (test: a_fetch_sees_no_root_and_no_secret)
                filesystem: Filesystem {
                    allow_read,
                    deny_read: self.options.filesystem.deny_read.clone(),
                    deny_write: self.options.filesystem.deny_write.clone(),
                    ..Filesystem::default()
                },
                home: Home::Private,
                variables: passed,
                launcher: self.options.launcher.clone(),
            },
        }))
    }
}

impl Package {
    /// As requested: `@scope/name@1.2`.
    pub fn spec(&self) -> String {
        self.command.spec()
    }

    pub(super) fn command(&self) -> &PackageCommand {
        &self.command
    }

    pub(super) fn key(&self) -> &Key {
        &self.key
    }

    pub(super) fn tool(&self) -> &Path {
        &self.tool
    }

    pub(super) fn may_fetch(&self) -> bool {
        self.options.network == Network::On
    }

    /// Its place in the store, created if needed.
    pub(super) fn entry_ambient(&self) -> Result<Entry, PackageError> {
        Ok(Entry::make_ambient(&self.base, &self.key, (&self.material, &self.recorded))?)
    }

    /// The confinement of a fetch: no roots at all.
    pub(super) fn confinement(&self) -> Result<Confinement, StartError> {
        let guard = GuardOptions { restrictions: Arc::clone(&self.restrictions), ..GuardOptions::default() };
        Ok(Confinement::new(Guard::new(RootSet::default(), guard), self.options.clone())?)
    }

    /// Its state in the store.
    pub(super) fn look_ambient(&self, entry: &Entry) -> Result<Found, PackageError> {
        let Some(held) = entry.hold_ambient()? else { return Ok(Found::Missing) };
        let start = match self.start_ambient(&held.directory) {
            Ok(start) => start,
            Err(error) if error.names_others() => return Err(error),
            // A damaged install is fetched again: a Python that is gone, files that somebody removed.
            Err(_) => return Ok(Found::Missing),
        };
        let is_stale = is_stale(&self.command, &held.current, seconds_now());
        let installed = self.installed(held, start);
        Ok(if is_stale { Found::Stale(installed) } else { Found::Ready(installed) })
    }

    /// The installed package, however old.
    pub(crate) fn installed_ambient(&self) -> Result<Option<Installed>, PackageError> {
        if !is_directory_ambient(&self.base.join(STORE).join(self.key.directory())) {
            return Ok(None);
        }
        match self.look_ambient(&self.entry_ambient()?)? {
            Found::Ready(installed) | Found::Stale(installed) => Ok(Some(installed)),
            Found::Missing => Ok(None),
        }
    }

    pub(super) fn installed(&self, held: LockedInstall, start: Start) -> Installed {
        Installed::new(self.command.clone(), self.runner.clone(), held, start)
    }

    /// How to start an install of it.
    pub(super) fn start_ambient(&self, install: &Path) -> Result<Start, PackageError> {
        let (program, programs) = match self.command.registry {
            Registry::Npm => (npm::program_ambient(&self.command, install)?, install.join("node_modules/.bin")),
            Registry::PyPi => {
                let program = pypi::program_ambient(&self.command, install)?;
                if !pypi::has_python_ambient(&self.command, install) {
                    let program = "python".to_owned();
                    return Err(PackageError::NoProgram { package: self.spec(), program, programs: Vec::new() });
                }
                (program, pypi::environment(&self.command, install).join("bin"))
            }
        };
        Ok(match &self.interpreter {
            Some(interpreter) => Start { program: interpreter.clone(), first: vec![program.into()], programs },
            None => Start { program, first: Vec::new(), programs },
        })
    }

    /// The version of an install, according to the package.
    pub(super) fn version_ambient(&self, install: &Path) -> Option<String> {
        match self.command.registry {
            Registry::Npm => npm::version_ambient(&self.command, install),
            Registry::PyPi => pypi::version_ambient(&self.command, install),
        }
    }
}

/// Whether the value of a variable, which may be a list, names this place.
fn names_path(value: &OsStr, path: &Path) -> bool {
    let parts = value.as_bytes().split(|byte| matches!(byte, b' ' | b',' | b':'));
    parts.map(OsStr::from_bytes).any(|part| Path::new(part) == path)
}

/// Whether to fetch a newer one.
fn is_stale(command: &PackageCommand, current: &Current, now: u64) -> bool {
    let stays = match () {
        () if command.is_moving() => MOVING,
        () if is_fixed(command) => return false,
        () => UNVERSIONED,
    };
    // Setting the clock back makes nothing old.
    let past = |since: u64, most: Duration| now.saturating_sub(since) > most.as_secs();
    past(current.fetched, stays) && current.tried.is_none_or(|tried| past(tried, TRIES_AGAIN))
}

/// Whether the version is exactly one release.
fn is_fixed(command: &PackageCommand) -> bool {
    let Some(version) = command.version.as_deref() else { return false };
    let is_number = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    match command.registry {
        // `1.2` is a range to npm; a release has three parts.
        Registry::Npm => {
            let release = version.split(['-', '+']).next().unwrap_or(version);
            let parts: Vec<&str> = release.split('.').collect();
            parts.len() == 3 && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
        }
        Registry::PyPi => {
            let release = version.strip_prefix("==").or_else(|| version.strip_prefix('@'));
            release.is_some_and(|release| is_number(release.trim_start_matches('=')) && !release.contains(['*', ',']))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_old_depends_on_the_version() {
        const HOUR: u64 = 3600;
        let check = |line: &str, hours: u64, tried: Option<u64>, expect: bool| {
            let mut words = line.split(' ').map(OsString::from);
            let program = words.next().unwrap();
            let command = PackageCommand::read(&program, &words.collect::<Vec<_>>()).unwrap();
            let now = 1000 * HOUR;
            let tried = tried.map(|hours| now - hours * HOUR);
            let current = Current { install: 1, fetched: now - hours * HOUR, tried, version: None };
            assert_eq!(is_stale(&command, &current, now), expect, "{line} {hours}");
        };
        check("npx name", 24 * 7 - 1, None, false);
        check("npx name", 24 * 7 + 1, None, true);
        check("npx name@^1", 24 * 7 + 1, None, true);
        check("npx name@1.2", 24 * 7 + 1, None, true);
        check("npx name@latest", 23, None, false);
        check("npx name@latest", 25, None, true);
        check("npx name@latest", 25, Some(0), false);
        check("npx name@latest", 25, Some(2), true);
        check("uvx name@latest", 25, None, true);
        check("uvx name>=1", 24 * 8, None, true);
        for fixed in ["npx name@1.2.3", "npx name@1.2.3-rc.1", "uvx name==1.2", "uvx name@1.2", "uvx name===1.2"] {
            check(fixed, 999, None, false);
        }
        check("uvx name==1.*", 24 * 8, None, true);
    }

    #[test]
    fn a_clock_that_was_set_back_makes_nothing_old() {
        let command = PackageCommand::read("npx".as_ref(), &["name@latest".into()]).unwrap();
        let current = Current { install: 1, fetched: 2000, tried: None, version: None };
        assert!(!is_stale(&command, &current, 1000));
    }
}
