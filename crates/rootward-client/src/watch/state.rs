//! What is on disk at the place of a saved root.

use std::path::{Path, PathBuf};

use rootward_core::{Resolver, WhyRefused};

use crate::store::{FoundRoots, Kept, SavedRoot};

/// Whether a saved root is shared, or why it is not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// It exists, or something that it matches does.
    Shared(FoundRoots),
    /// It does not exist, or is not what the user consented to.
    NotShared(WhyRefused),
}

impl State {
    /// Looks at the disk. The matches of a pattern depend on what else is saved.
    pub fn look_ambient(root: &SavedRoot, kept: &Kept, home: Option<&Path>) -> State {
        State::of(kept.found(root, &kept.written_ambient(), |saved| saved.find_all_ambient(home)))
    }

    pub(super) fn of(found: Result<FoundRoots, WhyRefused>) -> State {
        found.map_or_else(State::NotShared, State::Shared)
    }

    /// What is shared, and a pattern's other matches.
    pub fn found(&self) -> Option<&FoundRoots> {
        match self {
            State::Shared(found) => Some(found),
            State::NotShared(_) => None,
        }
    }

    /// One word, for programs: `shared`, `missing`, `replaced`, `unreachable` or `refused`.
    pub fn word(&self) -> &'static str {
        match self {
            State::Shared(_) => "shared",
            State::NotShared(WhyRefused::Missing | WhyRefused::NoMatch) => "missing",
            State::NotShared(WhyRefused::Linked | WhyRefused::PlantedLink(_) | WhyRefused::PlantedMatch(_)) => {
                "replaced"
            }
            State::NotShared(WhyRefused::Unreachable(_)) => "unreachable",
            State::NotShared(
                WhyRefused::Unusable(_)
                | WhyRefused::NotShareable(_)
                | WhyRefused::Special
                | WhyRefused::TooManyMatches,
            ) => "refused",
        }
    }

    /// Why it is not shared.
    pub fn reason(&self) -> Option<&WhyRefused> {
        match self {
            State::Shared(_) => None,
            State::NotShared(reason) => Some(reason),
        }
    }
}

/// A saved root and its state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeenRoot {
    /// As it was saved.
    pub root: SavedRoot,
    /// Its state on disk.
    pub state: State,
    /// Where its path leads: what is closed below it is also closed there.
    pub(super) leads_to: PathBuf,
    /// What was found, regardless of other saved roots.
    pub(super) found: Result<FoundRoots, WhyRefused>,
}

impl SeenRoot {
    pub(super) fn look_ambient(root: &SavedRoot, home: Option<&Path>, resolver: Resolver) -> SeenRoot {
        let found = root.find_all_ambient(home);
        let leads_to = match &found {
            Ok(FoundRoots { placed, .. }) if root.pattern.is_none() && !placed.is_empty() => placed[0].place.clone(),
            _ => root.leads_to_ambient(resolver),
        };
        SeenRoot { root: root.clone(), state: State::of(found.clone()), leads_to, found }
    }
}
