//! Decides paths against roots, and opens what is allowed so that no race slips past the decision.

mod access;
mod root;
mod session;
mod set;
mod style;

pub use access::Access;
pub use root::{FileId, Origin, PlacedRoot, Root, RootKind, Spelling};
pub use session::{
    Effect, Event, Failure, Follow, InForce, NoRoots, Policy, Reach, RequestNumber, SessionRoots, Sources, Standing, State,
    Support, Why,
};
pub use set::{Change, Difference, Mode, Refusal, RefusedRoot, RootSet, UnknownMode};
pub use style::PathStyle;
