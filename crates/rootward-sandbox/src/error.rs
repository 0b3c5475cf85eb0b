//! The errors of confining and starting a command, one type for each stage.

use std::io;
use std::path::PathBuf;

use rootward_core::{Shown, WritableRecordError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::enforcement::Unenforced;
use crate::package::PackageError;
use crate::profile::ProgramError;
use crate::sockets::SocketKind;

/// Why a confinement cannot be set up.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfinementError {
    /// There is no Landlock, or it is too old.
    #[error("this kernel cannot confine it ({0})")]
    Kernel(KernelLacks),
    /// A root is the top of the file system, so there would be no outside.
    #[error("with root `/` there is nothing outside to protect")]
    WholeDisk,
    /// A root is gone or was replaced.
    #[error("root `{}` cannot be opened", Shown::new(place))]
    Root {
        /// Where it was.
        place: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// An added place cannot be used.
    #[error("`{}` cannot be allowed: {reason}", Shown::new(path))]
    Addition {
        /// The path as given.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A socket that no flag can open.
    #[error("`{}` cannot be allowed: it is {kind}, which acts for you outside the sandbox", Shown::new(path))]
    ForbiddenSocket {
        /// The path as given.
        path: PathBuf,
        /// Its kind.
        kind: SocketKind,
    },
    /// Sockets were named, but this system does not let the supervisor connect to them.
    #[error(
        "no socket can be allowed by name: `kernel.yama.ptrace_scope` denies the supervisor access to the command's sockets"
    )]
    NoSupervisedSockets,
    /// A denied place cannot be found.
    #[error("`{}` cannot be denied: {reason}", Shown::new(path))]
    Denial {
        /// The path as given.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// There are more open places than the limit of open files allows, and the limit cannot be raised.
    #[error("the limit of open files cannot be raised")]
    OpenFiles(#[source] io::Error),
    /// There are rules that the kernel cannot enforce.
    #[error("{}", refusal(.0))]
    Unenforced(Vec<Unenforced>),
}

fn refusal(unenforced: &[Unenforced]) -> String {
    let rules: Vec<String> = unenforced.iter().map(ToString::to_string).collect();
    format!("the kernel cannot enforce its rules: {}", rules.join("; "))
}

/// What the kernel lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum KernelLacks {
    /// Not built in, or forbidden in this process.
    #[error("no Landlock")]
    Landlock,
    /// Built in and not enabled at boot.
    #[error("Landlock is not enabled at boot")]
    Enabled,
    /// Too old to confine.
    #[error("Landlock ABI {0} is too old, 3 or later is needed")]
    Abi(i32),
}

/// Why a command was not started.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// There is no such command.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// It cannot be confined.
    #[error(transparent)]
    Confinement(#[from] ConfinementError),
    /// The record of writable places cannot be used.
    #[error(transparent)]
    Record(#[from] WritableRecordError),
    /// The cache for the packages that the command fetches cannot be used.
    #[error("the package cache cannot be used")]
    Cache(#[source] io::Error),
    /// The home of the command cannot be used.
    #[error("the home of the command cannot be used")]
    Home(#[source] io::Error),
    /// The package that it runs cannot be fetched or installed.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// The orders for the launcher could not be prepared.
    #[error("the launcher cannot be prepared")]
    Prepare(#[source] io::Error),
    /// The launcher did not start.
    #[error("the launcher cannot be started")]
    Spawn(#[source] io::Error),
    /// A step of the launcher failed; the command did not run.
    #[error("{step} failed ({reason})")]
    Step {
        /// The step.
        step: Step,
        /// The system's error.
        reason: String,
    },
    /// The launcher ended without reporting anything.
    #[error("the launcher ended before it had confined the command")]
    Silent,
}

/// The steps of the launcher.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Reading what to do.
    #[error("reading the orders")]
    Orders,
    /// Closing inherited descriptors.
    #[error("closing inherited descriptors")]
    Descriptors,
    /// Giving up privileges.
    #[error("giving up privileges")]
    Privileges,
    /// Becoming the parent of all descendants, to end them.
    #[error("taking charge of descendants")]
    Realm,
    /// Creating the process that becomes the command.
    #[error("creating a process")]
    Fork,
    /// Making the process end with its supervisor.
    #[error("tying the process to its supervisor")]
    Tie,
    /// Landlock.
    #[error("Landlock")]
    Landlock,
    /// The system call filter.
    #[error("the system call filter")]
    Filter,
    /// Checking that forbidden calls are refused.
    #[error("checking that forbidden calls are refused")]
    Proof,
    /// Running the command.
    #[error("running the command")]
    Execute,
}
