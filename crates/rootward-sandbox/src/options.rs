//! What a confinement is asked for, besides its roots.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::profile::PassedVariable;

/// Whether the network is open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Internet sockets are open, for servers that fetch.
    #[default]
    On,
    /// No internet sockets.
    Off,
}

/// Which unix sockets a command may connect to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum UnixSockets {
    /// None; it can create pairs only.
    None,
    /// Those in places that it may write, and those at these paths, which need not exist yet. Never those that act for the user
    /// ([`crate::SocketKind::is_never`]).
    Named(Vec<PathBuf>),
    /// All. A command that may connect to a container engine or an agent is not confined.
    Open,
}

impl Default for UnixSockets {
    fn default() -> UnixSockets {
        UnixSockets::Named(Vec::new())
    }
}

/// What happens where a rule cannot be held.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum UnheldPolicy {
    /// The command is not started if the rule is serious.
    #[default]
    Refuse,
    /// It is started, and the rule is named in the enforcement.
    Allow,
}

/// Whether refusals are recorded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trace {
    /// No; costs nothing.
    #[default]
    Off,
    /// Yes: the supervisor looks at each path that the command opens.
    On,
}

/// Which processes of a command may read their own files in `/proc`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnProc {
    /// The first process alone, and only a few files; costs nothing.
    #[default]
    FirstProcess,
    /// Every process. The supervisor looks at each path that a process opens, which slows opening down.
    EveryProcess,
}

/// How many processes a command may be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Processes {
    /// It may start others.
    #[default]
    Many,
    /// One, with as many threads as it likes. Limits of memory that hold for one process then hold for the whole command, and a signal to it
    /// reaches all of it.
    One,
}

/// The home of a command, which is never the user's own.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Home {
    /// One that is removed when the command ends.
    #[default]
    Private,
    /// One that is empty and cannot be written.
    Empty,
    /// This directory below Rootward's state directory. It lasts, and is made if it is missing.
    Kept(PathBuf),
}

/// Additions to the profile, in the words of VS Code's `sandbox.filesystem`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filesystem {
    /// Also readable, and what lies in it can be run.
    pub allow_read: Vec<PathBuf>,
    /// Not readable, whatever else says so.
    pub deny_read: Vec<PathBuf>,
    /// Also readable and writable.
    pub allow_write: Vec<PathBuf>,
    /// Not writable, whatever else says so.
    pub deny_write: Vec<PathBuf>,
}

/// What a confinement is asked for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether the network is open.
    pub network: Network,
    /// Whether packages can be fetched. Fetching is Rootward's own act, so this does not depend on the network of the command.
    pub fetch: Network,
    /// Which unix sockets it may connect to.
    pub unix_sockets: UnixSockets,
    /// What happens where a rule cannot be held.
    pub unheld: UnheldPolicy,
    /// Whether refusals are recorded.
    pub trace: Trace,
    /// Which processes may read their own files in `/proc`. While refusals are recorded, every process may.
    pub own_proc: OwnProc,
    /// Whether it may start other processes.
    pub processes: Processes,
    /// Additions to the profile.
    pub filesystem: Filesystem,
    /// The home of the command.
    pub home: Home,
    /// Variables that are passed on besides the usual ones.
    pub variables: Vec<PassedVariable>,
    /// The program that calls [`crate::launcher`] first thing in its `main`; this program itself where none is named.
    pub launcher: Option<PathBuf>,
}
