//! The current roots, in the words of a tool's description, and which tools can do anything in them.

use rootward_core::session::Reach;
use rootward_server::{Access, Roots, roots_in_words};

/// What stands at the end of a tool's description.
pub(crate) fn sentence(roots: Option<&Roots>) -> String {
    roots_in_words(roots, Some("list_allowed_directories"))
}

/// Whether some root gives this access. Roots that are not known yet may; but commands run only where an operator is known to allow them.
pub(crate) fn gives(roots: Option<&Roots>, needs: Access) -> bool {
    match roots {
        Some(roots) if roots.reach() == Reach::Roots => {
            let given = roots.list().iter().fold(Access::NONE, |sum, placed| sum | placed.root.access);
            given.contains(needs)
        }
        _ => !needs.contains(Access::EXECUTE),
    }
}
