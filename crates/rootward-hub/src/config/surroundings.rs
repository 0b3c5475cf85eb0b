//! The values of a configuration's variables in one session.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// The environment variables that a configuration can read.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ConfigVariables(pub(super) BTreeMap<String, OsString>);

/// The values of a server's variables in one session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Surroundings<'s> {
    /// The environment of the hub.
    pub environment: &'s ConfigVariables,
    /// The user's home.
    pub home: Option<&'s Path>,
    /// The roots.
    pub roots: RootValues<'s>,
}

/// The values of `${root}` and `${roots}`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RootValues<'s> {
    /// These paths of this machine, in order. For a process that only learns what a server offers, this is its empty
    /// directory.
    At(&'s [PathBuf]),
    /// Not known yet: `${root}` and `${roots}` stay in the command line, for [`crate::wrap::Launch`] to fill in.
    Later,
}

/// Skips names that are not UTF-8: the file cannot contain them.
impl FromIterator<(OsString, OsString)> for ConfigVariables {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(variables: I) -> ConfigVariables {
        ConfigVariables(
            variables.into_iter().filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect(),
        )
    }
}

/// Shows only the names.
impl fmt::Debug for ConfigVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
