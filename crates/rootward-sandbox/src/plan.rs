//! The plan for starting a command: every place that it gets, with the reason, before anything is started.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rootward_core::env::{Directories, Environment};
use rootward_core::{Access, Material, WritableRecord};
use serde::Serialize;

use crate::confinement::{CommandLine, Confinement, Wall};
use crate::enforcement::{Enforcement, Withheld, in_words, shown};
use crate::error::StartError;
use crate::options::Home;
use crate::package::{Lock, Package, make_own_ambient};
use crate::places::{Rule, is_closed_ambient};
use crate::profile::{
    self, Finding, KnownCommand, Need, NeededAs, OwnDirectories, Private, Profile, ProgramError, Says, Trust,
    Untrusted, make_cache_ambient,
};

/// A start that is ready to be carried out.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) wall: Wall,
    pub(crate) profile: Profile,
    pub(crate) private: Private,
    /// The home that is kept, if it has one.
    kept_home: Option<PathBuf>,
    /// Where the command starts.
    pub(crate) directory: PathBuf,
    /// The record of what is given for writing.
    pub(crate) record: Option<WritableRecord>,
    /// Keeps the command's cache from being removed.
    pub(crate) lock: Option<Lock>,
}

/// What a start has on disk besides its roots.
#[derive(Debug)]
pub(crate) enum Kept {
    /// A home that is removed, and a cache if the command is a runner.
    Usual,
    /// The directory of a package that is being fetched, and a home next to it.
    Fetch { install: PathBuf, private: Private },
}

/// What a command would get, for people and programs to read.
#[derive(Debug, Serialize)]
pub struct Explanation {
    /// The package that must be fetched first. If set, the places are those of its runner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_fetch: Option<String>,
    /// Every place that it gets.
    pub places: Vec<GivenPlace>,
    /// How strongly it would be confined, and what it would not get.
    pub enforcement: Enforcement,
}

/// A place that a command gets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct GivenPlace {
    /// The place.
    #[serde(serialize_with = "shown")]
    pub place: PathBuf,
    /// The access it gets there.
    pub access: Access,
    /// The reason.
    #[serde(serialize_with = "in_words")]
    pub because: Because,
}

/// Why a place is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Because {
    /// It is a root.
    Root,
    /// It lies in a root that is open entry by entry.
    InRoot,
    /// A flag or the settings allow it.
    Added,
    /// Every command gets it.
    System,
    /// The program needs it.
    Needed(NeededAs),
    /// A home or a temporary directory that was created for this command.
    Private,
    /// Its own home that is kept between starts.
    Home,
    /// The cache for packages that it fetches.
    Cache,
    /// The fetched package that it runs.
    Package,
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Because::Root => "a root",
            Because::InRoot => "in a root",
            Because::Added => "allowed by a flag or the settings",
            Because::System => "the system",
            Because::Needed(why) => return why.fmt(f),
            Because::Private => "its own directory",
            Because::Home => "its own home, kept for the next start",
            Because::Cache => "packages that it fetches",
            Because::Package => "the package",
        })
    }
}

impl Confinement {
    /// What a command would get if it were started now. Nothing is started, fetched or recorded.
    pub fn explain_ambient(&self, line: &CommandLine) -> Result<Explanation, StartError> {
        let package = self.package_ambient(line)?;
        let installed = package.as_ref().map(Package::installed_ambient).transpose()?.flatten();
        let to_fetch = package.filter(|_| installed.is_none()).map(|package| package.spec());
        let known = match installed {
            Some(installed) => KnownCommand::of_package_ambient(installed)?,
            None => KnownCommand::look_up_ambient(line)?,
        };
        let Plan { wall, profile, private, kept_home, .. } = self.plan_ambient(line, &known, Kept::Usual)?;
        let given = |rule: &Rule| GivenPlace {
            place: rule.place.clone(),
            access: rule.access,
            because: match &kept_home {
                Some(home) if rule.place == *home => Because::Home,
                _ => self.because(&rule.place, &profile, &private),
            },
        };
        Ok(Explanation { to_fetch, places: wall.rules.iter().map(given).collect(), enforcement: wall.enforcement })
    }

    /// Judges the command's findings and makes the rules.
    pub(crate) fn plan_ambient(
        &self,
        line: &CommandLine,
        known: &KnownCommand,
        kept: Kept,
    ) -> Result<Plan, StartError> {
        let environment: Environment = known.variables().iter().cloned().collect();
        let directories = Directories::new(&environment);
        let (record, mut material) = recorded_ambient(&directories)?;
        let mut open = self.open_places();
        material.extend(open.iter().cloned());
        self.check_additions_ambient(&material)?;
        if let Some(installed) = known.package() {
            // SECURITY: the package wrote its own directory when it was fetched, so it may only choose among open
            // places, its own directory and the known runtimes (test: a_package_opens_no_place_outside_it)
            open.push(installed.directory().to_owned());
            material.extend([installed.directory().to_owned()]);
        }
        let (private, install) = match kept {
            Kept::Usual => (Private::make_ambient().map_err(StartError::Prepare)?, None),
            Kept::Fetch { install, private } => (private, Some(install)),
        };
        let (own, kept_home) = match install {
            Some(_) => (private.directories(Access::ALL), None),
            None => self.own_directories_ambient(&private, directories.state.as_deref(), &material)?,
        };
        let directory = self.directory_in_roots(line).unwrap_or_else(|| own.home.clone());
        // A package that was fetched, or is being fetched, has its place in the store.
        let cache = match (&install, known.package()) {
            (None, None) => make_cache_ambient(line, directories.cache.as_deref(), &material),
            _ => Ok(None),
        };
        let (cache, lock) =
            cache.map_err(StartError::Cache)?.map_or((None, None), |cache| (Some(cache.directory), cache.lock));
        let mut profile = profile::of_start(known, &self.options.variables, &own, cache.as_deref());
        if let Some(install) = install {
            profile.needs.push(Need { path: install, access: Access::ALL, says: Says::Own });
        }
        for (name, value) in &line.variables {
            profile.sets(name, with_home(value, &own.home));
        }
        let trust = Trust { material: &material, open: &open, runtimes: known.runtimes(), homes: known.homes() };
        let withheld = self.add_surroundings_ambient(known, &trust, &mut profile)?;
        let wall = self.wall(&profile, withheld)?;
        Ok(Plan { wall, profile, private, kept_home, directory, record, lock })
    }

    /// Adds the findings that can be trusted; returns what is withheld.
    fn add_surroundings_ambient(
        &self,
        known: &KnownCommand,
        trust: &Trust<'_>,
        profile: &mut Profile,
    ) -> Result<Vec<Withheld>, StartError> {
        let mut withheld: Vec<Withheld> = Vec::new();
        let restrictions = Arc::new(self.guard.restrictions().for_processes());
        for finding in &known.findings().0 {
            let reason = match trust.judge(finding) {
                // SECURITY: a finding must not open a secret place (test: the_profile_opens_no_secret_place)
                // SECURITY: nor one that the settings close or that is Rootward's own, because a rule there would open
                // it (test: what_is_closed_in_a_root_is_not_opened_by_a_link)
                Ok(given) if is_closed_ambient(&given.place, Arc::clone(&restrictions)) => Untrusted::Secret,
                Ok(given) => {
                    let Finding { place, access, why, .. } = given;
                    profile.needs.push(Need { path: place.clone(), access: *access, says: Says::Surroundings(*why) });
                    if !trust.is_known(place) {
                        profile.unknown.push(place.clone());
                    }
                    continue;
                }
                Err(reason) => reason,
            };
            if let (NeededAs::Program | NeededAs::Interpreter, Untrusted::Planted(named_in)) = (finding.why, &reason) {
                let (command, named_in) = (known.program().typed().to_owned(), named_in.clone());
                return Err(ProgramError::Planted { command, named_in, place: finding.place.clone() }.into());
            }
            if !withheld.iter().any(|known| known.place == finding.place) {
                withheld.push(Withheld { place: finding.place.clone(), why: finding.why, reason });
            }
        }
        // A place that another finding opens is not missing.
        withheld.retain(|one| !profile.needs.iter().any(|need| one.place.starts_with(&need.path)));
        Ok(withheld)
    }

    /// The command's own directories, and its kept home, created if needed.
    fn own_directories_ambient(
        &self,
        private: &Private,
        state: Option<&Path>,
        material: &Material,
    ) -> Result<(OwnDirectories, Option<PathBuf>), StartError> {
        match &self.options.home {
            Home::Private => Ok((private.directories(Access::ALL), None)),
            Home::Empty => Ok((private.directories(Access::READ), None)),
            Home::Kept(path) => {
                let base = state.filter(|state| path.starts_with(state));
                let base =
                    base.ok_or_else(|| StartError::Home(io::Error::other("it lies outside the state directory")))?;
                let home = make_own_ambient(path, base, material).map_err(StartError::Home)?;
                Ok((OwnDirectories { home: home.clone(), ..private.directories(Access::ALL) }, Some(home)))
            }
        }
    }

    /// Where the command starts; without roots, in its own home.
    pub(crate) fn directory_in_roots(&self, line: &CommandLine) -> Option<PathBuf> {
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let set = self.guard.root_set();
        match &line.directory {
            Some(directory) => Some(directory.clone()),
            None if set.governing(&here).is_some() => Some(here),
            None => set.first_directory().map(|root| root.place.clone()),
        }
    }

    /// Why a place is given.
    fn because(&self, place: &Path, profile: &Profile, private: &Private) -> Because {
        let need = profile.needs.iter().find(|need| need.path == place);
        match need.map(|need| (need.says, need.access)) {
            Some((Says::Surroundings(why), _)) => return Because::Needed(why),
            Some((Says::Own, _)) if place.starts_with(private.path()) => return Because::Private,
            Some((Says::Own, profile::RUN)) => return Because::Package,
            Some((Says::Own, _)) => return Because::Cache,
            Some((Says::System, _)) | None => {}
        }
        match self.guard.root_set().governing(place) {
            Some(root) if root.place == place => Because::Root,
            Some(_) => Because::InRoot,
            None if self.is_added(place) => Because::Added,
            None => Because::System,
        }
    }
}

/// A value with `${home}` replaced by the command's home.
fn with_home(value: &OsStr, home: &Path) -> OsString {
    const HOME: &[u8] = b"${home}";
    let (mut filled, mut rest) = (Vec::new(), value.as_bytes());
    while let Some(at) = rest.windows(HOME.len()).position(|part| part == HOME) {
        filled.extend_from_slice(&rest[..at]);
        filled.extend_from_slice(home.as_os_str().as_bytes());
        rest = &rest[at + HOME.len()..];
    }
    filled.extend_from_slice(rest);
    OsString::from_vec(filled)
}

/// What confined commands could have written at earlier starts, and the record of it.
// SECURITY: a record that cannot be read is not an empty one
// (test: writable_places_are_recorded_before_the_command_runs)
pub(crate) fn recorded_ambient(directories: &Directories) -> Result<(Option<WritableRecord>, Material), StartError> {
    let Some(record) = directories.writable_record() else { return Ok((None, Material::default())) };
    // Before the roots' rules are made: an existing place of Rootward's own is closed for reading, too. If it cannot be
    // created, a command that is given nothing for writing can still start.
    let _ = record.make_directory_ambient();
    let material = record.read_ambient()?;
    Ok((Some(record), material))
}

impl Plan {
    /// What outlives the command and is writable for it.
    pub(crate) fn given_for_writing(&self) -> Vec<PathBuf> {
        let lasts = |rule: &&Rule| {
            // SECURITY: `/dev/shm` is not a device
            // (test: writable_places_are_recorded_before_the_command_runs)
            !(rule.access & (Access::WRITE | Access::DELETE)).is_empty()
                && !rule.place.starts_with(self.private.path())
                && !profile::is_device(&rule.place)
        };
        self.wall.rules.iter().filter(lasts).map(|rule| rule.place.clone()).collect()
    }
}
