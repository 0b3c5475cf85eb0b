//! Project analysis: files by language, manifests and their contents, documentation.
//!
//! Everything comes from one walk over handles, limited in entries and time. Then a few files are opened through the
//! guard and read up to a limit. Manifests are untrusted text: their contents are shown, shortened and escaped, and
//! never followed as a path.
//!
//! - `survey.rs`: which directories to walk, the walk and its limits.
//! - `languages.rs`: detects a file's language by its name.
//! - `marker.rs`: detects a directory's build system by file names.
//! - `manifest.rs`, `manifest/`: read the manifest of each build system.
//! - `overview.rs`: all of that for one root. `documents.rs`: documentation.

pub(crate) mod documents;
mod languages;
pub(crate) mod manifest;
pub(crate) mod marker;
pub(crate) mod overview;
pub(crate) mod survey;

use rootward_core::Shown;

/// The longest text to show from a manifest, in bytes.
const LONGEST_TEXT: usize = 200;

/// Untrusted text on one line, shortened if it is long.
pub(crate) fn shown(text: &str) -> String {
    let end = text.floor_char_boundary(LONGEST_TEXT);
    let mark = if end < text.len() { "…" } else { "" };
    format!("{}{mark}", Shown::new(&text[..end]))
}
