//! What a project is made of: its files by language, its manifests and what they say, its documentation.
//!
//! Everything comes from one walk over handles, which has a limit of entries and of time; then a few files are opened through the guard
//! and read up to a limit. What a manifest says is a stranger's text: it is shown, cut and escaped, and never followed as a path.
//!
//! - `survey.rs`: which directories to walk, the walk and its limits.
//! - `languages.rs`: what a file's name says about its language.
//! - `marker.rs`: the names that say which build system a directory uses.
//! - `manifest.rs`, `manifest/`: what a manifest of each build system says.
//! - `overview.rs`: all of that for one root. `documents.rs`: documentation.

pub(crate) mod documents;
mod languages;
pub(crate) mod manifest;
pub(crate) mod marker;
pub(crate) mod overview;
pub(crate) mod survey;

use rootward_core::Shown;

/// The longest text that is taken from a manifest, in bytes.
const LONGEST_TEXT: usize = 200;

/// A stranger's text on one line, cut where it is long.
pub(crate) fn shown(text: &str) -> String {
    let end = text.floor_char_boundary(LONGEST_TEXT);
    let mark = if end < text.len() { "…" } else { "" };
    format!("{}{mark}", Shown::new(&text[..end]))
}
