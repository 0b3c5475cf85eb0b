//! The roots in force, in the words of a tool's description: a model that knows them asks for what it can have.

use std::fmt::Write;

use rootward_core::session::Reach;
use rootward_core::{Access, Shown};
use rootward_server::Roots;

/// How many roots a description names.
const MOST_NAMED: usize = 8;

/// What stands at the end of a tool's description.
pub(crate) fn sentence(roots: Option<&Roots>) -> String {
    let Some(roots) = roots else {
        return "The client has not named its roots yet; `list_allowed_directories` asks for them.".to_owned();
    };
    if roots.reach() == Reach::AllowAll {
        return "No roots are set: every place is allowed that is not closed.".to_owned();
    }
    let [first, ..] = roots.list() else {
        return "Nothing is shared at the moment: every path is refused.".to_owned();
    };
    let mut text = String::from("Allowed:");
    for (position, placed) in roots.list().iter().take(MOST_NAMED).enumerate() {
        let comma = if position > 0 { "," } else { "" };
        // Writing to a text cannot fail.
        let _ = write!(text, "{comma} `{}` ({})", Shown::new(&placed.root.path), placed.root.access);
    }
    if let Some(more @ 1..) = roots.list().len().checked_sub(MOST_NAMED) {
        let _ = write!(text, " and {more} more, which `list_allowed_directories` names");
    }
    let _ = write!(text, ". Relative paths start at `{}`.", Shown::new(&first.root.path));
    text
}

/// Whether something may be executed in a root in force.
pub(crate) fn may_execute(roots: Option<&Roots>) -> bool {
    roots.is_some_and(|roots| roots.list().iter().any(|placed| placed.root.access.contains(Access::EXECUTE)))
}
