//! What the operator decided about a session's roots before it began.

use std::time::Duration;

use crate::set::{Mode, RootSet};

/// The settings of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Policy {
    /// How client roots and the ceiling combine.
    pub mode: Mode,
    /// Who is listened to.
    pub follow: Follow,
    /// What holds where nobody named a root.
    pub no_roots: NoRoots,
    /// How long a question may stay open, and how long a call may wait.
    pub timeout: Duration,
    /// How long `list_changed` must be quiet before the client is asked.
    pub debounce: Duration,
    /// How long a burst of `list_changed` can put off the question.
    pub debounce_limit: Duration,
    /// How long a list holds where the client does not announce changes; `None` is without limit.
    pub lifetime: Option<Duration>,
    /// How long a list holds where the client announces changes: some declare that they will, and never do. `None` is without limit.
    pub lifetime_announced: Option<Duration>,
    /// How much time lies between two questions after a failure, at least.
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

/// Who is listened to. One choice rather than several switches, because two of them at once mean nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Follow {
    /// The client; where it names no roots, the operator and the user stand in.
    #[default]
    Client,
    /// `strict`: the client, and nobody stands in.
    Strict,
    /// `ignore-client`: the ceiling alone.
    IgnoreClient,
    /// `fallback-only`: the fallback directory alone.
    FallbackOnly,
}

/// What holds where nobody named a root.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum NoRoots {
    /// Nothing is allowed.
    #[default]
    Deny,
    /// `allow-all`: everything is, and nothing is guarded. For those who must.
    AllowAll,
}

/// The roots of those who are not the client.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sources {
    /// The roots the operator set.
    pub ceiling: RootSet,
    /// The user's saved choice.
    pub saved: RootSet,
    /// The fallback directory.
    pub fallback: RootSet,
    /// Where a client may get anything at all, whatever the others say and however they combine: the ceiling of a principal, who
    /// came over the network. `None` for a client on this machine. A bound without any place left lets nothing through.
    pub bound: Option<RootSet>,
}

/// What the client declared about roots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Support {
    /// No `roots` capability.
    No,
    /// `roots`: it can be asked.
    Listed,
    /// `roots` with `listChanged`: it can be asked, and says when to ask again.
    Announced,
}
