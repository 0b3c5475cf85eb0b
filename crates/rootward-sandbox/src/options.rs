//! The options of a confinement, besides its roots.

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
    /// None; the command can only create pairs.
    None,
    /// Those in places that it may write, and those at these paths, which need not exist yet. Never those that act for
    /// the user ([`crate::SocketKind::is_never`]).
    Named(Vec<PathBuf>),
    /// All. A command that may connect to a container engine or an agent is not confined.
    Open,
}

impl Default for UnixSockets {
    fn default() -> UnixSockets {
        UnixSockets::Named(Vec::new())
    }
}

/// What to do if a rule cannot be enforced.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum UnenforcedPolicy {
    /// Do not start the command.
    #[default]
    Refuse,
    /// Start it, and report the rule in the enforcement.
    Allow,
}

/// Whether refusals are recorded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trace {
    /// No; this costs nothing.
    #[default]
    Off,
    /// Yes: the supervisor checks each path that the command opens.
    On,
}

/// Which processes of a command may read their own files in `/proc`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnProc {
    /// Only the first process, and only a few files; this costs nothing.
    #[default]
    FirstProcess,
    /// Every process. The supervisor checks each path that a process opens, which slows down opening.
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
    /// One that is empty and read-only.
    Empty,
    /// This directory below Rootward's state directory. It is kept between starts, and created if it is missing.
    Kept(PathBuf),
}

/// Additions to the profile, named as in VS Code's `sandbox.filesystem`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filesystem {
    /// Also readable, and programs in it can be run.
    pub allow_read: Vec<PathBuf>,
    /// Not readable, overriding everything else.
    pub deny_read: Vec<PathBuf>,
    /// Also readable and writable.
    pub allow_write: Vec<PathBuf>,
    /// Not writable, overriding everything else.
    pub deny_write: Vec<PathBuf>,
}

/// The options of a confinement.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether the network is open.
    pub network: Network,
    /// Whether packages can be fetched. Rootward does the fetching, so this does not depend on the command's network.
    pub fetch: Network,
    /// Which unix sockets it may connect to.
    pub unix_sockets: UnixSockets,
    /// What to do if a rule cannot be enforced.
    pub unenforced: UnenforcedPolicy,
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
    /// Variables to pass on besides the usual ones.
    pub variables: Vec<PassedVariable>,
    /// The program that calls [`crate::launcher`] first in its `main`; by default, this program.
    pub launcher: Option<PathBuf>,
}
