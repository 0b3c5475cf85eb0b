//! Where the user's home and Rootward's own files are. Read from the environment, never from the working directory.

use std::path::{Path, PathBuf};

use crate::denial::Denial;
use crate::lookout::{follow_ambient, spellings_ambient};
use crate::material::WritableRecord;
use crate::resolve::Resolver;
use crate::restriction::Restriction;

use super::Environment;

/// The default places of Rootward's own files, as in the standard restrictions.
pub const OWN_USUAL: [&str; 3] = [".config/rootward", ".local/state/rootward", ".cache/rootward"];

/// The directories of one user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Directories {
    /// The directory that `~` means.
    pub home: Option<PathBuf>,
    /// Rootward's settings and saved roots.
    pub settings: Option<PathBuf>,
    /// What Rootward records: the audit log.
    pub state: Option<PathBuf>,
    /// What Rootward can recreate: packages that servers were started from.
    pub cache: Option<PathBuf>,
}

impl Directories {
    /// The directories that the environment names.
    pub fn new(environment: &Environment) -> Directories {
        let home = environment.directory("HOME");
        let below = |variable, usual: &str| {
            let base = environment.directory(variable).or_else(|| Some(home.as_ref()?.join(usual)));
            base.map(|base| base.join("rootward"))
        };
        Directories {
            settings: below("XDG_CONFIG_HOME", ".config"),
            state: below("XDG_STATE_HOME", ".local/state"),
            cache: below("XDG_CACHE_HOME", ".cache"),
            home,
        }
    }

    /// The settings file, whether or not it exists.
    pub fn settings_file(&self) -> Option<PathBuf> {
        Some(self.settings.as_ref()?.join("config.toml"))
    }

    /// The saved roots, whether or not the file exists.
    pub fn saved_roots(&self) -> Option<PathBuf> {
        Some(self.settings.as_ref()?.join("roots.toml"))
    }

    /// The directory of the audit log, whether or not it exists.
    pub fn audit_log(&self) -> Option<PathBuf> {
        Some(self.state.as_ref()?.join("audit"))
    }

    /// The record of what confined commands could write, whether or not it exists.
    pub fn writable_record(&self) -> Option<WritableRecord> {
        Some(WritableRecord::in_state_directory(self.state.as_ref()?))
    }

    /// Rootward's own directories. They are never inside a grant.
    pub fn own(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.settings, &self.state, &self.cache].into_iter().flatten()
    }

    /// Restrictions that close these directories wherever the environment puts them: as spelled, where that leads, and
    /// the links on the way. Directories that do not exist yet are closed as well.
    pub fn closed_ambient(&self, resolver: Resolver) -> Result<Vec<Restriction>, Denial> {
        let mut rules = Vec::new();
        // SECURITY: a variable set in one session must not open what other sessions rely on
        // (test: the_usual_places_are_closed_even_if_a_variable_moves_them)
        let usual = self.home.iter().flat_map(|home| OWN_USUAL.map(|usual| home.join(usual)));
        let usual: Vec<PathBuf> = usual.filter(|usual| !self.own().any(|own| own == usual)).collect();
        for place in self.own().chain(&usual) {
            // SECURITY: a server that can write Rootward's settings chooses its own roots
            // (test: rootwards_own_places_are_closed)
            let spellings = spellings_ambient(place, resolver)?;
            rules.extend(spellings.iter().map(|place| Restriction::own(place)));
            // SECURITY: somebody could redirect a link inside a root that lies on the way to the settings
            // (test: a_link_on_the_way_to_rootwards_own_places_is_closed)
            rules.extend(links_to(place).iter().map(|link| Restriction::own_link(link)));
        }
        for file in [self.settings_file(), self.saved_roots()].into_iter().flatten() {
            let links = links_to(&file);
            if links.is_empty() {
                continue;
            }
            // SECURITY: a settings file may be a link to a file inside a root, for example a dotfiles repository
            // (test: a_settings_file_that_is_a_link_is_closed_where_it_leads)
            let spellings = spellings_ambient(&file, resolver)?;
            rules.extend(spellings.iter().map(|place| Restriction::own(place)));
            rules.extend(links.iter().map(|link| Restriction::own_link(link)));
        }
        Ok(rules)
    }
}

/// Every link on the way to a place. Replacing one of them redirects the place.
fn links_to(place: &Path) -> Vec<PathBuf> {
    follow_ambient(place).map(|followed| followed.links).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_places_are_those_of_the_core() {
        let standard = Restriction::standard();
        let own: Vec<_> = standard.iter().map(Restriction::pattern).collect();
        assert!(OWN_USUAL.iter().all(|place| own.contains(place)));
    }

    #[test]
    fn places_come_from_the_environment() {
        let check = |environment: Environment, expect: [Option<&str>; 3]| {
            let found = Directories::new(&environment);
            assert_eq!([found.settings, found.state, found.cache], expect.map(|place| place.map(PathBuf::from)));
        };
        let usual = [Some("/h/.config/rootward"), Some("/h/.local/state/rootward"), Some("/h/.cache/rootward")];
        check([("HOME", "/h")].into(), usual);
        check(
            [("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("XDG_STATE_HOME", "/s"), ("XDG_CACHE_HOME", "/k")].into(),
            [Some("/c/rootward"), Some("/s/rootward"), Some("/k/rootward")],
        );
        check([("HOME", "/h"), ("XDG_CONFIG_HOME", "c"), ("XDG_CACHE_HOME", "k")].into(), usual);
        check([("HOME", "h")].into(), [None; 3]);
        check([("HOME", ""), ("XDG_CONFIG_HOME", "/c")].into(), [Some("/c/rootward"), None, None]);
    }

    #[test]
    fn the_cache_is_one_of_its_own_places() {
        let found = Directories::new(&[("HOME", "/h")].into());
        let own: Vec<_> = found.own().map(|place| place.strip_prefix("/h").unwrap().to_str().unwrap()).collect();
        assert_eq!(own, OWN_USUAL);
    }
}
