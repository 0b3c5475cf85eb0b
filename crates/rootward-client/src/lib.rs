//! The user's side of roots: which directories are shared, with whom, and with what access.
//!
//! # Layout
//!
//! - [`detect`]: what could be shared. Suggestions only: what a repository holds is not what its user wants.
//! - [`consent`]: the user's yes: once, for this session, or always.
//! - [`store`]: what the user chose to share, in `roots.toml`.
//! - [`watch`]: what becomes of it while a program runs, on disk and in the file.

pub mod consent;
pub mod detect;
pub mod store;
pub mod watch;
