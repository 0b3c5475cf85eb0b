//! From a copy of the launcher to the command: each step narrows its rights, the last one proves it, and then it
//! becomes the command.

use std::convert::Infallible;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use landlock::{
    ABI, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetStatus, Scope,
};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal, setsid};
use rustix::termios::isatty;

use super::filter::Filter;
use super::{Failure, at, own};
use crate::error::Step;
use crate::open_files;
use crate::options::Network;
use crate::orders::{Bytes, Orders, UnixOrders};
use crate::rights;
use crate::sys;

/// The maximum number of descriptors passed to the supervisor.
pub(super) const HANDED_OVER: usize = 1 + own::FILES.len();

/// What can be prepared before the process that becomes the command is forked: after a fork, the first write to each
/// page is expensive.
#[derive(Debug)]
pub(crate) struct Ready {
    filter: Filter,
    program: sys::Execution,
}

impl Ready {
    pub(crate) fn new(orders: &Orders) -> Result<Ready, Failure> {
        let filter = Filter::compile(orders).map_err(at(Step::Filter))?;
        let variable = |(name, value): &(Bytes, Bytes)| [name.as_slice(), b"=", value].concat();
        let program = sys::Execution::new(
            &orders.program,
            [&orders.name].into_iter().chain(&orders.arguments).cloned(),
            orders.variables.iter().map(variable),
            &orders.directory,
        );
        Ok(Ready { filter, program: program.map_err(at(Step::Execute))? })
    }
}

/// Handles that the host passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handles<'h> {
    /// The open places.
    pub(super) open: &'h [OwnedFd],
    /// Where the command starts; otherwise by name.
    pub(super) start: Option<&'h OwnedFd>,
}

/// Becomes the command; returns only on failure.
pub(super) fn seal(
    orders: &Orders,
    ready: &Ready,
    handles: Handles<'_>,
    supervisor: Pid,
    socket: &OwnedFd,
) -> Result<Infallible, Failure> {
    tie(supervisor)?;
    let own = own::open();
    fence(orders, handles.open, &own).map_err(at(Step::Landlock))?;
    // SECURITY: "enforced" is only reported after something was seen to be refused. Anyone can list the top of the
    // disk, and a rule that gives it would leave no outside (test: the_whole_disk_is_not_accepted_as_a_root)
    prove(list_the_top(), Errno::ACCESS)?;
    // Each is already marked; this covers any that was forgotten.
    sys::close_on_exec().map_err(at(Step::Descriptors))?;
    let listener = ready.filter.install().map_err(at(Step::Filter))?;
    prove(sys::unshare_nothing(), Errno::PERM)?;
    hand_over(socket, &listener, &own).map_err(at(Step::Filter))?;
    drop((listener, own));
    sys::unblock_signals().map_err(at(Step::Execute))?;
    if let Some(soft) = orders.open_files {
        open_files::lower(soft).map_err(at(Step::Execute))?;
    }
    Err(at(Step::Execute)(ready.program.execute(handles.start)))
}

/// Makes this process end with the supervisor, and removes its terminal unless it was given one.
fn tie(supervisor: Pid) -> Result<(), Failure> {
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(at(Step::Tie))?;
    // The supervisor may have ended before the tie was made.
    if getppid() != Some(supervisor) {
        return Err(at(Step::Tie)("the supervisor is gone"));
    }
    let terminal =
        [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()].map(isatty).contains(&true);
    if !terminal {
        setsid().map_err(at(Step::Tie))?;
    }
    Ok(())
}

/// Landlock: refuses everything that the kernel can refuse, except what the rules give.
fn fence(orders: &Orders, handles: &[OwnedFd], own: &[OwnedFd]) -> Result<(), String> {
    let version = rights::version(orders.abi);
    let all = match orders.unix_sockets {
        UnixOrders::Open => rights::handled_but_sockets(orders.abi),
        UnixOrders::Closed | UnixOrders::Supervised { .. } => rights::handled(orders.abi),
    };
    let says = |error: landlock::RulesetError| error.to_string();
    // A weaker ruleset is an error; it is never accepted silently.
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset = ruleset.handle_access(all).map_err(says)?;
    if version >= ABI::V6 {
        ruleset = ruleset.scope(Scope::Signal | Scope::AbstractUnixSocket).map_err(says)?;
    }
    if orders.network == Network::Off && version >= ABI::V4 {
        ruleset = ruleset.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp).map_err(says)?;
    }
    let mut created = ruleset.create().map_err(says)?;
    for (open, handle) in orders.open.iter().zip(handles) {
        let given = BitFlags::<AccessFs>::from_bits_truncate(open.rights) & all;
        if !given.is_empty() {
            created = created.add_rule(PathBeneath::new(handle.as_fd(), given)).map_err(says)?;
        }
    }
    for file in own {
        created = created.add_rule(PathBeneath::new(file.as_fd(), AccessFs::ReadFile)).map_err(says)?;
    }
    let status = created.restrict_self().map_err(says)?;
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

/// Tries to open the top of the disk.
#[expect(clippy::disallowed_methods, reason = "a fixed name, and it must not be opened")]
pub(crate) fn list_the_top() -> Result<OwnedFd, Errno> {
    openat(CWD, c"/", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Checks that something is refused, and for the right reason.
#[expect(clippy::needless_pass_by_value, reason = "closes what was opened unexpectedly")]
fn prove<T>(tried: Result<T, Errno>, expect: Errno) -> Result<(), Failure> {
    match tried {
        Err(error) if error == expect => Ok(()),
        Err(error) => Err(at(Step::Proof)(error)),
        // SECURITY: a sandbox that allows this does not count (test: a_permitted_call_fails_the_proof)
        Ok(_) => Err(at(Step::Proof)("it was not refused")),
    }
}

/// Passes to the supervisor the descriptor on which the kernel asks about calls, and the descriptors it must hold.
fn hand_over(socket: &OwnedFd, listener: &OwnedFd, own: &[OwnedFd]) -> Result<(), Errno> {
    let passed: Vec<BorrowedFd<'_>> = [listener].into_iter().chain(own).map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(HANDED_OVER))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&passed)) {
        return Err(Errno::NOMEM);
    }
    sendmsg(socket, &[IoSlice::new(b"\n")], &mut control, SendFlags::NOSIGNAL).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permitted_call_fails_the_proof() {
        assert!(prove::<()>(Err(Errno::ACCESS), Errno::ACCESS).is_ok());
        assert!(prove(Ok(()), Errno::ACCESS).is_err());
        assert!(prove::<()>(Err(Errno::NOENT), Errno::ACCESS).is_err(), "refused, but not by the sandbox");
        // This process is not confined, so the proof fails.
        assert!(prove(list_the_top(), Errno::ACCESS).is_err());
        assert!(prove(sys::unshare_nothing(), Errno::PERM).is_err());
    }
}
