//! Who comes over the network: a name, a ceiling that nothing reaches past, and the servers it may use.

use std::collections::BTreeSet;
use std::sync::Arc;

use rootward_core::RootSet;
use rootward_core::session::Sources;
use rootward_protocol::session::Given;

/// A principal.
#[derive(Clone, Debug)]
pub struct Principal {
    /// Its name on record.
    pub name: Arc<str>,
    /// The directories that it can get anything of.
    pub ceiling: RootSet,
    /// The names of the servers that it may use; all if there is no list.
    pub servers: Option<BTreeSet<String>>,
}

impl Principal {
    /// Whether it may use a server of this name.
    pub(crate) fn may_use(&self, server: &str) -> bool {
        self.servers.as_ref().is_none_or(|servers| servers.contains(server))
    }
}

/// Whose a session is: its name on record, and the principal behind it. A client on this machine has no principal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Party {
    pub(crate) name: String,
    pub(crate) principal: Option<Arc<Principal>>,
}

impl From<String> for Party {
    fn from(name: String) -> Party {
        Party { name, principal: None }
    }
}

impl Party {
    /// What is given to this party. A principal gets nothing that its ceiling does not hold, and nothing that the user saved for the
    /// clients on this machine.
    pub(crate) fn held(&self, given: &Arc<Given>) -> Arc<Given> {
        let Some(principal) = &self.principal else { return Arc::clone(given) };
        let ceiling = &given.sources.ceiling;
        let ceiling = if ceiling.names_any() { ceiling } else { &principal.ceiling };
        // SECURITY: the ceiling of a server may be wider than the principal's, and a mode may pass over ceilings
        // (test: a_principal_gets_nothing_outside_its_ceiling)
        let bound = Some(principal.ceiling.clone());
        let sources = Sources { ceiling: ceiling.clone(), bound, ..Sources::default() };
        Arc::new(Given { sources, restrictions: Arc::clone(&given.restrictions) })
    }

    /// Whether two parties are of one principal, or both of none.
    pub(crate) fn is_with(&self, other: &Party) -> bool {
        match (&self.principal, &other.principal) {
            (None, None) => true,
            (Some(own), Some(others)) => Arc::ptr_eq(own, others),
            _ => false,
        }
    }
}
