//! Variables that the operator passes on by name or prefix: `GITHUB_TOKEN`, `GITHUB_*`.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;

use rootward_core::{Shown, env};
use thiserror::Error;

/// The shortest prefix: a single letter would match too many variables by accident.
const SHORTEST_PREFIX: usize = 2;

/// Excluded from prefixes because Rootward sets them for the command.
const SET_BY_ROOTWARD: [&str; 3] = ["HOME", "PATH", "TMPDIR"];

/// Excluded from prefixes because they make the loader, a shell or an interpreter run other code than the command line
/// says: ld.so(8), bash(1), and the manuals of node and Python.
const STEERING: [&str; 11] = [
    "BASH_ENV",
    "ENV",
    "GCONV_PATH",
    "GLIBC_TUNABLES",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5OPT",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYOPT",
];

/// The same by prefix.
const STEERING_PREFIXES: [&str; 2] = ["LD_", "DYLD_"];

/// The prefixes of variables that npm, uv and pip read.
pub(crate) const FETCHING_PREFIXES: [&str; 4] = ["npm_config_", "NPM_CONFIG_", "UV_", "PIP_"];

/// A variable to pass on, or all with a prefix.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PassedVariable(Kind);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Kind {
    Named(OsString),
    /// The text before the `*`.
    Prefix(OsString),
}

/// Why a text does not name a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum VariableError {
    /// Empty, or with a byte that is not allowed in names.
    #[error("not the name of a variable")]
    NotAName,
    /// `*` alone.
    #[error("every variable, and so every secret, would be passed on; name each one, or a prefix: `GITHUB_*`")]
    Everything,
    /// Not enough before the `*`.
    #[error("at least {SHORTEST_PREFIX} characters are needed before `*`")]
    TooShort,
    /// A `*` in another position.
    #[error("`*` can only be the last character")]
    NotAtTheEnd,
}

impl PassedVariable {
    /// Parses a name, or a prefix followed by `*`.
    pub fn read(text: impl AsRef<OsStr>) -> Result<PassedVariable, VariableError> {
        let bytes = text.as_ref().as_bytes();
        if bytes.is_empty() || bytes.contains(&b'=') || bytes.contains(&0) {
            return Err(VariableError::NotAName);
        }
        match bytes.iter().position(|byte| *byte == b'*') {
            None => Ok(PassedVariable(Kind::Named(text.as_ref().to_owned()))),
            Some(0) if bytes.len() == 1 => Err(VariableError::Everything),
            Some(star) if star + 1 != bytes.len() => Err(VariableError::NotAtTheEnd),
            Some(star) if star < SHORTEST_PREFIX => Err(VariableError::TooShort),
            Some(star) => Ok(PassedVariable(Kind::Prefix(OsStr::from_bytes(&bytes[..star]).to_owned()))),
        }
    }

    /// Whether this is about fetching packages, so that a fetch gets it, too. All other variables are only for the
    /// server.
    // SECURITY: a package that is being fetched must not get a server's keys (test: a_fetch_sees_no_root_and_no_secret)
    pub(crate) fn is_for_fetching(&self) -> bool {
        let (Kind::Named(text) | Kind::Prefix(text)) = &self.0;
        FETCHING_PREFIXES.iter().any(|prefix| text.as_bytes().starts_with(prefix.as_bytes()))
    }

    /// Whether this passes on the variable with this name.
    pub fn passes(&self, name: &OsStr) -> bool {
        match &self.0 {
            Kind::Named(named) => named == name,
            // SECURITY: a user who writes `LD*` or `PY*` means their own variables; one that makes a program run other
            // code must be named in full (test: a_prefix_passes_nothing_that_steers_the_loader)
            Kind::Prefix(prefix) => name.as_bytes().starts_with(prefix.as_bytes()) && !is_kept_from_prefixes(name),
        }
    }
}

fn is_kept_from_prefixes(name: &OsStr) -> bool {
    let begins = |prefix: &str| name.as_bytes().starts_with(prefix.as_bytes());
    SET_BY_ROOTWARD.iter().chain(&STEERING).any(|kept| name == *kept)
        || STEERING_PREFIXES.into_iter().chain([env::PREFIX]).any(begins)
}

impl fmt::Display for PassedVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Named(name) => Shown::new(name).fmt(f),
            Kind::Prefix(prefix) => write!(f, "{}*", Shown::new(prefix)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(pattern: &str, name: &str) -> bool {
        PassedVariable::read(pattern).unwrap().passes(OsStr::new(name))
    }

    #[test]
    fn names_and_prefixes() {
        for (pattern, name, expect) in [
            ("TOKEN", "TOKEN", true),
            ("TOKEN", "TOKENS", false),
            ("AWS_*", "AWS_REGION", true),
            ("AWS_*", "AWS_", true),
            ("AWS_*", "AWS", false),
            ("AWS_*", "MY_AWS_REGION", false),
            ("HOME", "HOME", true),
            ("LD_PRELOAD", "LD_PRELOAD", true),
        ] {
            assert_eq!(passes(pattern, name), expect, "{pattern} {name}");
        }
        assert_eq!(PassedVariable::read("AWS_*").unwrap().to_string(), "AWS_*");
    }

    #[test]
    fn a_prefix_passes_nothing_that_steers_the_loader() {
        for (prefix, name) in [
            ("LD*", "LD_PRELOAD"),
            ("LD_*", "LD_LIBRARY_PATH"),
            ("DYLD_*", "DYLD_INSERT_LIBRARIES"),
            ("HO*", "HOME"),
            ("PA*", "PATH"),
            ("TMP*", "TMPDIR"),
            ("ROOTWARD_*", "ROOTWARD_TOKEN"),
            ("PYTHON*", "PYTHONPATH"),
            ("NODE_*", "NODE_OPTIONS"),
            ("BASH*", "BASH_ENV"),
        ] {
            assert!(!passes(prefix, name), "{prefix} {name}");
        }
        assert!(passes("NODE_*", "NODE_TLS_MIN_V1_2"));
    }

    #[test]
    fn only_what_fetching_programs_read_is_for_fetching() {
        for (pattern, expect) in [
            ("npm_config_registry", true),
            ("NPM_CONFIG_*", true),
            ("UV_INDEX_URL", true),
            ("PIP_*", true),
            ("GITHUB_TOKEN", false),
            ("NPM_*", false),
            ("UV*", false),
        ] {
            assert_eq!(PassedVariable::read(pattern).unwrap().is_for_fetching(), expect, "{pattern}");
        }
    }

    #[test]
    fn what_is_refused() {
        for (text, expect) in [
            ("", VariableError::NotAName),
            ("A=b", VariableError::NotAName),
            ("A\0", VariableError::NotAName),
            ("*", VariableError::Everything),
            ("A*", VariableError::TooShort),
            ("**", VariableError::NotAtTheEnd),
            ("*_TOKEN", VariableError::NotAtTheEnd),
            ("AW*_X", VariableError::NotAtTheEnd),
            ("AWS_**", VariableError::NotAtTheEnd),
        ] {
            assert_eq!(PassedVariable::read(text), Err(expect), "{text}");
        }
    }
}
