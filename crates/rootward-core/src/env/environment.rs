//! A process's environment as plain values, passed in by the code that sets up a session.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::PREFIX;

/// Variables by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// A variable. An empty one counts as not set.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// A directory. A relative one counts as not set, as the XDG base directory specification requires.
    pub fn directory(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// The names with the prefix of Rootward's settings.
    pub fn with_our_prefix(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.0.keys().map(|name| name.to_string_lossy()).filter(|name| name.starts_with(PREFIX))
    }
}

/// Takes the items of [`std::env::vars_os`], for example.
impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Environment {
        Environment(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl<N: Into<OsString>, V: Into<OsString>, const C: usize> From<[(N, V); C]> for Environment {
    fn from(variables: [(N, V); C]) -> Environment {
        variables.into_iter().collect()
    }
}
