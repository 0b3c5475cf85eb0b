//! How strongly this machine confines a process, which gaps remain, and what would close them.

use std::fmt;
use std::process::Stdio;

use rootward_core::{Guard, GuardOptions, RootSet};
use rootward_sandbox::{
    CommandLine, Gap, GapState, KernelLacks, Network, Options, StartError, Strength, UnixSockets, gaps, landlock_abi,
    unix_sockets_here,
};
use serde::Serialize;

/// The strength that `sandbox` reaches here.
#[derive(Debug, Serialize)]
pub(super) struct Confinement {
    strength: Strength,
    landlock_abi: Option<i32>,
    /// What is missing for `landlock`, if it is not reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    lacks: Option<String>,
    gaps: Vec<Gap>,
    /// Why a start fails although the kernel has the features.
    #[serde(skip_serializing_if = "Option::is_none")]
    fails: Option<String>,
    #[serde(skip)]
    missing: Option<KernelLacks>,
}

impl Confinement {
    pub(super) fn look() -> Confinement {
        match landlock_abi() {
            Ok(abi) => Confinement {
                strength: Strength::Landlock,
                landlock_abi: Some(abi),
                lacks: None,
                gaps: gaps(abi, Network::On, &unix_sockets_here(&UnixSockets::default())),
                fails: try_it().err(),
                missing: None,
            },
            Err(lacks) => Confinement {
                strength: Strength::Off,
                landlock_abi: None,
                lacks: Some(lacks.to_string()),
                gaps: Vec::new(),
                fails: None,
                missing: Some(lacks),
            },
        }
    }

    /// The gaps that stay open.
    pub(super) fn open(&self) -> Vec<&'static str> {
        self.gaps.iter().filter(|gap| gap.state == GapState::Open).map(|gap| gap.name).collect()
    }

    /// The next step to a stronger confinement.
    pub(super) fn next(&self) -> &'static str {
        if self.fails.is_some() {
            return "run it outside of the container or sandbox that forbids this step";
        }
        match (self.missing, self.landlock_abi) {
            (Some(KernelLacks::Enabled), _) => "add `landlock` to the kernel's `lsm=` list and restart",
            (Some(KernelLacks::Landlock | KernelLacks::Abi(_)), _) => "with Linux 6.2 or later, built with Landlock",
            (None, Some(abi)) if abi < 6 => {
                "with Linux 6.12 or later, which also confines signals and abstract sockets"
            }
            (None, Some(_)) => "nothing: this is the strongest that Rootward has",
            (None, None) => "not possible on this kernel",
        }
    }
}

/// Confines this program and lets it print its version to nowhere: a feature of the kernel may still be forbidden
/// here.
fn try_it() -> Result<(), String> {
    let says = |error: StartError| error.to_string();
    let guard = Guard::new(RootSet::default(), GuardOptions::default());
    let confinement =
        rootward_sandbox::Confinement::new(guard, Options::default()).map_err(|error| error.to_string())?;
    let program = std::env::current_exe().map_err(|error| error.to_string())?.into();
    let line = CommandLine { program, arguments: vec!["--version".into()], ..CommandLine::default() };
    let mut prepared = confinement.prepare_ambient(&line).map_err(says)?;
    prepared.command().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let ended = prepared.spawn().map_err(says)?.child.wait().map_err(|error| error.to_string())?;
    if ended.success() { Ok(()) } else { Err(format!("a test command ended with {ended}")) }
}

impl fmt::Display for Confinement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(fails) = &self.fails {
            return write!(f, "`sandbox` cannot start a command here: {fails}");
        }
        match (&self.lacks, self.landlock_abi) {
            (None, Some(abi)) => {
                write!(f, "`sandbox` confines by {} (ABI {abi}) and a filter of system calls", self.strength)
            }
            (lacks, _) => write!(f, "`sandbox` refuses to start: {}", lacks.as_deref().unwrap_or("no Landlock")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_step_to_a_stronger_confinement() {
        let check = |landlock_abi, missing, fails: Option<&str>, expect: &str| {
            let (strength, fails) = (Strength::Off, fails.map(str::to_owned));
            let confinement = Confinement { strength, landlock_abi, lacks: None, gaps: Vec::new(), fails, missing };
            assert!(confinement.next().starts_with(expect), "{}", confinement.next());
        };
        check(Some(3), None, None, "with Linux 6.12 or later");
        check(Some(6), None, None, "nothing: this is the strongest that Rootward has");
        check(Some(7), None, None, "nothing: this is the strongest that Rootward has");
        check(Some(7), None, Some("forbidden"), "run it outside");
        check(None, Some(KernelLacks::Enabled), None, "add `landlock`");
    }
}
