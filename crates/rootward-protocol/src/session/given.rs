//! The operator's and the user's roots and restrictions, which may change while sessions run.

use std::sync::Arc;

use rootward_core::Restrictions;
use rootward_core::session::Sources;

/// The roots and the closed places. They are kept together, so that roots are never decided with another version's
/// restrictions.
#[derive(Clone, Debug)]
pub struct Given {
    /// The operator's roots, the user's saved roots, the fallback.
    pub sources: Sources,
    /// The places that stay closed. Keep the same value if nothing changed: another value means new guards and
    /// restarted servers.
    pub restrictions: Arc<Restrictions>,
}
