//! What all sessions of a program have in common.

use rootward_core::session::{InForce, NoRoots, Policy, Reach};
use rootward_core::{Guard, GuardOptions, Origin, Root, RootSet, Validation};

use super::given::Given;
use super::shared_guards::SharedGuards;
use crate::refusal::RefusalForm;

/// The terms that every session is held to.
#[derive(Debug)]
pub struct Terms {
    /// Who is listened to, and for how long.
    pub policy: Policy,
    /// What guards are made with; the generation and the restrictions are filled in.
    pub guard: GuardOptions,
    /// Which places a client may name.
    pub validation: Validation,
    /// How a person names a root here, for a refusal where nobody did: ``name one with `--root DIR` ``.
    pub way: Option<&'static str>,
    /// How a refused tool call is answered.
    pub refusals: RefusalForm,
    /// The whole disk, where `no-roots` is `allow-all`. Restrictions still hold.
    everything: RootSet,
    /// Guards by their roots: sessions that see the same have one between them.
    shared: SharedGuards,
}

impl Terms {
    /// These terms. Looks at the disk only where `no-roots` is `allow-all`.
    pub fn new_ambient(policy: Policy, guard: GuardOptions, validation: Validation) -> Terms {
        let everything = match policy.no_roots {
            NoRoots::Deny => RootSet::default(),
            NoRoots::AllowAll => RootSet::place_ambient(Root::from_path("/", Origin::Fallback).ok(), &validation),
        };
        Terms {
            policy,
            guard,
            validation,
            way: None,
            refusals: RefusalForm::default(),
            everything,
            shared: SharedGuards::default(),
        }
    }

    /// The guard over what is in force, under this number.
    pub(super) fn guard(&self, in_force: &InForce, given: &Given, generation: u64) -> Guard {
        let set = match in_force.reach {
            Reach::Roots => in_force.roots.clone(),
            Reach::AllowAll => self.everything.clone(),
        };
        self.guard_over(set, given, generation)
    }

    /// The guard over nothing: for a server that starts before the roots are known.
    pub fn nothing(&self, given: &Given) -> Guard {
        self.guard_over(RootSet::default(), given, 0)
    }

    fn guard_over(&self, set: RootSet, given: &Given, generation: u64) -> Guard {
        let restrictions = given.restrictions.clone();
        self.shared.guard(set, &given.restrictions, generation, |set| {
            Guard::new(set, GuardOptions { generation, restrictions, ..self.guard.clone() })
        })
    }

    /// The same set as a guard in use holds it, so that equal sets take memory once.
    pub(super) fn shared_set(&self, set: RootSet) -> RootSet {
        self.shared.set(set)
    }
}
