//! Who connects over the network: a name, a ceiling, and the servers that this principal may use.

use std::collections::BTreeSet;
use std::sync::Arc;

use rootward_core::RootSet;
use rootward_core::session::Sources;
use rootward_protocol::session::Given;

/// A network user.
#[derive(Clone, Debug)]
pub struct Principal {
    /// The name in the audit log.
    pub name: Arc<str>,
    /// The directories that this principal can ever reach.
    pub ceiling: RootSet,
    /// The names of the servers that this principal may use; `None` allows all.
    pub servers: Option<BTreeSet<String>>,
}

impl Principal {
    /// Whether this principal may use the named server.
    pub(crate) fn may_use(&self, server: &str) -> bool {
        self.servers.as_ref().is_none_or(|servers| servers.contains(server))
    }
}

/// The owner of a session: its name in the audit log, and its principal. A client on this machine has no principal.
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
    /// The root sources for this party. A principal gets nothing outside its ceiling and nothing that the user saved
    /// for local clients.
    pub(crate) fn limited(&self, given: &Arc<Given>) -> Arc<Given> {
        let Some(principal) = &self.principal else { return Arc::clone(given) };
        let ceiling = &given.sources.ceiling;
        let ceiling = if ceiling.names_any() { ceiling } else { &principal.ceiling };
        // SECURITY: a server's ceiling may be wider than the principal's, and some modes ignore ceilings
        // (test: a_principal_gets_nothing_outside_its_ceiling)
        let bound = Some(principal.ceiling.clone());
        let sources = Sources { ceiling: ceiling.clone(), bound, ..Sources::default() };
        Arc::new(Given { sources, restrictions: Arc::clone(&given.restrictions) })
    }

    /// Whether both parties have the same principal, or neither has one.
    pub(crate) fn is_with(&self, other: &Party) -> bool {
        match (&self.principal, &other.principal) {
            (None, None) => true,
            (Some(own), Some(others)) => Arc::ptr_eq(own, others),
            _ => false,
        }
    }
}
