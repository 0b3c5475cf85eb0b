//! The launcher: a single-threaded process that confines a copy of itself, lets the copy become the command, and stays
//! as its supervisor.
//!
//! ```text
//! host ──orders──▶ launcher ──fork──▶ Landlock, filter, proof, exec ──▶ command ──▶ descendants
//!      ◀─report──      │ supervisor: makes the calls that the filter sends, passes signals on,
//!      ──lifeline─▶    │ ends every descendant when the command or the host ends
//! ```
//!
//! It is this program, started again. If the host itself has only one thread, a copy of it does the same and starts
//! faster.
//!
//! There are two processes, because the one that ends the descendants must be out of their reach.

mod dispatch;
mod ending;
mod filter;
mod keeper;
mod own;
mod removal;
mod seal;
mod supervisor;
mod waiting;

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, getpid, set_child_subreaper};
use rustix::thread::{CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities, set_no_new_privs};

use crate::error::Step;
use crate::orders::{Orders, VERB};
use crate::sys::{self, Forked};
use ending::Realm;
pub(crate) use filter::{is_opening, is_traced};
pub(crate) use keeper::keep;
pub(crate) use own::is_own;
pub(crate) use removal::remove as remove_tree;
pub(crate) use seal::{Ready, list_the_top};
pub use waiting::PassedSignals;

/// The exit code of a launcher that failed; its report tells the host more.
const FAILED: i32 = 126;

/// A failed step and the system's error.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) step: Step,
    pub(crate) reason: String,
}

/// Adds the step to an error.
fn at<E: ToString>(step: Step) -> impl Fn(E) -> Failure {
    move |error| Failure { step, reason: error.to_string() }
}

/// Acts as the launcher if this process was started as one, and returns immediately otherwise.
///
/// Every program that confines commands calls this first in its `main`, before it starts a thread.
pub fn launcher() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(VERB)) {
        return;
    }
    let memory = arguments.next().and_then(|number| number.to_str()?.parse().ok());
    let orders = memory.and_then(|memory| sys::take(memory).and_then(Orders::read).ok());
    sys::exit(orders.map_or(FAILED, |orders| run(&orders, None)))
}

/// Acts as the launcher until the command has ended; returns the exit code. A copy of the host has prepared `ready`
/// before.
pub(crate) fn run(orders: &Orders, ready: Option<&Ready>) -> i32 {
    sys::ignore_broken_pipes();
    let mut kept: Vec<_> = orders.descriptors().collect();
    kept.sort_unstable();
    kept.dedup();
    // SECURITY: close everything else that the host had open, for the supervisor, too
    // (test: inherited_descriptors_are_closed)
    if sys::close_all_but(&kept).is_err() {
        return FAILED;
    }
    let taken = kept.iter().map(|number| Ok((*number, sys::take(*number)?))).collect::<io::Result<Vec<_>>>();
    let Ok(mut taken) = taken else { return FAILED };
    let mut take =
        |number| taken.iter().position(|(known, _)| *known == number).map(|index| taken.swap_remove(index).1);
    let (Some(lifeline), Some(report)) = (take(orders.lifeline), take(orders.report)) else { return FAILED };
    let start = match orders.start {
        Some(number) => match take(number) {
            Some(handle) => Some(handle),
            None => return FAILED,
        },
        None => None,
    };
    let handles: Option<Vec<OwnedFd>> = orders.open.iter().map(|open| take(open.handle)).collect();
    let mut report = supervisor::Report::new(report);
    let Some(handles) = handles else { return FAILED };
    let begun = begin(orders, ready, &handles, start.as_ref());
    // The supervisor does not need the command's start directory.
    drop(start);
    match begun {
        Ok(Begun { child, socket, listener_socket, signals, realm }) => {
            drop(listener_socket);
            let watched = supervisor::Watched { child, socket, signals, lifeline };
            supervisor::supervise(orders, handles, &watched, &realm, &mut report)
        }
        Err(failure) => {
            report.failed(failure.step, failure.reason);
            FAILED
        }
    }
}

/// The state after the copy was created.
struct Begun {
    child: Pid,
    socket: OwnedFd,
    listener_socket: OwnedFd,
    signals: OwnedFd,
    realm: Realm,
}

fn begin(
    orders: &Orders,
    ready: Option<&Ready>,
    handles: &[OwnedFd],
    start: Option<&OwnedFd>,
) -> Result<Begun, Failure> {
    let made;
    let ready = match ready {
        Some(ready) => ready,
        None => {
            made = Ready::new(orders)?;
            &made
        }
    };
    // Set-user-ID programs give the command no additional rights.
    set_no_new_privs(true).map_err(at(Step::Privileges))?;
    give_up_capabilities().map_err(at(Step::Privileges))?;
    // Descendants whose parents end become children of this process, even if they detached.
    set_child_subreaper(Some(getpid())).map_err(at(Step::Realm))?;
    let realm = Realm::enter(orders.abi).map_err(at(Step::Realm))?;
    let signals = sys::signals(&supervisor::SIGNALS).map_err(at(Step::Realm))?;
    let (socket, listener_socket) = rustix::net::socketpair(
        rustix::net::AddressFamily::UNIX,
        rustix::net::SocketType::SEQPACKET,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )
    .map_err(at(Step::Fork))?;
    let supervisor = getpid();
    match sys::fork().map_err(at(Step::Fork))? {
        Forked::Parent(child) => Ok(Begun { child, socket, listener_socket, signals, realm }),
        Forked::Child => {
            drop(socket);
            let failure =
                match seal::seal(orders, ready, seal::Handles { open: handles, start }, supervisor, &listener_socket) {
                    Ok(never) => match never {},
                    Err(failure) => failure,
                };
            supervisor::tell_failure(&listener_socket, failure);
            sys::exit(FAILED)
        }
    }
}

/// Keeps only the superuser's rights over files, which Landlock and the supervisor limit to the rules.
fn give_up_capabilities() -> Result<(), rustix::io::Errno> {
    let kept = CapabilitySet::CHOWN | CapabilitySet::DAC_OVERRIDE | CapabilitySet::FOWNER | CapabilitySet::FSETID;
    let have = rustix::thread::capabilities(None)?;
    clear_ambient_capability_set()?;
    let sets = CapabilitySets {
        effective: have.effective & kept,
        permitted: have.permitted & kept,
        inheritable: CapabilitySet::empty(),
    };
    // SECURITY: without the others, a superuser cannot load modules or set the clock, the routes or other processes'
    // limits (test: a_hostile_child_gains_no_privileges)
    set_capabilities(None, sets)
}
