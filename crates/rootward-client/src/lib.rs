//! The user's side of roots: which directories are shared, with whom, and with what access.
//!
//! # Layout
//!
//! - [`adopt`]: puts `rootward wrap` before the servers in those files, and takes it out again.
//! - [`detect`]: what could be shared. Suggestions only: what a repository holds is not what its user wants.
//! - [`choose`]: what was found and what is saved as one list to choose from, and what a choice changes.
//! - [`consent`]: the user's yes: once, for this session, or always.
//! - [`import`]: what other clients were told, from their config files. Suggestions, too.
//! - [`store`]: what the user chose to share, in `roots.toml`.
//! - `provider` (feature `provider`): tells the servers of a host, and tells them again when it changes.
//! - [`watch`]: what becomes of it while a program runs, on disk and in the file.

pub mod adopt;
pub mod choose;
pub mod consent;
pub mod detect;
pub mod import;
#[cfg(feature = "provider")]
pub mod provider;
pub mod store;
pub mod watch;
