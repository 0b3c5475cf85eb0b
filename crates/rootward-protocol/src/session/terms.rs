//! The settings that all sessions of a program share.

use rootward_core::session::{CurrentRoots, NoRoots, Policy, Reach};
use rootward_core::{Guard, GuardOptions, Origin, Root, RootSet, Validation};

use super::given::Given;
use super::shared_guards::SharedGuards;
use crate::refusal::RefusalForm;

/// The settings that apply to every session.
#[derive(Debug)]
pub struct Terms {
    /// Whose roots count, and for how long.
    pub policy: Policy,
    /// The options for guards; generation and restrictions are filled in.
    pub guard: GuardOptions,
    /// Which places a client may name.
    pub validation: Validation,
    /// How a person can name a root here, for a refusal if nobody named one: ``name one with `--root DIR` ``.
    pub way: Option<&'static str>,
    /// How a refused tool call is answered.
    pub refusals: RefusalForm,
    /// The whole disk, if `no-roots` is `allow-all`. Restrictions still apply.
    everything: RootSet,
    /// Guards by their roots, shared by sessions with the same roots.
    shared: SharedGuards,
}

impl Terms {
    /// Creates the settings. Looks at the disk only if `no-roots` is `allow-all`.
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

    /// The guard for the current roots, with this generation.
    pub(super) fn guard(&self, current: &CurrentRoots, given: &Given, generation: u64) -> Guard {
        let set = match current.reach {
            Reach::Roots => current.roots.clone(),
            Reach::AllowAll => self.everything.clone(),
        };
        self.guard_over(set, given, generation)
    }

    /// A guard without roots, for a server that starts before the roots are known.
    pub fn nothing(&self, given: &Given) -> Guard {
        self.guard_over(RootSet::default(), given, 0)
    }

    fn guard_over(&self, set: RootSet, given: &Given, generation: u64) -> Guard {
        let restrictions = given.restrictions.clone();
        self.shared.guard(set, &given.restrictions, generation, |set| {
            Guard::new(set, GuardOptions { generation, restrictions, ..self.guard.clone() })
        })
    }

    /// The equal set of a guard in use, so that equal sets share memory.
    pub(super) fn shared_set(&self, set: RootSet) -> RootSet {
        self.shared.set(set)
    }
}
