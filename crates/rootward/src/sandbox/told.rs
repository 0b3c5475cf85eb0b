//! What `sandbox` tells a person: why a command was not started, and what a running one was refused.

use std::ffi::OsStr;
use std::path::Path;

use rootward_core::Shown;
use rootward_sandbox::{ConfinementError, Refused, StartError, Unheld};

use super::hinted;
use crate::message::{self, for_shell};

/// Why a command was not started, with the way out.
pub(super) fn not_started(program: &OsStr, error: StartError) -> anyhow::Error {
    let says = format!("command `{}` was not started: {error}", Shown::new(program));
    match &error {
        StartError::Confinement(ConfinementError::Kernel(_)) => {
            hinted(says, "pass `--sandbox off` to run it unconfined; `rootward doctor` says what this kernel lacks")
        }
        StartError::Confinement(ConfinementError::Unheld(_)) => {
            hinted(says, "share narrower directories, or pass `--unheld allow` to start it with these places open")
        }
        StartError::Confinement(ConfinementError::WholeDisk) => {
            hinted(says, "share the directories that the command needs")
        }
        StartError::Program(_) => error.into(),
        _ => anyhow::Error::new(error).context(format!("command `{}` was not started", Shown::new(program))),
    }
}

/// The places that are closed for writing and stay open: one line, because every repository has some.
pub(super) fn open_for_writing(unheld: &[&Unheld]) {
    const MOST: usize = 3;
    if unheld.is_empty() {
        return;
    }
    let places: Vec<String> =
        unheld.iter().take(MOST).map(|unheld| format!("`{}`", Shown::new(&unheld.place))).collect();
    let more = unheld.len().saturating_sub(MOST);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    message::warning(&format!("the kernel cannot close for writing below a root: {}{more}", places.join(", ")));
}

/// What was refused, each place once, with what would permit it.
pub(super) fn refused(refused: &[Refused], home: Option<&Path>) {
    if refused.is_empty() {
        message::line("trace: nothing was refused");
        return;
    }
    message::line("trace: refused, and what would permit it");
    for Refused { path, access } in refused {
        let flag = if access == "write" { "--allow-write" } else { "--allow-read" };
        message::line(&format!("  {access:8} {}  {flag} {}", Shown::new(path), for_shell(path, home, "")));
    }
}
