//! Lists the package store for people: which packages, their size and age, and whether somebody uses them.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rootward_core::Material;

use super::command::{PackageCommand, Registry, Runner};
use super::entry::{Entry, Removal, STORE};
use super::key::Key;
use super::own::{self, Hold, Lock};

/// The number of digits at the end of cache names.
const DIGITS: usize = 16;

/// The package store of a user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Store {
    /// Rootward's part of the user's cache.
    base: PathBuf,
}

/// Something in the store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stored {
    /// Its contents.
    pub contents: Contents,
    /// Where it lies.
    pub directory: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// When it was fetched.
    pub fetched: Option<SystemTime>,
    /// When a command last started from it.
    pub used: Option<SystemTime>,
    /// Whether a command runs from it now, or fetches it.
    pub is_in_use: bool,
}

/// What something in the store is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contents {
    /// A fetched package.
    Package {
        /// Where it comes from.
        registry: Registry,
        /// The program that runs it.
        runner: Runner,
        /// Its full name.
        name: String,
        /// As requested, with its version.
        spec: String,
        /// The requested version, if any.
        asked: Option<String>,
        /// The options that decide what else is installed.
        options: Vec<(String, String)>,
        /// The installed version according to the package.
        installed: Option<String>,
    },
    /// What a runner fetched when it ran as typed.
    RunnerCache {
        /// Its name.
        runner: String,
    },
    /// What an interrupted fetch or removal left behind.
    Leftover,
}

impl Store {
    /// The store in Rootward's part of the user's cache.
    pub fn new(base: impl Into<PathBuf>) -> Store {
        Store { base: base.into() }
    }

    /// Everything in it, by name.
    pub fn list_ambient(&self) -> io::Result<Vec<Stored>> {
        let place = own::find_ambient(&self.base.join(STORE), &self.base, &Material::default())?;
        let mut found = Vec::new();
        for name in names_ambient(&place)? {
            let (path, text) = (place.join(&name), name.to_string_lossy());
            if Registry::named(&text).is_some() {
                for name in names_ambient(&path)? {
                    found.extend(of_registry_ambient(&name, path.join(&name)));
                }
            } else if let Some(runner) = runner_of(&text) {
                let used = used_ambient(&path);
                let is_in_use = used.is_some()
                    && !Lock::take_ambient(&lock_of(&path), Hold::Alone).is_ok_and(|lock| lock.is_some());
                let contents = Contents::RunnerCache { runner: runner.to_owned() };
                found.extend(stored_ambient(contents, path, (None, used), is_in_use));
            } else if text.starts_with(own::REMOVED) {
                found.extend(stored_ambient(Contents::Leftover, path, (None, None), false));
            }
        }
        found.sort_by(|one, other| {
            (one.contents.label(), &one.directory).cmp(&(other.contents.label(), &other.directory))
        });
        Ok(found)
    }

    /// Removes something from it, unless somebody uses it.
    pub fn remove_ambient(&self, stored: &Stored) -> io::Result<Removal> {
        match &stored.contents {
            Contents::Package { .. } => Entry::at(stored.directory.clone()).remove_ambient(),
            Contents::RunnerCache { .. } => {
                let Some(_alone) = Lock::take_ambient(&lock_of(&stored.directory), Hold::Alone)? else {
                    return Ok(Removal::InUse);
                };
                own::remove_aside_ambient(&stored.directory)?;
                own::remove_ambient(&lock_of(&stored.directory));
                Ok(Removal::Removed)
            }
            Contents::Leftover if stored.is_in_use => Ok(Removal::InUse),
            Contents::Leftover => own::remove_aside_ambient(&stored.directory).map(|()| Removal::Removed),
        }
    }
}

impl Contents {
    /// A name for people.
    pub fn label(&self) -> String {
        match self {
            Contents::Package { spec, .. } => spec.clone(),
            Contents::RunnerCache { runner } => format!("cache of {runner}"),
            Contents::Leftover => "leftover".to_owned(),
        }
    }
}

/// The file that is locked while a command uses its runner's cache.
pub(crate) fn lock_of(cache: &Path) -> PathBuf {
    let mut name = cache.file_name().unwrap_or_default().to_owned();
    name.push(".use");
    cache.with_file_name(name)
}

fn of_registry_ambient(name: &OsStr, directory: PathBuf) -> Option<Stored> {
    if name.as_encoded_bytes().starts_with(own::REMOVED.as_bytes()) {
        return stored_ambient(Contents::Leftover, directory, (None, None), false);
    }
    let entry = Entry::at(directory.clone());
    let current = entry.current_ambient().ok().flatten();
    let (Some(key), Some(current)) = (entry.key_ambient().ok().flatten(), current) else {
        let is_in_use = entry.is_in_use_ambient();
        return stored_ambient(Contents::Leftover, directory, (None, None), is_in_use);
    };
    let used = entry.last_used_ambient(current.install);
    let (fetched, is_in_use) = (current.fetched(), entry.is_in_use_ambient());
    stored_ambient(package(key, current.version), directory, (Some(fetched), used), is_in_use)
}

fn package(key: Key, installed: Option<String>) -> Contents {
    let Key { registry, runner, name, extras, version, options, settings: _ } = key;
    let command = PackageCommand { runner, registry, name, extras, version, options, program: None, before: 0 };
    let spec = command.spec();
    let PackageCommand { name, version: asked, options, .. } = command;
    Contents::Package { registry, runner, name, spec, asked, options, installed }
}

fn stored_ambient(
    contents: Contents,
    directory: PathBuf,
    (fetched, used): (Option<SystemTime>, Option<SystemTime>),
    is_in_use: bool,
) -> Option<Stored> {
    own::is_directory_ambient(&directory).then(|| Stored {
        contents,
        size: own::size_ambient(&directory),
        directory,
        fetched,
        used,
        is_in_use,
    })
}

/// The runner in the name of a cache: `npx-0123456789abcdef`.
fn runner_of(name: &str) -> Option<&str> {
    let (runner, digits) = name.rsplit_once('-')?;
    let is_hash = digits.len() == DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    (is_hash && !runner.is_empty() && !runner.starts_with('.')).then_some(runner)
}

#[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
fn used_ambient(cache: &Path) -> Option<SystemTime> {
    lock_of(cache).symlink_metadata().ok()?.modified().ok()
}

/// The names in a directory that may not exist.
fn names_ambient(directory: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    match own::names_ambient(directory) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(Vec::new()),
        names => names,
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "plays earlier starts")]
mod tests {
    use super::*;

    fn key(line: &str) -> Key {
        let mut words = line.split(' ').map(std::ffi::OsString::from);
        let program = words.next().unwrap();
        let command = PackageCommand::read(&program, &words.collect::<Vec<_>>()).unwrap();
        Key::new(&command, &[])
    }

    fn entry(base: &Path, line: &str) -> Entry {
        let nothing = Material::default();
        Entry::make_ambient(base, &key(line), (&nothing, &nothing)).unwrap()
    }

    fn fetched(base: &Path, line: &str) -> Entry {
        let entry = entry(base, line);
        let turn = entry.turn_ambient().unwrap().unwrap();
        let (number, install) = turn.begin_ambient(&key(line)).unwrap();
        std::fs::write(install.join("file"), "12345").unwrap();
        turn.publish_ambient(number, Some("1.2.3".to_owned())).unwrap();
        entry
    }

    #[test]
    fn everything_is_listed_and_unused_entries_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap().join("rootward");
        let store = Store::new(&base);
        assert_eq!(store.list_ambient().unwrap(), []);
        fetched(&base, "npx -y @scope/name@^1");
        let used = fetched(&base, "uvx --with mcp<2 tool");
        entry(&base, "npx never-fetched");
        std::fs::create_dir_all(base.join("packages/npx-0123456789abcdef/npm")).unwrap();
        std::fs::create_dir_all(base.join("packages/npm/.removed-x/1")).unwrap();
        std::fs::create_dir_all(base.join("packages/somebody-elses")).unwrap();
        let held = used.hold_ambient().unwrap().unwrap();
        let list = store.list_ambient().unwrap();
        let labels: Vec<String> = list.iter().map(|stored| stored.contents.label()).collect();
        assert_eq!(labels, ["@scope/name@^1", "cache of npx", "leftover", "leftover", "tool"]);
        assert!(list[4].is_in_use && !list[0].is_in_use);
        assert!(list[0].size >= 5 && list[0].fetched.is_some());
        let Contents::Package { installed, options, .. } = &list[4].contents else { panic!("{list:?}") };
        assert_eq!((installed.as_deref(), options.len()), (Some("1.2.3"), 1));
        for stored in &list {
            let expect = if stored.is_in_use { Removal::InUse } else { Removal::Removed };
            assert_eq!(store.remove_ambient(stored).unwrap(), expect, "{stored:?}");
            assert_eq!(stored.directory.exists(), stored.is_in_use, "{stored:?}");
        }
        drop(held);
        assert_eq!(store.list_ambient().unwrap().len(), 1);
        assert!(base.join("packages/somebody-elses").exists());
    }
}
