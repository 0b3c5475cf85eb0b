//! The words for a path that is refused: which roots there are, by name, and what was attempted.

use std::fmt::Write;

use rmcp::model::{CallToolResult, ContentBlock};
use rootward_core::{Code, Shown};
use rootward_server::{Denial, PlacedRoot, Roots, refused};

/// How many roots are named.
const MOST: usize = 50;

/// The words.
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

/// The roots, one a line: the path, and its name where it has one.
pub(crate) fn listed(roots: &Roots) -> String {
    if roots.list().is_empty() {
        return format!("(none: {}; name directories in SWI_MCP_ALLOWED_ROOTS)", roots.why());
    }
    let mut text = String::new();
    for PlacedRoot { root, .. } in roots.list().iter().take(MOST) {
        let gap = if text.is_empty() { "" } else { "\n" };
        // Writing to a text cannot fail.
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

/// The answer to a call whose path is refused: these words, and the same data as every refusal of Rootward's has.
pub(crate) fn answer(denial: &Denial, roots: &Roots) -> CallToolResult {
    let mut data = refused(denial).data().clone();
    let words = words(denial, roots);
    data["message"] = words.as_str().into();
    let mut result = CallToolResult::error(vec![ContentBlock::text(words)]);
    result.structured_content = Some(data);
    result
}
