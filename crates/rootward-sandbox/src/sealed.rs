//! Runs a part of this program in a separate process that cannot open files: for code that reads from the network.
//!
//! It is this program, started again with other arguments, without its host's memory and variables. It has the
//! descriptors that it was given and standard error, and nothing else: Landlock refuses every file, every new TCP
//! connection and every signal to other processes.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use landlock::{ABI, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetStatus, Scope};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities};

use crate::error::{ConfinementError, StartError, Step};
use crate::kernel::landlock_abi;
use crate::launcher::list_the_top;
use crate::{rights, sys};

/// The report of a process that is sealed.
const SEALED: &str = "sealed";

/// A sealed process. It is killed when this is dropped.
#[derive(Debug)]
pub struct SealedProcess(Child);

impl SealedProcess {
    /// Asks it to end.
    pub fn ask_to_end(&self) -> io::Result<()> {
        let process = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
        Ok(kill_process(process, Signal::TERM)?)
    }
}

impl Drop for SealedProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts this program again with these arguments, and waits until it has called [`seal`]. It gets no variables; the
/// numbers of the descriptors follow the arguments. It ends with this process.
pub fn spawn_sealed(words: &[&str], descriptors: Vec<OwnedFd>) -> Result<SealedProcess, StartError> {
    let (report, told) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| StartError::Prepare(error.into()))?;
    let numbers: Vec<RawFd> = [&told].into_iter().chain(&descriptors).map(AsRawFd::as_raw_fd).collect();
    let mut command = Command::new("/proc/self/exe");
    command.args(words).args(numbers.iter().map(RawFd::to_string));
    // SECURITY: variables contain secrets of servers (test: a_sealed_process_has_what_it_was_given_and_nothing_else)
    command.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
    sys::inherit(&mut command, numbers);
    let process = SealedProcess(sys::tie(&mut command).spawn().map_err(StartError::Spawn)?);
    drop((descriptors, told));
    let mut says = String::new();
    std::fs::File::from(report).read_to_string(&mut says).map_err(StartError::Prepare)?;
    match says.as_str() {
        SEALED => Ok(process),
        "" => Err(StartError::Silent),
        reason => Err(StartError::Step { step: Step::Landlock, reason: reason.to_owned() }),
    }
}

/// Gives up everything except these descriptors, which came with the arguments of [`spawn_sealed`]. Reports the result
/// on the first and returns the others. Call it at the start of a process; it works once.
pub fn seal(numbers: &[RawFd]) -> Result<Vec<OwnedFd>, StartError> {
    static BEGUN: AtomicBool = AtomicBool::new(false);
    let [told, given @ ..] = numbers else { return Err(StartError::Silent) };
    if BEGUN.swap(true, Ordering::SeqCst) {
        return Err(StartError::Silent);
    }
    sys::ignore_broken_pipes();
    // SECURITY: close everything else that was inherited
    // (test: a_sealed_process_has_what_it_was_given_and_nothing_else)
    sys::close_all_but(numbers).map_err(StartError::Prepare)?;
    let mut report = std::fs::File::from(sys::take(*told).map_err(StartError::Prepare)?);
    let sealed = landlock_abi().map_err(|lacks| ConfinementError::Kernel(lacks).to_string()).and_then(fence);
    let says = sealed.as_ref().map_or_else(String::as_str, |()| SEALED);
    report.write_all(says.as_bytes()).map_err(StartError::Prepare)?;
    drop(report);
    sealed.map_err(|reason| StartError::Step { step: Step::Landlock, reason })?;
    given.iter().map(|number| sys::take(*number).map_err(StartError::Prepare)).collect()
}

/// Applies Landlock without any rule, and checks it.
fn fence(abi: i32) -> Result<(), String> {
    let version = rights::version(abi);
    let says = |error: landlock::RulesetError| error.to_string();
    let _ = clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    // SECURITY: a superuser's process keeps none of its capabilities
    // (test: a_sealed_process_has_what_it_was_given_and_nothing_else)
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
        .map_err(|error| error.to_string())?;
    // A weaker ruleset is an error; it is never accepted silently.
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset = ruleset.handle_access(rights::handled(abi)).map_err(says)?;
    if version >= ABI::V4 {
        ruleset = ruleset.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp).map_err(says)?;
    }
    if version >= ABI::V6 {
        ruleset = ruleset.scope(Scope::Signal | Scope::AbstractUnixSocket).map_err(says)?;
    }
    let status = ruleset.create().map_err(says)?.restrict_self().map_err(says)?;
    if status.ruleset != RulesetStatus::FullyEnforced {
        return Err(format!("{:?}", status.ruleset));
    }
    match list_the_top() {
        Err(Errno::ACCESS) => Ok(()),
        // SECURITY: a sandbox that allows this does not count
        // (test: a_sealed_process_has_what_it_was_given_and_nothing_else)
        Ok(_) => Err("the disk can still be opened".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
