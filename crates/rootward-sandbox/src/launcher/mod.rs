//! The launcher: a process with one thread that confines a copy of itself, lets the copy become the
//! command, and stays as its supervisor.
//!
//! ```text
//! host ──orders──▶ launcher ──fork──▶ Landlock, filter, proof, exec ──▶ command ──▶ descendants
//!      ◀─report──      │ supervisor: carries out what the filter asks about, passes signals on,
//!      ──lifeline─▶    │ ends every descendant when the command or the host ends
//! ```
//!
//! It is this program, started again; where the host has but one thread itself, a copy of it is as good and sooner there.
//!
//! Two processes, because one cannot do both: whoever ends the descendants must be out of their reach.

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

/// The exit code of a launcher that failed; its host knows more from the report.
const FAILED: i32 = 126;

/// A step that failed, and what the system said.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) step: Step,
    pub(crate) reason: String,
}

/// Puts the step's name to an error.
fn at<E: ToString>(step: Step) -> impl Fn(E) -> Failure {
    move |error| Failure { step, reason: error.to_string() }
}

/// Acts as the launcher where this process was started as one, and returns at once where it was not.
///
/// Every program that confines commands calls it first thing in its `main`, before it starts a thread.
pub fn launcher() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(VERB)) {
        return;
    }
    let memory = arguments.next().and_then(|number| number.to_str()?.parse().ok());
    let orders = memory.and_then(|memory| sys::take(memory).and_then(Orders::read).ok());
    sys::exit(orders.map_or(FAILED, |orders| run(&orders, None)))
}

/// Acts as the launcher until the command has ended; the exit code. A copy of the host has made things ready before.
pub(crate) fn run(orders: &Orders, ready: Option<&Ready>) -> i32 {
    sys::ignore_broken_pipes();
    let mut kept: Vec<_> = orders.descriptors().collect();
    kept.sort_unstable();
    kept.dedup();
    // SECURITY: whatever else the host had open is closed, for the supervisor, too
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
    // The supervisor stays; where the command started is none of its business.
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

/// What there is once the copy was made.
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
    // No program that the command runs gets more rights by being set-user-ID.
    set_no_new_privs(true).map_err(at(Step::Privileges))?;
    give_up_capabilities().map_err(at(Step::Privileges))?;
    // Descendants whose parents end become children of this process, however they detach.
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

/// Keeps of the superuser's rights only those over files, which Landlock and the supervisor hold to the rules.
fn give_up_capabilities() -> Result<(), rustix::io::Errno> {
    let kept = CapabilitySet::CHOWN | CapabilitySet::DAC_OVERRIDE | CapabilitySet::FOWNER | CapabilitySet::FSETID;
    let have = rustix::thread::capabilities(None)?;
    clear_ambient_capability_set()?;
    let sets = CapabilitySets {
        effective: have.effective & kept,
        permitted: have.permitted & kept,
        inheritable: CapabilitySet::empty(),
    };
    // SECURITY: a superuser without these can neither load modules nor set the clock, the routes or the limits of others
    // (test: a_hostile_child_gains_no_privileges)
    set_capabilities(None, sets)
}
