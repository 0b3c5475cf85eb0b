//! Decides paths against roots, and opens what is allowed so that no race slips past the decision.

mod access;
mod root;
mod set;
mod style;
mod text;
mod uri;
mod windows;

pub use access::Access;
pub use root::{FileId, Origin, PlacedRoot, Root, RootKind, Spelling};
pub use set::{Change, Difference, Mode, Refusal, RefusedRoot, RootSet, UnknownMode};
pub use style::PathStyle;
pub use text::{PathText, TextError};
pub use uri::{RootUri, UriError};
