//! A server with its variables filled in. Its values may be secrets, so debug output leaves them out.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use rootward_core::{Root, Shown};
use rootward_sandbox::Filesystem;
use thiserror::Error;

/// A server, ready to start or connect to.
#[derive(Clone, PartialEq, Eq)]
pub struct Expanded {
    /// How the server is reached.
    pub what: ExpandedKind,
    /// Places that are open or closed in addition to the roots.
    pub filesystem: Filesystem,
    /// Unix sockets that the server may connect to.
    pub sockets: Vec<PathBuf>,
    /// The server's fixed roots: `None` if it uses the client's, empty if it has none.
    pub roots: Option<Vec<Root>>,
    /// The server gets no root outside these.
    pub ceiling: Option<Vec<Root>>,
    /// Values that only the server may see.
    pub secrets: Vec<String>,
}

/// How a server is reached.
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
        /// The working directory, absolute.
        cwd: Option<PathBuf>,
    },
    /// A remote server.
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
    /// What is wrong. It contains no variable values.
    pub says: String,
    /// How to fix it.
    pub hint: String,
}

/// Omits values that may be secret.
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

/// Omits values that may be secret: arguments, the address, and the values of variables and headers.
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
