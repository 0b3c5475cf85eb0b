//! A server with its variables filled in. Its values may be secrets, so debug output leaves them out.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use rootward_core::{Root, Shown};
use rootward_sandbox::Filesystem;
use thiserror::Error;

/// A server as it is started or called.
#[derive(Clone, PartialEq, Eq)]
pub struct Expanded {
    /// What is started or called.
    pub what: ExpandedKind,
    /// Places that open or stay closed besides the roots.
    pub filesystem: Filesystem,
    /// Unix sockets that it may connect to.
    pub sockets: Vec<PathBuf>,
    /// Its roots, if they are not the client's; empty if it has none.
    pub roots: Option<Vec<Root>>,
    /// It gets no root outside these.
    pub ceiling: Option<Vec<Root>>,
    /// Values that nobody but the server may read.
    pub secrets: Vec<String>,
}

/// What is started or called.
#[derive(Clone, PartialEq, Eq)]
pub enum ExpandedKind {
    /// A process.
    Stdio {
        /// The program.
        command: OsString,
        /// Its arguments.
        args: Vec<OsString>,
        /// Its variables.
        env: Vec<(String, OsString)>,
        /// A file with more variables, absolute.
        env_file: Option<PathBuf>,
        /// Where it is started, absolute.
        cwd: Option<PathBuf>,
    },
    /// A server elsewhere.
    Http {
        /// Its address.
        url: String,
        /// The headers of every request.
        headers: Vec<(String, String)>,
    },
}

/// Why a server cannot be started or called in this session.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("server `{}`: {says}", Shown::new(server))]
pub struct ExpandError {
    /// The server.
    pub server: String,
    /// What is wrong. It has no values of variables in it.
    pub says: String,
    /// How to fix it.
    pub hint: String,
}

/// Without values that may be secrets.
impl fmt::Debug for Expanded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expanded")
            .field("what", &self.what)
            .field("filesystem", &self.filesystem)
            .field("sockets", &self.sockets)
            .field("roots", &self.roots)
            .field("ceiling", &self.ceiling)
            .finish_non_exhaustive()
    }
}

/// Without values that may be secrets: arguments and the address are left out, variables and headers have only their names.
impl fmt::Debug for ExpandedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExpandedKind::Stdio { command, env, cwd, .. } => {
                let names: Vec<&String> = env.iter().map(|(name, _)| name).collect();
                f.debug_struct("Stdio")
                    .field("command", command)
                    .field("env", &names)
                    .field("cwd", cwd)
                    .finish_non_exhaustive()
            }
            ExpandedKind::Http { headers, .. } => {
                let names: Vec<&String> = headers.iter().map(|(name, _)| name).collect();
                f.debug_struct("Http").field("headers", &names).finish_non_exhaustive()
            }
        }
    }
}
