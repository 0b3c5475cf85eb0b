//! The environment variables that Rootward reads: one list of names for every crate, and their values. The binary's table
//! of settings lists the same names.
//!
//! The core does not read the environment; callers pass it in as [`Environment`]. An empty variable counts as not set.

mod directories;
mod environment;
mod said;

pub use directories::{Directories, OWN_USUAL};
pub use environment::Environment;
pub use said::{EnvironmentError, NamedRoot, VariableSettings};

/// The operator's roots: a list like `PATH`, without access suffixes.
pub const ROOTS: &str = "ROOTWARD_ROOTS";
/// How client roots and the ceiling combine: `narrow`, `replace` or `union`.
pub const MODE: &str = "ROOTWARD_MODE";
/// If true, only the client's own roots give access.
pub const STRICT: &str = "ROOTWARD_STRICT";
/// If true, only the ceiling counts and the client's roots are ignored.
pub const IGNORE_CLIENT: &str = "ROOTWARD_IGNORE_CLIENT";
/// The directory to use if nobody names a root.
pub const FALLBACK_DIR: &str = "ROOTWARD_FALLBACK_DIR";
/// If true, only the fallback directory counts.
pub const FALLBACK_ONLY: &str = "ROOTWARD_FALLBACK_ONLY";
/// How long a client's list is valid, in milliseconds.
pub const ROOTS_TTL_MS: &str = "ROOTWARD_ROOTS_TTL_MS";
/// How long the list of a client that announces changes is valid, in milliseconds.
pub const ROOTS_TTL_ANNOUNCED_MS: &str = "ROOTWARD_ROOTS_TTL_ANNOUNCED_MS";
/// How long a client may take to answer, in milliseconds.
pub const ROOTS_TIMEOUT_MS: &str = "ROOTWARD_ROOTS_TIMEOUT_MS";
/// How long to wait after the last announcement of changed roots before asking the client, in milliseconds.
pub const DEBOUNCE_MS: &str = "ROOTWARD_DEBOUNCE_MS";
/// How long a wrapped server may finish its calls after one of its roots was removed, in milliseconds.
pub const REVOKED_GRACE_MS: &str = "ROOTWARD_REVOKED_GRACE_MS";
/// The token that HTTP clients must send.
pub const TOKEN: &str = "ROOTWARD_TOKEN";
/// The log filter.
pub const LOG: &str = "ROOTWARD_LOG";

// Not settings: Rootward passes these to its own child process. Every user could read arguments.
/// The address of a remote server.
pub const CONNECT_URL: &str = "ROOTWARD_CONNECT_URL";
/// A header for every request to it, as `Name: value`. The name ends in a number, from 1.
pub const CONNECT_HEADER: &str = "ROOTWARD_CONNECT_HEADER_";
/// Set if any address may be reached without TLS.
pub const CONNECT_PLAIN_HTTP: &str = "ROOTWARD_CONNECT_PLAIN_HTTP";

/// The prefix of all names.
pub const PREFIX: &str = "ROOTWARD_";

/// All settings.
pub const ALL: [&str; 13] = [
    ROOTS,
    MODE,
    STRICT,
    IGNORE_CLIENT,
    FALLBACK_DIR,
    FALLBACK_ONLY,
    ROOTS_TTL_MS,
    ROOTS_TTL_ANNOUNCED_MS,
    ROOTS_TIMEOUT_MS,
    DEBOUNCE_MS,
    REVOKED_GRACE_MS,
    TOKEN,
    LOG,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ours_and_different() {
        let different: std::collections::BTreeSet<&str> = ALL.into_iter().collect();
        assert_eq!(different.len(), ALL.len());
        assert!(ALL.iter().all(|name| name.starts_with(PREFIX)));
    }
}
