//! A server as its host knows it: its name, where it runs, and which of the user's roots to tell it.

use std::path::PathBuf;

use rootward_core::RootSet;

/// One server, for one connection.
#[derive(Clone, Debug, Default)]
pub struct Server {
    /// The user's name for it: roots may be saved for it alone. A server without a name gets what is for all.
    pub name: Option<String>,
    /// Where it runs.
    pub locality: Locality,
    /// Which roots it is told.
    pub choice: RootChoice,
    /// Whether it is told that there are roots.
    pub declaration: Declaration,
}

/// Where a server runs. The host says so: it started the process, or knows the address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Locality {
    /// On this machine: a child process, or HTTP on a loopback address.
    #[default]
    Local,
    /// Anywhere else.
    Remote(LocalPaths),
}

/// What a remote server is told about paths on this machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum LocalPaths {
    /// Nothing: its list is empty.
    #[default]
    Withheld,
    /// The same as a server on this machine, because the user consented to exactly that.
    UserSaidYes,
}

/// Which roots a server is told.
#[derive(Clone, Debug, Default)]
pub enum RootChoice {
    /// All that the user consented to for a server of this name.
    #[default]
    Consented,
    /// Of these, only the ones at these places.
    Only(Vec<PathBuf>),
    /// These, regardless of what is saved. The host is responsible for the user's consent.
    HostVouches(RootSet),
}

/// Whether a server is told that there are roots.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Declaration {
    /// The capability is declared.
    #[default]
    Declared,
    /// It is not, and a server that asks anyway is refused.
    NotDeclared,
}

impl Server {
    /// One on this machine.
    pub fn local(name: impl Into<String>) -> Server {
        Server { name: Some(name.into()), ..Server::default() }
    }

    /// A remote server. It is told no paths of this machine.
    pub fn remote(name: impl Into<String>) -> Server {
        Server { locality: Locality::Remote(LocalPaths::Withheld), ..Server::local(name) }
    }
}
