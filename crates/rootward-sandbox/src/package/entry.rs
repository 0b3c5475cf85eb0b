//! A package's directory in the store.
//!
//! ```text
//! packages/npm/@scope+name@1.2-0123456789abcdef/
//!     key         the full request
//!     lock        held while somebody fetches
//!     current     the good install, and when it was fetched
//!     1/          an install, at its final place from the start: virtual environments contain their own path
//!     1.use       held, shared, while a command runs from it
//!     work-…/     the home and the temporary directory of a fetch
//! ```
//!
//! A fetch may write to its install and its work directory. Only Rootward writes the rest.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rootward_core::Material;
use serde::{Deserialize, Serialize};

use super::key::Key;
use super::own::{self, Hold, Lock};

/// The directory of all packages, in Rootward's part of the user's cache.
pub(crate) const STORE: &str = "packages";

/// The prefix of work directories.
pub(crate) const WORK: &str = "work-";

const KEY: &str = "key";
const LOCK: &str = "lock";
const CURRENT: &str = "current";

/// How often to look again for a current install that was replaced meanwhile.
const MOST_TRIES: usize = 16;

/// The good install.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Current {
    pub(crate) install: u32,
    /// When it was fetched, in seconds.
    pub(crate) fetched: u64,
    /// When somebody last tried to fetch a newer one and failed.
    pub(crate) tried: Option<u64>,
    /// Its version according to the package.
    pub(crate) version: Option<String>,
}

/// Seconds since 1970.
pub(crate) fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl Current {
    pub(crate) fn fetched(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(self.fetched)
    }
}

/// A package's directory.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Its resolved path.
    directory: PathBuf,
}

/// An install that cannot be removed meanwhile.
#[derive(Debug)]
pub(crate) struct LockedInstall {
    pub(crate) directory: PathBuf,
    pub(crate) current: Current,
    _lock: Lock,
}

/// Whether something was removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Removal {
    /// It was.
    Removed,
    /// Somebody uses it.
    InUse,
}

/// The right to change an entry.
#[derive(Debug)]
pub(crate) struct Turn {
    entry: Entry,
    _lock: Lock,
}

impl Entry {
    /// The entry of a package, created if needed. `base` is Rootward's part of the user's cache. `material` is what
    /// confined commands could have written; `recorded` is the same without the roots of this start, in which
    /// Rootward's own places are closed.
    pub(crate) fn make_ambient(
        base: &Path,
        key: &Key,
        (material, recorded): (&Material, &Material),
    ) -> io::Result<Entry> {
        let place = base.join(STORE).join(key.directory());
        // Check before creating, so that nothing is created behind a link; and after, when everything exists.
        own::find_ambient(&place, base, material)?;
        own::make_directories_ambient(base)?;
        let mut parts: Vec<&Path> = place.ancestors().take_while(|part| *part != base).collect();
        parts.reverse();
        for part in parts {
            own::make_own_ambient(part)?;
        }
        let entry = Entry { directory: own::find_ambient(&place, base, material)? };
        // SECURITY: a directory that a confined command could have written is not used as a store
        // (test: a_store_that_was_shared_is_refused)
        if recorded.holds(&entry.directory) {
            return Err(entry.refused("was once given to a confined server for writing"));
        }
        entry.compare_ambient(key)?;
        Ok(entry)
    }

    /// An existing entry, to be listed or removed.
    pub(crate) fn at(directory: PathBuf) -> Entry {
        Entry { directory }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn refused(&self, what: &str) -> io::Error {
        let place = rootward_core::Shown::new(&self.directory);
        io::Error::other(format!("`{place}` {what}; remove it"))
    }

    /// The request it was created for.
    pub(crate) fn key_ambient(&self) -> io::Result<Option<Key>> {
        let text = own::read_ambient(&self.path(KEY))?;
        Ok(text.and_then(|text| serde_json::from_slice(&text).ok()))
    }

    /// Compares the whole key: the directory's name contains only a part of its hash.
    // SECURITY: never run another package instead of the requested one (test: an_entry_of_another_package_is_refused)
    fn compare_ambient(&self, key: &Key) -> io::Result<()> {
        match own::read_ambient(&self.path(KEY))? {
            Some(text) if serde_json::from_slice::<Key>(&text).is_ok_and(|known| known == *key) => Ok(()),
            Some(_) => Err(self.refused("belongs to another package")),
            None if own::read_ambient(&self.path(CURRENT))?.is_some() => Err(self.refused("has no key")),
            None => Ok(()),
        }
    }

    /// The good install, if there is one.
    pub(crate) fn current_ambient(&self) -> io::Result<Option<Current>> {
        let text = own::read_ambient(&self.path(CURRENT))?;
        Ok(text.and_then(|text| serde_json::from_slice(&text).ok()))
    }

    /// The good install, protected from removal until dropped.
    pub(crate) fn hold_ambient(&self) -> io::Result<Option<LockedInstall>> {
        for _ in 0..MOST_TRIES {
            let Some(current) = self.current_ambient()? else { return Ok(None) };
            let directory = self.install(current.install);
            let lock = match Lock::take_ambient(&self.used(current.install), Hold::Shared) {
                Ok(Some(lock)) => lock,
                Ok(None) => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            // If it was replaced and removed before the lock was taken, it is no longer good.
            if self.current_ambient()?.as_ref() == Some(&current) && own::is_directory_ambient(&directory) {
                lock.touch();
                return Ok(Some(LockedInstall { directory, current, _lock: lock }));
            }
        }
        Ok(None)
    }

    /// The right to fetch; `None` while another process has it.
    pub(crate) fn turn_ambient(&self) -> io::Result<Option<Turn>> {
        let lock = Lock::take_ambient(&self.path(LOCK), Hold::Alone)?;
        Ok(lock.map(|lock| Turn { entry: self.clone(), _lock: lock }))
    }

    fn install(&self, number: u32) -> PathBuf {
        self.path(&number.to_string())
    }

    /// The file that is locked while an install is used.
    fn used(&self, number: u32) -> PathBuf {
        self.path(&format!("{number}.use"))
    }

    /// When somebody last started to use the good install.
    #[expect(clippy::disallowed_methods, reason = "a file of Rootward's own")]
    pub(crate) fn last_used_ambient(&self, number: u32) -> Option<SystemTime> {
        self.used(number).symlink_metadata().ok()?.modified().ok()
    }

    /// Every existing install, good or not.
    fn installs_ambient(&self) -> io::Result<Vec<u32>> {
        let names = own::names_ambient(&self.directory)?;
        Ok(names.iter().filter_map(|name| number_of(name)).collect())
    }

    /// Removes the entry with everything in it, unless somebody uses it.
    pub(crate) fn remove_ambient(&self) -> io::Result<Removal> {
        let Some(turn) = self.turn_ambient()? else { return Ok(Removal::InUse) };
        let mut held = Vec::new();
        for number in self.installs_ambient()? {
            match Lock::take_ambient(&self.used(number), Hold::Alone)? {
                Some(alone) => held.push(alone),
                None => return Ok(Removal::InUse),
            }
        }
        // Moved first, so that nobody finds a partial entry.
        own::remove_aside_ambient(&self.directory)?;
        drop((turn, held));
        Ok(Removal::Removed)
    }

    /// Whether somebody uses an install, or fetches one.
    pub(crate) fn is_in_use_ambient(&self) -> bool {
        let is_free = |path: &Path| Lock::take_ambient(path, Hold::Alone).is_ok_and(|lock| lock.is_some());
        let installs = self.installs_ambient().unwrap_or_default();
        !is_free(&self.path(LOCK)) || installs.into_iter().any(|number| !is_free(&self.used(number)))
    }
}

impl Turn {
    pub(crate) fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Creates the directory of a new install. Removes leftovers of earlier fetches, and old installs that nobody uses.
    pub(crate) fn begin_ambient(&self, key: &Key) -> io::Result<(u32, PathBuf)> {
        self.sweep_ambient()?;
        own::replace_ambient(&self.entry.path(KEY), &serde_json::to_vec(key)?)?;
        // The smallest free number: each is recorded as writable, and the record must not grow with every fetch.
        let taken = self.entry.installs_ambient()?;
        let number = (1..=u32::MAX).find(|number| !taken.contains(number)).ok_or(io::ErrorKind::StorageFull)?;
        let directory = self.entry.install(number);
        own::make_own_ambient(&directory)?;
        Lock::make_ambient(&self.entry.used(number))?;
        Ok((number, directory))
    }

    /// Makes a new install the good one.
    pub(crate) fn publish_ambient(&self, number: u32, version: Option<String>) -> io::Result<()> {
        let current = Current { install: number, fetched: seconds_now(), tried: None, version };
        own::replace_ambient(&self.entry.path(CURRENT), &serde_json::to_vec(&current)?)
    }

    /// Records that a newer one could not be fetched.
    pub(crate) fn note_failure_ambient(&self) -> io::Result<()> {
        let Some(current) = self.entry.current_ambient()? else { return Ok(()) };
        let current = Current { tried: Some(seconds_now()), ..current };
        own::replace_ambient(&self.entry.path(CURRENT), &serde_json::to_vec(&current)?)
    }

    /// Removes everything except the good install and those in use.
    pub(crate) fn sweep_ambient(&self) -> io::Result<()> {
        let entry = &self.entry;
        let good = entry.current_ambient()?.map(|current| current.install);
        let installs = entry.installs_ambient()?;
        for number in installs.iter().copied().filter(|number| Some(*number) != good) {
            // SECURITY: never remove an install that a server runs from (test: an_install_in_use_is_not_removed)
            let Some(_alone) = Lock::take_ambient(&entry.used(number), Hold::Alone)? else { continue };
            own::remove_ambient(&entry.install(number));
            own::remove_ambient(&entry.used(number));
        }
        for name in own::names_ambient(&entry.directory)? {
            let text = name.to_str().unwrap_or_default();
            let is_known = [KEY, LOCK, CURRENT].contains(&text)
                || number_of(&name).is_some()
                || text.strip_suffix(".use").is_some_and(|number| number_of(OsStr::new(number)).is_some());
            if !is_known {
                own::remove_ambient(&entry.directory.join(&name));
            }
        }
        Ok(())
    }
}

/// `1`, `2`, and so on.
fn number_of(name: &OsStr) -> Option<u32> {
    let text = name.to_str()?;
    let number: u32 = text.parse().ok()?;
    (number > 0 && number.to_string() == text).then_some(number)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "plays the user and others")]
mod tests;
