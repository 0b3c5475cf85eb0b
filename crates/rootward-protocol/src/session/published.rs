//! The roots in force, as a session makes them known: a guard, and why it is this one.

use rootward_core::session::{InForce, Reach, State, Support, Why};
use rootward_core::{Code, Denial, Guard, PlacedRoot};

use crate::refusal::{Among, Refusal};

/// The roots in force at one moment. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Published {
    guard: Guard,
    state: State,
    why: Why,
    reach: Reach,
    support: Support,
    way: Option<&'static str>,
}

impl Published {
    pub(super) fn new(in_force: &InForce, support: Support, guard: Guard, way: Option<&'static str>) -> Published {
        Published { guard, state: in_force.state, why: in_force.why, reach: in_force.reach, support, way }
    }

    /// The guard that decides.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// The roots, in the order in which they were named. Where nothing bounds what is allowed, there are none.
    pub fn list(&self) -> &[PlacedRoot] {
        match self.reach {
            Reach::Roots => self.guard.roots(),
            Reach::AllowAll => &[],
        }
    }

    /// The number of these roots; it moves on when they change.
    pub fn generation(&self) -> u64 {
        self.guard.generation()
    }

    /// The client's state they follow from.
    pub fn state(&self) -> State {
        self.state
    }

    /// Why these.
    pub fn why(&self) -> Why {
        self.why
    }

    /// Whether the roots bound what is allowed.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// What the client declared.
    pub fn support(&self) -> Support {
        self.support
    }

    /// A denial as it is told. Where nothing is in force because the client could not be asked, it says so.
    #[must_use]
    pub fn told(&self, denial: Denial) -> Denial {
        match (denial.code(), self.state) {
            (Code::NoRoots, State::Failed) => Denial::new(Code::RootsFailed, denial.path(), denial.access()),
            _ => denial,
        }
    }

    /// The refusal that a peer sees.
    pub fn refusal(&self, denial: &Denial) -> Refusal {
        Refusal::among(&self.told(denial.clone()), Some(Among { why: self.why, list: self.list(), way: self.way }))
    }
}
