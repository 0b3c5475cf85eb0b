//! The current roots as text for tool descriptions, and which tools are useful with them.

use rootward_core::session::Reach;
use rootward_server::{Access, Roots, roots_in_words};

/// The last sentence of a tool's description.
pub(crate) fn sentence(roots: Option<&Roots>) -> String {
    roots_in_words(roots, Some("list_allowed_directories"))
}

/// Whether some root gives this access. Roots that are not known yet are assumed to, except for execution: commands run
/// only if an operator is known to allow them.
pub(crate) fn gives(roots: Option<&Roots>, needs: Access) -> bool {
    match roots {
        Some(roots) if roots.reach() == Reach::Roots => {
            let given = roots.list().iter().fold(Access::NONE, |sum, placed| sum | placed.root.access);
            given.contains(needs)
        }
        _ => !needs.contains(Access::EXECUTE),
    }
}
