//! Looks up roots on disk, which may take long. A driver runs this where it may block.

use std::sync::Arc;

use rootward_core::RootSet;
use rootward_core::session::{Event, RequestNumber};

use super::terms::Terms;
use crate::list::ClientList;

/// Roots to look up.
#[derive(Debug)]
pub struct Placing {
    pub(super) question: RequestNumber,
    pub(super) what: What,
    pub(super) terms: Arc<Terms>,
}

/// Which roots.
#[derive(Debug)]
pub(super) enum What {
    /// The roots of a new answer.
    Answer(ClientList),
    /// The roots of an accepted answer: a missing one may have appeared.
    Again(RootSet),
}

/// Roots that were looked up.
#[derive(Debug)]
pub struct Placed {
    pub(super) question: RequestNumber,
    pub(super) found: Found,
}

#[derive(Debug)]
pub(super) enum Found {
    Answer(RootSet),
    Again(RootSet),
}

impl Placing {
    /// Looks up the roots. Blocks for as long as the disk takes, which may be forever.
    #[must_use]
    pub fn run_ambient(self) -> Placed {
        let Placing { question, what, terms } = self;
        let found = match what {
            What::Answer(list) => Found::Answer(terms.shared_set(list.place_ambient(&terms.validation))),
            What::Again(set) => Found::Again(terms.shared_set(set.place_again_ambient(&terms.validation))),
        };
        Placed { question, found }
    }
}

impl Placed {
    pub(super) fn into_event(self) -> Event {
        let request = self.question;
        match self.found {
            Found::Answer(roots) => Event::Answered { request, roots },
            Found::Again(roots) => Event::LookedAgain { request, roots },
        }
    }
}
