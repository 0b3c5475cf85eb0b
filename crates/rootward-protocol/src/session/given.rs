//! What the operator and the user give, which may change while sessions run.

use std::sync::Arc;

use rootward_core::Restrictions;
use rootward_core::session::Sources;

/// Their roots, and what is closed. Together: roots are never decided with what was closed for others.
#[derive(Clone, Debug)]
pub struct Given {
    /// The roots of the operator, the user's saved choice, the fallback.
    pub sources: Sources,
    /// The places that stay closed. The same value as before where that did not change: guards are made anew, and servers started anew,
    /// where it is another.
    pub restrictions: Arc<Restrictions>,
}
