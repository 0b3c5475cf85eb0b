//! Decides paths against roots, and opens what is allowed so that no race slips past the decision.

mod access;
mod containment;
pub mod places;
mod root;
mod style;
mod text;
mod uri;
mod validate;
mod windows;

pub use access::Access;
pub use containment::text_contains;
pub use root::{FileId, Origin, PlacedRoot, Root, RootError, RootKind, Spelling};
pub use style::PathStyle;
pub use text::{PathText, TextError};
pub use uri::{RootUri, UriError};
pub use validate::{Unshareable, Validation};
