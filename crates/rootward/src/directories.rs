//! Where the user's home and Rootward's own files are: from the environment, never from the working directory.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use rootward_core::env;

/// Where Rootward's own files usually are, as the core's standard restrictions call these places.
pub(crate) const OWN_USUAL: [&str; 2] = [".config/rootward", ".local/state/rootward"];

/// The environment of the process, as it was at the start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    pub(crate) fn of_process() -> Environment {
        Environment(std::env::vars_os().collect())
    }

    /// A variable; one that is set to nothing counts as not set.
    pub(crate) fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// Variables that look like settings and are none.
    pub(crate) fn unknown_settings(&self) -> impl Iterator<Item = String> {
        let names = self.0.keys().map(|name| name.to_string_lossy());
        names.filter(|name| name.starts_with(env::PREFIX) && !env::ALL.contains(&&**name)).map(Cow::into_owned)
    }

    /// Variables that should name a directory and are passed over because their path is not absolute.
    pub(crate) fn relative_directories(&self) -> impl Iterator<Item = &'static str> {
        let names = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"];
        names.into_iter().filter(|name| self.get(name).is_some() && self.directory(name).is_none())
    }

    /// Settings of what is not built yet, which this version does not read.
    pub(crate) fn settings_to_come(&self) -> impl Iterator<Item = &'static str> {
        [env::TOKEN, env::LOG].into_iter().filter(|name| self.get(name).is_some())
    }

    /// A directory; a relative one counts as not set, as the XDG base directory specification has it.
    fn directory(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }
}

#[cfg(test)]
impl<const N: usize> From<[(&str, &str); N]> for Environment {
    fn from(variables: [(&str, &str); N]) -> Environment {
        Environment(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// The places of one user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Directories {
    /// What `~` means.
    pub(crate) home: Option<PathBuf>,
    /// Rootward's settings and saved roots.
    pub(crate) settings: Option<PathBuf>,
    /// Rootward's audit log.
    pub(crate) state: Option<PathBuf>,
}

impl Directories {
    pub(crate) fn new(environment: &Environment) -> Directories {
        let home = environment.directory("HOME");
        let below = |variable, usual: &str| {
            let base = environment.directory(variable).or_else(|| Some(home.as_ref()?.join(usual)));
            base.map(|base| base.join("rootward"))
        };
        Directories {
            settings: below("XDG_CONFIG_HOME", ".config"),
            state: below("XDG_STATE_HOME", ".local/state"),
            home,
        }
    }

    /// The settings file, whether or not it exists.
    pub(crate) fn settings_file(&self) -> Option<PathBuf> {
        Some(self.settings.as_ref()?.join("config.toml"))
    }

    /// The places that are Rootward's own, and never inside a grant.
    pub(crate) fn own(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.settings, &self.state].into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_places_are_those_of_the_core() {
        let standard = rootward_core::Restriction::standard();
        let own: Vec<_> = standard.iter().map(rootward_core::Restriction::pattern).collect();
        assert!(OWN_USUAL.iter().all(|place| own.contains(place)));
    }

    #[test]
    fn places_come_from_the_environment() {
        let check = |environment: Environment, settings: Option<&str>, state: Option<&str>| {
            let found = Directories::new(&environment);
            assert_eq!(found.settings, settings.map(PathBuf::from));
            assert_eq!(found.state, state.map(PathBuf::from));
        };
        check([("HOME", "/h")].into(), Some("/h/.config/rootward"), Some("/h/.local/state/rootward"));
        check(
            [("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("XDG_STATE_HOME", "/s")].into(),
            Some("/c/rootward"),
            Some("/s/rootward"),
        );
        check([("HOME", "/h"), ("XDG_CONFIG_HOME", "c")].into(), Some("/h/.config/rootward"), {
            Some("/h/.local/state/rootward")
        });
        check([("HOME", "h")].into(), None, None);
        check([("HOME", ""), ("XDG_CONFIG_HOME", "/c")].into(), Some("/c/rootward"), None);
    }
}
