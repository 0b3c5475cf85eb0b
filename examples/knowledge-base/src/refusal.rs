//! The message for a refused path: the allowed roots and the attempted path.

use std::fmt::Write;

use rmcp::model::{CallToolResult, ContentBlock};
use rootward_core::{Code, Shown};
use rootward_server::{Denial, PlacedRoot, Roots, refused};

/// The maximum number of roots to list.
const MOST: usize = 50;

/// The message.
pub(crate) fn words(denial: &Denial, roots: &Roots) -> String {
    let attempted = Shown::new(denial.path());
    let list = listed(roots);
    match denial.code().for_peer() {
        Code::OutsideRoots | Code::NoRoots => {
            format!("Security Error: File must be within allowed roots:\n{list}\nAttempted: {attempted}")
        }
        _ => format!("Security Error: {denial}. Allowed roots:\n{list}\nAttempted: {attempted}"),
    }
}

/// The roots, one per line: the path, and the name if there is one.
pub(crate) fn listed(roots: &Roots) -> String {
    if roots.list().is_empty() {
        return format!("(none: {}; set SWI_MCP_ALLOWED_ROOTS)", roots.why());
    }
    let mut text = String::new();
    for PlacedRoot { root, .. } in roots.list().iter().take(MOST) {
        let gap = if text.is_empty() { "" } else { "\n" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{gap}- {}", Shown::new(&root.path));
        if let Some(name) = &root.name {
            let _ = write!(text, " ({})", Shown::new(name));
        }
    }
    if let Some(more @ 1..) = roots.list().len().checked_sub(MOST) {
        let _ = write!(text, "\n- and {more} more");
    }
    text
}

/// The result of a call whose path is refused: this message, and the same data as in all of Rootward's refusals.
pub(crate) fn answer(denial: &Denial, roots: &Roots) -> CallToolResult {
    let mut data = refused(denial).data().clone();
    let words = words(denial, roots);
    data["message"] = words.as_str().into();
    let mut result = CallToolResult::error(vec![ContentBlock::text(words)]);
    result.structured_content = Some(data);
    result
}
