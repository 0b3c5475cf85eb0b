//! What every program needs from the system: libraries and programs, name resolution, certificates, time zone, locale,
//! a few devices and a few files of `/proc`.

use std::path::Path;

use rootward_core::Access;

use super::{Profile, RUN};

/// Programs and libraries. `/nix` and `/gnu` are used by two distributions.
const RUNTIME: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/run/current-system",
];

/// The parts of `/etc` without secrets that libraries read: the loader, names of hosts, users and services, time,
/// locale, certificates, and the settings of common tools.
const SETTINGS: &[&str] = &[
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/passwd",
    "/etc/group",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/locale.alias",
    "/etc/locale.conf",
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/openssl.cnf",
    "/etc/pki/ca-trust/extracted",
    "/etc/ca-certificates/extracted",
    "/etc/crypto-policies",
    "/etc/alternatives",
    "/etc/os-release",
    "/etc/debian_version",
    "/etc/mime.types",
    "/etc/terminfo",
    "/etc/inputrc",
    "/etc/gitconfig",
    "/etc/bash.bashrc",
    "/etc/profile.d",
];

/// Devices without contents.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];

/// Read-only devices.
const RANDOM: &[&str] = &["/dev/random", "/dev/urandom"];

/// Information about the machine in `/proc`. Nothing of `/proc/PID` is listed here: Landlock cannot tell a process's
/// own directory from another's, whose command line may contain a secret. The launcher opens the command's own.
const MACHINE: &[&str] = &[
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/loadavg",
    "/proc/uptime",
    "/proc/version",
    "/proc/filesystems",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/ostype",
    "/proc/sys/kernel/pid_max",
    "/proc/sys/kernel/cap_last_cap",
    "/proc/sys/kernel/ngroups_max",
    "/proc/sys/kernel/random",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sys/vm/max_map_count",
    "/proc/sys/fs/file-max",
    "/proc/sys/fs/pipe-max-size",
    "/proc/sys/fs/inotify",
    "/proc/sys/net/core/somaxconn",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/kernel/mm/transparent_hugepage",
];

/// Whether every command has this access to a place.
pub(super) fn gives(place: &Path, access: Access) -> bool {
    let within = |places: &[&str]| places.iter().any(|given| place.starts_with(given));
    RUN.contains(access) && within(RUNTIME) || Access::READ.contains(access) && within(SETTINGS)
}

/// Whether a place is one of the devices that every command may write to.
pub(crate) fn is_device(place: &Path) -> bool {
    DEVICES.iter().any(|device| place == Path::new(device))
}

pub(super) fn add(profile: &mut Profile) {
    for place in RUNTIME {
        profile.needs_of_system(place, RUN);
    }
    for place in SETTINGS.iter().chain(MACHINE).chain(RANDOM) {
        profile.needs_of_system(place, Access::READ);
    }
    for place in DEVICES {
        profile.needs_of_system(place, Access::READ.with(Access::WRITE));
    }
}
