//! Persistent homes of servers, below Rootward's state directory: one per server, or one per server and project.
//!
//! A home is keyed by what the command line identifies beyond doubt: the package of a registry, or else the whole
//! command and the directory it was typed in. So a project cannot name a server that runs in another server's home.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rootward_core::{Guard, follow_ambient};
use rootward_sandbox::{Home, PackageCommand, Registry};
use sha2::{Digest, Sha256};

use super::naming::server_name;
use crate::engine::Purpose;
use crate::recipe::HomeKind;

/// How many characters of a readable name go into a directory name.
const LONGEST_NAME: usize = 60;

/// The homes of one server.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Homes {
    kind: HomeKind,
    /// The directory of its homes; `None` without a state directory.
    directory: Option<PathBuf>,
}

impl Homes {
    /// The homes of the server that a command line starts, typed in the working directory. `state` is Rootward's
    /// state directory.
    pub fn new_ambient(kind: HomeKind, state: Option<&Path>, program: &OsStr, arguments: &[OsString]) -> Homes {
        let here = std::env::current_dir().unwrap_or_default();
        let server = server_directory_ambient(&here, program, arguments);
        Homes { kind, directory: state.map(|state| state.join("homes").join(server)) }
    }

    /// The home of a process that runs with a guard's roots.
    pub(super) fn home(&self, guard: &Guard, purpose: Purpose) -> Home {
        // SECURITY: a learner's answers are shown to every project, so it must not see any project's data
        // (test: a_learner_does_not_see_the_home_that_lasts)
        let kept = |name: String| self.directory.as_ref().map_or(Home::Private, |top| Home::Kept(top.join(name)));
        match (self.kind, purpose) {
            (HomeKind::None, _) => Home::Empty,
            (HomeKind::Private, _) | (_, Purpose::Learn) => Home::Private,
            (HomeKind::Shared, _) => kept("shared".to_owned()),
            (HomeKind::Project, _) => match guard.root_set().roots().first() {
                Some(root) => kept(format!("project-{}", named(last_name(&root.place), [root.place.as_os_str()]))),
                None => Home::Private,
            },
        }
    }
}

/// The name of the directory for a server's homes.
// SECURITY: a project that could name another server's package could read and write that server's data
// (test: a_home_belongs_to_one_server)
fn server_directory_ambient(here: &Path, program: &OsStr, arguments: &[OsString]) -> String {
    let package = PackageCommand::read(program, arguments).filter(|package| !is_nearer_ambient(here, package));
    // A path to the runner may lead to any program of that name.
    let package = package.filter(|_| !program.as_bytes().contains(&b'/'));
    match package {
        // Package names never contain `+`.
        Some(package) => format!("{}+{}", package.registry, package.name.replace('/', "+")),
        None => {
            let words = [here.as_os_str(), program].into_iter().chain(arguments.iter().map(OsString::as_os_str));
            named(&server_name(program, arguments), words)
        }
    }
}

/// Whether the runner would find the package in a parent directory before it asks the registry.
fn is_nearer_ambient(here: &Path, package: &PackageCommand) -> bool {
    let mut above = here.ancestors().map(|above| above.join("node_modules").join(&package.name));
    package.registry == Registry::Npm
        && above.any(|place| follow_ambient(&place).is_none_or(|followed| followed.exists))
}

fn last_name(place: &Path) -> &str {
    place.file_name().and_then(OsStr::to_str).unwrap_or("root")
}

/// A readable name plus a hash of all words.
fn named<'w>(name: &str, words: impl IntoIterator<Item = &'w OsStr>) -> String {
    let mut hasher = Sha256::new();
    for word in words {
        hasher.update(word.len().to_le_bytes());
        hasher.update(word.as_bytes());
    }
    let hash = hasher.finalize().iter().take(10).fold(String::new(), |mut hash, byte| {
        let _ = write!(hash, "{byte:02x}");
        hash
    });
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { '_' };
    let name: String = name.trim_start_matches('.').chars().take(LONGEST_NAME).map(plain).collect();
    format!("{name}-{hash}")
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "plays the user")]
mod tests {
    use super::*;

    #[test]
    fn a_home_belongs_to_one_server() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        let (here, other) = (top.join("here"), top.join("other"));
        std::fs::create_dir_all(&here).unwrap();
        std::fs::create_dir_all(other.join("node_modules/@a/b")).unwrap();
        let name = |here: &Path, line: &str| {
            let mut words = line.split(' ').map(OsString::from);
            let program = words.next().unwrap();
            server_directory_ambient(here, &program, &words.collect::<Vec<_>>())
        };
        assert_eq!(name(&here, "npx -y @a/b"), "npm+@a+b");
        assert_eq!(name(&here, "npx -y @a/b@2 /srv"), "npm+@a+b");
        assert_eq!(name(&here, "uvx B_c"), "pypi+b-c");
        let lines = [
            (&here, "npx -p evil @a/b"),
            (&here, "npx --registry=http://127.0.0.1 @a/b"),
            (&other, "npx -y @a/b"),
            (&here, "./npx -y @a/b"),
            (&here, "python3 server.py"),
            (&other, "python3 server.py"),
            (&here, "python3 server.py --x"),
        ];
        let mut names: Vec<String> = lines.iter().map(|(here, line)| name(here, line)).collect();
        assert!(names.iter().all(|name| !name.contains('+') && !name.contains('/')), "{names:?}");
        names.sort();
        names.dedup();
        assert_eq!(names.len(), lines.len(), "{names:?}");
    }

    #[test]
    fn names_are_plain() {
        assert!(named("../x y\u{1b}/é", []).starts_with("_x_y___-"), "{}", named("../x y\u{1b}/é", []));
    }
}
