//! Texts of peers, made fit to be shown.

use rootward_core::Shown;

/// A peer's text, cut off where it is longer than this many characters.
pub fn shortened(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The same, without anything that a terminal would obey.
pub fn shown(text: &str, longest: usize) -> String {
    Shown::new(&shortened(text, longest)).to_string()
}
