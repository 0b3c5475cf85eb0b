//! Packages that a command fetches before it runs them.
//!
//! A command line such as `npx -y @scope/name` runs in two steps. A confined process without roots fetches the package
//! into a store that all projects share; then the installed program is started directly, and the package is read-only
//! to it.
//!
//! - `command.rs` parses the command line. `wanted.rs` decides whether the two steps apply; `local.rs` knows when a
//!   runner would not use the registry.
//! - `key.rs` decides which command lines share an install, `entry.rs` is its directory, `own.rs` the files in it.
//! - `install.rs`, `npm.rs`, `pypi.rs`: how a package is installed, and which of its programs runs. `inside.rs` reads
//!   its files.
//! - `fetch.rs` is the process, `supply.rs` does everything that leads to an [`Installed`].
//! - `stored.rs`: lists the contents of the store.

mod command;
mod entry;
mod error;
mod fetch;
mod inside;
mod install;
mod installed;
mod key;
mod local;
mod npm;
mod own;
mod pypi;
mod stored;
mod supply;
mod wanted;

pub use command::{PackageCommand, Registry, Runner, is_runner};
pub use entry::Removal;
pub(crate) use entry::STORE;
pub use error::PackageError;
pub(crate) use install::Start;
pub use installed::Installed;
pub(crate) use key::hash;
pub(crate) use own::{Hold, Lock, make_at_ambient as make_own_ambient};
pub(crate) use stored::lock_of;
pub use stored::{Contents, Store, Stored};
pub use supply::{Note, Supply};
pub use wanted::Package;
