//! Who requests come from, where a server has several users.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::service::{RequestContext, RoleServer};

/// Who the requests of a service come from. A modern call that is sent again must come from the same principal, and the name is on
/// record with every decision.
#[derive(Clone, Debug)]
pub enum Principal {
    /// All of them come from this one. A front that knows several has a service for each.
    One(Arc<str>),
    /// Each request says it. For legacy sessions nothing is put on record.
    OfRequest(fn(&RequestContext<RoleServer>) -> String),
}

impl Principal {
    /// The principal of this name.
    pub fn named(name: &str) -> Principal {
        Principal::One(name.into())
    }

    /// Who sent a request.
    pub(crate) fn of(&self, context: &RequestContext<RoleServer>) -> Cow<'_, str> {
        match self {
            Principal::One(name) => Cow::Borrowed(name),
            Principal::OfRequest(says) => Cow::Owned(says(context)),
        }
    }

    /// Whose requests they all are, if it has a name.
    pub(crate) fn name(&self) -> Option<Arc<str>> {
        match self {
            Principal::One(name) if !name.is_empty() => Some(Arc::clone(name)),
            Principal::One(_) | Principal::OfRequest(_) => None,
        }
    }
}

/// One without a name.
impl Default for Principal {
    fn default() -> Principal {
        Principal::named("")
    }
}
