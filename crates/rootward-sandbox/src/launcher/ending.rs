//! Ends every descendant, even if it detached or keeps forking.
//!
//! Killing processes one by one is a race that a program which keeps forking wins. The kernel can kill everything that
//! a process may signal in one step (`kill(2)` with -1), which no fork escapes; and Landlock can limit a process to
//! signaling its own descendants (its signal scope, ABI 6). Together they end exactly the descendants.

use std::io;
use std::path::Path;

use landlock::{
    AccessFs, PathBeneath, RestrictionStatus, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus,
    Scope,
};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, getppid, kill_process, test_kill_process, wait};

use crate::sys;

/// The processes that descend from this one.
#[derive(Debug)]
pub(super) enum Realm {
    /// The kernel knows them: this process can signal no others.
    Scoped,
    /// They are looked up in `/proc`, repeatedly until none is left.
    LookedUp,
}

impl Realm {
    /// Limits this process to signaling its descendants, if the kernel can.
    pub(super) fn enter(abi: i32) -> io::Result<Realm> {
        if abi < 6 {
            return Ok(Realm::LookedUp);
        }
        let status = scope_ambient()?;
        if status.ruleset != RulesetStatus::FullyEnforced {
            return Ok(Realm::LookedUp);
        }
        // Before killing many processes at once, check that the limit works: the host, a process of the same user, must
        // be out of reach.
        let host = getppid().ok_or_else(|| io::Error::other("the host is gone"))?;
        match test_kill_process(host) {
            Err(Errno::PERM) => Ok(Realm::Scoped),
            _ => Ok(Realm::LookedUp),
        }
    }

    /// Ends all descendants and waits until they are gone.
    pub(super) fn end(&self) {
        loop {
            match self {
                Realm::Scoped => sys::kill_all_others(),
                Realm::LookedUp => descendants_ambient().into_iter().for_each(|process| {
                    let _ = kill_process(process, Signal::KILL);
                }),
            }
            if matches!(wait(WaitOptions::empty()), Err(Errno::CHILD)) {
                return;
            }
        }
    }
}

/// Limits the signals of this process. A Landlock domain forbids moving files between directories unless its rules
/// allow it (`LANDLOCK_ACCESS_FS_REFER` is refused by default), so this one allows it for the whole disk: another
/// domain is responsible for files.
#[expect(clippy::disallowed_methods, reason = "a fixed name")]
fn scope_ambient() -> io::Result<RestrictionStatus> {
    let top = openat(CWD, c"/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let ruleset = Ruleset::default().handle_access(AccessFs::Refer).and_then(|ruleset| ruleset.scope(Scope::Signal));
    let ruleset = ruleset.and_then(Ruleset::create);
    let ruleset = ruleset.and_then(|ruleset| ruleset.add_rule(PathBeneath::new(top, AccessFs::Refer)));
    ruleset.and_then(RulesetCreated::restrict_self).map_err(io::Error::other)
}

/// The processes that currently descend from this one, according to `/proc`.
#[expect(clippy::disallowed_methods, reason = "the list of processes, which no peer controls")]
fn descendants_ambient() -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let parents: Vec<(i32, i32)> = names.filter_map(|process| Some((process, parent_ambient(process)?))).collect();
    let mut found = vec![getpid().as_raw_pid()];
    let mut next = 0;
    while next < found.len() {
        let parent = found[next];
        found.extend(parents.iter().filter(|(_, above)| *above == parent).map(|(process, _)| *process));
        next += 1;
    }
    found.into_iter().skip(1).filter_map(Pid::from_raw).collect()
}

/// The fourth field of `/proc/PID/stat`, after the name, which may contain anything but ends at the last parenthesis.
#[expect(clippy::disallowed_methods, reason = "the list of processes, which no peer controls")]
fn parent_ambient(process: i32) -> Option<i32> {
    let text = std::fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat")).ok()?;
    text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descendants_are_found_and_ended_without_a_scope() {
        let mut child = std::process::Command::new("sh").args(["-c", "sleep 1000 & sleep 1000"]).spawn().unwrap();
        let deep = || descendants_ambient().len() >= 3;
        while !deep() {
            std::thread::yield_now();
        }
        assert!(descendants_ambient().iter().any(|pid| pid.as_raw_pid().cast_unsigned() == child.id()));
        for process in descendants_ambient() {
            kill_process(process, Signal::KILL).unwrap();
        }
        child.wait().unwrap();
    }
}
