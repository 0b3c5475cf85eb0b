//! How strongly this machine confines a process, what stays open, and what would make it stronger.

use std::fmt;

use rootward_sandbox::{Gap, GapState, KernelLacks, Network, Strength, UnixSockets, gaps, landlock_abi};
use serde::Serialize;

/// What `sandbox` reaches here.
#[derive(Debug, Serialize)]
pub(super) struct Confinement {
    strength: Strength,
    landlock_abi: Option<i32>,
    /// What is missing for `landlock`, where it is not reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    lacks: Option<String>,
    gaps: Vec<Gap>,
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
                gaps: gaps(abi, Network::On, UnixSockets::Closed),
                missing: None,
            },
            Err(lacks) => Confinement {
                strength: Strength::Off,
                landlock_abi: None,
                lacks: Some(lacks.to_string()),
                gaps: Vec::new(),
                missing: Some(lacks),
            },
        }
    }

    /// The gaps that nothing closes.
    pub(super) fn open(&self) -> Vec<&'static str> {
        self.gaps.iter().filter(|gap| gap.state == GapState::Open).map(|gap| gap.name).collect()
    }

    /// What to do for more.
    pub(super) fn next(&self) -> &'static str {
        match (self.missing, self.landlock_abi) {
            (Some(KernelLacks::Enabled), _) => "add `landlock` to the kernel's `lsm=` list and boot again",
            (Some(KernelLacks::Landlock | KernelLacks::Abi(_)), _) => "Linux 6.2 or later, built with Landlock",
            (None, Some(abi)) if abi < 6 => "Linux 6.12 or later keeps signals and abstract sockets in, too",
            (None, Some(abi)) if abi < 9 => "Linux 7.1 or later tells unix sockets apart by their path",
            (None, _) => "nothing: this is the strongest there is so far",
        }
    }
}

impl fmt::Display for Confinement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.lacks, self.landlock_abi) {
            (None, Some(abi)) => {
                write!(f, "`sandbox` confines by {} (ABI {abi}) and a filter of system calls", self.strength)
            }
            (lacks, _) => write!(f, "`sandbox` refuses to start: {}", lacks.as_deref().unwrap_or("no Landlock")),
        }
    }
}
