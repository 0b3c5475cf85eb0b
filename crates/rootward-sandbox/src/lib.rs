//! Confines a command to a guard's roots, using the kernel.
//!
//! A [`Confinement`] is made from a [`rootward_core::Guard`] and [`Options`]. It starts commands that can only read,
//! write, list and run what the roots and the profile of a running server give, and nothing else on the disk, whatever
//! they try. The strength is a value, [`Enforcement`]; it includes what cannot be enforced, and the command does not
//! start if that is serious.
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
//! - `confinement.rs`: turns roots and profile into rules. `closed.rs` finds what must stay closed below them,
//!   `split.rs` makes separate rules for the entries around it. `places.rs` opens handles, `rights.rs` maps access,
//!   `open_files.rs` raises the limit for many handles.
//! - `profile/`: what a server needs to run, one file per kind of need.
//! - `package/`: packages that a command fetches before it runs them, in two steps.
//! - `plan.rs`: the rules of a start, place by place. `launch.rs`: the host's side of a start; `orders.rs`: the
//!   messages between host and launcher.
//! - `launcher/`: the re-executed process. `seal.rs` confines itself and becomes the command, `filter.rs` is the system
//!   call filter, `supervisor.rs` stays, `ending.rs` ends every descendant.
//! - `broker/`: makes the calls that Landlock does not check, within the rules.
//! - `sockets.rs`: the kinds of unix sockets, by name. `own_proc.rs`: what a process may read about itself in `/proc`,
//!   by name.
//! - `seatbelt.rs`: the same confinement as a macOS profile. It has never been run on a Mac.
//! - `sealed.rs`: runs a part of the program in a separate process that cannot open files.
//! - `kept.rs`: a command that is not confined but still ends with its host.
//! - `sys.rs`: the system calls that no crate wraps safely; the only `unsafe` code in the workspace.

#[cfg(not(target_os = "linux"))]
compile_error!("rootward-sandbox needs Linux");

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
    Enforcement, Gap, GapState, NamedSocket, SplitDirectory, Strength, Unenforced, UnenforcedRule, Withheld, gaps,
};
pub use error::{ConfinementError, KernelLacks, StartError, Step};
pub use kept::spawn_kept;
pub use kernel::{landlock_abi, strongest, unix_sockets_here};
pub use launch::{Confined, Handshake, Lifeline, MoreReports, PermittingFlag, Prepared, Refused};
pub use launcher::{PassedSignals, launcher};
pub use options::{Filesystem, Home, Network, Options, OwnProc, Processes, Trace, UnenforcedPolicy, UnixSockets};
pub use package::{
    Contents, Installed, Note, Package, PackageCommand, PackageError, Registry, Removal, Runner, Store, Stored, Supply,
    is_runner,
};
pub use places::is_closed_ambient;
pub use plan::{Because, Explanation, GivenPlace};
pub use profile::{
    KnownCommand, NeededAs, PassedVariable, Program, ProgramError, Untrusted, VariableError, is_of_system,
    script_position, withheld_variables,
};
pub use sealed::{SealedProcess, seal, spawn_sealed};
pub use sockets::{SessionSockets, SocketKind};
