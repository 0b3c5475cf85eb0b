//! The decision table: from the client's last answer and the other sources to the current roots.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::root::Origin;
use crate::set::{Mode, RefusedRoot, RootSet};

use super::RequestNumber;
use super::policy::{Follow, NoRoots, Policy, Sources, Support};

/// The current roots, and the reason for them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CurrentRoots {
    /// The roots. If there are none, nothing is allowed.
    pub roots: RootSet,
    /// Whether access is limited to the roots.
    pub reach: Reach,
    /// The client's state that these roots result from. While the client is asked again, this is the previous state;
    /// [`SessionRoots::state`](super::SessionRoots::state) is `pending`.
    pub state: State,
    /// The reason for these roots.
    pub why: Why,
    /// Their generation. It increases when `roots` or `reach` change.
    pub generation: u64,
}

/// Whether access is limited to the roots. This is a separate value rather than a root `/`, so that a root that looks
/// like any other never opens everything.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// Only the roots are accessible.
    Roots,
    /// Everything is: nobody named a root, and `no-roots = allow-all` is set.
    AllowAll,
}

/// The client's state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It cannot be asked.
    Unsupported,
    /// It could be asked but is not: only the operator's roots count.
    Ignored,
    /// It has not been asked yet, or has not answered yet.
    Pending,
    /// It named at least one usable root. For a bounded client: at least one place, anywhere.
    Ready,
    /// It named no roots.
    Empty,
    /// It named roots, but none is usable.
    Unusable,
    /// It answered with an error, or not in time.
    Failed,
}

/// The reason for the current roots. Together with the state it explains them completely.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// Nothing: the client has not answered yet.
    Unheard,
    /// The client's roots; the operator named no ceiling.
    Client,
    /// The client's roots and the ceiling, combined by this mode.
    ByMode(Mode),
    /// Nothing: the client's roots and the ceiling have no place in common.
    OutsideCeiling,
    /// The ceiling, instead of the client's roots.
    Ceiling,
    /// The saved roots, instead of the client's roots.
    Saved,
    /// The fallback directory, instead of the client's roots.
    Fallback,
    /// Nothing: nobody named a root.
    NobodyNamed,
    /// Everything: nobody named a root.
    AllowAll,
    /// Nothing: the client withdrew its roots.
    Revoked,
    /// Nothing: the client's roots cannot be used.
    Unusable,
    /// Nothing: the client named roots earlier, and its current roots are unknown.
    Lost,
    /// Nothing: only the client's own roots give access.
    Strict,
    /// The ceiling: the client is ignored.
    ClientIgnored,
    /// The fallback directory: everything else is ignored.
    FallbackOnly,
}

/// Why the client's roots are unknown.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Failure {
    /// It did not answer in time.
    #[error("the client did not answer in time")]
    TimedOut,
    /// It answered with an error, or with something that is not a list.
    #[error("the client did not list its roots: {0}")]
    Error(String),
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::Unsupported => "unsupported",
            State::Ignored => "ignored",
            State::Pending => "pending",
            State::Ready => "ready",
            State::Empty => "empty",
            State::Unusable => "unusable",
            State::Failed => "failed",
        })
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Unheard => "nothing: the client has not answered yet",
            Why::Client => "the client's roots",
            Why::ByMode(Mode::Narrow) => "the client's roots within the ceiling",
            Why::ByMode(Mode::Replace) => "the client's roots, whatever the ceiling",
            Why::ByMode(Mode::Union) => "the client's roots and the ceiling",
            Why::OutsideCeiling => "nothing: the client's roots are outside the ceiling",
            Why::Ceiling => "the ceiling, because the client names no roots",
            Why::Saved => "the saved roots, because neither client nor operator names any",
            Why::Fallback => {
                "the fallback directory, because the client shared no directories and no others are set or saved"
            }
            Why::NobodyNamed => "nothing: this client shared no directories",
            Why::AllowAll => "everything: nobody names roots, and `no-roots` is `allow-all`",
            Why::Revoked => "nothing: the client withdrew its roots",
            Why::Unusable => "nothing: none of the client's roots can be used",
            Why::Lost => "nothing: the client's roots could not be read again",
            Why::Strict => "nothing: `strict` is set, and the client names no roots",
            Why::ClientIgnored => "the ceiling alone: `ignore-client` is set",
            Why::FallbackOnly => "the fallback directory alone: `fallback-only` is set",
        })
    }
}

/// The client's last answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Heard {
    /// None yet.
    Nothing,
    /// A list with entries.
    List { request: RequestNumber, roots: RootSet, at: Duration },
    /// The list `[]`.
    Empty { at: Duration },
    /// A failure.
    Failed(Failure),
}

/// Whether the client ever sent a list with entries. Unusable entries count: otherwise a failure would fall back to the
/// ceiling and widen access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Named {
    Never,
    Once,
}

impl Follow {
    /// Whether the client's answer matters.
    pub fn listens(self) -> bool {
        match self {
            Follow::Client | Follow::Strict => true,
            Follow::IgnoreClient | Follow::FallbackOnly => false,
        }
    }
}

/// The state that results from the client's last answer.
pub(super) fn state(policy: &Policy, sources: &Sources, support: Support, heard: &Heard) -> State {
    // SECURITY: a bounded client must not learn from its state which places outside exist
    // (test: a_bounded_client_sees_no_difference_between_missing_and_outside)
    let names_place = |roots: &RootSet| sources.bound.is_some() && roots.refused().iter().any(is_place_of_client);
    match heard {
        _ if support == Support::No => State::Unsupported,
        _ if !policy.follow.listens() => State::Ignored,
        Heard::Nothing => State::Pending,
        // Judged before the ceiling: if a client names valid roots outside the ceiling, it is `ready` and gets nothing.
        Heard::List { roots, .. } if !roots.is_empty() || names_place(roots) => State::Ready,
        Heard::List { .. } => State::Unusable,
        Heard::Empty { .. } => State::Empty,
        Heard::Failed(_) => State::Failed,
    }
}

/// The decision table.
pub(super) fn decide(
    policy: &Policy,
    sources: &Sources,
    support: Support,
    heard: &Heard,
    named: Named,
) -> CurrentRoots {
    let state = state(policy, sources, support, heard);
    let (why, roots) = match (policy.follow, state, heard) {
        (Follow::IgnoreClient, ..) => (Why::ClientIgnored, sources.ceiling.clone()),
        (Follow::FallbackOnly, ..) => (Why::FallbackOnly, sources.fallback.clone()),
        (_, State::Ready, Heard::List { roots, .. }) => by_mode(policy.mode, roots, &sources.ceiling),
        (_, State::Unusable, Heard::List { roots, .. }) => (Why::Unusable, roots.clone()),
        // SECURITY: revoked or lost roots stay gone; the ceiling would give more than the client ever shared
        // (test: a_client_that_takes_its_roots_back_leaves_nothing, losing_narrows)
        (_, State::Empty, _) if named == Named::Once => (Why::Revoked, RootSet::default()),
        (_, State::Failed, _) if named == Named::Once => (Why::Lost, RootSet::default()),
        (Follow::Strict, State::Unsupported | State::Empty | State::Failed, _) => (Why::Strict, RootSet::default()),
        (Follow::Client, State::Unsupported | State::Empty | State::Failed, _) => replacement(policy.no_roots, sources),
        (_, State::Pending | State::Ready | State::Unusable | State::Ignored, _) => (Why::Unheard, RootSet::default()),
    };
    let (why, roots) = match &sources.bound {
        Some(bound) => hold((why, roots), bound),
        None => (why, roots),
    };
    let reach = if why == Why::AllowAll { Reach::AllowAll } else { Reach::Roots };
    CurrentRoots { roots, reach, state, why, generation: 0 }
}

/// Limits the roots to a bound.
// SECURITY: applied last, so that no mode, fallback or `allow-all` exceeds it (test: whatever_is_said_a_bound_holds)
fn hold((why, roots): (Why, RootSet), bound: &RootSet) -> (Why, RootSet) {
    let held = roots.within(bound);
    // SECURITY: keeping a missing place would reveal whether the directories above it exist
    // (test: a_bounded_client_sees_no_difference_between_missing_and_outside)
    let refused = held.refused().iter().filter(|refused| !is_place_of_client(refused)).cloned();
    let held = RootSet::new(held.roots().iter().cloned(), refused).with_others(held.others().iter().cloned());
    let why = match why {
        Why::AllowAll => Why::NobodyNamed,
        _ if held.is_empty() && !roots.is_empty() => Why::OutsideCeiling,
        why => why,
    };
    (why, held)
}

/// Whether the client named a valid path that was left out because of what is on disk.
fn is_place_of_client(refused: &RefusedRoot) -> bool {
    refused.root.as_ref().is_some_and(|root| root.origin == Origin::Client)
}

fn by_mode(mode: Mode, client: &RootSet, ceiling: &RootSet) -> (Why, RootSet) {
    let roots = RootSet::combine(mode, client, ceiling);
    let why = match mode {
        _ if roots.is_empty() => Why::OutsideCeiling,
        _ if !ceiling.names_any() => Why::Client,
        mode => Why::ByMode(mode),
    };
    (why, roots)
}

/// The replacement for a client that names no roots: the first source that named any. If all roots of that source are
/// gone, the next source is still not used.
fn replacement(no_roots: NoRoots, sources: &Sources) -> (Why, RootSet) {
    let line = [(Why::Ceiling, &sources.ceiling), (Why::Saved, &sources.saved), (Why::Fallback, &sources.fallback)];
    match line.into_iter().find(|(_, roots)| roots.names_any()) {
        Some((why, roots)) => (why, roots.clone()),
        None if no_roots == NoRoots::AllowAll => (Why::AllowAll, RootSet::default()),
        None => (Why::NobodyNamed, RootSet::default()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::access::Access;
    use crate::root::Origin;
    use crate::set::WhyRefused;
    use crate::set::examples::{directory, of, refused};

    use super::*;

    #[test]
    fn whatever_is_said_a_bound_holds() {
        let all = |place: &str, origin| of([directory(place, Access::ALL, origin)]);
        let client = all("/a", Origin::Client);
        let heard = [
            Heard::Nothing,
            Heard::List { request: RequestNumber(1), roots: client, at: Duration::ZERO },
            Heard::Empty { at: Duration::ZERO },
            Heard::Failed(Failure::TimedOut),
        ];
        let ceilings = [RootSet::default(), all("/a", Origin::Flag), all("/c", Origin::Flag)];
        let bound = of([directory("/a/b", Access::READ, Origin::Config)]);
        let mut given = 0;
        for follow in [Follow::Client, Follow::Strict, Follow::IgnoreClient, Follow::FallbackOnly] {
            for (mode, no_roots) in
                Mode::ALL.into_iter().flat_map(|mode| [(mode, NoRoots::Deny), (mode, NoRoots::AllowAll)])
            {
                let policy = Policy { mode, follow, no_roots, ..Policy::default() };
                for (ceiling, heard) in
                    ceilings.iter().flat_map(|ceiling| heard.iter().map(move |heard| (ceiling, heard)))
                {
                    for support in [Support::No, Support::Announced] {
                        let sources = |bound| Sources {
                            ceiling: ceiling.clone(),
                            saved: all("/a", Origin::Store),
                            fallback: all("/", Origin::Fallback),
                            bound,
                        };
                        let held = decide(&policy, &sources(Some(bound.clone())), support, heard, Named::Never);
                        assert_eq!(held.reach, Reach::Roots);
                        for root in held.roots.roots() {
                            assert!(
                                root.place.starts_with("/a/b") && Access::READ.contains(root.root.access),
                                "{held:?}"
                            );
                            given += 1;
                        }
                        let free = decide(&policy, &sources(None), support, heard, Named::Never);
                        let reaches = free.roots.governing(Path::new("/a/b")).is_some();
                        assert_eq!(held.roots.governing(Path::new("/a/b")).is_some(), reaches, "{free:?}");
                        let nothing = decide(&policy, &sources(Some(RootSet::default())), support, heard, Named::Never);
                        assert!(nothing.roots.is_empty() && nothing.reach == Reach::Roots);
                    }
                }
            }
        }
        assert!(given > 50, "{given}");
    }

    #[test]
    fn a_bounded_client_sees_no_difference_between_missing_and_outside() {
        let gone = |reason| {
            let root = directory("/secret", Access::ALL, Origin::Client).root;
            RootSet::new([], [RefusedRoot { text: "/secret".to_owned(), root: Some(root), reason }])
        };
        let inside = directory("/a/b", Access::ALL, Origin::Client);
        let with_inside = |set: &RootSet| {
            RootSet::new(set.roots().iter().cloned().chain([inside.clone()]), set.refused().iter().cloned())
        };
        let bound = of([directory("/a", Access::READ, Origin::Config)]);
        let outside = of([directory("/secret", Access::ALL, Origin::Client)]);
        for ceiling in [RootSet::default(), of([directory("/a/b", Access::ALL, Origin::Flag)])] {
            for mode in Mode::ALL {
                let policy = Policy { mode, ..Policy::default() };
                let sources = Sources { ceiling: ceiling.clone(), bound: Some(bound.clone()), ..Sources::default() };
                let decided = |roots: RootSet| {
                    let heard = Heard::List { request: RequestNumber(1), roots, at: Duration::ZERO };
                    decide(&policy, &sources, Support::Announced, &heard, Named::Once)
                };
                for reason in [WhyRefused::Missing, WhyRefused::Special, WhyRefused::NotShareable(String::new())] {
                    let gone = gone(reason);
                    assert_eq!(decided(gone.clone()), decided(outside.clone()), "{mode}");
                    assert_eq!(decided(with_inside(&gone)), decided(with_inside(&outside)), "{mode}");
                }
            }
        }
        // Text that is not a path reveals nothing about the disk.
        let text = RootSet::new([], [refused("file:", WhyRefused::Unusable(String::new()))]);
        let heard = Heard::List { request: RequestNumber(1), roots: text, at: Duration::ZERO };
        let sources = Sources { bound: Some(bound), ..Sources::default() };
        let unusable = decide(&Policy::default(), &sources, Support::Announced, &heard, Named::Once);
        assert_eq!((unusable.state, unusable.why), (State::Unusable, Why::Unusable));
    }

    #[test]
    fn words_of_the_states() {
        for state in [State::Unsupported, State::Pending, State::Ready, State::Empty, State::Unusable, State::Failed] {
            assert_eq!(serde_json::to_value(state).ok(), Some(state.to_string().into()));
        }
        assert_eq!(serde_json::to_value(Reach::AllowAll).ok(), Some("allow-all".into()));
        assert_eq!(serde_json::to_value(Why::NobodyNamed).ok(), Some("nobody-named".into()));
        assert_eq!(serde_json::to_value(Why::ByMode(Mode::Union)).ok(), Some(serde_json::json!({"by-mode": "union"})));
    }
}
