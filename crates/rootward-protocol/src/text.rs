//! Makes a peer's text fit for display.

use rootward_core::Shown;

/// A peer's text, cut off after this many characters.
pub fn shortened(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The same, without control sequences for a terminal.
pub fn shown(text: &str, longest: usize) -> String {
    Shown::new(&shortened(text, longest)).to_string()
}
