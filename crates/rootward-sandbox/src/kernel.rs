//! Finds out what this machine can enforce, without changing anything.

use landlock::{LandlockStatus, RestrictSelf};

use crate::enforcement::Strength;
use crate::error::KernelLacks;
use crate::options::UnixSockets;
use crate::rights::OLDEST;

/// The Landlock version, if it is recent enough.
pub fn landlock_abi() -> Result<i32, KernelLacks> {
    // A request to restrict nothing: the crate asks the kernel for its version and makes no further call.
    let status = RestrictSelf::default().no_new_privs(false).apply().map_err(|_| KernelLacks::Landlock)?;
    match status.landlock {
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            let abi = kernel_abi.unwrap_or(effective_abi as i32);
            if abi < OLDEST { Err(KernelLacks::Abi(abi)) } else { Ok(abi) }
        }
        LandlockStatus::NotEnabled => Err(KernelLacks::Enabled),
        LandlockStatus::NotImplemented => Err(KernelLacks::Landlock),
    }
}

/// The strongest confinement that this machine allows, and what is missing for `landlock` if it is weaker.
pub fn strongest() -> (Strength, Option<KernelLacks>) {
    match landlock_abi() {
        Ok(_) => (Strength::Landlock, None),
        Err(lacks) => (Strength::Off, Some(lacks)),
    }
}

/// The wanted unix sockets that this system can supervise. If a process may not inspect its descendants, the supervisor
/// cannot connect for them, so they get no unix sockets.
pub fn unix_sockets_here(wanted: &UnixSockets) -> UnixSockets {
    match wanted {
        UnixSockets::Named(_) if !may_inspect_descendants_ambient() => UnixSockets::None,
        wanted => wanted.clone(),
    }
}

/// Whether a process may inspect its descendants. Yama can forbid it (`kernel.yama.ptrace_scope` of 2 or more).
#[expect(clippy::disallowed_methods, reason = "a fixed name")]
fn may_inspect_descendants_ambient() -> bool {
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
    scope.ok().and_then(|scope| scope.trim().parse::<u32>().ok()).is_none_or(|scope| scope < 2)
}
