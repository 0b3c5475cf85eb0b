//! From text to an object, in two steps that do not trust each other.
//!
//! *Opening* ([`open`]) starts at a root's pinned handle and follows no links, so the opened object lies exactly where
//! the text says. *Guessing* ([`guess`]) follows links like the kernel and returns a place as text; it proves nothing.
//! The object is then opened from the root that contains the guessed place. A wrong guess can only cause a refusal,
//! never open something outside.

pub(crate) mod guess;
mod open;
mod rest;

pub use open::Resolver;
pub(crate) use open::open;
pub(crate) use rest::{NameBuffer, Names, Rest};

/// What to do with a link in the last component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leaf {
    /// Follow it: the path means the link's target.
    Follow,
    /// Keep it: the path means the directory entry itself.
    Keep,
}
