//! What the kernel offers this process, found without changing anything; the report claims only what was observed.

use std::fmt;

use landlock::{LandlockStatus, RestrictSelf};
use rootward_core::Resolver;
use rustix::process::{Resource, getrlimit};
use serde::Serialize;

/// The findings.
#[derive(Debug, Serialize)]
pub(super) struct Kernel {
    /// The kernel's own release string.
    pub(super) release: String,
    /// Whether `openat2(2)` works.
    pub(super) openat2: bool,
    /// Whether `/proc` is mounted.
    pub(super) proc: bool,
    pub(super) landlock: Landlock,
    pub(super) user_namespaces: UserNamespaces,
    pub(super) seccomp: Seccomp,
    /// The limit on open files of this process.
    pub(super) open_files: Option<u64>,
}

/// Which version of Landlock.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum Landlock {
    Available { abi: i32 },
    NotEnabled,
    NotBuiltIn,
    Unknown { reason: String },
}

/// What the kernel's settings say about user namespaces. Only creating one shows whether it works.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum UserNamespaces {
    Permitted,
    /// `user.max_user_namespaces` is 0.
    Off,
    /// `kernel.unprivileged_userns_clone` is 0.
    PrivilegedOnly,
    /// `kernel.apparmor_restrict_unprivileged_userns` is 1.
    RestrictedByApparmor,
    Unknown,
}

/// Whether system calls can be filtered.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Seccomp {
    Available,
    /// Available, and this process is already filtered.
    InUse,
    Missing,
    Unknown,
}

/// Examines the running kernel and `/proc`.
pub(super) fn look_ambient() -> Kernel {
    let status = read_ambient("/proc/self/status");
    Kernel {
        release: rustix::system::uname().release().to_string_lossy().into_owned(),
        openat2: Resolver::detect() == Resolver::Kernel,
        proc: status.is_some(),
        landlock: landlock(),
        user_namespaces: user_namespaces(read_ambient),
        seccomp: seccomp(status.as_deref()),
        open_files: getrlimit(Resource::Nofile).current,
    }
}

#[expect(clippy::disallowed_methods, reason = "fixed names in /proc, which no peer chooses")]
fn read_ambient(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// Requests no restriction at all: the crate asks the kernel for its version and makes no further call.
pub(crate) fn landlock() -> Landlock {
    match RestrictSelf::default().no_new_privs(false).apply() {
        Err(error) => Landlock::Unknown { reason: error.to_string() },
        Ok(status) => match status.landlock {
            LandlockStatus::Available { effective_abi, kernel_abi } => {
                Landlock::Available { abi: kernel_abi.unwrap_or(effective_abi as i32) }
            }
            LandlockStatus::NotEnabled => Landlock::NotEnabled,
            LandlockStatus::NotImplemented => Landlock::NotBuiltIn,
        },
    }
}

fn user_namespaces(read: impl Fn(&str) -> Option<String>) -> UserNamespaces {
    let number = |path| read(path)?.trim().parse::<u64>().ok();
    match number("/proc/sys/user/max_user_namespaces") {
        None => UserNamespaces::Unknown,
        Some(0) => UserNamespaces::Off,
        // Only some distributions have the other two.
        Some(_) if number("/proc/sys/kernel/unprivileged_userns_clone") == Some(0) => UserNamespaces::PrivilegedOnly,
        Some(_) if number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").is_some_and(|on| on != 0) => {
            UserNamespaces::RestrictedByApparmor
        }
        Some(_) => UserNamespaces::Permitted,
    }
}

/// From `/proc/self/status`, which has this line only if the kernel can filter (`proc_pid_status(5)`).
fn seccomp(status: Option<&str>) -> Seccomp {
    let Some(status) = status else { return Seccomp::Unknown };
    let mode = status.lines().find_map(|line| line.strip_prefix("Seccomp:"));
    match mode.map(str::trim) {
        None => Seccomp::Missing,
        Some("0") => Seccomp::Available,
        Some(_) => Seccomp::InUse,
    }
}

impl fmt::Display for Landlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Landlock::Available { abi } => write!(f, "ABI {abi}"),
            Landlock::NotEnabled => f.write_str("built in, not enabled at boot"),
            Landlock::NotBuiltIn => f.write_str("missing, or forbidden in this process"),
            Landlock::Unknown { reason } => write!(f, "not known: {reason}"),
        }
    }
}

impl fmt::Display for UserNamespaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UserNamespaces::Permitted => "permitted by settings; not tried",
            UserNamespaces::Off => "off (user.max_user_namespaces is 0)",
            UserNamespaces::PrivilegedOnly => "only for root (kernel.unprivileged_userns_clone is 0)",
            UserNamespaces::RestrictedByApparmor => {
                "restricted by AppArmor (kernel.apparmor_restrict_unprivileged_userns is 1)"
            }
            UserNamespaces::Unknown => "not known: /proc does not say",
        })
    }
}

impl fmt::Display for Seccomp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Seccomp::Available => "available",
            Seccomp::InUse => "available; this process is filtered already",
            Seccomp::Missing => "not there",
            Seccomp::Unknown => "not known: /proc is not mounted",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_namespaces() {
        let check = |most: Option<&str>, clone: Option<&str>, apparmor: Option<&str>, expect: UserNamespaces| {
            let read = |path: &str| {
                let text = match path {
                    "/proc/sys/user/max_user_namespaces" => most,
                    "/proc/sys/kernel/unprivileged_userns_clone" => clone,
                    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns" => apparmor,
                    other => panic!("{other}"),
                };
                text.map(|text| format!("{text}\n"))
            };
            assert_eq!(user_namespaces(read), expect);
        };
        check(Some("1000"), None, None, UserNamespaces::Permitted);
        check(Some("1000"), Some("1"), Some("0"), UserNamespaces::Permitted);
        check(Some("0"), Some("1"), None, UserNamespaces::Off);
        check(Some("1000"), Some("0"), None, UserNamespaces::PrivilegedOnly);
        check(Some("1000"), None, Some("1"), UserNamespaces::RestrictedByApparmor);
        check(None, Some("1"), None, UserNamespaces::Unknown);
        check(Some("many"), None, None, UserNamespaces::Unknown);
    }

    #[test]
    fn filters() {
        let check = |status: Option<&str>, expect: Seccomp| assert_eq!(seccomp(status), expect);
        check(Some("Name:\tx\nSeccomp:\t0\nSeccomp_filters:\t0\n"), Seccomp::Available);
        check(Some("Seccomp:\t2\n"), Seccomp::InUse);
        check(Some("Seccomp_filters:\t0\n"), Seccomp::Missing);
        check(None, Seccomp::Unknown);
    }

    #[test]
    fn asking_for_landlock_restricts_nothing() {
        let standing = || {
            let status = read_ambient("/proc/self/status").unwrap();
            let lines = status.lines().filter(|line| line.starts_with("NoNewPrivs") || line.starts_with("Seccomp"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let before = standing();
        landlock();
        assert_eq!(standing(), before);
        // A ruleset that handles file access and has no rules would refuse this.
        assert!(std::process::Command::new("/bin/sh").args(["-c", "exit 0"]).status().unwrap().success());
    }
}
