//! What is there where a saved root should be.

use std::path::{Path, PathBuf};

use rootward_core::{PlacedRoot, Resolver, WhyRefused};

use crate::store::SavedRoot;

/// Whether a saved root is shared, or why it is not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// It is there.
    Shared(PlacedRoot),
    /// It is not, or is not what the user said yes to.
    NotShared(WhyRefused),
}

impl State {
    /// Looks.
    pub fn look_ambient(root: &SavedRoot, home: Option<&Path>) -> State {
        root.find_ambient(home).map_or_else(State::NotShared, State::Shared)
    }

    /// One word, for programs: `shared`, `missing`, `replaced`, `unreachable` or `refused`.
    pub fn word(&self) -> &'static str {
        match self {
            State::Shared(_) => "shared",
            State::NotShared(WhyRefused::Missing) => "missing",
            State::NotShared(WhyRefused::Linked | WhyRefused::PlantedLink(_)) => "replaced",
            State::NotShared(WhyRefused::Unreachable(_)) => "unreachable",
            State::NotShared(WhyRefused::Unusable(_) | WhyRefused::NotShareable(_) | WhyRefused::Special) => "refused",
        }
    }

    /// Why it is not shared.
    pub fn reason(&self) -> Option<&WhyRefused> {
        match self {
            State::Shared(_) => None,
            State::NotShared(reason) => Some(reason),
        }
    }

    pub(super) fn found(&self) -> Result<PlacedRoot, WhyRefused> {
        match self {
            State::Shared(found) => Ok(found.clone()),
            State::NotShared(reason) => Err(reason.clone()),
        }
    }
}

/// A saved root, and what is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeenRoot {
    /// As it was saved.
    pub root: SavedRoot,
    /// What became of it.
    pub state: State,
    /// Where its path leads: what is closed below it is closed there, too.
    pub(super) leads_to: PathBuf,
}

impl SeenRoot {
    pub(super) fn look_ambient(root: &SavedRoot, home: Option<&Path>, resolver: Resolver) -> SeenRoot {
        let state = State::look_ambient(root, home);
        let leads_to = match &state {
            State::Shared(found) => found.place.clone(),
            State::NotShared(_) => root.leads_to_ambient(resolver),
        };
        SeenRoot { root: root.clone(), state, leads_to }
    }
}
