//! Who sends requests, if a server has several users.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::service::{RequestContext, RoleServer};

/// Who sends the requests of a service. A modern client must repeat a call as the same principal, and every recorded
/// decision includes the name.
#[derive(Clone, Debug)]
pub enum Principal {
    /// All requests come from this principal. A front end with several users creates a service for each.
    One(Arc<str>),
    /// Each request names its principal. Legacy sessions then record none.
    OfRequest(fn(&RequestContext<RoleServer>) -> String),
}

impl Principal {
    /// A principal with this name.
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

    /// The principal of all requests, if it has a name.
    pub(crate) fn name(&self) -> Option<Arc<str>> {
        match self {
            Principal::One(name) if !name.is_empty() => Some(Arc::clone(name)),
            Principal::One(_) | Principal::OfRequest(_) => None,
        }
    }
}

/// A principal without a name.
impl Default for Principal {
    fn default() -> Principal {
        Principal::named("")
    }
}
