//! The current roots as a session publishes them: a guard, and the reason for it.

use std::sync::Arc;

use rootward_core::session::{CurrentRoots, Reach, State, Support, Why};
use rootward_core::{Code, Denial, Guard, OtherRoot, PlacedRoot, Shown};

use super::left_out::LeftOut;
use crate::refusal::{Among, DisjointRoots, Refusal};

/// The maximum number of roots in a sentence.
const MOST_NAMED: usize = 8;

/// The current roots at one moment. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Published {
    guard: Guard,
    state: State,
    why: Why,
    reach: Reach,
    support: Support,
    context: Arc<RefusalContext>,
}

/// Additional information for messages about the roots.
#[derive(Debug)]
pub(super) struct RefusalContext {
    /// How a person can name a root here.
    pub(super) way: Option<&'static str>,
    /// The client's roots that are left out.
    pub(super) left_out: Vec<LeftOut>,
    /// What the client and the operator named, if they have no place in common.
    pub(super) disjoint: Option<DisjointRoots>,
}

impl Published {
    pub(super) fn new(current: &CurrentRoots, support: Support, guard: Guard, context: RefusalContext) -> Published {
        let context = Arc::new(context);
        Published { guard, state: current.state, why: current.why, reach: current.reach, support, context }
    }

    /// The guard that decides.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// The roots, in the order in which they were named. Empty if everything is allowed.
    pub fn list(&self) -> &[PlacedRoot] {
        match self.reach {
            Reach::Roots => self.guard.roots(),
            Reach::AllowAll => &[],
        }
    }

    /// The client's roots of other schemes: passed on, but never opened.
    pub fn others(&self) -> &[OtherRoot] {
        match self.reach {
            Reach::Roots => self.guard.root_set().others(),
            Reach::AllowAll => &[],
        }
    }

    /// The generation of these roots; it increases when they change.
    pub fn generation(&self) -> u64 {
        self.guard.generation()
    }

    /// The client's state that these roots result from.
    pub fn state(&self) -> State {
        self.state
    }

    /// The reason for these roots.
    pub fn why(&self) -> Why {
        self.why
    }

    /// Whether access is limited to the roots.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// What the client declared.
    pub fn support(&self) -> Support {
        self.support
    }

    /// Names a few of the roots, for a server's instructions or a description.
    pub fn sentence(&self) -> String {
        if self.reach == Reach::AllowAll {
            return "Every place is allowed that is not closed.".to_owned();
        }
        let named = self.list().iter().take(MOST_NAMED).map(|placed| {
            let root = &placed.root;
            let path = Shown::new(&root.path);
            match &root.name {
                Some(name) if root.path.file_name() != Some(name.as_ref()) => {
                    format!("`{path}` \"{}\" ({})", Shown::new(name), root.access)
                }
                _ => format!("`{path}` ({})", root.access),
            }
        });
        let named = named.collect::<Vec<_>>().join(", ");
        match self.list().len().checked_sub(MOST_NAMED) {
            _ if named.is_empty() => "No directory is shared now.".to_owned(),
            Some(more @ 1..) => format!("Shared now: {named} and {more} more."),
            _ => format!("Shared now: {named}."),
        }
    }

    /// The roots that the client named and that are left out.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.context.left_out
    }

    /// The denial to report. If there are no roots because the client could not be asked, it says so.
    #[must_use]
    pub fn explained(&self, denial: Denial) -> Denial {
        match (denial.code(), self.state) {
            (Code::NoRoots, State::Failed) => Denial::new(Code::RootsFailed, denial.path(), denial.access()),
            _ => denial,
        }
    }

    /// The refusal that a peer sees.
    pub fn refusal(&self, denial: &Denial) -> Refusal {
        let RefusalContext { way, disjoint, .. } = &*self.context;
        let among = Among { why: self.why, list: self.list(), way: *way, disjoint: disjoint.as_ref() };
        Refusal::among(&self.explained(denial.clone()), Some(among))
    }
}
