//! Detection and watching on real trees: built by real `git`, this repository, and those that somebody made to hurt. The provider before
//! servers that behave, and servers that do not.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]
#![expect(clippy::disallowed_methods, reason = "tests build the trees that are looked at")]

mod detect;
mod provider;
mod watch;
