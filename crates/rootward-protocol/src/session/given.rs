//! What the operator and the user give, which may change while sessions run.

use std::sync::Arc;

use rootward_core::Restrictions;
use rootward_core::session::Sources;

/// Their roots, and what is closed. Together: roots are never decided with what was closed for others.
#[derive(Clone, Debug)]
pub struct Given {
    /// The roots of the operator, the user's saved choice, the fallback.
    pub sources: Sources,
    /// The places that stay closed. The same value as before where that did not change: another value means new guards,
    /// and servers that are started again.
    pub restrictions: Arc<Restrictions>,
}
