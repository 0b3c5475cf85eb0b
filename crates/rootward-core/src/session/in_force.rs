//! The table: from what the client last said, and the sources, to the roots in force and why.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::root::Origin;
use crate::set::{Mode, RefusedRoot, RootSet};

use super::RequestNumber;
use super::policy::{Follow, NoRoots, Policy, Sources, Support};

/// The roots in force.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InForce {
    /// The roots; possibly none, and then nothing is allowed.
    pub roots: RootSet,
    /// Whether the roots bound what is allowed.
    pub reach: Reach,
    /// The client's state they follow from. While it is asked anew this is the state before;
    /// [`SessionRoots::state`](super::SessionRoots::state) says `pending`.
    pub state: State,
    /// Why these.
    pub why: Why,
    /// Their number; it moves on when `roots` or `reach` change.
    pub generation: u64,
}

/// Whether the roots bound what is allowed. A value of its own and not a root `/`, so that nothing is open by a root that
/// looks like any other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// What lies in the roots, and nothing else.
    Roots,
    /// Everything: nobody named a root, and `no-roots = allow-all` is set.
    AllowAll,
}

/// The client's state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It cannot be asked.
    Unsupported,
    /// It could be asked, and is not: only the operator's roots count.
    Ignored,
    /// It has not been asked yet, or has not answered yet.
    Pending,
    /// It named at least one usable root. For a client that is bounded: at least one place, wherever it is.
    Ready,
    /// It named none.
    Empty,
    /// It named roots, none of them usable.
    Unusable,
    /// It answered with an error, or not in time.
    Failed,
}

/// Why these roots are in force. With the state, which says why somebody stands in, it explains all of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// Nothing: the client has not been heard yet.
    Unheard,
    /// The client's roots: the operator named no ceiling.
    Client,
    /// The client's roots and the ceiling, by this mode.
    ByMode(Mode),
    /// Nothing: what the client named and the ceiling have no place in common.
    OutsideCeiling,
    /// The ceiling stands in.
    Ceiling,
    /// The saved roots stand in.
    Saved,
    /// The fallback directory stands in.
    Fallback,
    /// Nothing: nobody named a root.
    NobodyNamed,
    /// Everything: nobody named a root.
    AllowAll,
    /// Nothing: the client took its roots back.
    Revoked,
    /// Nothing: the client's roots cannot be used.
    Unusable,
    /// Nothing: the client named roots earlier, and what it would name now is not known.
    Lost,
    /// Nothing: only the client's own roots give access.
    Strict,
    /// The ceiling: the client is not listened to.
    ClientIgnored,
    /// The fallback directory: nobody else is listened to.
    FallbackOnly,
}

/// Why the client's roots are not known.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Failure {
    /// It did not answer in time.
    #[error("the client did not answer in time")]
    TimedOut,
    /// It answered with an error, or with something that is no list.
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
            Why::OutsideCeiling => "nothing: the client's roots lie outside the ceiling",
            Why::Ceiling => "the ceiling, because the client names no roots",
            Why::Saved => "the saved roots, because neither client nor operator names any",
            Why::Fallback => {
                "the fallback directory, because the client shared no directories and no others are set or saved"
            }
            Why::NobodyNamed => "nothing: this client shared no directories",
            Why::AllowAll => "everything: nobody names roots, and `no-roots` is `allow-all`",
            Why::Revoked => "nothing: the client took its roots back",
            Why::Unusable => "nothing: none of the client's roots can be used",
            Why::Lost => "nothing: the client's roots could not be learned again",
            Why::Strict => "nothing: `strict` is set, and the client names no roots",
            Why::ClientIgnored => "the ceiling alone: `ignore-client` is set",
            Why::FallbackOnly => "the fallback directory alone: `fallback-only` is set",
        })
    }
}

/// What the client last said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Heard {
    /// Nothing yet.
    Nothing,
    /// A list with entries.
    List { request: RequestNumber, roots: RootSet, at: Duration },
    /// The list `[]`.
    Empty { at: Duration },
    /// No list.
    Failed(Failure),
}

/// Whether the client ever sent a list with entries. Unusable ones count: to fall back on the ceiling after them would
/// widen by a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Named {
    Never,
    Once,
}

impl Follow {
    /// Whether what the client says matters.
    pub fn listens(self) -> bool {
        match self {
            Follow::Client | Follow::Strict => true,
            Follow::IgnoreClient | Follow::FallbackOnly => false,
        }
    }
}

/// The state that what was heard amounts to.
pub(super) fn state(policy: &Policy, sources: &Sources, support: Support, heard: &Heard) -> State {
    // SECURITY: a client that is bounded must not learn from its state which places outside exist
    // (test: a_bounded_client_sees_no_difference_between_missing_and_outside)
    let names_place = |roots: &RootSet| sources.bound.is_some() && roots.refused().iter().any(is_place_of_client);
    match heard {
        _ if support == Support::No => State::Unsupported,
        _ if !policy.follow.listens() => State::Ignored,
        Heard::Nothing => State::Pending,
        // Judged before the ceiling: a client that names good roots elsewhere is understood, and gets nothing.
        Heard::List { roots, .. } if !roots.is_empty() || names_place(roots) => State::Ready,
        Heard::List { .. } => State::Unusable,
        Heard::Empty { .. } => State::Empty,
        Heard::Failed(_) => State::Failed,
    }
}

/// The table.
pub(super) fn decide(policy: &Policy, sources: &Sources, support: Support, heard: &Heard, named: Named) -> InForce {
    let state = state(policy, sources, support, heard);
    let (why, roots) = match (policy.follow, state, heard) {
        (Follow::IgnoreClient, ..) => (Why::ClientIgnored, sources.ceiling.clone()),
        (Follow::FallbackOnly, ..) => (Why::FallbackOnly, sources.fallback.clone()),
        (_, State::Ready, Heard::List { roots, .. }) => by_mode(policy.mode, roots, &sources.ceiling),
        (_, State::Unusable, Heard::List { roots, .. }) => (Why::Unusable, roots.clone()),
        // SECURITY: what was taken back or lost stays gone; the ceiling would give more than the client ever shared
        // (test: a_client_that_takes_its_roots_back_leaves_nothing, losing_narrows)
        (_, State::Empty, _) if named == Named::Once => (Why::Revoked, RootSet::default()),
        (_, State::Failed, _) if named == Named::Once => (Why::Lost, RootSet::default()),
        (Follow::Strict, State::Unsupported | State::Empty | State::Failed, _) => (Why::Strict, RootSet::default()),
        (Follow::Client, State::Unsupported | State::Empty | State::Failed, _) => stand_in(policy.no_roots, sources),
        (_, State::Pending | State::Ready | State::Unusable | State::Ignored, _) => (Why::Unheard, RootSet::default()),
    };
    let (why, roots) = match &sources.bound {
        Some(bound) => hold((why, roots), bound),
        None => (why, roots),
    };
    let reach = if why == Why::AllowAll { Reach::AllowAll } else { Reach::Roots };
    InForce { roots, reach, state, why, generation: 0 }
}

/// What is left of the roots within a bound.
// SECURITY: last, so that no mode, no fallback and no `allow-all` reaches past it
// (test: whatever_is_said_a_bound_holds)
fn hold((why, roots): (Why, RootSet), bound: &RootSet) -> (Why, RootSet) {
    let held = roots.within(bound);
    // SECURITY: kept in mind, a place that is missing would open the way over the directories above it, if they exist
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

/// Whether the client named a place, and the disk or the place itself kept it out.
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

/// Who stands in for a client that names no roots: the first that named any. One whose roots have all gone still named
/// them, and the next in line does not profit from the loss.
fn stand_in(no_roots: NoRoots, sources: &Sources) -> (Why, RootSet) {
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
        // What is no place at all says nothing about the disk.
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
