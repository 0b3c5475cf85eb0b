//! Decides paths against roots, and opens what is allowed so that no race slips past the decision.

mod access;
mod audit;
mod containment;
mod denial;
mod grant;
mod guard;
mod os;
pub mod places;
mod placing;
mod resolve;
mod restriction;
mod root;
pub mod session;
mod set;
mod shown;
mod style;
mod text;
mod tree;
mod uri;
mod validate;
mod windows;

pub use access::Access;
pub use audit::{AuditEvent, Decision, Occasion};
pub use containment::text_contains;
pub use denial::{Cause, Code, Denial};
pub use grant::{
    Entry, FileKind, Grant, GrantError, Ignore, Metadata, OpenFile, Replace, Visit, WalkEntry, WalkOptions, WalkSummary,
};
pub use guard::{Guard, GuardOptions, Step, TextForm};
pub use resolve::Resolver;
pub use restriction::{Closed, Restriction, RestrictionError, Restrictions};
pub use root::{FileId, Origin, PlacedRoot, Root, RootError, RootKind, Spelling};
pub use set::{Change, Difference, Mode, Refusal, RefusedRoot, RootSet, UnknownMode};
pub use shown::Shown;
pub use style::PathStyle;
pub use text::{PathText, TextError};
pub use uri::{RootUri, UriError};
pub use validate::{Unshareable, Validation};
