//! The operator's settings for a session's roots.

use std::time::Duration;

use crate::set::{Mode, RootSet};

/// The settings of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Policy {
    /// How client roots and the ceiling combine.
    pub mode: Mode,
    /// Whose roots count.
    pub follow: Follow,
    /// What to allow if nobody named a root.
    pub no_roots: NoRoots,
    /// How long a question may stay open, and how long a call may wait.
    pub timeout: Duration,
    /// How long to wait after the last `list_changed` before asking the client.
    pub debounce: Duration,
    /// How long a burst of `list_changed` can delay the question.
    pub debounce_limit: Duration,
    /// How long a list is valid if the client does not announce changes; `None` means forever.
    pub lifetime: Option<Duration>,
    /// How long a list is valid if the client announces changes. There is a limit because some clients declare it but
    /// never do it. `None` means forever.
    pub lifetime_announced: Option<Duration>,
    /// The minimum time between two questions after a failure.
    pub retry_after: Duration,
    /// How long a wrapped server may take to finish its calls after one of its roots was removed.
    pub revoked_grace: Duration,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            mode: Mode::Narrow,
            follow: Follow::Client,
            no_roots: NoRoots::Deny,
            timeout: Duration::from_secs(10),
            debounce: Duration::from_millis(250),
            debounce_limit: Duration::from_secs(2),
            lifetime: Some(Duration::from_mins(5)),
            lifetime_announced: Some(Duration::from_mins(30)),
            retry_after: Duration::from_secs(1),
            revoked_grace: Duration::from_secs(5),
        }
    }
}

/// Whose roots count. This is one choice rather than several switches, because two switches at once would contradict
/// each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Follow {
    /// The client's; if it names none, the operator's and the user's.
    #[default]
    Client,
    /// `strict`: only the client's, without a fallback.
    Strict,
    /// `ignore-client`: only the ceiling.
    IgnoreClient,
    /// `fallback-only`: only the fallback directory.
    FallbackOnly,
}

/// What to allow if nobody named a root.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum NoRoots {
    /// Nothing is allowed.
    #[default]
    Deny,
    /// `allow-all`: everything, without a guard. For users who need it.
    AllowAll,
}

/// The roots that do not come from the client.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sources {
    /// The operator's roots.
    pub ceiling: RootSet,
    /// The user's saved choice.
    pub saved: RootSet,
    /// The fallback directory.
    pub fallback: RootSet,
    /// The maximum that a client may ever get, independent of the other sources and their combination: the ceiling of a
    /// principal who connects over the network. `None` for a client on this machine. An empty bound allows nothing.
    pub bound: Option<RootSet>,
}

/// The client's declared support for roots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Support {
    /// No `roots` capability.
    No,
    /// `roots`: it can be asked.
    Listed,
    /// `roots` with `listChanged`: it can be asked, and says when to ask again.
    Announced,
}
