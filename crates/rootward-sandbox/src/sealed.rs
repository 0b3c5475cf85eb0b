//! A part of this program in a process of its own that can open no file: for whatever reads from the network.
//!
//! It is a copy of its host that starts no other program. It has the descriptors that it was given, standard error, and nothing else:
//! Landlock refuses every file, every new TCP connection and every signal to other processes.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::process::{Child, Command, Stdio};

use landlock::{ABI, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetStatus, Scope};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, getpid, getppid, kill_process, set_parent_process_death_signal};
use rustix::thread::{CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities};

use crate::error::{ConfinementError, StartError, Step};
use crate::kernel::landlock_abi;
use crate::launcher::list_the_top;
use crate::{rights, sys};

/// The exit code of a process that could not be sealed.
const FAILED: i32 = 126;
/// The word of one that was.
const SEALED: &str = "sealed";

/// Whether the process is sealed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seal {
    /// It can open no file.
    On,
    /// It is held by nothing: for kernels that cannot, by the user's own word.
    Off,
}

/// The process. It is killed when this is dropped.
#[derive(Debug)]
pub struct SealedProcess(Child);

impl SealedProcess {
    /// Asks it to end.
    pub fn ask_to_end(&self) -> io::Result<()> {
        self.signal(Signal::TERM)
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        let process = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
        Ok(kill_process(process, signal)?)
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for SealedProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Does `act` in a process of its own, with these descriptors and standard error; its result is the exit code. The process ends with this one.
///
/// For a program with one thread; `act` may start as many as it likes.
pub fn spawn_sealed(
    descriptors: Vec<OwnedFd>,
    seal: Seal,
    mut act: impl FnMut(Vec<OwnedFd>) -> i32 + Send + Sync + 'static,
) -> Result<SealedProcess, StartError> {
    let abi = match seal {
        Seal::On => Some(landlock_abi().map_err(ConfinementError::Kernel)?),
        Seal::Off => None,
    };
    let (report, told) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| StartError::Prepare(error.into()))?;
    let numbers: Vec<RawFd> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
    let (told_by, host) = (told.as_raw_fd(), getpid());
    // The program is never run: the copy does its work and ends.
    let mut command = Command::new("/proc/self/exe");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
    let copy = sys::spawn_copy(&mut command, move || match prepare(&numbers, told_by, host, abi) {
        Ok(taken) => act(taken),
        Err(code) => code,
    });
    let threads = || StartError::Prepare(io::Error::other("this process has other threads"));
    let process = SealedProcess(copy.ok_or_else(threads)?.map_err(StartError::Spawn)?);
    drop((descriptors, told));
    let mut says = String::new();
    std::fs::File::from(report).read_to_string(&mut says).map_err(StartError::Prepare)?;
    match says.as_str() {
        SEALED => Ok(process),
        "" => Err(StartError::Silent),
        reason => Err(StartError::Step { step: Step::Landlock, reason: reason.to_owned() }),
    }
}

/// Makes the copy ready: the descriptors that it was given, or the exit code.
fn prepare(numbers: &[RawFd], told_by: RawFd, host: Pid, abi: Option<i32>) -> Result<Vec<OwnedFd>, i32> {
    sys::ignore_broken_pipes();
    let kept: Vec<RawFd> = numbers.iter().copied().chain([told_by]).collect();
    // SECURITY: whatever else the host had open is closed: pipes of servers, the audit log, directories
    // (test: a_sealed_process_has_what_it_was_given_and_nothing_else)
    sys::close_all_but(&kept).map_err(|_| FAILED)?;
    let mut report = std::fs::File::from(sys::take(told_by).map_err(|_| FAILED)?);
    let sealed = tie(host).and_then(|()| abi.map_or(Ok(()), seal));
    let said = match &sealed {
        Ok(()) => report.write_all(SEALED.as_bytes()),
        Err(reason) => report.write_all(reason.as_bytes()),
    };
    drop(report);
    if sealed.is_err() || said.is_err() {
        return Err(FAILED);
    }
    numbers.iter().map(|number| sys::take(*number)).collect::<io::Result<Vec<_>>>().map_err(|_| FAILED)
}

/// Ends with the host, and hears signals again that the host takes through a descriptor.
fn tie(host: Pid) -> Result<(), String> {
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    // The host may have ended before the tie was made.
    if getppid() != Some(host) {
        return Err("the host has ended".to_owned());
    }
    sys::unblock_signals().map_err(|error| error.to_string())
}

/// Landlock without a single rule, and a try.
fn seal(abi: i32) -> Result<(), String> {
    let version = rights::version(abi);
    let says = |error: landlock::RulesetError| error.to_string();
    let _ = clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    // SECURITY: a superuser's process keeps none of its powers (test: a_sealed_process_has_what_it_was_given_and_nothing_else)
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
        .map_err(|error| error.to_string())?;
    // What is asked for must be had: a weaker fence is an error, never a silence.
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
        // SECURITY: a fence that lets something through is none (test: a_sealed_process_has_what_it_was_given_and_nothing_else)
        Ok(_) => Err("the disk can still be opened".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
