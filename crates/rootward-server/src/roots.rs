//! The roots in force, as a handler sees them: a guard, and why it is this one.

use std::ffi::OsStr;

use rootward_core::session::{InForce, Reach, State, Why};
use rootward_core::{Access, Code, Denial, Grant, Guard, PlacedRoot};

use crate::settings::Ground;

/// The roots in force at one moment. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Roots {
    guard: Guard,
    state: State,
    why: Why,
    reach: Reach,
}

impl Roots {
    /// What the machine says is in force; the guard of before is kept while it is the same generation.
    pub(crate) fn of(in_force: &InForce, ground: &Ground, before: Option<&Roots>) -> Roots {
        let guard = match before {
            Some(before) if before.generation() == in_force.generation => before.guard.clone(),
            _ => {
                let set = match in_force.reach {
                    Reach::Roots => in_force.roots.clone(),
                    Reach::AllowAll => ground.everything(),
                };
                ground.guard(set, in_force.generation)
            }
        };
        Roots { guard, state: in_force.state, why: in_force.why, reach: in_force.reach }
    }

    /// Decides whether `path` may be used for `access`, and pins what it names.
    pub fn check(&self, path: impl AsRef<OsStr>, access: Access) -> Result<Grant, Denial> {
        self.guard.check(path, access).map_err(|denial| self.told(denial))
    }

    /// The same for a directory entry, a link itself rather than what it leads to: how a path is named that is to be
    /// created, removed or renamed.
    pub fn check_entry(&self, path: impl AsRef<OsStr>, access: Access) -> Result<Grant, Denial> {
        self.guard.check_entry(path, access).map_err(|denial| self.told(denial))
    }

    /// The guard that decides.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// The roots, in the order in which they were named. Those of a server without bounds are none.
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

    /// Where nothing is in force because the client could not be asked, the refusal says so.
    fn told(&self, denial: Denial) -> Denial {
        match (denial.code(), self.state) {
            (Code::NoRoots, State::Failed) => Denial::new(Code::RootsFailed, denial.path(), denial.access()),
            _ => denial,
        }
    }
}
