//! Detection and watching on real trees: built by real `git`, this repository, and those that somebody made to hurt.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::panic, reason = "a test that cannot go on has failed")]
#![expect(clippy::disallowed_methods, reason = "tests build the trees that are looked at")]

mod detect;
mod watch;
