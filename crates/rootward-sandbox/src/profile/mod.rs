//! What a server needs to run, besides its roots: the system's runtime, its own interpreter and packages, a private
//! home and temporary directory, and an environment without secrets.
//!
//! There is one file for each kind of need. Findings about a command are collected once (`finding.rs`,
//! [`KnownCommand`]) and judged at every start (`trust.rs`); the result is a profile: places and variables. Nothing is
//! opened here.

mod cache;
mod environment;
mod finding;
mod known;
mod node;
mod passed;
mod private;
mod program;
mod python;
mod runtimes;
mod shims;
mod system;
mod trust;

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rootward_core::{Access, follow_ambient};

pub(crate) use cache::make_ambient as make_cache_ambient;
pub(crate) use environment::fetching_variables;
pub use environment::withheld_variables;
pub use finding::NeededAs;
pub(crate) use finding::{Finding, read_ambient};
pub use known::KnownCommand;
pub(crate) use known::typed_program;
pub(crate) use node::outermost_modules;
pub use passed::{PassedVariable, VariableError};
pub(crate) use private::Private;
pub(crate) use program::in_path_ambient;
pub use program::{Program, ProgramError};
pub(crate) use system::is_device;
pub(crate) use trust::Trust;
pub use trust::Untrusted;

/// Reading and running, never changing: the access to programs and libraries.
pub(crate) const RUN: Access = Access::READ.with(Access::EXECUTE);

/// Whether every command can read a place, because it belongs to the system.
pub fn is_of_system(place: &Path) -> bool {
    system::gives(place, Access::READ)
}

/// Who says that a place is needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Says {
    /// This profile's list of the system's own places, whose names no user can change.
    System,
    /// A finding about the command, which never opens a secret place.
    Surroundings(NeededAs),
    /// Rootward, which has just created it.
    Own,
}

/// A place that the command needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Need {
    pub(crate) path: PathBuf,
    pub(crate) access: Access,
    pub(crate) says: Says,
}

/// Places and variables.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Profile {
    pub(crate) needs: Vec<Need>,
    /// Those that may contain secrets.
    pub(crate) unknown: Vec<PathBuf>,
    pub(crate) variables: Vec<(OsString, OsString)>,
}

impl Profile {
    fn needs_of_own(&mut self, path: impl Into<PathBuf>, access: Access) {
        self.needs.push(Need { path: path.into(), access, says: Says::Own });
    }

    fn needs_of_system(&mut self, path: &str, access: Access) {
        self.needs.push(Need { path: path.into(), access, says: Says::System });
    }

    pub(crate) fn sets(&mut self, name: impl AsRef<OsStr>, value: impl Into<OsString>) {
        let (name, value) = (name.as_ref(), value.into());
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.into(), value));
    }
}

/// The command's own directories.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OwnDirectories {
    pub(crate) home: PathBuf,
    /// The command's access to its home.
    pub(crate) home_access: Access,
    pub(crate) temporary: PathBuf,
}

/// What is known about the user and the command.
#[derive(Debug)]
pub(crate) struct Surroundings<'s> {
    /// The requested program.
    pub(crate) program: &'s Program,
    /// Its arguments.
    pub(crate) arguments: &'s [OsString],
    /// Where it is typed.
    pub(crate) directory: &'s Path,
    /// The user's own home. The command sees nothing of it except its interpreter.
    pub(crate) home: Option<&'s Path>,
    /// The environment of this process.
    pub(crate) variables: &'s [(OsString, OsString)],
}

impl Surroundings<'_> {
    /// Whether `path` is the user's home or contains it.
    fn holds_home(&self, path: &Path) -> bool {
        self.home.is_some_and(|home| home.starts_with(path)) || path.parent().is_none()
    }

    /// Whether a directory belongs to its contents: not the user's home or above it, and not a shared one such as
    /// `/tmp` (recognized by its sticky bit).
    // SECURITY: opening such a directory for one file would show everything others left there
    // (test: the_profile_opens_neither_the_home_nor_a_directory_that_all_share)
    #[expect(clippy::disallowed_methods, reason = "the operator's own command: what lies next to its script")]
    fn is_its_own_ambient(&self, directory: &Path) -> bool {
        let shared = directory.metadata().is_ok_and(|seen| seen.permissions().mode() & 0o1000 != 0);
        let lies_at = follow_ambient(directory).map(|followed| followed.place);
        !shared && !self.holds_home(directory) && !lies_at.is_some_and(|lies_at| self.holds_home(&lies_at))
    }
}

/// What every start of a command needs: variables, the system's places, the private directories, and the cache.
pub(crate) fn of_start(
    known: &KnownCommand,
    passed: &[PassedVariable],
    directories: &OwnDirectories,
    cache: Option<&Path>,
) -> Profile {
    let mut profile = Profile::default();
    environment::add(known.variables(), passed, directories, &mut profile);
    system::add(&mut profile);
    node::add(known.program(), cache, &mut profile);
    python::add(known, cache, &mut profile);
    shims::add(known, &mut profile);
    if let Some(installed) = known.package() {
        // SECURITY: if a server could write to its package, servers of other projects would run the result
        // (test: a_package_is_read_only_to_its_server)
        profile.needs_of_own(installed.directory(), RUN);
        for (name, value) in installed.variables(known.variable("PATH")) {
            profile.sets(name, value);
        }
    }
    profile
}

/// The position of the script argument: the first that is not an option.
// SECURITY: code on the command line, or a module's name, is not a path; treated as one, it would open the working
// directory (test: code_on_the_command_line_opens_nothing)
pub fn script_position(arguments: &[OsString]) -> Option<usize> {
    const CODE: [&str; 8] = ["-c", "-m", "-e", "-p", "-pe", "--eval", "--print", "-"];
    let is_code = |argument: &OsString| CODE.iter().any(|option| argument == option);
    let is_option = |argument: &OsString| argument.as_encoded_bytes().starts_with(b"-");
    let found = arguments.iter().position(|argument| is_code(argument) || !is_option(argument))?;
    (!is_code(&arguments[found])).then_some(found)
}

fn script_argument(arguments: &[OsString]) -> Option<&OsString> {
    arguments.get(script_position(arguments)?)
}

/// The script that an interpreter is to run, if it is a file.
#[expect(clippy::disallowed_methods, reason = "the operator's own command: whether its argument is a script")]
fn script_ambient(surroundings: &Surroundings<'_>) -> Option<PathBuf> {
    let script = surroundings.directory.join(script_argument(surroundings.arguments)?);
    script.is_file().then_some(script)
}
