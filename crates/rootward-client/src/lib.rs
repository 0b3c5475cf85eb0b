//! The user's side of roots: which directories are shared, with whom, and with what access.
//!
//! # Layout
//!
//! - [`adopt`]: puts `rootward wrap` before the servers in your clients' config files, and removes it again.
//! - [`detect`]: finds what could be shared. It only suggests: a repository's content does not say what its user
//!   wants.
//! - [`choose`]: one list of found and saved directories to choose from, and what a choice changes.
//! - [`consent`]: the user's consent: once, for this session, or always.
//! - [`import`]: reads the config files of other clients. Also only suggests.
//! - [`store`]: what the user chose to share, in `roots.toml`.
//! - `provider` (feature `provider`): tells a host's servers about the roots, and again when they change.
//! - [`watch`]: notices changes to the roots and to the file while a program runs.

pub mod adopt;
pub mod choose;
pub mod consent;
pub mod detect;
pub mod import;
#[cfg(feature = "provider")]
pub mod provider;
pub mod store;
pub mod watch;
