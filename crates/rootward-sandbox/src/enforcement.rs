//! How strongly a command is confined, as a value that is returned, shown and tested.

use std::fmt;
use std::path::PathBuf;

use rootward_core::{Access, Shown};
use serde::{Deserialize, Serialize};

use crate::options::{Network, OwnProc, UnixSockets};
use crate::profile::{NeededAs, Untrusted};
use crate::sockets::SocketKind;

/// The strength of a confinement, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Strength {
    /// None: the command runs like any other.
    Off,
    /// Landlock and seccomp: the roots are fixed when the command starts.
    Landlock,
}

impl fmt::Display for Strength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Strength::Off => "off",
            Strength::Landlock => "landlock",
        })
    }
}

/// What is enforced, and what is not.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Enforcement {
    /// The strength.
    pub strength: Strength,
    /// The Landlock version that enforces it.
    pub landlock_abi: Option<i32>,
    /// Whether the network is open.
    pub network: Network,
    /// What the roots or settings require and the kernel cannot enforce. A command starts with any of these only if
    /// the options allow it.
    pub unenforced: Vec<Unenforced>,
    /// Closed places below the roots that the kernel leaves open, but not for reading. A command starts nevertheless:
    /// every repository has places that are closed for writing (`.git/hooks`).
    pub open_for_writing: Vec<Unenforced>,
    /// The directories above closed places, which are only open entry by entry.
    pub split: Vec<SplitDirectory>,
    /// What the command seems to need and does not get.
    pub withheld: Vec<Withheld>,
    /// The unix sockets that the command may connect to because the user named them.
    pub sockets: Vec<NamedSocket>,
    /// Which processes may read their own files in `/proc`.
    pub own_proc: OwnProc,
    /// What Landlock alone leaves open, and who closes it.
    pub gaps: Vec<Gap>,
}

/// A unix socket that the user named.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct NamedSocket {
    /// Its path, without links. It need not exist yet.
    #[serde(serialize_with = "shown")]
    pub place: PathBuf,
    /// Its kind.
    pub kind: SocketKind,
}

impl Enforcement {
    /// No confinement at all.
    pub fn off() -> Enforcement {
        Enforcement {
            strength: Strength::Off,
            landlock_abi: None,
            network: Network::On,
            unenforced: Vec::new(),
            open_for_writing: Vec::new(),
            split: Vec::new(),
            withheld: Vec::new(),
            sockets: Vec::new(),
            own_proc: OwnProc::EveryProcess,
            gaps: Vec::new(),
        }
    }
}

/// A directory that contains a place which must stay closed. Its entries that existed at the start are open. Nothing
/// can be created, renamed or removed in the directory itself, and it can only be listed if everything below it may be
/// read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SplitDirectory {
    /// The directory.
    #[serde(serialize_with = "shown")]
    pub place: PathBuf,
    /// The access that the directory lacks because of the closed place.
    pub lost: Access,
    /// A closed place that causes it.
    #[serde(serialize_with = "shown")]
    pub because: PathBuf,
}

impl fmt::Display for SplitDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lost = match (self.lost.contains(Access::WRITE), self.lost.contains(Access::READ)) {
            (true, true) => "cannot be listed, and nothing can be created, renamed or removed directly in it",
            (false, true) => "cannot be listed",
            (true, false) => "gets no new entries: nothing can be created, renamed or removed directly in it",
            (false, false) => "is open entry by entry",
        };
        write!(f, "`{}` must stay closed, so `{}` {lost}", Shown::new(&self.because), Shown::new(&self.place))
    }
}

/// A rule that the kernel cannot enforce, because Landlock cannot deny access below a directory that it allows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Unenforced {
    /// The place.
    #[serde(serialize_with = "shown")]
    pub place: PathBuf,
    /// The access that should be refused there and is not.
    pub open: Access,
    /// The kind of rule.
    pub rule: UnenforcedRule,
}

/// The kind of a rule that cannot be enforced.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum UnenforcedRule {
    /// A closed place that exists below a root.
    Restriction {
        /// Its pattern.
        pattern: String,
        /// The access that it takes away.
        closed: Access,
    },
    /// A root with less access inside another.
    NestedRoot,
    /// A place in `denyRead` or `denyWrite`, below an open one.
    Denied,
    /// The root has too many entries to search; it may contain closed places.
    TooLarge,
    /// One of Rootward's own places. It may not exist.
    Own,
    /// A directory above a closed place has too many entries to make a rule for each.
    TooManyEntries,
}

impl UnenforcedRule {
    /// Whether it is serious that this stays open.
    pub(crate) fn is_serious(&self, open: Access) -> bool {
        match self {
            UnenforcedRule::Restriction { .. } => open.contains(Access::READ),
            UnenforcedRule::NestedRoot
            | UnenforcedRule::Denied
            | UnenforcedRule::TooLarge
            | UnenforcedRule::Own
            | UnenforcedRule::TooManyEntries => true,
        }
    }
}

impl Unenforced {
    /// Whether this prevents a command from starting unless it is allowed explicitly. A closed place that stays open,
    /// but not for reading, is just reported.
    pub(crate) fn is_serious(&self) -> bool {
        self.rule.is_serious(self.open)
    }
}

impl fmt::Display for Unenforced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = Shown::new(&self.place);
        match &self.rule {
            UnenforcedRule::Restriction { pattern, closed } => {
                let pattern = Shown::new(pattern);
                let closed = if closed.contains(Access::READ) { "closed" } else { "closed for writing" };
                write!(f, "`{place}` should be {closed} (`{pattern}`), but the kernel leaves it open for {}", self.open)
            }
            UnenforcedRule::NestedRoot => {
                write!(
                    f,
                    "root `{place}` lies in a root with more access, so the kernel leaves it open for {}",
                    self.open
                )
            }
            UnenforcedRule::Denied => write!(f, "`{place}` is denied, but the kernel leaves it open for {}", self.open),
            UnenforcedRule::TooLarge => {
                write!(f, "root `{place}` is too large to search for closed places")
            }
            UnenforcedRule::Own => {
                write!(f, "`{place}` belongs to Rootward, but the kernel leaves it open for {}", self.open)
            }
            UnenforcedRule::TooManyEntries => {
                write!(f, "`{place}` contains a closed place and has too many entries to open them one by one")
            }
        }
    }
}

/// A place that a command's environment names and that it does not get.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Withheld {
    /// The place.
    #[serde(serialize_with = "shown")]
    pub place: PathBuf,
    /// What it would be needed for.
    #[serde(serialize_with = "in_words")]
    pub why: NeededAs,
    /// Why it is not given.
    #[serde(serialize_with = "in_words")]
    pub reason: Untrusted,
}

impl fmt::Display for Withheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({}) is not given: {}", Shown::new(&self.place), self.why, self.reason)
    }
}

pub(crate) fn in_words<S: serde::Serializer>(words: &impl fmt::Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(words)
}

pub(crate) fn shown<S: serde::Serializer>(path: &std::path::Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&Shown::new(path))
}

/// Something that Landlock alone leaves open.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Gap {
    /// Its name. `SECURITY.md` describes it.
    pub name: &'static str,
    /// Who closes it.
    pub state: GapState,
}

/// Who closes a gap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GapState {
    /// Landlock itself, on this kernel.
    Landlock,
    /// The system call filter.
    Seccomp,
    /// The supervisor makes the call, within the rules.
    Supervisor,
    /// The launcher, before the command starts.
    Launcher,
    /// Nobody: it is open.
    Open,
}

/// The gaps on a kernel with this Landlock version. [`crate::unix_sockets_here`] says which sockets this system allows.
pub fn gaps(abi: i32, network: Network, unix: &UnixSockets) -> Vec<Gap> {
    use GapState::{Landlock, Launcher, Open, Seccomp, Supervisor};
    let since = |version, otherwise| if abi >= version { Landlock } else { otherwise };
    let (unix_paths, abstract_sockets) = match unix {
        UnixSockets::None => (Seccomp, Seccomp),
        UnixSockets::Named(_) => (Supervisor, Supervisor),
        UnixSockets::Open => (Open, since(6, Open)),
    };
    let udp = match network {
        Network::On => Open,
        Network::Off => Seccomp,
    };
    [
        ("changes of metadata", Supervisor),
        ("extended attributes", Seccomp),
        ("watching for changes", Supervisor),
        ("reading metadata and link targets outside", Open),
        ("unix sockets with a path", unix_paths),
        ("abstract unix sockets", abstract_sockets),
        ("network", udp),
        ("other socket families", Seccomp),
        ("inherited descriptors", Launcher),
        ("tracing and memory of others", Seccomp),
        ("signals to others", since(6, Open)),
        ("limits of others", Seccomp),
        ("namespaces and mounts", Seccomp),
        ("io_uring", Seccomp),
        ("other processes in /proc", Landlock),
        ("input to the terminal", Seccomp),
        ("commands to devices", since(5, Open)),
        ("shared memory of others", Seccomp),
        ("keys, programs and modules of the kernel", Seccomp),
        ("calls of another architecture", Seccomp),
        ("running code from memory", Open),
        ("priority of the user's other processes", Open),
    ]
    .map(|(name, state)| Gap { name, state })
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_what_should_be_closed() {
        let check = |closed: Access, open: Access, expect: &str| {
            let rule = UnenforcedRule::Restriction { pattern: ".ssh".to_owned(), closed };
            assert_eq!(Unenforced { place: "/h/.ssh".into(), open, rule }.to_string(), expect);
        };
        let writing = Access::WRITE | Access::DELETE;
        check(Access::ALL, Access::READ, "`/h/.ssh` should be closed (`.ssh`), but the kernel leaves it open for read");
        // The root gives write access without read access.
        check(
            Access::ALL,
            Access::WRITE,
            "`/h/.ssh` should be closed (`.ssh`), but the kernel leaves it open for write",
        );
        let expect = "`/h/.ssh` should be closed for writing (`.ssh`), but the kernel leaves it open for write";
        check(writing, Access::WRITE, expect);
    }
}
