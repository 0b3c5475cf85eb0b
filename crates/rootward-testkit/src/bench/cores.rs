//! The machine: one core for short operations, all cores for parallel ones, and its description.

use std::error::Error;
use std::fs;
use std::path::Path;

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores that were allowed before pinning.
#[derive(Debug)]
pub struct Pinned(CpuSet);

/// Pins this thread and every process it starts to one core. Across cores, a wake-up costs more than the measured operation.
pub fn pin_to_one() -> Result<Pinned, Errno> {
    let allowed = sched_getaffinity(None)?;
    let last = (0..CpuSet::MAX_CPU).rev().find(|core| allowed.is_set(*core)).ok_or(Errno::NODEV)?;
    let mut one = CpuSet::new();
    one.set(last);
    sched_setaffinity(None, &one)?;
    Ok(Pinned(allowed))
}

impl Pinned {
    /// Allows all cores again.
    pub fn release(self) -> Result<(), Errno> {
        sched_setaffinity(None, &self.0)
    }
}

/// A description of the machine, without its host name.
pub fn machine(top: &Path) -> Result<String, Box<dyn Error>> {
    let cores = sched_getaffinity(None)?.count();
    let release = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    // The part after the dash is specific to the distribution.
    let release = release.trim().split('-').next().unwrap_or_default();
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or("unknown", |(_, model)| model.trim());
    let cores = if cores == 1 { "one core".to_owned() } else { format!("{cores} cores") };
    Ok(format!("Measured on {cores} ({model}), Linux {release}, files on {}, warm.", file_system(top)?))
}

/// The file system by its magic number (statfs(2)).
fn file_system(top: &Path) -> Result<&'static str, Errno> {
    Ok(match rustix::fs::statfs(top)?.f_type {
        0xEF53 => "ext4",
        0x0102_1994 => "tmpfs",
        0x5846_5342 => "XFS",
        0x9123_683E => "Btrfs",
        0x794C_7630 => "overlayfs",
        0x2FC1_2FC1 => "ZFS",
        _ => "an unnamed file system",
    })
}
