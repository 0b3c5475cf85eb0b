//! What can go wrong on the way to a confined command: one type for each stretch of it.

use std::io;
use std::path::PathBuf;

use rootward_core::{Shown, WritableRecordError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::enforcement::Unheld;
use crate::package::PackageError;
use crate::profile::ProgramError;
use crate::sockets::SocketKind;

/// Why a confinement cannot be set up.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfinementError {
    /// There is no Landlock, or one too old.
    #[error("this kernel cannot confine it ({0})")]
    Kernel(KernelLacks),
    /// A root is the top of the file system: there would be no outside.
    #[error("root `/` leaves nothing outside to hold the command from")]
    WholeDisk,
    /// A root is gone, or another object by now.
    #[error("root `{}` cannot be opened", Shown::new(place))]
    Root {
        /// Where it was.
        place: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A place that was added cannot be used.
    #[error("`{}` cannot be allowed: {reason}", Shown::new(path))]
    Addition {
        /// As it was given.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A socket that no flag opens by its name.
    #[error("`{}` cannot be allowed: it is {kind}, which acts for you outside the sandbox", Shown::new(path))]
    ForbiddenSocket {
        /// As it was given.
        path: PathBuf,
        /// What it is.
        kind: SocketKind,
    },
    /// Sockets were named, and this system does not let the supervisor connect to them.
    #[error(
        "no socket can be allowed by name: `kernel.yama.ptrace_scope` keeps the supervisor from the command's sockets"
    )]
    NoSupervisedSockets,
    /// A place that is denied cannot be found.
    #[error("`{}` cannot be denied: {reason}", Shown::new(path))]
    Denial {
        /// As it was given.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There are more open places than open files are allowed, and the limit cannot be raised.
    #[error("the limit of open files cannot be raised")]
    OpenFiles(#[source] io::Error),
    /// There are rules that the kernel cannot hold.
    #[error("{}", held(.0))]
    Unheld(Vec<Unheld>),
}

fn held(unheld: &[Unheld]) -> String {
    let told: Vec<String> = unheld.iter().filter(|unheld| unheld.is_serious()).map(ToString::to_string).collect();
    format!("the kernel cannot hold it to its rules: {}", told.join("; "))
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
    /// Too old to hold.
    #[error("Landlock ABI {0} is too old, 3 is the oldest that holds")]
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
    /// What was given for writing, now or earlier, cannot be known.
    #[error(transparent)]
    Record(#[from] WritableRecordError),
    /// There is no place for the packages that the command fetches.
    #[error("the package cache cannot be used")]
    Cache(#[source] io::Error),
    /// There is no place for the home of the command.
    #[error("the home of the command cannot be used")]
    Home(#[source] io::Error),
    /// The package that it runs cannot be had.
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
        /// Which.
        step: Step,
        /// What the system said.
        reason: String,
    },
    /// The launcher ended without a word.
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
    /// Closing what was inherited.
    #[error("closing inherited descriptors")]
    Descriptors,
    /// Giving up privileges.
    #[error("giving up privileges")]
    Privileges,
    /// Becoming the one that ends all descendants.
    #[error("taking charge of descendants")]
    Realm,
    /// Making the process that becomes the command.
    #[error("making a process")]
    Fork,
    /// Tying it to its supervisor.
    #[error("tying the process to its supervisor")]
    Tie,
    /// Landlock.
    #[error("Landlock")]
    Landlock,
    /// The filter of system calls.
    #[error("the filter of system calls")]
    Filter,
    /// Trying what must be refused.
    #[error("trying what must be refused")]
    Proof,
    /// Running the command.
    #[error("running the command")]
    Execute,
}
