//! Detection and watching on real trees: built by real `git`, this repository, and hostile ones. The provider with
//! well-behaved and misbehaving servers.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests stop on any failure")]
#![expect(clippy::disallowed_methods, reason = "tests build their own trees")]

mod detect;
mod provider;
mod watch;
