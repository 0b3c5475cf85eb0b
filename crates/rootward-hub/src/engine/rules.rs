//! What was decided before the first message: whose roots count, what is closed, what happens to what is refused.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use rootward_core::session::{Policy, Sources};
use rootward_core::{Audit, GuardOptions, Validation};

use crate::scan::{Expansion, Tool, Treatment};

/// The rules of one wrapped server.
pub struct Rules {
    /// Who is listened to, and for how long.
    pub policy: Policy,
    /// The roots of the operator, the user's saved choice, the fallback.
    pub sources: Sources,
    /// What guards are made with; the generation is filled in.
    pub guard: GuardOptions,
    /// Which places a client may name.
    pub validation: Validation,
    /// What variables and `~` mean to the server.
    pub expansion: Expansion,
    /// What happens to a call whose path is refused.
    pub enforce: Enforce,
    /// What the user says about arguments of tools.
    pub treatments: Treatments,
    /// Who keeps the record. Where it cannot be kept, calls with paths are refused.
    pub audit: Option<Arc<dyn Audit>>,
}

/// What happens to a call whose path is refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Enforce {
    /// It does not reach the server.
    #[default]
    Refuse,
    /// It goes on record as refused, and is passed on: to see what would be refused.
    Report,
}

/// What the user says about arguments, by tool and key.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Treatments(BTreeMap<String, Vec<(String, Treatment)>>);

impl Treatments {
    /// Adds what the user says about one argument of one tool.
    pub fn add(&mut self, tool: impl Into<String>, key: impl Into<String>, treatment: Treatment) {
        self.0.entry(tool.into()).or_default().push((key.into(), treatment));
    }

    /// The tool with what the user says about it.
    pub(super) fn apply(&self, tool: Tool) -> Tool {
        let said = self.0.get(tool.name()).cloned().unwrap_or_default();
        said.into_iter().fold(tool, |tool, (key, treatment)| tool.with_treatment(key, treatment))
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules")
            .field("policy", &self.policy)
            .field("sources", &self.sources)
            .field("enforce", &self.enforce)
            .field("treatments", &self.treatments)
            .finish_non_exhaustive()
    }
}
