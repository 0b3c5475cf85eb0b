//! Packages that a command fetches before it runs them.

mod command;

pub use command::{PackageCommand, Registry, Runner, is_runner};
