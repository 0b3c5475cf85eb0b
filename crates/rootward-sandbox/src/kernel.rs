//! What this machine can enforce: asked without changing anything.

use landlock::{LandlockStatus, RestrictSelf};

use crate::enforcement::Strength;
use crate::error::KernelLacks;
use crate::rights::OLDEST;

/// The version of Landlock, if it is one that holds.
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

/// The strongest confinement that this machine allows, and what is missing for `landlock` where it is less.
pub fn strongest() -> (Strength, Option<KernelLacks>) {
    match landlock_abi() {
        Ok(_) => (Strength::Landlock, None),
        Err(lacks) => (Strength::Off, Some(lacks)),
    }
}
