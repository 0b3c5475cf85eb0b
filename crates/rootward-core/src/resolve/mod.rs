//! From text to an object, in two ways that never trust each other.
//!
//! *Opening* ([`open`]) goes down from a root's pinned handle and follows no link at all, so what it opens lies at exactly
//! the place its text says. *Guessing* ([`guess`]) follows links with the kernel's own meaning and yields a place, as
//! text; it proves nothing. Whatever the guess says, the object is then opened from the root that holds the place. A wrong
//! guess can only cost an answer, never open something outside.

pub(crate) mod guess;
mod open;
mod rest;

pub use open::Resolver;
pub(crate) use open::open;
pub(crate) use rest::{NameBuffer, Names, Rest};

/// What becomes of a link in the last component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leaf {
    /// It is followed: the path means what the link leads to.
    Follow,
    /// It is kept: the path means the directory entry itself.
    Keep,
}
