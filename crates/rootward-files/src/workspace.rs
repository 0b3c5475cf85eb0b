//! The roots in force, in the words of a tool's description: a model that knows them asks for what it can have.

use rootward_core::Access;
use rootward_server::{Roots, roots_in_words};

/// What stands at the end of a tool's description.
pub(crate) fn sentence(roots: Option<&Roots>) -> String {
    roots_in_words(roots, Some("list_allowed_directories"))
}

/// Whether something may be executed in a root in force.
pub(crate) fn may_execute(roots: Option<&Roots>) -> bool {
    roots.is_some_and(|roots| roots.list().iter().any(|placed| placed.root.access.contains(Access::EXECUTE)))
}
