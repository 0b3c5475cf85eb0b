//! Confines a command by the kernel to a guard's roots.
//!
//! A [`Confinement`] is made from a [`rootward_core::Guard`] and [`Options`]. It starts commands that can read, write, list and run what
//! the roots and the profile of a living server give, and nothing else on the disk, whatever they try. How strongly they are
//! held is a value, [`Enforcement`]; what cannot be held is in it, and keeps the command from starting where it matters.
//!
//! ```no_run
//! # fn guard() -> rootward_core::Guard { unimplemented() }
//! # fn unimplemented() -> rootward_core::Guard { loop {} }
//! use rootward_sandbox::{CommandLine, Confinement, Options, launcher};
//!
//! fn main() -> Result<(), rootward_sandbox::StartError> {
//!     // The same program is started again to confine itself.
//!     launcher();
//!     let confinement = Confinement::new(guard(), Options::default())?;
//!     let line = CommandLine { program: "npx".into(), arguments: vec!["-y".into(), "a-server".into()], ..CommandLine::default() };
//!     let mut confined = confinement.prepare_ambient(&line)?.spawn()?;
//!     println!("{}", confined.line.enforcement().strength);
//!     let _ = confined.child.wait();
//!     Ok(())
//! }
//! ```
//!
//! # Layout
//!
//! - `confinement.rs`: roots and profile become rules. `closed.rs` finds what must stay closed below them, `split.rs` gives the entries
//!   around it rules of their own. `places.rs` takes handles, `rights.rs` maps access, `open_files.rs` makes room for many handles.
//! - `profile/`: what a server needs to live, one file per kind of need.
//! - `package/`: packages that a command fetches before it runs them, in two steps.
//! - `plan.rs`: what a start comes to, place by place. `launch.rs`: the host's side of a start; `orders.rs`: what passes between host and launcher.
//! - `launcher/`: the re-executed process. `seal.rs` confines and becomes the command, `filter.rs` is the filter of system calls,
//!   `supervisor.rs` stays, `ending.rs` ends every descendant.
//! - `broker/`: carries out the calls that Landlock does not look at, on what the rules allow.
//! - `sockets.rs`: the kinds of unix sockets, by their names. `own_proc.rs`: what a process may read about itself in `/proc`, by name.
//! - `seatbelt.rs`: the same confinement as a macOS profile. It has never been run on a Mac.
//! - `sealed.rs`: a part of the program in a process of its own that can open no file.
//! - `kept.rs`: a command that is not confined and ends with its host all the same.
//! - `sys.rs`: the system calls that no crate wraps safely; the only `unsafe` of the workspace.

#[cfg(not(target_os = "linux"))]
compile_error!("rootward-sandbox confines by Linux means");

mod broker;
mod closed;
mod confinement;
mod enforcement;
mod error;
mod kept;
mod kernel;
mod launch;
mod launcher;
mod open_files;
mod options;
mod orders;
mod own_proc;
mod package;
mod places;
mod plan;
mod profile;
mod rights;
mod sealed;
pub mod seatbelt;
mod sockets;
mod split;
mod sys;

pub use confinement::{CommandLine, Confinement};
pub use enforcement::{
    Enforcement, Gap, GapState, NamedSocket, SplitDirectory, Strength, Unheld, UnheldRule, Withheld, gaps,
};
pub use error::{ConfinementError, KernelLacks, StartError, Step};
pub use kept::spawn_kept;
pub use kernel::{landlock_abi, strongest, unix_sockets_here};
pub use launch::{Confined, Handshake, Lifeline, More, Permit, Prepared, Refused};
pub use launcher::{PassedSignals, launcher};
pub use options::{Filesystem, Home, Network, Options, OwnProc, Processes, Trace, UnheldPolicy, UnixSockets};
pub use package::{
    Contents, Installed, Note, Package, PackageCommand, PackageError, Registry, Removal, Runner, Store, Stored, Supply,
    is_runner,
};
pub use places::is_closed_ambient;
pub use plan::{Because, Explanation, GivenPlace};
pub use profile::{
    KnownCommand, PassedVariable, Program, ProgramError, Untrusted, VariableError, Why, is_of_system, script_position,
    withheld_variables,
};
pub use sealed::{SealedProcess, seal, spawn_sealed};
pub use sockets::{SessionSockets, SocketKind};
